"""Marks methods as tools: each serves the tool of its own name."""

from collections.abc import Callable
from typing import TypeVar

from market_adapter.ports import MarketProvider

FunctionT = TypeVar("FunctionT", bound=Callable[..., object])
_MARK = "is_tool"


def tool(function: FunctionT) -> FunctionT:
    """Marks a method to be served on the bus (market_adapter.handlers.tools_of). Its first parameter is the model of
    the tool's arguments; an optional second one gets the caller (ToolCaller) or the caller's language (str)."""
    setattr(function, _MARK, True)
    return function


def is_tool(attribute: object) -> bool:
    """Whether an attribute is a method marked with @tool."""
    return getattr(attribute, _MARK, False) is True


class MarketTools:
    """The base of tools about the market, which answer from one provider."""

    def __init__(self, provider: MarketProvider) -> None:
        self._provider = provider
