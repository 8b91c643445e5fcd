"""What a service can know that has the AsyncAPI document alone."""

from functools import cache

import pytest
from jsonschema_rs import validator_for

from contracts.asyncapi import document
from contracts.errors import CallError
from contracts.events.registry import EVENTS
from contracts.json_values import JsonObject, object_of
from contracts.rpc import Reply
from contracts.tools_rpc import Caller, ToolServiceData, ToolServiceRequest


@cache
def parts() -> JsonObject:
    return document("0")


def part(name: str) -> JsonObject:
    return object_of(parts()[name])


def messages() -> JsonObject:
    return object_of(part("components")["messages"])


def fits(message: str, value: object) -> bool:
    payload = object_of(object_of(messages()[message])["payload"])
    return validator_for({**payload, "components": part("components")}).is_valid(value)


def test_how_a_tool_of_another_service_is_called_and_answers() -> None:
    assert object_of(part("channels")["rpc-tool-tool-v1"])["address"] == "rpc.tool.{tool}.v1"
    caller = Caller(company_id="acme", role="user", plan="pro")
    call = ToolServiceRequest(call_id="c1", tool="convert", arguments={"value": 1}, caller=caller)
    assert fits("rpc-tool-tool-v1-request", call.to_wire())
    assert fits("rpc-tool-tool-v1-reply", Reply(data=ToolServiceData(result={"value": 2})).to_wire())


@pytest.mark.parametrize(
    ("reply", "is_one"),
    [
        ({"error": CallError(code="UNAVAILABLE", message="later", retryable=True).to_wire()}, True),
        ({"error": {"text": "no"}}, False),
        ({}, False),
    ],
)
def test_how_a_call_fails(reply: JsonObject, is_one: bool) -> None:
    assert fits("rpc-tool-tool-v1-reply", reply) is is_one


def test_every_call_fails_alike() -> None:
    errors = {
        str(object_of(object_of(object_of(message)["payload"])["properties"])["error"])
        for name, message in messages().items()
        if name.endswith("-reply")
    }
    assert errors == {"{'$ref': '#/components/schemas/CallError'}"}


def test_which_header_keeps_a_stream_from_storing_an_event_twice() -> None:
    named = {
        object_of(message)["name"]
        for message in messages().values()
        if object_of(object_of(message).get("headers")).get("$ref")
        in {"#/components/schemas/ChatHeaders", "#/components/schemas/EventHeaders"}
    }
    assert named == {event.type for event in EVENTS if event.stream is not None}
