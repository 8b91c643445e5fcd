"""The frozen JSON Schemas: generated from the models, kept in `schemas/<name>/<version>.json`, and only ever extended.

There is one for each event, each method on the bus (request and reply together), each websocket frame and each kind of
document that a service stores.

`breaking_changes` is the rule: a version may gain optional fields and new definitions; whatever readers or writers of
an older copy rely on stays as it is. A list of values may grow, or become an open string, if readers expect that
(contracts.enumerations). A breaking change needs a new version beside the old one.
"""

import json
from importlib.resources import files
from typing import Any, cast

from pydantic import TypeAdapter, create_model

from contracts import ws
from contracts.enumerations import OPEN_KEY
from contracts.envelope import REQUIRED_ATTRIBUTES, CloudEvent, Wire
from contracts.events.registry import EventType
from contracts.json_values import is_list, is_object, list_of, object_of
from contracts.rpc import Method

Schema = dict[str, Any]
_PROSE = frozenset({"title", "description", "default", "examples", "$id", OPEN_KEY})
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_of(event: EventType) -> Schema:
    """The JSON Schema (2020-12) of a whole event with its envelope, generated from the current model."""
    model = CloudEvent[event.data]  # pyright: ignore[reportGeneralTypeIssues,reportInvalidTypeArguments]
    schema = model.model_json_schema(by_alias=True)
    schema["title"] = event.type
    schema["properties"]["type"] = {"const": event.type, "title": "Type", "type": "string"}
    schema["required"] = sorted(REQUIRED_ATTRIBUTES)
    return {"$schema": DIALECT, **schema}


def schema_of_method(method: Method) -> Schema:
    """The JSON Schema of a method's request and reply."""
    both = create_model(method.subject, request=(method.request, ...), reply=(method.reply, ...))
    return {"$schema": DIALECT, **both.model_json_schema(by_alias=True)}


def schema_of_document(document: Any) -> Schema:
    """The JSON Schema of a stored document, from the type that reads it."""
    return {"$schema": DIALECT, **TypeAdapter(document).json_schema(by_alias=True)}


def schema_of_frame(kind: str, model: type[Wire]) -> Schema:
    """The JSON Schema of a whole websocket frame: the common fields, and those of its type's model."""
    schema = model.model_json_schema(by_alias=True)
    conversation: Schema = {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None, "title": "Conversationid"}
    each: Schema = {"v": {"const": ws.PROTOCOL_VERSION}, "type": {"const": kind}, "conversationId": conversation}
    schema["title"] = kind
    schema["properties"] = {**each, **schema.get("properties", {})}
    schema["required"] = sorted({"type", *schema.get("required", ())})
    return {"$schema": DIALECT, **schema}


def frozen_schema(name: str, version: str) -> Schema | None:
    """The published schema of this name; None if it is new."""
    file = files("contracts") / "schemas" / name / f"{version}.json"
    return cast(Schema, json.loads(file.read_text())) if file.is_file() else None


def examples(event: EventType) -> list[tuple[str, bool, Schema]]:
    """The golden examples: name, whether it is valid, the event."""
    return examples_at(event.name, event.version)


def examples_at(of: str, version: str) -> list[tuple[str, bool, Schema]]:
    """The golden examples under this name: name, whether it is valid, the document."""
    folder = files("contracts") / "examples" / of / version
    if not folder.is_dir():
        return []
    found = sorted(file.name for file in folder.iterdir() if file.name.endswith((".pass.json", ".fail.json")))
    return [(name, name.endswith(".pass.json"), json.loads((folder / name).read_text())) for name in found]


def breaking_changes(old: Schema, new: Schema) -> list[str]:
    """The changes in `new` that break users of `old`, one line each; empty if it only adds."""
    return _compare(old, new, "")


def _compare(old: object, new: object, at: str) -> list[str]:
    if is_object(old) and is_object(new):
        return _compare_objects(old, new, at)
    if is_list(old) and is_list(new) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [found for place, (one, other) in pairs for found in _compare(one, other, f"{at}/{place}")]
    return [] if old == new else [f"{at or '/'}: {old!r} became {new!r}"]


def _compare_objects(old: Schema, new: Schema, at: str) -> list[str]:
    found: list[str] = []
    before, after = ({str(name) for name in list_of(one.get("required"))} for one in (old, new))
    if before != after:
        found.append(f"{at}/required: {sorted(before)} became {sorted(after)}")
    for key in sorted((old.keys() | new.keys()) - _PROSE - {"required"}):
        if key in {"properties", "$defs"}:
            found += _compare_members(object_of(old.get(key)), object_of(new.get(key)), f"{at}/{key}")
        elif key == "enum" and old.get(OPEN_KEY) and set(list_of(old[key])) <= set(list_of(new.get(key, old[key]))):
            continue
        elif (key in old) != (key in new):
            found.append(f"{at}/{key}: {'removed' if key in old else 'added'}")
        else:
            found += _compare(old[key], new[key], f"{at}/{key}")
    return found


def _compare_members(old: Schema, new: Schema, at: str) -> list[str]:
    found = [f"{at}/{name}: removed" for name in sorted(old.keys() - new.keys())]
    for name in sorted(old.keys() & new.keys()):
        found += _compare(old[name], new[name], f"{at}/{name}")
    return found
