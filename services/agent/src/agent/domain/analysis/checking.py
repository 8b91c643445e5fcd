"""Whether a text says only what the tools gave: each number is looked for among the figures of the tickers that its
sentence is about, in the unit, sign and period that it is said with. What cannot be placed counts as invented.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from agent.domain.analysis.asked import Period, periods_named
from agent.domain.analysis.claims import claims_in, wrong_order
from agent.domain.analysis.comparing import PERIODS, value_of
from agent.domain.analysis.times_said import dates_of, without_dates, without_spans
from agent.domain.offline.reading import plain

_FRACTIONS = ("max_drawdown", "current_drawdown", "volatility", "gross_margin", "net_margin", "dividend_yield")
_PLAIN = (
    "price", "sma_20", "sma_50", "sma_200", "atr_14", "volume_zscore", "pe", "eps", "revenue", "market_cap", "beta",
)  # fmt: skip
_WINDOW = ("open", "high", "low", "close", "volume", "bars")
_SIGNLESS = frozenset(("max_drawdown", "current_drawdown"))
"""Falls, which are said as so many percent down."""
_BULLET = re.compile(r"(?m)^\s*\d{1,2}[.)]\s")
_NUMBER = re.compile(
    r"(?P<sign>[-+](?=[\d$€]))?[$€]?(?P<digits>\d(?:[\d.,]*\d)?)\s*"
    r"(?P<unit>%|percent\b|per cent\b|por ciento\b|percentage points?\b|pp\b|puntos?\b|mil millones\b|millones\b|"
    r"thousand\b|millions?\b|billions?\b|trillions?\b|billones\b|bn\b|[mbtk]\b)?"
)
_SCALES = {
    **dict.fromkeys(("thousand", "k"), 1e3),
    **dict.fromkeys(("m", "million", "millions", "millones"), 1e6),
    **dict.fromkeys(("b", "bn", "billion", "billions", "mil millones"), 1e9),
    **dict.fromkeys(("t", "trillion", "trillions", "billones"), 1e12),
}
_PERCENT = frozenset(("%", "percent", "per cent", "por ciento"))
_POINTS = frozenset(("percentage point", "percentage points", "pp", "punto", "puntos"))
_FALL = re.compile(
    r"\b(f[ae]ll\w*|drop\w*|declin\w*|lost|los(?:s|t|es|ing)|down|decreas\w*|slid\w*|slump\w*|negative\w*|shed|sank|"
    r"baj\w+|ca(?:yo|ido|ida|idas|en|e|yeron)|perdi\w*|pierd\w*|retroce\w*|descen\w*|negativ\w*|drawdown\w*)\b"
)
_RISE = re.compile(
    r"\b(r[io]se\w*|risen|rising|gain\w*|grew|grow\w*|up|increas\w*|climb\w*|advanc\w*|positive\w*|rall\w+|"
    r"sub(?:io|ieron|ido|e|en|ida)|gan(?:o|aron|ancia\w*)|avanz\w*|crec\w+|positiv\w*|aument\w*)\b"
)


@dataclass(frozen=True, slots=True)
class _Figure:
    ticker: str
    name: str
    value: float
    is_fraction: bool
    period: Period | None = None


def unsupported(text: str, findings: Sequence[Mapping[str, Any]], period: Period) -> list[str]:
    """What the text says that no tool gave, a few words each; empty: it may be published. `period`: the query's own."""
    figures = [figure for finding in findings for figure in _figures_of(finding)]
    known_dates = dates_of(findings)
    tickers = [str(finding["ticker"]) for finding in findings]
    said = plain(text).replace("−", "-").replace("–", "-")
    wrong: list[str] = []
    if said.lstrip().startswith(("{", "[")) or "```" in said:
        return ["it is no prose"]
    wrong += claims_in(said)
    about: list[str] = []
    for sentence in re.split(r"(?<=[.!?])\s+(?=[^\d\s])|\n+", said):
        about = _mentioned(sentence, tickers) or about or tickers
        wrong += wrong_order(sentence, tickers, findings, period)
        rest, dates_wrong = without_dates(_BULLET.sub(" ", sentence), known_dates)
        wrong += dates_wrong
        rest, spans_wrong = without_spans(rest)
        wrong += spans_wrong
        clauses = re.split(
            r";|:(?=\s)|,(?=\s)|\s(?=(?:while|whereas|and|but|against|versus|mientras|y|e|pero|frente a|contra)\s)",
            rest,
        )
        carried = about
        for clause in clauses:
            named = _mentioned(clause, tickers)
            carried = named or carried
            for match in _NUMBER.finditer(clause):
                if not _supported(match, clause, sentence, [f for f in figures if f.ticker in carried]):
                    wrong.append(f"a number that no tool gave: {match[0].strip()}")
    return wrong


def _supported(match: re.Match[str], clause: str, sentence: str, figures: Sequence[_Figure]) -> bool:
    unit = (match["unit"] or "").strip()
    if unit in _POINTS:
        return False
    is_percent = unit in _PERCENT
    scale = 1.0 if is_percent else _SCALES.get(unit, 1.0)
    negative = match["sign"] == "-"
    periods = periods_named(clause) or periods_named(sentence)
    before = clause[: match.start()]
    for value, places in _readings(match["digits"]):
        tolerance = 0.5 * 10.0**-places * scale * 1.000001
        for figure in figures:
            if is_percent != figure.is_fraction:
                continue
            actual = figure.value * 100 if figure.is_fraction else figure.value
            if abs(value * scale - abs(actual)) > tolerance:
                continue
            if figure.period is not None and periods and figure.period not in periods and len(periods) == 1:
                continue
            if value == 0 or _sign_fits(figure, actual, negative, match["sign"] == "+", before, clause):
                return True
    return False


def _sign_fits(figure: _Figure, actual: float, negative: bool, positive: bool, before: str, clause: str) -> bool:
    if figure.name in _SIGNLESS:
        return not positive or actual == 0
    if negative:
        return actual < 0
    if positive:
        return actual > 0
    if figure.period is None:
        return actual >= 0 or bool(_FALL.search(clause)) or figure.name == "volume_zscore"
    # The word nearest before the number, or else any in its clause, says which way it went.
    falls = [m.start() for m in _FALL.finditer(before)] or [-1 for _ in _FALL.finditer(clause[len(before) :])]
    rises = [m.start() for m in _RISE.finditer(before)] or [-1 for _ in _RISE.finditer(clause[len(before) :])]
    if not falls and not rises:
        return actual >= 0
    return actual <= 0 if max(falls, default=-2) >= max(rises, default=-2) else actual >= 0


def _readings(digits: str) -> list[tuple[float, int]]:
    """The values that a number may have, with its decimal places: 1,234.5 and 1.234,5 and, in doubt, both."""
    found: list[tuple[float, int]] = []
    for group, point in ((",", "."), (".", ",")):
        if re.fullmatch(rf"(?:\d{{1,3}}(?:{re.escape(group)}\d{{3}})+|\d+)(?:{re.escape(point)}\d+)?", digits):
            text = digits.replace(group, "").replace(point, ".")
            found.append((float(text), len(text.partition(".")[2])))
    return found


def _figures_of(finding: Mapping[str, Any]) -> list[_Figure]:
    ticker = str(finding["ticker"])
    found: list[_Figure] = []
    for period in PERIODS:
        value = value_of(finding, f"returns.{period}")
        if value is not None:
            found.append(_Figure(ticker, f"returns.{period}", value, is_fraction=True, period=period))
    for names, is_fraction in ((_FRACTIONS, True), (_PLAIN, False)):
        for name in names:
            value = value_of(finding, name)
            if value is not None:
                found.append(_Figure(ticker, name, value, is_fraction=is_fraction))
    window = cast("Mapping[str, Any]", finding.get("window") or {})
    found += [
        _Figure(ticker, name, float(window[name]), is_fraction=False)
        for name in _WINDOW
        if window.get(name) is not None
    ]
    return found


def _mentioned(text: str, tickers: Sequence[str]) -> list[str]:
    return [one for one in tickers if re.search(rf"(?<![a-z0-9]){re.escape(one.lower())}(?![a-z0-9])", text)]
