"""Marks the methods that are tools: each serves the tool of its own name."""

from collections.abc import Callable
from typing import TypeVar

FunctionT = TypeVar("FunctionT", bound=Callable[..., object])
_MARK = "is_tool"


def tool(function: FunctionT) -> FunctionT:
    """Has the method served on the bus (market_adapter.handlers.tools_of). Its first parameter is the model of the
    tool's arguments; an optional second one gets who is calling (CallBy) or the caller's language (str)."""
    setattr(function, _MARK, True)
    return function


def is_tool(found: object) -> bool:
    """Whether it is marked."""
    return getattr(found, _MARK, False) is True
