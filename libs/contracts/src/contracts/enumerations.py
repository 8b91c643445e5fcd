"""Enumerations that a later release may extend without breaking today's readers.

An `OpenEnum` reads an unknown value as its most cautious member. An `OPEN` text keeps the value, and code that branches
on it has an else. In schemas both are marked with `x-open`, since their lists may grow (contracts.schemas). For what
people send it is different: a door (settings, memory) refuses an unknown value.
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
INPUT_CONTEXT = {"door": True}
"""Validation context for input that somebody sends now and can still correct."""


class OpenEnum(StrEnum):
    """An enumeration that may grow."""

    @classmethod
    def unknown(cls) -> Self:
        """Returns the member for a value that this release does not know."""
        raise NotImplementedError

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return cls.unknown() if isinstance(value, str) else None

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        json_schema = handler(schema)
        handler.resolve_ref_schema(json_schema)[OPEN_KEY] = True
        return json_schema


@dataclass(frozen=True, slots=True)
class _Open:
    """Marks a Literal of texts as open. `strict_input`: people send it too, and must choose a listed value."""

    strict_input: bool = False

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        if self.strict_input:
            return core_schema.with_info_wrap_validator_function(_validate_strict_input, handler(source))
        return core_schema.union_schema([handler(source), core_schema.str_schema()], mode="left_to_right")

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        fields = cast("dict[str, Any]", schema)
        listed: Any = fields.get("schema") or fields["choices"][0]
        return {**handler(listed), OPEN_KEY: True}


def is_input(info: ValidationInfo) -> bool:
    """Whether the value being validated comes from somebody who can correct it, rather than from a store or the bus."""
    return info.context == INPUT_CONTEXT


def _validate_strict_input(value: object, validate: ValidatorFunctionWrapHandler, info: ValidationInfo) -> object:
    try:
        return validate(value)
    except ValidationError:
        if is_input(info) or not isinstance(value, str):
            raise
        return value


OPEN = _Open()
OPEN_EXCEPT_INPUT = _Open(strict_input=True)
