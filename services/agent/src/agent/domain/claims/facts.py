"""Turns tool results into typed figures: ticker, figure, number, unit, period.

{"symbol": "IBM", "change_percent": 1.2} becomes (IBM, return, 0.012, fraction, 1d). Dates, sources and texts are kept
too, since sentences may name them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from typing import Literal, cast

from agent.domain.claims.times import LAST_YEAR, year_range
from contracts.expressions import expression
from contracts.json_values import is_list, is_object, list_of, object_of

Unit = Literal["fraction", "money", "number", "date"]
FRACTION_FIGURES = frozenset(
    ("return", "max_drawdown", "current_drawdown", "volatility", "gross_margin", "net_margin", "dividend_yield",
     "cagr", "total_return", "total_cagr", "gap", "share", "atr_share", "exposure", "win_rate")
)  # fmt: skip
MONEY_FIGURES = frozenset(
    ("price", "change", "open", "high", "low", "close", "sma_20", "sma_50", "sma_200", "atr_14", "eps", "revenue",
     "market_cap", "SMA", "EMA", "VWAP", "ATR", "upper", "middle", "lower", "MACD", "macd", "signal", "histogram",
     "growth", "final", "invested", "costs", "base", "highest_close", "lowest_close", "dividends")
)  # fmt: skip
HOLDING = "buy and hold"
"""The benchmark of a backtest; it has figures of its own, like a ticker."""
FALL_FIGURES = frozenset(("max_drawdown", "current_drawdown"))
"""Figures that are stated as a fall in per cent."""
YEARLY_FIGURES = frozenset(("max_drawdown", "current_drawdown", "volatility"))
"""Figures of a snapshot that cover a year."""
MAX_CLOSED_DAYS = 4
"""Consecutive days on which a market may be closed."""
_FIGURE_LISTS = ("figures", "derived")
"""Keys under which a tool result or a finding of an analysis lists typed figures."""
_DATE_FIELDS = ("next_earnings_date", "next_dividend_date")
_DAY = expression(r"(?<![\w-])\d{4}-\d{2}-\d{2}(?!\d)")
_STRETCH = r"\d{4}-\d{2}-\d{2}/\d{4}-\d{2}-\d{2}"
_TEXT_FIELDS = frozenset(
    ("title", "text", "summary", "report_source", "report", "period", "note", "name", "headline", "description")
)


def is_fraction(name: str) -> bool:
    """Whether a figure is stated in per cent, such as best_month and month_volatility."""
    return (
        name in FRACTION_FIGURES
        or name.startswith(("gap_", "best_", "worst_"))
        or name.endswith(("_return", "_volatility"))
    )


@dataclass(frozen=True, slots=True)
class FigureFact:
    """One figure of one ticker. `period`: 1y, ytd, or first/last as dates; `other`: the ticker it is compared with."""

    subject: str
    figure: str
    value: float | date | None
    unit: Unit
    period: str | None = None
    currency: str | None = None
    other: str | None = None


@dataclass(slots=True)
class Facts:
    """Everything that an answer may state. `days`: dates of the data, by ticker; `texts`: texts that tools returned,
    not folded, by ticker; `conversation_texts`: the texts of the conversation; `loose_numbers`: numbers that are no
    ticker's figure, such as those of the question; `known_tickers`: tickers with results or in the question."""

    facts: list[FigureFact] = field(default_factory=list["FigureFact"])
    sources: set[str] = field(default_factory=set[str])
    days: dict[str, set[date]] = field(default_factory=dict[str, set[date]])
    texts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    conversation_texts: list[str] = field(default_factory=list[str])
    loose_numbers: list[float] = field(default_factory=list[float])
    known_tickers: list[str] = field(default_factory=list[str])
    is_earnings_date_confirmed: dict[str, bool] = field(default_factory=dict[str, bool])
    prediction_labels: set[str] = field(default_factory=set[str])
    """Labels of predictions: bullish, bearish, neutral, no_edge."""
    crossings: dict[date, bool] = field(default_factory=dict[date, bool])
    """Days on which averages crossed, each with whether the shorter one went above."""
    falls: dict[str, dict[date, date | None]] = field(default_factory=dict[str, "dict[date, date | None]"])
    """By ticker, the day of each peak with the day on which the fall was recovered, if it was."""

    @property
    def subjects(self) -> list[str]:
        """Every ticker with results or in the question."""
        return list(dict.fromkeys([*self.known_tickers, *(fact.subject for fact in self.facts)]))

    @property
    def year(self) -> int | None:
        """The calendar year of the longest periods of the figures; None if they lie in several."""
        ends = [fact.period.split("/") for fact in self.facts if fact.period and re.fullmatch(_STRETCH, fact.period)]
        spans = [((date.fromisoformat(last) - date.fromisoformat(first)).days, first, last) for first, last in ends]
        longest = max((days for days, _, _ in spans), default=0)
        years = {day[:4] for days, *edges in spans if days >= longest * 0.9 for day in edges}
        return int(min(years)) if len(years) == 1 else None

    def years_by_month(self, *, ahead: bool) -> dict[int, int]:
        """The year that each month (1-12) means: the latest in the data, or (`ahead`) the first one after them."""
        newest = max((day for days in self.days.values() for day in days), default=None)
        if newest is None:
            return {}
        if ahead:
            return {month: newest.year + (month < newest.month) for month in range(1, 13)}
        return {month: newest.year - (month > newest.month) for month in range(1, 13)}

    def find(self, subject: str, figures: Iterable[str], periods: Iterable[str] = ()) -> list[FigureFact]:
        """Returns a ticker's facts of these figures. If periods are given, a fact must be of one of them, or of no
        period if one of them contains days of the ticker's data."""
        names, wanted_periods = frozenset(figures), frozenset(periods)
        matches = [fact for fact in self.facts if fact.subject == subject and fact.figure in names]
        if not wanted_periods:
            return matches
        newest = max(self.days.get(subject, ()), default=None)
        if LAST_YEAR in wanted_periods:
            wanted_periods |= {"1y", year_range(newest.year - 1)} if newest else {"1y"}
        if newest is not None and year_range(newest.year) in wanted_periods:
            wanted_periods |= {"ytd"}
        includes_now = any(self._reaches(subject, period) for period in wanted_periods)
        return [
            fact
            for fact in matches
            if (includes_now if fact.period is None else _same_period(fact.period, wanted_periods))
        ]

    def _reaches(self, subject: str, period: str) -> bool:
        """Whether a period contains a day of the ticker's data, or is the year of one of its reports."""
        first, slash, last = period.partition("/")
        if not slash:
            return True
        if any(first <= day.isoformat() <= (last or "9") for day in self.days.get(subject, ())):
            return True
        return first[:4] == last[:4] and any(first[:4] in text for text in self.texts.get(subject, ()))

    def add(
        self, subject: str, name: str, value: object, period: str | None = None, currency: str | None = None,
        other: str | None = None,
    ) -> None:  # fmt: skip
        """Adds one figure; values other than numbers, dates and null are ignored."""
        if isinstance(value, bool):
            return
        if name in _DATE_FIELDS:
            day = next(iter(_days_in(str(value))), None) if value else None
            self.facts.append(FigureFact(subject, name, day, "date"))
        elif value is None or isinstance(value, int | float):
            number = None if value is None else float(value)
            unit: Unit = "fraction" if is_fraction(name) else "money" if name in MONEY_FIGURES else "number"
            self.facts.append(FigureFact(subject, name, number, unit, period, currency, other))

    def add_amount(self, subjects: Iterable[str], arguments: Mapping[str, object]) -> None:
        """Adds the amount that a tool was asked to invest in each ticker."""
        for name in ("amount", "cash"):
            for subject in subjects:
                if name in arguments:
                    self.add(subject, "invested", arguments[name])

    def add_crossing(self, subject: str | None, entry: Mapping[str, object]) -> None:
        """Adds a day on which averages crossed, and the close of that day, if the entry is a crossing."""
        day = entry.get("on")
        if isinstance(day, str) and isinstance(entry.get("above"), bool):
            if subject:
                self.add(subject, "close", entry.get("close"), f"{day}/{day}")
                self.days.setdefault(subject, set()).update(_days_in(day))
            self.crossings.update(dict.fromkeys(_days_in(day), bool(entry["above"])))

    def add_entry(self, subject: str, entry: Mapping[str, object]) -> None:
        """Adds a finding, or one ticker's part of a tool result."""
        currency = str(entry["currency"]) if entry.get("currency") else None
        self.known_tickers.append(subject)
        for period, value in cast("Mapping[str, object]", entry.get("returns") or {}).items():
            self.add(subject, "return", value, period, currency)
        window = cast("Mapping[str, object]", entry.get("window") or entry.get("ohlcv") or {})
        for name in ("high", "low", "open"):
            if name in window:
                self.add(subject, name, window[name], "1y", currency)
        if "volume" in window:
            self.add(subject, "window_volume", window["volume"], "1y")
        for name, value in entry.items():
            if name == "depth":  # of a fall from its peak to its trough
                self.add(subject, "max_drawdown", value, f"{entry.get('peak')}/{entry.get('trough')}")
                recovered_on = next(iter(_days_in(str(entry.get("recovered")))), None)
                self.falls.setdefault(subject, {}).update(dict.fromkeys(_days_in(str(entry.get("peak"))), recovered_on))
            elif name in _DATE_FIELDS or (
                isinstance(value, int | float | None) and name not in ("report", "report_source")
            ):
                self.add(subject, name, value, "1y" if name in YEARLY_FIGURES else None, currency)
        for days in ("20", "50", "200"):
            price, average = entry.get("price"), entry.get(f"sma_{days}")
            if isinstance(price, int | float) and isinstance(average, int | float) and average:
                self.add(subject, f"gap_{days}", price / average - 1)
        if isinstance(entry.get("prediction"), str):
            self.prediction_labels.add(str(entry["prediction"]))
        if entry.get("next_earnings_status"):
            self.is_earnings_date_confirmed[subject] = entry["next_earnings_status"] == "confirmed"
        self.add_words(subject, {**entry, **{f"window_{key}": value for key, value in window.items()}})

    def add_figures(self, figures: Sequence[Mapping[str, object]]) -> None:
        """Adds the typed figures that a tool lists: {ticker, figure, value, from?, to?, asked?, currency?, other?}."""
        for figure in figures:
            if "ticker" not in figure or "figure" not in figure:
                continue
            subject = str(figure["ticker"])
            self.known_tickers.append(subject)
            periods: list[str | None] = [str(figure["asked"])] if figure.get("asked") else []
            if figure.get("from") and figure.get("to"):
                periods.append(f"{figure['from']}/{figure['to']}")
            if figure.get("on"):
                periods.append(f"{figure['on']}/{figure['on']}")
            for period in periods or [None]:
                value, other = figure.get("value"), str(figure["other"]) if figure.get("other") else None
                if other == HOLDING:
                    subject, other = HOLDING, None
                    self.known_tickers.append(HOLDING)
                currency = str(figure["currency"]) if figure.get("currency") else None
                self.add(subject, str(figure["figure"]), value, period, currency, other)
                if other is not None and figure["figure"] == "correlation":
                    self.add(other, "correlation", value, period, currency, subject)
            self.add_words(subject, figure)

    def add_words(self, subject: str, entry: Mapping[str, object]) -> None:
        """Adds the dates, the source and the texts of an entry."""
        days = self.days.setdefault(subject, set())
        for name, value in entry.items():
            if not isinstance(value, str) or name in _DATE_FIELDS:
                continue
            if name == "source":
                self.sources.add(value)
            if name == "source" or name in _TEXT_FIELDS:
                self.texts.setdefault(subject, []).append(value)
            if name != "source":
                # Other values only count if they are a day or a time: their day, and what follows it.
                days |= _days_in(value if name in _TEXT_FIELDS else value[:11])


def _days_in(text: str) -> set[date]:
    """The days that a text of whatever tool names; what only looks like one (a filing's number, say) is none."""
    days: set[date] = set()
    for text_day in _DAY.findall(text):
        with suppress(ValueError):
            days.add(date.fromisoformat(text_day))
    return days


def _same_period(period: str, wanted_periods: frozenset[str]) -> bool:
    """Whether a period is one of these, apart from days without a session at its ends."""
    first, _, last = period.partition("/")
    ends = [wanted_period.split("/") for wanted_period in wanted_periods if "/" in wanted_period]
    if period in wanted_periods or (last and any(_is_beside(first, a) and _is_beside(last, b) for a, b in ends)):
        return True
    # "Since a day" is a range without an end.
    return any(wanted_period.endswith("/") and period.startswith(wanted_period) for wanted_period in wanted_periods)


def _is_beside(day: str, other: str) -> bool:
    if not day or not other:
        return day == other
    return abs((date.fromisoformat(day) - date.fromisoformat(other)).days) <= MAX_CLOSED_DAYS


def facts_of_findings(findings: Sequence[Mapping[str, object]], sources: Iterable[Mapping[str, object]] = ()) -> Facts:
    """The facts in a report's findings and their sources."""
    facts = Facts()
    for finding in findings:
        facts.add_entry(str(finding["ticker"]), finding)
        derived = finding.get("derived")
        if derived:
            facts.add_figures(cast("Sequence[Mapping[str, object]]", derived))
        for item in cast("Sequence[Mapping[str, object]]", finding.get("news") or ()):
            facts.add_words(str(finding["ticker"]), item)
        for crossing in cast("Sequence[Mapping[str, object]]", finding.get("crossings") or ()):
            facts.add_crossing(str(finding["ticker"]), crossing)
    for source in sources:
        facts.sources.add(str(source["source"]))
        if source.get("report"):
            facts.texts.setdefault(str(source["ticker"]), []).append(str(source["report"]))
    return facts


def facts_of_results(results: Iterable[tuple[str, Mapping[str, object]]]) -> Facts:
    """The facts in the results, (tool, data), of any tools."""
    facts = Facts()
    for tool, data in results:
        _collect(facts, tool, data, str(data.get("symbol") or "") or None)
    return facts


def _collect(facts: Facts, name: str, value: object, subject: str | None) -> None:
    if is_object(value):
        entry = object_of(value)
        if name == "note":
            return
        subject = str(entry.get("ticker") or entry.get("symbol") or "") or subject
        if subject:
            facts.add_entry(subject, _with_figure_names(entry))
        else:
            if isinstance(entry.get("source"), str):
                facts.sources.add(str(entry["source"]))
            numbers = (
                number for number in entry.values() if isinstance(number, int | float) and not isinstance(number, bool)
            )
            facts.loose_numbers += [float(number) for number in numbers]
            facts.loose_numbers += _account_shares(entry)
        facts.add_crossing(subject, entry)
        for listed in _FIGURE_LISTS:
            if is_list(entry.get(listed)):
                facts.add_figures(cast("list[Mapping[str, object]]", entry[listed]))
        for key, part in entry.items():
            if key == "indicators" and subject:
                _add_indicators(facts, subject, cast("Mapping[str, object]", part))
            elif key == "tickers" and is_object(part):
                for ticker, ticker_data in object_of(part).items():
                    _collect(facts, ticker, ticker_data, ticker)
            elif isinstance(part, dict | list) and key not in ("returns", "window", "ohlcv", "tail", *_FIGURE_LISTS):
                _collect(facts, key, cast("object", part), subject)
    elif is_list(value):
        for part in list_of(value):
            if isinstance(part, int | float) and not isinstance(part, bool):
                facts.loose_numbers.append(float(part))
            elif isinstance(part, str):
                facts.texts.setdefault(subject or "", []).append(part)
            else:
                _collect(facts, name, part, subject)


def _with_figure_names(entry: Mapping[str, object]) -> dict[str, object]:
    """A result's fields, renamed to the names of figures."""
    fields = dict(entry)
    if "change_percent" in fields:
        change = fields.pop("change_percent")
        fields["returns"] = {"1d": None if not isinstance(change, int | float) else change / 100}
    cost = entry.get("cost")
    if isinstance(cost, int | float) and cost and isinstance(entry.get("unrealized"), int | float):
        fields["unrealized_return"] = cast("float", entry["unrealized"]) / cost
    return fields


def _account_shares(entry: Mapping[str, object]) -> list[float]:
    """The shares of an account that are cash and each position, in per cent, and the sum of all gains."""
    equity, cash = entry.get("equity"), entry.get("cash")
    if not isinstance(equity, int | float) or not isinstance(cash, int | float) or not equity:
        return []
    positions = [object_of(position) for position in list_of(entry.get("positions"))]
    values = [position.get("value") or position.get("market_value") for position in positions]
    gains = [position.get("unrealized") for position in positions]
    amounts = [cash, *(value for value in values if isinstance(value, int | float))]
    known_gains = [gain for gain in gains if isinstance(gain, int | float)]
    return [100 * amount / equity for amount in amounts] + ([float(sum(known_gains))] if len(known_gains) > 1 else [])


def _add_indicators(facts: Facts, subject: str, indicators: Mapping[str, object]) -> None:
    for name, values in indicators.items():
        parts = object_of(values)
        period = parts.get("period")
        for key, value in parts.items():
            if key == "period":
                continue
            figure = name if key == "value" else key
            if name == "SMA" and period in (20, 50, 200):
                figure = {"value": f"sma_{period}", "gap": f"gap_{period}"}.get(key, key)
            facts.add(subject, figure, value)
