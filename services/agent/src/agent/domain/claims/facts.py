"""What tools have returned, as typed figures: ticker, figure, number, unit, period.

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
"""Whom a trial of a rule is compared with: one more of whom figures are told."""
FALL_FIGURES = frozenset(("max_drawdown", "current_drawdown"))
"""Figures that are said as so many percent down."""
YEARLY_FIGURES = frozenset(("max_drawdown", "current_drawdown", "volatility"))
"""Figures of a snapshot that look at a year."""
MAX_CLOSED_DAYS = 4
"""Days in a row on which a market may be closed."""
_FIGURE_LISTS = ("figures", "derived")
"""Where a tool's answer, and a finding of an analysis, list typed figures."""
_DATE_FIELDS = ("next_earnings_date", "next_dividend_date")
_DAY = re.compile(r"(?<![\w-])\d{4}-\d{2}-\d{2}(?!\d)")
_STRETCH = r"\d{4}-\d{2}-\d{2}/\d{4}-\d{2}-\d{2}"
_TEXT_FIELDS = frozenset(
    ("title", "text", "summary", "report_source", "report", "period", "note", "name", "headline", "description")
)


def is_fraction(name: str) -> bool:
    """Whether a figure of this name is given in per cent, such as best_month and month_return."""
    return name in FRACTION_FIGURES or name.startswith(("gap_", "best_", "worst_")) or name.endswith("_return")


@dataclass(frozen=True, slots=True)
class FigureFact:
    """One figure of one ticker. `period`: 1y, ytd, or first/last as dates; `other`: whom it is measured against."""

    subject: str
    figure: str
    value: float | date | None
    unit: Unit
    period: str | None = None
    currency: str | None = None
    other: str | None = None


@dataclass(slots=True)
class Facts:
    """Everything that may be said. `loose`: numbers that are nobody's figure, such as those of the question;
    `texts`: what tools gave in words, folded by whoever reads; `given`: the talk's own texts, one by one; `days`:
    dates of data, by ticker."""

    facts: list[FigureFact] = field(default_factory=list["FigureFact"])
    sources: set[str] = field(default_factory=set[str])
    days: dict[str, set[date]] = field(default_factory=dict[str, set[date]])
    texts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    conversation_texts: list[str] = field(default_factory=list[str])
    loose_numbers: list[float] = field(default_factory=list[float])
    known_tickers: list[str] = field(default_factory=list[str])
    is_earnings_date_confirmed: dict[str, bool] = field(default_factory=dict[str, bool])
    prediction_labels: set[str] = field(default_factory=set[str])
    """What a prediction says: bullish, bearish, neutral, no_edge."""
    crossings: dict[date, bool] = field(default_factory=dict[date, bool])
    """The days on which averages crossed, each with whether the shorter one went above."""
    falls: dict[str, dict[date, date | None]] = field(default_factory=dict[str, "dict[date, date | None]"])
    """Of each ticker the days from which it fell, each with the day on which it was recovered, if it was."""

    @property
    def subjects(self) -> list[str]:
        """Every ticker that something is known of, or that was asked about."""
        return list(dict.fromkeys([*self.known_tickers, *(fact.subject for fact in self.facts)]))

    @property
    def year(self) -> int | None:
        """The one calendar year that the longest stretches of the figures lie in."""
        ends = [one.period.split("/") for one in self.facts if one.period and re.fullmatch(_STRETCH, one.period)]
        spans = [((date.fromisoformat(last) - date.fromisoformat(first)).days, first, last) for first, last in ends]
        longest = max((days for days, _, _ in spans), default=0)
        years = {day[:4] for days, *edges in spans if days >= longest * 0.9 for day in edges}
        return int(min(years)) if len(years) == 1 else None

    def years_by_month(self, *, ahead: bool) -> dict[int, int]:
        """The year of each month: the latest that the data reach, or (`ahead`) the first one after them."""
        newest = max((day for days in self.days.values() for day in days), default=None)
        if newest is None:
            return {}
        if ahead:
            return {month: newest.year + (month < newest.month) for month in range(1, 13)}
        return {month: newest.year - (month > newest.month) for month in range(1, 13)}

    def find(self, subject: str, figures: Iterable[str], periods: Iterable[str] = ()) -> list[FigureFact]:
        """A ticker's facts of these names; where periods are given, of one of them or, if they reach the days that
        are known of it, of none."""
        names, wanted = frozenset(figures), frozenset(periods)
        found = [fact for fact in self.facts if fact.subject == subject and fact.figure in names]
        if not wanted:
            return found
        newest = max(self.days.get(subject, ()), default=None)
        if LAST_YEAR in wanted:
            wanted |= {"1y", year_range(newest.year - 1)} if newest else {"1y"}
        if newest is not None and year_range(newest.year) in wanted:
            wanted |= {"ytd"}
        now = any(self._reaches(subject, period) for period in wanted)
        return [one for one in found if (now if one.period is None else _same_period(one.period, wanted))]

    def _reaches(self, subject: str, period: str) -> bool:
        """Whether a period has a day of which something is known of the ticker, or is the year of a report of it."""
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
        """One figure; what is neither number, date nor null is none."""
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
        """What a tool was asked to put into each of them."""
        for name in ("amount", "cash"):
            for subject in subjects:
                if name in arguments:
                    self.add(subject, "invested", arguments[name])

    def add_crossing(self, subject: str | None, entry: Mapping[str, object]) -> None:
        """A day on which averages crossed, and the close of that day, if the entry is one."""
        on = entry.get("on")
        if isinstance(on, str) and isinstance(entry.get("above"), bool):
            if subject:
                self.add(subject, "close", entry.get("close"), f"{on}/{on}")
                self.days.setdefault(subject, set()).update(_days_in(on))
            self.crossings.update(dict.fromkeys(_days_in(on), bool(entry["above"])))

    def add_entry(self, subject: str, entry: Mapping[str, object]) -> None:
        """A finding, or one ticker's part of a tool's answer."""
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
                peaks = dict.fromkeys(
                    _days_in(str(entry.get("peak"))), next(iter(_days_in(str(entry.get("recovered")))), None)
                )
                self.falls.setdefault(subject, {}).update(peaks)
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
        """The typed figures that a tool lists: {ticker, figure, value, from?, to?, asked?, currency?, other?}."""
        for one in figures:
            if "ticker" not in one or "figure" not in one:
                continue
            subject = str(one["ticker"])
            self.known_tickers.append(subject)
            periods: list[str | None] = [str(one["asked"])] if one.get("asked") else []
            if one.get("from") and one.get("to"):
                periods.append(f"{one['from']}/{one['to']}")
            if one.get("on"):
                periods.append(f"{one['on']}/{one['on']}")
            for period in periods or [None]:
                value, other = one.get("value"), str(one["other"]) if one.get("other") else None
                if other == HOLDING:
                    subject, other = HOLDING, None
                    self.known_tickers.append(HOLDING)
                currency = str(one["currency"]) if one.get("currency") else None
                self.add(subject, str(one["figure"]), value, period, currency, other)
                if other is not None and one["figure"] == "correlation":
                    self.add(other, "correlation", value, period, currency, subject)
            self.add_words(subject, one)

    def add_words(self, subject: str, entry: Mapping[str, object]) -> None:
        """The dates, the source and the words of an entry."""
        days = self.days.setdefault(subject, set())
        for name, value in entry.items():
            if name == "source" and isinstance(value, str):
                self.sources.add(value)
                self.texts.setdefault(subject, []).append(value)
            elif (
                name not in _DATE_FIELDS and isinstance(value, str) and (name in _TEXT_FIELDS or not _DAY.match(value))
            ):
                if name in _TEXT_FIELDS:
                    self.texts.setdefault(subject, []).append(value)
                    days |= _days_in(value)
            elif name not in _DATE_FIELDS and isinstance(value, str):
                days |= _days_in(value[:10])


def _days_in(text: str) -> set[date]:
    """The days that a text of whatever tool names; what only looks like one (a filing's number, say) is none."""
    days: set[date] = set()
    for one in _DAY.findall(text):
        with suppress(ValueError):
            days.add(date.fromisoformat(one))
    return days


def _same_period(period: str, wanted: frozenset[str]) -> bool:
    """Whether it is one of those, but for days at its ends on which no session may have been."""
    first, _, last = period.partition("/")
    ends = [one.split("/") for one in wanted if "/" in one]
    if period in wanted or (last and any(_is_beside(first, a) and _is_beside(last, b) for a, b in ends)):
        return True
    # "Since a day" is a range that is open at its end.
    return any(one.endswith("/") and period.startswith(one) for one in wanted)


def _is_beside(day: str, other: str) -> bool:
    if not day or not other:
        return day == other
    return abs((date.fromisoformat(day) - date.fromisoformat(other)).days) <= MAX_CLOSED_DAYS


def facts_of_findings(findings: Sequence[Mapping[str, object]], sources: Iterable[Mapping[str, object]] = ()) -> Facts:
    """What a report's findings say."""
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
    """What the data of tool results say, whichever tools they are: (tool, data)."""
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
            numbers = (one for one in entry.values() if isinstance(one, int | float) and not isinstance(one, bool))
            facts.loose_numbers += [float(one) for one in numbers]
            facts.loose_numbers += _account_shares(entry)
        facts.add_crossing(subject, entry)
        for listed in _FIGURE_LISTS:
            if is_list(entry.get(listed)):
                facts.add_figures(cast("list[Mapping[str, object]]", entry[listed]))
        for key, part in entry.items():
            if key == "indicators" and subject:
                _add_indicators(facts, subject, cast("Mapping[str, object]", part))
            elif key == "tickers" and is_object(part):
                for ticker, one in object_of(part).items():
                    _collect(facts, ticker, one, ticker)
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
    """An answer's fields by the names that figures have."""
    found = dict(entry)
    if "change_percent" in found:
        change = found.pop("change_percent")
        found["returns"] = {"1d": None if not isinstance(change, int | float) else change / 100}
    cost = entry.get("cost")
    if isinstance(cost, int | float) and cost and isinstance(entry.get("unrealized"), int | float):
        found["unrealized_return"] = cast("float", entry["unrealized"]) / cost
    return found


def _account_shares(entry: Mapping[str, object]) -> list[float]:
    """What part of an account its cash and each holding are, in per cent, and what all of them have gained."""
    equity, cash = entry.get("equity"), entry.get("cash")
    if not isinstance(equity, int | float) or not isinstance(cash, int | float) or not equity:
        return []
    held = [object_of(one) for one in list_of(entry.get("positions"))]
    values = [one.get("value") or one.get("market_value") for one in held]
    gains = [one.get("unrealized") for one in held]
    parts = [cash, *(one for one in values if isinstance(one, int | float))]
    known = [one for one in gains if isinstance(one, int | float)]
    return [100 * one / equity for one in parts] + ([float(sum(known))] if len(known) > 1 else [])


def _add_indicators(facts: Facts, subject: str, found: Mapping[str, object]) -> None:
    for name, values in found.items():
        if not is_object(values):
            continue
        parts = object_of(values)
        period = parts.get("period")
        for key, value in parts.items():
            if key == "period":
                continue
            figure = name if key == "value" else key
            if name == "SMA" and period in (20, 50, 200):
                figure = {"value": f"sma_{period}", "gap": f"gap_{period}"}.get(key, key)
            facts.add(subject, figure, value)
