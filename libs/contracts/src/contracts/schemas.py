"""The frozen JSON Schemas: generated from the models, kept in `schemas/<name>/<version>.json`, and only ever extended.

There is one for each event, each method on the bus (request and reply together), each websocket frame and each kind of
document that a service stores.

`breaking_changes` is the rule: a version may gain optional fields and new definitions; everything that readers or
writers of an older copy rely on stays unchanged. A list of values may grow, or become an open string, if readers expect
that (contracts.enumerations). A breaking change needs a new version beside the old one.
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
    """Returns the JSON Schema (2020-12) of a whole event with its envelope, generated from the current model."""
    model = CloudEvent[event.data]  # pyright: ignore[reportGeneralTypeIssues,reportInvalidTypeArguments]
    schema = model.model_json_schema(by_alias=True)
    schema["title"] = event.type
    schema["properties"]["type"] = {"const": event.type, "title": "Type", "type": "string"}
    schema["required"] = sorted(REQUIRED_ATTRIBUTES)
    return {"$schema": DIALECT, **schema}


def schema_of_method(method: Method) -> Schema:
    """Returns the JSON Schema of a method's request and reply."""
    both = create_model(method.subject, request=(method.request, ...), reply=(method.reply, ...))
    return {"$schema": DIALECT, **both.model_json_schema(by_alias=True)}


def schema_of_document(document: Any) -> Schema:
    """Returns the JSON Schema of a stored document, from the type that reads it."""
    return {"$schema": DIALECT, **TypeAdapter(document).json_schema(by_alias=True)}


def schema_of_frame(kind: str, model: type[Wire]) -> Schema:
    """Returns the JSON Schema of a whole websocket frame: the common fields, and those of its type's model."""
    schema = model.model_json_schema(by_alias=True)
    conversation: Schema = {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None, "title": "Conversationid"}
    common: Schema = {"v": {"const": ws.PROTOCOL_VERSION}, "type": {"const": kind}, "conversationId": conversation}
    schema["title"] = kind
    schema["properties"] = {**common, **schema.get("properties", {})}
    schema["required"] = sorted({"type", *schema.get("required", ())})
    return {"$schema": DIALECT, **schema}


def frozen_schema(name: str, version: str) -> Schema | None:
    """Returns the published schema with this name; None if it is new."""
    file = files("contracts") / "schemas" / name / f"{version}.json"
    return cast(Schema, json.loads(file.read_text())) if file.is_file() else None


def examples(event: EventType) -> list[tuple[str, bool, Schema]]:
    """Returns an event's golden examples: for each its name, whether it is valid, and the event."""
    return examples_at(event.name, event.version)


def examples_at(of: str, version: str) -> list[tuple[str, bool, Schema]]:
    """Returns the golden examples under a name: for each its file name, whether it is valid, and the document."""
    folder = files("contracts") / "examples" / of / version
    if not folder.is_dir():
        return []
    file_names = sorted(file.name for file in folder.iterdir() if file.name.endswith((".pass.json", ".fail.json")))
    return [(name, name.endswith(".pass.json"), json.loads((folder / name).read_text())) for name in file_names]


def breaking_changes(old: Schema, new: Schema) -> list[str]:
    """Returns the changes in `new` that break users of `old`, one line each; empty if `new` only adds."""
    return _compare(old, new, "")


def _compare(old: object, new: object, path: str) -> list[str]:
    if is_object(old) and is_object(new):
        return _compare_objects(old, new, path)
    if is_list(old) and is_list(new) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [
            change
            for index, (old_element, new_element) in pairs
            for change in _compare(old_element, new_element, f"{path}/{index}")
        ]
    return [] if old == new else [f"{path or '/'}: {old!r} became {new!r}"]


def _compare_objects(old: Schema, new: Schema, path: str) -> list[str]:
    changes: list[str] = []
    required_before, required_after = ({str(name) for name in list_of(schema.get("required"))} for schema in (old, new))
    if required_before != required_after:
        changes.append(f"{path}/required: {sorted(required_before)} became {sorted(required_after)}")
    for key in sorted((old.keys() | new.keys()) - _PROSE - {"required"}):
        if key in {"properties", "$defs"}:
            changes += _compare_members(object_of(old.get(key)), object_of(new.get(key)), f"{path}/{key}")
        elif key == "enum" and old.get(OPEN_KEY) and set(list_of(old[key])) <= set(list_of(new.get(key, old[key]))):
            continue
        elif (key in old) != (key in new):
            changes.append(f"{path}/{key}: {'removed' if key in old else 'added'}")
        else:
            changes += _compare(old[key], new[key], f"{path}/{key}")
    return changes


def _compare_members(old: Schema, new: Schema, path: str) -> list[str]:
    changes = [f"{path}/{name}: removed" for name in sorted(old.keys() - new.keys())]
    for name in sorted(old.keys() & new.keys()):
        changes += _compare(old[name], new[name], f"{path}/{name}")
    return changes
