"""Chooses which tools run for which tickers, by a model or by rules, within the budgets in either case."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.domain.analysis.texts import note
from agent.domain.analysis.wanted_calls import COMPANY, CORRELATION, SNAPSHOT
from agent.domain.texts import json_in
from contracts.events.analysis import MAX_TICKERS
from contracts.json_values import JsonObject, is_list, list_of, object_of
from contracts.languages import Language
from contracts.symbols import InvalidSymbolError, parse_symbol

ANALYSIS_TOOLS = (SNAPSHOT, COMPANY)
"""Tools that take several tickers and answer for each. The fallback plan calls all of them, in this order."""


@dataclass(frozen=True, slots=True)
class ToolInfo:
    """A tool that may be chosen. `budget`: calls for one ticker."""

    name: str
    category: str
    description: str
    examples: Sequence[Mapping[str, Any]]
    budget: int
    output_schema: Mapping[str, Any]
    parameters: Mapping[str, Any] = field(default_factory=JsonObject)

    @property
    def is_per_ticker(self) -> bool:
        """Whether a call takes only one ticker."""
        return "symbol" in self.parameters.get("properties", {})


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A planned call of a tool on tickers; `arguments` are its other arguments."""

    tool: str
    tickers: tuple[str, ...]
    arguments: Mapping[str, Any] = field(default_factory=JsonObject)


@dataclass(frozen=True, slots=True)
class AnalysisPlan:
    """Calls in order, within the budgets, and notes on what was left out."""

    calls: tuple[PlannedCall, ...]
    notes: tuple[str, ...]


def fallback_plan(tickers: Sequence[str]) -> tuple[PlannedCall, ...]:
    """Returns the plan that calls every tool on every ticker."""
    return tuple(PlannedCall(tool, tuple(tickers)) for tool in ANALYSIS_TOOLS)


def within_budgets(
    wanted: Sequence[PlannedCall],
    tickers: Sequence[str],
    tools: Sequence[ToolInfo],
    max_calls: int,
    language: Language,
) -> AnalysisPlan:
    """The wanted calls that may be made: known tools, the analysis' own tickers, each tool within its budget per
    ticker, and at most `max_calls` in all, counted per tool and ticker, in the wanted order.
    """
    budgets = {tool.name: tool.budget for tool in tools}
    single = {tool.name for tool in tools if tool.is_per_ticker}
    used: dict[tuple[str, str], int] = {}
    spent = 0
    calls: list[PlannedCall] = []
    unknown: set[str] = set()
    has_foreign = has_repeated = False
    left_out: dict[str, list[str]] = {}
    for wanted_call in wanted:
        if wanted_call.tool not in budgets:
            unknown.add(wanted_call.tool)
            continue
        granted: list[str] = []
        for ticker in wanted_call.tickers:
            if ticker not in tickers:
                has_foreign = True
            elif ticker in granted or used.get((wanted_call.tool, ticker), 0) >= budgets[wanted_call.tool]:
                has_repeated = True
            elif spent >= max_calls:
                left_out.setdefault(wanted_call.tool, []).append(ticker)
            else:
                used[wanted_call.tool, ticker] = used.get((wanted_call.tool, ticker), 0) + 1
                spent += 1
                granted.append(ticker)
        if granted:
            calls += _calls_of_size(wanted_call, tuple(granted), is_per_ticker=wanted_call.tool in single)
    notes: list[str] = []
    if unknown:
        notes.append(note("unknown_tools", language))
    if has_foreign:
        notes.append(note("other_tickers", language))
    if has_repeated:
        notes.append(note("over_ticker_budget", language))
    for tool, missed in left_out.items():
        names = ", ".join(dict.fromkeys(missed))
        notes.append(note("over_budget", language, max=max_calls, tool=tool, tickers=names))
    return AnalysisPlan(tuple(calls), tuple(notes))


def _calls_of_size(planned_call: PlannedCall, granted: tuple[str, ...], *, is_per_ticker: bool) -> list[PlannedCall]:
    """The call, or several if the tool takes fewer tickers. A correlation of tickers stays one call."""
    size = 1 if is_per_ticker else len(granted) if planned_call.tool == CORRELATION else MAX_TICKERS
    return [
        PlannedCall(planned_call.tool, granted[start : start + size], planned_call.arguments)
        for start in range(0, len(granted), size)
    ]


def parse_routing(text: str) -> tuple[PlannedCall, ...] | None:
    """The calls in a model's answer ``{"tools": [{"tool", "tickers"}]}``; None when it cannot be read.

    A tool without valid tickers counts as chosen for none.
    """
    items = object_of(json_in(text, "{}")).get("tools")
    if not is_list(items):
        return None
    calls: list[PlannedCall] = []
    for entry in map(object_of, items):
        tool, tickers, arguments = entry.get("tool"), entry.get("tickers"), object_of(entry.get("arguments"))
        if not isinstance(tool, str) or not is_list(tickers):
            return None
        other_arguments = {name: value for name, value in arguments.items() if name not in ("tickers", "symbol")}
        calls.append(PlannedCall(tool, _symbols(tickers), other_arguments))
    return tuple(calls)


def parse_tickers(text: str) -> tuple[str, ...]:
    """The tickers in a model's answer ``{"tickers": [...]}``, at most twelve; empty when it cannot be read."""
    return _symbols(list_of(object_of(json_in(text, "{}")).get("tickers")))[:MAX_TICKERS]


def _symbols(texts: list[object]) -> tuple[str, ...]:
    """The symbols in their internal form, in order; texts that are no symbol are left out. Repeats stay, since they
    count."""
    names: list[str] = []
    for text in texts:
        try:
            names.append(parse_symbol(str(text)).name)
        except InvalidSymbolError:
            continue
    return tuple(names)
