"""Enumerations that a later release may add to, so that readers of today never refuse a value of tomorrow.

An `OpenEnum` says which member stands for what it does not know, the most cautious one. An `OPEN` text stays as it is,
and whoever branches on it has an else. In schemas both carry `x-open`: their lists may grow (contracts.schemas).
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

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
STORED = "stored"
"""In a validation's context: what is read is in a store or on the bus already, so nobody can be told to mend it."""


class OpenEnum(StrEnum):
    """A list of words that may grow."""

    @classmethod
    def unknown(cls) -> Self:
        """The member that stands for a word that this release does not know."""
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
    """Marks a Literal of texts. `door`: people send it too, and theirs must be one of the list (see STORED)."""

    door: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        if self.door:
            return core_schema.with_info_wrap_validator_function(_stored, handler(source))
        return core_schema.union_schema([handler(source), core_schema.str_schema()], mode="left_to_right")

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        listed: Any = schema.get("schema") or schema["choices"][0]  # pyright: ignore[reportTypedDictNotRequiredAccess, reportGeneralTypeIssues]
        return {**handler(listed), OPEN_KEY: True}


def is_stored(info: ValidationInfo) -> bool:
    """Whether what is being validated comes from a store or the bus."""
    return bool(info.context) and STORED in info.context


def _stored(value: Any, known: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    try:
        return known(value)
    except ValidationError:
        if is_stored(info) and isinstance(value, str):
            return value
        raise


OPEN = _Open()
OPEN_INSIDE = _Open(door=True)
