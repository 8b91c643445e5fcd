"""Each event: its frozen schema, its golden examples, and the rule that a version only grows."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from contracts.company import faults
from contracts.envelope import CloudEvent
from contracts.events.fact import CompanyConfigChanged
from contracts.events.registry import EVENTS, EventType
from contracts.schemas import Schema, breaking_changes, examples, frozen_schema, schema_of
from contracts.streams import STREAMS
from deploy.documents import generated

ROOT = Path(__file__).parents[3]
EACH = pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.type)
EXAMPLES = [
    pytest.param(event, valid, body, id=f"{event.type}/{name}")
    for event in EVENTS
    for name, valid, body in examples(event)
]


@EACH
def test_has_a_frozen_schema_that_the_model_still_keeps(event: EventType) -> None:
    frozen = frozen_schema(event.name, event.version)
    assert frozen is not None, "run `make contracts`"
    assert breaking_changes(frozen, schema_of(event)) == []


@EACH
def test_has_golden_examples_of_both_kinds(event: EventType) -> None:
    assert {valid for _, valid, _ in examples(event)} == {True, False}


@EACH
def test_names_an_owner_a_consumer_and_a_stream_that_takes_its_subject(event: EventType) -> None:
    assert event.owners
    assert event.consumers
    streams = {stream.name: stream for stream in STREAMS}
    if event.stream is not None:
        assert any(_takes(subject, event.subject) for subject in streams[event.stream].subjects)


@pytest.mark.parametrize(("event", "valid", "body"), EXAMPLES)
def test_example_is_judged_alike_by_schema_and_model(event: EventType, valid: bool, body: dict[str, Any]) -> None:
    schema = frozen_schema(event.name, event.version)
    assert schema is not None
    assert jsonschema_rs.is_valid(schema, body) is valid or not _in_schema(event, body)
    assert _accepted(event, body) is valid or _only_words_of_tomorrow(schema, body)


BREAKS: dict[str, Callable[[Schema], object]] = {
    "property gone": lambda s: s["properties"].pop("source"),
    "newly required": lambda s: s["required"].append("subject"),
    "no longer required": lambda s: s["required"].remove("id"),
    "tighter": lambda s: s["properties"]["id"].update(maxLength=10),
    "another type": lambda s: s["$defs"]["VisitorMessage"]["properties"]["text"].update(type="integer"),
    "newly required inside": lambda s: s["$defs"]["VisitorMessage"]["required"].append("locale"),
    "shape gone": lambda s: s["$defs"].pop("Page"),
}


@pytest.mark.parametrize("break_it", BREAKS.values(), ids=BREAKS.keys())
def test_a_breaking_edit_is_found(break_it: Callable[[Schema], object]) -> None:
    old = schema_of(EVENTS[0])
    new = copy.deepcopy(old)
    break_it(new)
    assert breaking_changes(old, new)


def test_a_new_optional_field_is_no_break() -> None:
    old = schema_of(EVENTS[0])
    new = copy.deepcopy(old)
    new["$defs"]["VisitorMessage"]["properties"]["mood"] = {"type": "string"}
    new["$defs"]["VisitorMessage"]["description"] = "other words"
    assert breaking_changes(old, new) == []


def test_generated_files_are_up_to_date() -> None:
    stale = [str(file) for file, text in generated(ROOT).items() if not file.is_file() or file.read_text() != text]
    assert stale == [], "run `make contracts`"


def _accepted(event: EventType, body: dict[str, Any]) -> bool:
    if body.get("type") != event.type:
        return False
    try:
        data = CloudEvent[event.data].parse(json.dumps(body)).data
    except ValueError:
        return False
    # Settings are read all the same, for a newer release may have written them; an example is what this one writes.
    return not isinstance(data, CompanyConfigChanged) or not faults(body["data"]["config"])


def _in_schema(event: EventType, body: dict[str, Any]) -> bool:
    """Whether JSON Schema can say why the body is wrong: an origin's exact form it cannot."""
    return not (event.type == "company.config.changed.v1" and "http://" in json.dumps(body))


def _only_words_of_tomorrow(schema: Schema, body: dict[str, Any]) -> bool:
    """Whether nothing is wrong but words that open lists do not have yet: not written, and read all the same."""
    # An optional word stands in an anyOf, beside null.
    return all(error.schema_path[-1] in ("enum", "anyOf") for error in jsonschema_rs.iter_errors(schema, body))


def _takes(pattern: str, subject: str) -> bool:
    wanted, given = pattern.split("."), subject.split(".")
    for index, token in enumerate(wanted):
        if token == ">":
            return len(given) > index
        if index >= len(given) or token not in ("*", given[index]):
            return False
    return len(wanted) == len(given)
