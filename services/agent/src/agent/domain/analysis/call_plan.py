"""Turns what was read from a question into tool calls: each call once, in the order in which a reader wants the
figures.

"IBM's return and RSI in 2008" is one call of get_performance for 2008 and one of get_indicators as of its end.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import date, timedelta

from agent.domain.analysis.figure_vocabulary import INDICATOR_OF, Kind
from agent.domain.analysis.question_patterns import FALLS, FIRST_DAY, LASTED, PAST_TIME, WHEN
from agent.domain.analysis.stretches import ALL_TIME, ALL_TIME_PHRASE, SNAPSHOTS, PeriodArguments
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
from contracts.expressions import expression
from contracts.json_values import JsonObject

_YEARLY_FIGURES = frozenset(("current_drawdown", "max_drawdown", "volatility"))
ByKind = dict[Kind, list[str]]
"""A question's figures, by their source."""
_SNAPSHOT_FIGURES = {"return": SNAPSHOTS, **dict.fromkeys(("volatility", "max_drawdown", "current_drawdown"), ("1y",))}
"""The periods for which a snapshot has a figure; a year if the question names none."""


def _add_days_of_falls(question: Question, by_kind: ByKind, query: str) -> None:
    """Asks for the falls with their days if the question is when one was, or how long a price was below its high; for
    the deepest alone, unless it is about several."""
    names = set(question.figures)
    how_long_below = "current_drawdown" in names and LASTED.search(query) is not None
    if how_long_below or ("max_drawdown" in names and WHEN.search(query)):
        for names_asked in (question.figures, by_kind["stretch"]):
            if how_long_below:
                names_asked.remove("current_drawdown")
            if "drawdowns" not in names_asked:
                names_asked.append("drawdowns")
    if "drawdowns" in question.figures and not FALLS.search(query):
        question.most["drawdowns"] = 1


_UP_TO = expression(r"\b(?:by|until|till|up to|hasta)\b")


def _joined_days(periods: list[PeriodArguments], names: set[str], query: str) -> list[PeriodArguments]:
    """Two days as one period if a return is asked for up to the second: bought at the start of 2006, by the end of
    2008."""
    is_return = bool(names) and names <= {"return", "total_return", "cagr", "total_cagr"}
    if len(periods) != 2 or not is_return or not all(day.is_day for day in periods) or not _UP_TO.search(query):
        return periods
    first, last = sorted(str(day.arguments["end"]) for day in periods)
    start = str(date.fromisoformat(first) + timedelta(days=1))  # from the close of the first day
    return [PeriodArguments({"start": start, "end": last}, f"{start}/{last}")]


def settle_days(
    question: Question, by_kind: ByKind, periods: list[PeriodArguments], query: str
) -> list[PeriodArguments]:
    """The periods as they are meant, after asking for the falls if their days answer the question."""
    _add_days_of_falls(question, by_kind, query)
    return _joined_days(periods, set(question.figures), query)


def up_to_days(names: AbstractSet[str], periods: list[PeriodArguments], query: str) -> list[PeriodArguments]:
    """The periods, with the year up to each single day for figures of a period."""
    if not names & _YEARLY_FIGURES or names & {"price", "close"}:
        return periods
    from_first = "current_drawdown" in names and ALL_TIME_PHRASE.search(query) is not None
    return [period.up_to(from_first=from_first) if period.is_day else period for period in periods]


def volatilities_of_parts(
    question: Question, places: list[tuple[int, str, Kind | None]], parts: list[tuple[int, str]]
) -> tuple[list[tuple[int, str, Kind | None]], list[tuple[int, str]]]:
    """The figures and the figures of parts, with the parts' volatilities instead of their returns if they are ranked by
    volatility, or if it is asked for and returns are not."""
    named = {name for _, name, _ in places}
    is_table = bool(parts) and all(name.endswith("_return") for _, name in parts)
    if "volatility" not in named or not (question.ranks_parts or (is_table and "return" not in named)):
        return places, parts
    others = [place for place in places if place[1] != "volatility"]
    return others, [(at, name.replace("_return", "_volatility")) for at, name in parts]


def name_past_prices(question: Question, by_kind: ByKind, periods: Sequence[PeriodArguments], query: str) -> None:
    """Asks for the price of the first day, or of then, instead of or beside the current one."""
    if periods == [ALL_TIME] and FIRST_DAY.search(query):
        for names_asked in (question.figures, *by_kind.values()):
            names_asked[:] = ["base" if name in ("price", "close") else name for name in names_asked]
    has_lengths = any(not period.arguments or "period" in period.arguments for period in periods)
    if "price" in question.figures and has_lengths and PAST_TIME.search(query):
        question.figures.insert(question.figures.index("price"), "base")
        by_kind.setdefault("stretch", []).insert(0, "base")


@dataclass(frozen=True, slots=True)
class RequestedParts:
    """What a question asks for besides figures by name.

    `amount`: money invested. `relation`, `rule`, `crossing`: the arguments of a correlation or beta, of a backtest, of
    a search for crossings. `lengths`: of indicators, by name. `every`: the unit into which periods are divided.
    `timeframe`: of bars, if it is not the default. `now`: current prices and indicators are asked for as well as past
    ones.
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
    """The calls of one question. `own_stretches`: by ticker, for those with a period of their own."""

    def __init__(
        self,
        tickers: tuple[str, ...],
        requested: RequestedParts,
        question: Question,
        by_kind: ByKind,
        own_stretches: Mapping[str, PeriodArguments],
    ) -> None:
        self._all_tickers = self._tickers = tickers
        self._own_stretches = own_stretches
        self._requested = requested
        self._question = question
        self._by_kind = by_kind
        self._merged: dict[tuple[str, str], RequestedCall] = {}

    def calls(self, stretches: Sequence[PeriodArguments]) -> list[RequestedCall]:
        """Returns the calls for each period, and those without one."""
        for stretch in stretches or [PeriodArguments({})]:
            self._tickers = (
                tuple(ticker for ticker in self._all_tickers if self._own_stretches.get(ticker, stretch) == stretch)
                or self._all_tickers
            )
            self._rule_calls(stretch)
            self._stretch_calls(stretch)
            if stretch.is_day or not self._requested.now:
                self._indicator_calls(stretch)
            for name in self._by_kind.get("news", []):
                published = stretch.with_day_before if "return" in self._question.figures else stretch
                self._each(NEWS if name == "news" else SENTIMENT, published.tool_arguments)
        self._tickers = self._all_tickers
        if self._requested.now:
            self._indicator_calls(PeriodArguments({}))
        if "standing" in self._by_kind or (self._requested.now and "price" in self._question.figures):
            self._call(SNAPSHOT, {})
        if "company" in self._by_kind:
            self._call(COMPANY, {})
        order = [PERFORMANCE, CORRELATION, BACKTEST, CROSSINGS, SNAPSHOT, INDICATORS, NEWS, SENTIMENT, COMPANY]
        return sorted(self._merged.values(), key=lambda call: order.index(call.tool))

    def _rule_calls(self, stretch: PeriodArguments) -> None:
        requested = self._requested
        if requested.rule is not None:
            cash = {} if requested.amount is None else {"cash": requested.amount}
            self._each(BACKTEST, {**requested.rule, **stretch.tool_arguments, **cash})
        if requested.crossing is not None:
            self._each(CROSSINGS, {**requested.crossing, **stretch.tool_arguments})
        if requested.relation is not None:
            self._call(CORRELATION, {**stretch.tool_arguments, **requested.relation})

    def _stretch_calls(self, stretch: PeriodArguments) -> None:
        names, question, part_unit = self._by_kind.get("stretch", []), self._question, self._requested.every
        amount = self._requested.amount if self._requested.rule is None else None
        if names == ["dividends"] and not stretch.tool_arguments:
            question.figures = [
                *(name for name in question.figures if name != "dividends"), "dividend_yield", "next_dividend_date"
            ]  # fmt: skip
            self._call(COMPANY, {})
            return
        snapshot_names = [
            name
            for name in names
            if not stretch.arguments
            and (name == "price" or (stretch.period or "1y") in _SNAPSHOT_FIGURES.get(name, ()))
        ]
        if names == ["price"] == snapshot_names or (
            names and snapshot_names == names and amount is None and part_unit is None
        ):
            self._call(SNAPSHOT, {})
        elif names or (stretch.arguments and not question.figures):
            extra_arguments: JsonObject = {"amount": amount} if amount else {}
            extra_arguments |= {"every": part_unit} if part_unit else {}
            extra_arguments |= {"parts": "volatilities"} if f"{part_unit}_volatility" in names else {}
            extra_arguments |= {"top": max(question.most.values())} if question.most else {}
            self._call(PERFORMANCE, {**stretch.tool_arguments, **extra_arguments})

    def _indicator_calls(self, stretch: PeriodArguments) -> None:
        names, lengths = self._by_kind.get("indicator", []), self._requested.lengths
        end = stretch.arguments.get("end")
        shared_arguments: JsonObject = {"end": end} if end else {}
        if self._requested.timeframe is not None:
            shared_arguments["timeframe"] = self._requested.timeframe
        default_indicators = list(
            dict.fromkeys(
                INDICATOR_OF.get(figure, figure) for figure in names if figure not in lengths and figure != "averages"
            )
        )
        if default_indicators:
            self._each(INDICATORS, {"indicators": default_indicators, **shared_arguments})
        for name, length in lengths.items():
            self._each(INDICATORS, {"indicators": [name], "length": length, **shared_arguments})
        if "averages" in names:
            for length in self._question.averages:
                self._each(INDICATORS, {"indicators": ["SMA"], "length": length, **shared_arguments})

    def _each(self, tool: str, arguments: JsonObject) -> None:
        """Adds a call for each ticker."""
        for ticker in self._tickers:
            self._call(tool, arguments, (ticker,))

    def _call(self, tool: str, arguments: JsonObject, tickers: tuple[str, ...] | None = None) -> None:
        call = RequestedCall(tool, tickers or self._tickers, arguments)
        self._merged.setdefault((tool, repr((call.tickers, sorted(arguments.items(), key=str)))), call)
