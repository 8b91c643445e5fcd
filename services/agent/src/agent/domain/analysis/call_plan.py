"""Turns what was read from a question into tool calls: each call once, in the order in which a reader wants the
figures.

"IBM's return and RSI in 2008" is one call of get_performance for 2008 and one of get_indicators as of its end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.domain.analysis.figure_vocabulary import INDICATOR_OF, Kind
from agent.domain.analysis.stretches import SNAPSHOTS, When
from agent.domain.analysis.wanted_calls import (
    BACKTEST,
    COMPANY,
    CORRELATION,
    CROSSINGS,
    INDICATORS,
    NEWS,
    PERFORMANCE,
    SENTIMENT,
    SNAPSHOT,
    Question,
    RequestedCall,
)
from contracts.json_values import JsonObject

ByKind = dict[Kind, list[str]]
"""A question's figures, by who has them."""
_SNAPSHOT_FIGURES = {"return": SNAPSHOTS, **dict.fromkeys(("volatility", "max_drawdown", "current_drawdown"), ("1y",))}
"""Figures of stretches that a snapshot has, of these periods; of a year where none is named."""


@dataclass(frozen=True, slots=True)
class RequestedParts:
    """The parts of a question besides figures that are asked for by name.

    `amount`: money put in. `relation`, `rule`, `crossing`: the arguments of a correlation or beta, of a trial, of a
    search for crossings. `lengths`: of indicators, by name. `every`: the parts that stretches are cut into.
    `timeframe`: of bars, where it is not the usual one. `now`: prices and indicators of now are asked for beside a
    past time.
    """

    amount: float | None
    relation: JsonObject | None
    rule: JsonObject | None
    crossing: JsonObject | None
    lengths: Mapping[str, int]
    every: str | None
    timeframe: str | None
    now: bool


class CallPlan:
    """The calls of one question. `own`: the stretches of the tickers that have one of their own."""

    def __init__(
        self,
        tickers: tuple[str, ...],
        asked: RequestedParts,
        question: Question,
        by_kind: ByKind,
        own: Mapping[str, When],
    ) -> None:
        self._all = self._tickers = tickers
        self._own = own
        self._asked = asked
        self._question = question
        self._by_kind = by_kind
        self._merged: dict[tuple[str, str], RequestedCall] = {}

    def calls(self, stretches: Sequence[When]) -> list[RequestedCall]:
        """Returns the calls of each stretch, and those that need none."""
        for when in stretches or [When({})]:
            self._tickers = tuple(one for one in self._all if self._own.get(one, when) == when) or self._all
            self._rule_calls(when)
            self._stretch_calls(when)
            if when.is_day or not self._asked.now:
                self._indicator_calls(when)
            for name in self._by_kind.get("news", []):
                self._each(NEWS if name == "news" else SENTIMENT, when.tool_arguments)
        self._tickers = self._all
        if self._asked.now:
            self._indicator_calls(When({}))
        if "standing" in self._by_kind or (self._asked.now and "price" in self._question.figures):
            self._call(SNAPSHOT, {})
        if "company" in self._by_kind:
            self._call(COMPANY, {})
        order = [PERFORMANCE, CORRELATION, BACKTEST, CROSSINGS, SNAPSHOT, INDICATORS, NEWS, SENTIMENT, COMPANY]
        return sorted(self._merged.values(), key=lambda call: order.index(call.tool))

    def _rule_calls(self, when: When) -> None:
        asked = self._asked
        if asked.rule is not None:
            cash = {} if asked.amount is None else {"cash": asked.amount}
            self._each(BACKTEST, {**asked.rule, **when.tool_arguments, **cash})
        if asked.crossing is not None:
            self._each(CROSSINGS, {**asked.crossing, **when.tool_arguments})
        if asked.relation is not None:
            self._call(CORRELATION, {**when.tool_arguments, **asked.relation})

    def _stretch_calls(self, when: When) -> None:
        names, question, every = self._by_kind.get("stretch", []), self._question, self._asked.every
        amount = self._asked.amount if self._asked.rule is None else None
        if names == ["dividends"] and not when.tool_arguments:
            question.figures = [
                *(one for one in question.figures if one != "dividends"), "dividend_yield", "next_dividend_date"
            ]  # fmt: skip
            self._call(COMPANY, {})
            return
        standing = [
            one
            for one in names
            if not when.arguments and (one == "price" or (when.period or "1y") in _SNAPSHOT_FIGURES.get(one, ()))
        ]
        if names == ["price"] == standing or (names and standing == names and amount is None and every is None):
            self._call(SNAPSHOT, {})
        elif names or (when.arguments and not question.figures):
            more: JsonObject = {"amount": amount} if amount else {}
            more |= {"every": every} if every else {}
            more |= {"top": max(question.most.values())} if question.most else {}
            self._call(PERFORMANCE, {**when.tool_arguments, **more})

    def _indicator_calls(self, when: When) -> None:
        names, lengths = self._by_kind.get("indicator", []), self._asked.lengths
        end = when.arguments.get("end")
        beside: JsonObject = {"end": end} if end else {}
        if self._asked.timeframe is not None:
            beside["timeframe"] = self._asked.timeframe
        usual = list(
            dict.fromkeys(INDICATOR_OF.get(one, one) for one in names if one not in lengths and one != "averages")
        )
        if usual:
            self._each(INDICATORS, {"indicators": usual, **beside})
        for name, length in lengths.items():
            self._each(INDICATORS, {"indicators": [name], "length": length, **beside})
        if "averages" in names:
            for length in self._question.averages:
                self._each(INDICATORS, {"indicators": ["SMA"], "length": length, **beside})

    def _each(self, tool: str, arguments: JsonObject) -> None:
        """A call for each ticker."""
        for ticker in self._tickers:
            self._call(tool, arguments, (ticker,))

    def _call(self, tool: str, arguments: JsonObject, tickers: tuple[str, ...] | None = None) -> None:
        call = RequestedCall(tool, tickers or self._tickers, arguments)
        self._merged.setdefault((tool, repr((call.tickers, sorted(arguments.items(), key=str)))), call)
