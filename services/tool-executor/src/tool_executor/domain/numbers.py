"""Finds numbers that programs read differently: too large for a double (RFC 8259, section 6), or not valid in JSON."""

import math
import sys

from contracts.json_values import fields_where
from tool_executor.domain.declaration import ArgumentProblem
from tool_executor.domain.plans import Arguments
from tool_executor.texts import TEXTS

_MAX_DOUBLE = int(sys.float_info.max)


def numbers_out_of_range(arguments: Arguments) -> list[ArgumentProblem]:
    """Returns a problem for each number, at any depth, that is not finite or does not fit a double."""
    return [
        ArgumentProblem(field, TEXTS["arguments.not_a_number"]) for field in fields_where(_is_out_of_range, arguments)
    ]


def _is_out_of_range(value: object) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    return isinstance(value, int) and abs(value) > _MAX_DOUBLE
