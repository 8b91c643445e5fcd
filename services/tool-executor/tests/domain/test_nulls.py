"""An optional argument that is null was not given; in what callers are shown, each may be null."""

import json
from typing import Any

import pytest
from nats.aio.client import Client

from runtime.testing.servers import ValkeyServer
from tool_executor.adapters.json_schema import CompiledSchema
from tool_executor.catalogue.all_tools import all_tools
from tool_executor.catalogue.registry import build_registry
from tool_executor.domain.declaration import CacheScope
from tool_executor.domain.nulls import with_nullable_arguments, without_nulls
from tool_executor.testing.harness import CountingHandler, Someone, ToolRequester, asking, tool_named

NESTED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "size": {"type": "integer", "default": 5},
        "side": {"enum": ["long", "short"]},
        "note": {"type": ["string", "null"]},
        "where": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "street": {"type": "string"}},
            "required": ["city"],
        },
        "parts": {"type": "array", "items": {"$ref": "#/$defs/part"}},
        "either": {"anyOf": [{"$ref": "#/$defs/part"}, {"type": "string"}]},
    },
    "required": ["name"],
    "additionalProperties": False,
    "$defs": {"part": {"type": "object", "properties": {"id": {"type": "string"}, "grams": {"type": "number"}}}},
}


def test_what_is_null_and_optional_is_left_out_at_any_depth():
    given = {
        "name": "x", "size": None, "side": None, "where": {"city": "Lima", "street": None},
        "parts": [{"id": "a", "grams": None}], "either": {"id": None},
    }  # fmt: skip
    assert without_nulls(given, NESTED) == {
        "name": "x", "where": {"city": "Lima"}, "parts": [{"id": "a"}], "either": {}
    }  # fmt: skip


def test_a_null_that_means_something_or_is_wrong_stays():
    given = {"name": None, "note": None, "unknown": None, "where": {"city": None}}
    assert without_nulls(given, NESTED) == given


def test_callers_are_shown_that_each_optional_argument_may_be_null():
    shown = with_nullable_arguments(NESTED)
    compiled = CompiledSchema(shown)
    nothing = dict.fromkeys(shown["properties"]) | {"name": "x"}
    assert not compiled.problems(nothing)
    assert not compiled.problems(nothing | {"where": {"city": "Lima", "street": None}})
    assert [problem.field for problem in compiled.problems({"name": None})] == ["name"]
    assert shown["properties"]["size"] == {"type": ["integer", "null"], "default": 5}
    assert shown["properties"]["side"] == {"enum": ["long", "short", None]}
    assert NESTED["properties"]["size"] == {"type": "integer", "default": 5}  # the declaration itself is as it was


def test_every_tool_of_the_catalogue_takes_null_for_every_optional():
    registry = build_registry(all_tools(None))  # pyright: ignore[reportArgumentType] - no page is read
    for entry in registry:
        parameters = entry.parameters
        optional = parameters["properties"].keys() - set(parameters["required"])
        for example in entry.tool.examples:
            full = {name: example.get(name) for name in optional} | dict(example)
            assert not CompiledSchema(parameters).problems(full), entry.tool.name
            assert without_nulls(full, entry.tool.input_schema) == dict(example)


@pytest.mark.parametrize("scope", [CacheScope.NEVER, CacheScope.PUBLIC])
async def test_a_call_with_nulls_is_the_call_without_them(
    nats_client: Client, valkey_server: ValkeyServer, scope: CacheScope
):
    counting = CountingHandler()
    tool = tool_named("part", counting, input_schema=NESTED, cache=scope, category="market")
    async with asking(nats_client, valkey_server.url, tools=(tool,)) as asker:
        first = await asker.call("part", {"name": "x", "size": None, "where": None}, call_id="one")
        again = await asker.call("part", {"name": "x"}, call_id="one", attempt=2)
        other = await asker.call("part", {"side": None, "name": "x"}, call_id="two")
        assert [one.result.success for one in (first, again, other)] == [True] * 3
        assert first.result.data == again.result.data == {"run": 1}
        assert counting.runs == (1 if scope is CacheScope.PUBLIC else 2)


async def test_a_required_argument_that_is_null_is_said_to_be(nats_client: Client, valkey_server: ValkeyServer):
    async with asking(nats_client, valkey_server.url) as asker:
        answer = await asker.call("get_price", {"symbol": None}, Someone())
    assert answer.result.error is not None
    assert answer.result.error.code == "VALIDATION_ERROR"
    fields = [(one.field, one.message) for one in answer.result.error.fields or []]
    assert fields == [("symbol", "must not be null: must be a string")]


HUGE = ["9" * 310, "-" + "9" * 310, "9" * 5000, "1e400"]


@pytest.mark.parametrize("number", HUGE, ids=["310", "-310", "5000", "1e400"])
async def test_numbers_beyond_a_double_are_refused_by_the_executor(
    nats_client: Client, valkey_server: ValkeyServer, number: str
):
    counting = CountingHandler()
    anything: dict[str, Any] = {"type": "object", "properties": {"n": {}}, "additionalProperties": False}
    tool = tool_named("anything", counting, input_schema=anything)
    async with asking(nats_client, valkey_server.url, tools=(tool,)) as asker:
        dead = await nats_client.subscribe("dlq.>")  # pyright: ignore[reportUnknownMemberType]
        answer = await RawAsker(nats_client).call_raw("anything", f'{{"n": [{number}]}}')
        assert answer["success"] is False
        assert answer["error"]["code"] == "VALIDATION_ERROR"
        assert answer["error"]["fields"][0]["field"] == "n.0"
        assert counting.runs == 0
        # The next call is answered after this one was dealt with: it is no dead letter.
        assert (await asker.call("anything", {"n": 1})).result.success
        assert dead.pending_msgs == 0


class RawAsker(ToolRequester):
    """Sends arguments as they are written."""

    async def call_raw(self, tool: str, arguments: str) -> dict[str, Any]:
        """The result as JSON."""
        data = {"callId": "raw", "tool": tool, "principal": Someone().principal, "arguments": "HERE"}
        return await self._raw(data, arguments)

    async def _raw(self, data: dict[str, Any], arguments: str) -> dict[str, Any]:
        inbox = self.client.new_inbox()
        answers = await self.client.subscribe(inbox)  # pyright: ignore[reportUnknownMemberType]
        head = {"specversion": "1.0", "id": "1", "source": "/test", "type": "tools.call.requested.v1"}
        body = json.dumps(head | {"data": data | {"replyTo": inbox}}).replace('"HERE"', arguments)
        await self.client.jetstream().publish("tools.call.requested.v1.calculate", body.encode())  # pyright: ignore[reportUnknownMemberType]
        return json.loads((await answers.next_msg(timeout=20)).data)["data"]["result"]
