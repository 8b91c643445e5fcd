"""Reads JSON that no model describes: each value's type is checked before it is used."""

from typing import TypeAlias, cast

from typing_extensions import TypeIs

JsonObject: TypeAlias = dict[str, object]


def is_object(value: object) -> TypeIs[JsonObject]:
    """Whether the value is an object (whose names JSON guarantees to be texts)."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeIs[list[object]]:
    return isinstance(value, list)


def object_of(value: object) -> JsonObject:
    """Returns the value if it is an object, otherwise an empty one."""
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def list_of(value: object) -> list[object]:
    """Returns the value if it is a list, otherwise an empty one."""
    return value if is_list(value) else []


def objects_of(value: object) -> list[JsonObject]:
    """Returns the objects in a list; other elements are left out."""
    return [element for element in list_of(value) if is_object(element)]
