"""Finds numbers that programs read differently: too large for a double (RFC 8259, section 6), or not valid in JSON."""

import math
import sys
from collections.abc import Iterator

from contracts.json_values import is_list, is_object, list_of, object_of
from tool_executor.domain.declaration import ArgumentProblem
from tool_executor.domain.plans import Arguments
from tool_executor.texts import TEXTS

_MAX_DOUBLE = int(sys.float_info.max)


def numbers_out_of_range(arguments: Arguments) -> list[ArgumentProblem]:
    """Returns a problem for each number, at any depth, that is not finite or does not fit a double."""
    return [ArgumentProblem(field, TEXTS["arguments.not_a_number"]) for field in _fields_out_of_range(arguments, "")]


def _fields_out_of_range(value: object, field: str) -> Iterator[str]:
    if isinstance(value, float):
        if not math.isfinite(value):
            yield field
    elif isinstance(value, int):
        if abs(value) > _MAX_DOUBLE:
            yield field
    elif is_object(value):
        for name, item in object_of(value).items():
            yield from _fields_out_of_range(item, f"{field}.{name}" if field else name)
    elif is_list(value):
        for index, item in enumerate(list_of(value)):
            yield from _fields_out_of_range(item, f"{field}.{index}")
