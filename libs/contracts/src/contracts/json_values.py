"""Reads JSON that no model describes: each value's type is checked before it is used."""

from collections.abc import Callable, Iterator
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


def fields_where(holds: Callable[[object], bool], value: object, field: str = "") -> Iterator[str]:
    """Yields the names, with dots, of the values at any depth, names of fields included, for which `holds` is true."""
    if is_object(value):
        for name, item in value.items():
            inner = f"{field}.{name}" if field else name
            if holds(name):
                yield inner
            yield from fields_where(holds, item, inner)
    elif is_list(value):
        for index, item in enumerate(value):
            yield from fields_where(holds, item, f"{field}.{index}")
    elif holds(value):
        yield field
