"""Explains in plain words what is wrong with a tool's arguments."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from contracts.errors import FieldFault
from contracts.text import Text
from market_adapter.texts import TEXTS

_MESSAGES: Mapping[str, Text] = TEXTS.section("arguments.said")


def wrong_arguments(tool: str, error: ValidationError, language: str) -> str:
    """A line that names each wrong field and says what it must be."""
    problems = (
        f"{fault.field}: {fault.message}" if fault.field else fault.message
        for fault in argument_faults(error, language)
    )
    return f"{tool}: " + "; ".join(problems)


def argument_faults(error: ValidationError, language: str) -> list[FieldFault]:
    """The faults one by one; `field` is empty if a rule concerns several fields."""
    return [_fault(problem, language) for problem in error.errors(include_url=False, include_input=False)]


def _fault(error: Mapping[str, Any], language: str) -> FieldFault:
    context: Mapping[str, Any] = error.get("ctx", {})
    message = _MESSAGES.get(error["type"], TEXTS["arguments.invalid"]).in_language(language).format(**context)
    return FieldFault(field=".".join(map(str, error["loc"])) or context.get("name", ""), message=message)
