"""Enumerations that a later release may extend without breaking readers of today.

An `OpenEnum` names the member, the most cautious one, that stands for a value it does not know. An `OPEN` text keeps
the value, and code that branches on it has an else. In schemas both carry `x-open`: their lists may grow
(contracts.schemas). What people send is different: a door (settings, memory) refuses an unknown value.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self, cast

from pydantic import (
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

OPEN_KEY = "x-open"
AT_THE_DOOR = {"door": True}
"""Validation context for what somebody sends now and can still correct."""


class OpenEnum(StrEnum):
    """An enumeration that may grow."""

    @classmethod
    def unknown(cls) -> Self:
        """The member that stands for a value this release does not know."""
        raise NotImplementedError

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return cls.unknown() if isinstance(value, str) else None

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        found = handler(schema)
        handler.resolve_ref_schema(found)[OPEN_KEY] = True
        return found


@dataclass(frozen=True, slots=True)
class _Open:
    """Marks a Literal of texts as open. `door`: people send it too, and must choose a value of the list."""

    door: bool = False

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        if self.door:
            return core_schema.with_info_wrap_validator_function(_known_at_the_door, handler(source))
        return core_schema.union_schema([handler(source), core_schema.str_schema()], mode="left_to_right")

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        fields = cast("dict[str, Any]", schema)
        listed: Any = fields.get("schema") or fields["choices"][0]
        return {**handler(listed), OPEN_KEY: True}


def at_the_door(info: ValidationInfo) -> bool:
    """Whether the value being validated comes from somebody who can correct it, rather than from a store or the bus."""
    return info.context == AT_THE_DOOR


def _known_at_the_door(value: object, known: ValidatorFunctionWrapHandler, info: ValidationInfo) -> object:
    try:
        return known(value)
    except ValidationError:
        if at_the_door(info) or not isinstance(value, str):
            raise
        return value


OPEN = _Open()
OPEN_BEHIND_THE_DOOR = _Open(door=True)
