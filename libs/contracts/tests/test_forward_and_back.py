"""Whatever a newer release writes is read here: one field more at every place, one word more in every open list."""

import copy
import json
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import jsonschema_rs
import pytest
from pydantic import TypeAdapter, ValidationError

from contracts.company import CompanyConfig, CompanySettings, faults
from contracts.conversation_rpc import HISTORY
from contracts.enumerations import OPEN_KEY
from contracts.envelope import CloudEvent
from contracts.events.registry import EVENTS
from contracts.methods import METHODS
from contracts.schemas import Schema, breaking_changes, schema_of, schema_of_document, schema_of_method
from contracts.tools_rpc import tool_service
from deploy.documents import DOCUMENTS

Read = Callable[[Any], object]
Made = Callable[[], Schema]
"""Makes a schema, at its first use: not while tests are collected."""
TEXTS = (
    "https://a.example",
    "a1",
    "2026-01-05T00:00:00Z",
    "2026-01-05",
    "10.50",
    "#123456",
    "a" * 16,
    "0" * 32,
    "0" * 64,
    "demo/c1/x",
    "v" * 43,
)


def _cases() -> Iterator[Any]:
    for event in EVENTS:
        yield pytest.param(cache(partial(schema_of, event)), CloudEvent[event.data].model_validate, id=event.type)
    for method in (*METHODS, tool_service("any", "any")):
        yield pytest.param(cache(partial(schema_of_method, method)), partial(_both, method), id=method.subject)
    for name, document in DOCUMENTS.items():
        reads: Read = TypeAdapter[Any](document).validate_python
        yield pytest.param(
            cache(partial(schema_of_document, document)),
            reads if document is not CompanyConfig else _settings,
            id=name,
        )


def _both(method: Any, value: dict[str, Any]) -> None:
    method.request.model_validate(value["request"])
    method.reply.model_validate(value["reply"])


def _settings(value: dict[str, Any]) -> None:
    CompanySettings.model_validate({"config": value, "version": 1})


CASES = list(_cases())


@pytest.mark.parametrize(("schema", "read"), CASES)
def test_what_is_written_today_is_read(schema: Made, read: Read) -> None:
    read(example(schema(), schema()))


@pytest.mark.parametrize(("schema", "read"), CASES)
def test_one_field_more_at_every_place_is_read(schema: Made, read: Read) -> None:
    read(example(schema(), schema(), more={"fieldOfTomorrow": {"a": [1]}}))


@pytest.mark.parametrize(("schema", "read"), CASES)
def test_one_word_more_in_every_open_list_is_read(schema: Made, read: Read) -> None:
    read(example(schema(), schema(), word="a word of tomorrow"))


def test_an_open_list_may_grow_and_no_list_may_shrink() -> None:
    old = schema_of_method(HISTORY)
    name = next(key for key, value in old["$defs"].items() if OPEN_KEY in value)
    grown, shrunk = copy.deepcopy(old), copy.deepcopy(old)
    grown["$defs"][name]["enum"].append("new")
    shrunk["$defs"][name]["enum"].pop()
    assert breaking_changes(old, grown) == []
    assert breaking_changes(old, shrunk)


@pytest.mark.parametrize("edit", ["required", "gone", "narrower"])
@pytest.mark.parametrize("schema", [pytest.param(case.values[0], id=str(case.id)) for case in CASES])
def test_a_breaking_edit_of_anything_that_is_published_is_found(schema: Made, edit: str) -> None:
    new = copy.deepcopy(schema())
    holders = [each for each in (new, *new.get("$defs", {}).values()) if each.get("properties")]
    holder = holders[-1]
    field = sorted(holder["properties"])[0]
    match edit:
        case "required":
            holder["required"] = [*holder.get("required", []), "newcomer"]
        case "gone":
            del holder["properties"][field]
        case _:
            holder["properties"][field] = {"type": "null"}
    assert breaking_changes(schema(), new)


STORED = {
    "companyId": "acme",
    "aiAutoResponseEnabled": True,
    "preferredProvider": "mistral",
    "newField": {"a": 1},
    "toolConfig": {"fetchPageEnabled": True, "newLimit": 3},
    "budget": {"dailyTokens": 5, "whenSpent": "sleep", "monthlyTokens": 9},
    "webhooks": [{"url": "https://a.example", "secret": "12345678", "events": ["new.thing"], "retries": 3}],
    "identity": {"keys": [{"id": "k", "algorithm": "ES256", "key": "a public key"}], "highestPlan": "gold"},
}


def test_settings_of_a_newer_release_are_obeyed_and_travel_on_whole() -> None:
    settings = CompanySettings.model_validate_json(json.dumps({"config": STORED, "version": 2, "by": "somebody"}))
    config = settings.config
    assert (config.ai_auto_response_enabled, config.budget.daily_tokens) == (True, 5)
    again = CompanySettings.model_validate_json(settings.to_json())
    assert again == settings
    stored = json.loads(config.model_dump_json(by_alias=True, exclude_unset=True))
    assert stored == STORED
    off = CompanySettings.model_validate({"config": STORED | {"aiAutoResponseEnabled": False}, "version": 3})
    assert not off.config.ai_auto_response_enabled


@pytest.mark.parametrize("broken", [{"temperature": "hot"}, {"aiAutoResponseEnabled": {"from": 9}}, {"budget": [1]}])
def test_settings_that_cannot_be_understood_answer_nobody_and_are_kept(broken: dict[str, Any]) -> None:
    stored = STORED | broken
    config = CompanySettings.model_validate({"config": stored, "version": 2}).config
    assert not config.ai_auto_response_enabled
    assert config.budget.daily_tokens == (0 if "budget" in broken else 5)
    assert json.loads(config.model_dump_json(by_alias=True, exclude_unset=True)) == stored


def test_people_are_told_what_is_wrong_and_not_what_was_there_before() -> None:
    assert {fault.field for fault in faults(STORED)} == {
        "preferredProvider",
        "newField",
        "toolConfig.newLimit",
        "budget.whenSpent",
        "budget.monthlyTokens",
        "webhooks.0.events.0",
        "webhooks.0.retries",
        "identity.keys.0.algorithm",
        "identity.highestPlan",
    }
    assert faults(STORED | {"temperature": 1.0}, STORED) == []
    assert [fault.field for fault in faults(STORED | {"nonsense": 1}, STORED)] == ["nonsense"]
    assert [fault.field for fault in faults(STORED | {"newField": 2}, STORED)] == ["newField"]


def test_settings_without_a_company_are_refused() -> None:
    with pytest.raises(ValidationError):
        CompanySettings.model_validate({"config": {"temperature": 1}, "version": 1})


def example(schema: Any, root: Schema, word: str | None = None, more: dict[str, Any] | None = None) -> Any:
    """Something that the schema describes, with every field, and with `more` at every place that has fields; with
    `word` in its open lists of texts."""
    if "$ref" in schema:
        return example(root["$defs"][schema["$ref"].rpartition("/")[2]], root, word, more)
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return example(schema[several][0], root, word, more)
    if "allOf" in schema:
        return example(schema["allOf"][0], root, word, more)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return word if word is not None and OPEN_KEY in schema else schema["enum"][0]
    match schema.get("type"):
        case "object":
            fields: dict[str, Any] = schema.get("properties", {})
            return {name: example(each, root, word, more) for name, each in fields.items()} | (
                more or {} if fields else {}
            )
        case "array" if "prefixItems" in schema:
            return [example(each, root, word, more) for each in schema["prefixItems"]]
        case "array":
            return [example(schema.get("items", {}), root, word, more)] * max(schema.get("minItems", 0), 1)
        case "integer" | "number":
            return max(schema.get("minimum", 1), schema.get("exclusiveMinimum", 0) + 1)
        case "boolean":
            return True
        case "string":
            return next(text for text in schema.get("examples", TEXTS) if _is_form(schema, text))
        case _:
            return None if schema.get("type") == "null" else {}


def _is_form(schema: Schema, text: str) -> bool:
    wanted = {"date-time": TEXTS[2], "date": TEXTS[3]}.get(schema.get("format", ""), text)
    return text == wanted and jsonschema_rs.is_valid({**schema, "format": ""}, text)
