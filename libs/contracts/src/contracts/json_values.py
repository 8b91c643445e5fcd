"""JSON that no model describes, read without trusting its form: each value is looked at before it is used."""

from typing import TypeAlias

from typing_extensions import TypeIs

JsonObject: TypeAlias = dict[str, object]


def is_object(value: object) -> TypeIs[JsonObject]:
    """Whether it is an object, whose names JSON makes texts."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeIs[list[object]]:
    return isinstance(value, list)


def object_of(value: object) -> JsonObject:
    """The object that it is; an empty one, where it is anything else."""
    return value if is_object(value) else {}


def list_of(value: object) -> list[object]:
    """The list that it is; an empty one, where it is anything else."""
    return value if is_list(value) else []


def objects_of(value: object) -> list[JsonObject]:
    """The objects of a list, without what else is in it."""
    return [one for one in list_of(value) if is_object(one)]
