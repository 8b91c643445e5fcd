"""What a question asks for beyond how tickers stand now, read by rules in es and en: which tools, with what arguments.

    when     in 2008 · March to June 2012 · Q3 2011 · since 2010 · the last five years · six months
    what     10,000 invested · correlation · beta against ^GSPC · 50/200 crossings · a rule tried · news · falls · days

Nothing here computes a figure: each of these is one call of a tool.
"""

import re
from dataclasses import dataclass
from typing import Any

from agent.domain.analysis.tickers import tickers_in
from agent.domain.claims import times
from agent.domain.claims.lexer import folded, readings
from contracts.languages import Language

PERFORMANCE, CORRELATION, CROSSINGS, BACKTEST = (
    "get_performance", "get_correlation", "get_crossings", "backtest_strategy",
)  # fmt: skip
NEWS = "get_news"
SNAPSHOTS = frozenset(("1d", "1w", "1m", "3m", "1y", "ytd"))
"""Periods that a snapshot has."""
_AMOUNT = re.compile(
    r"(?:(?:usd|eur|\$|€) ?)?(?P<amount>\d[\d.,]*\d|\d)(?P<k>k| mil\b)? ?(?:usd|eur|dollars?|dolares|euros?|\$|€)?"
    r"(?= (?:invested|put in|invertid[oa]s?|in (?:the )?[a-z]+ (?:a|one|\d)|en [a-z]+ hace|placed))"
    r"|(?:invest(?:ed|ing)?|put|had put|invertido|invertir|invirtiendo|metido|puesto) (?:(?:usd|eur|\$|€) ?)?"
    r"(?P<amount2>\d[\d.,]*\d|\d)(?P<k2>k| mil\b)?"
)
_AGO = re.compile(
    rf"(?P<count>{times.COUNT}) (?P<unit>days?|weeks?|months?|years?) ago\b"
    rf"|\bhace (?P<count2>{times.COUNT}) (?P<unit2>dias?|semanas?|mes(?:es)?|anos?)\b"
)
_CORRELATION = re.compile(r"\b(?:correlat\w+|correlaci\w+|move together|se mueven juntos)\b")
_BETA = re.compile(
    r"\bbeta\b(?:(?! and | y ).)*?\b(?:against|versus|vs\.?|to|with|on|frente a(?:l)?|contra|respecto a(?:l)?|sobre)\b"
    r"(?P<whom>.*)"
)
_CROSSING = re.compile(r"\b(?:cross(?:ed|es|ing|ings|over|overs)?|cruz\w+|cruces?|golden cross|death cross)\b")
_LENGTHS = re.compile(
    r"\b(\d{1,3})(?:[- ]?(?:day|session|dia|sesion)\w*)?(?: ?(?:/|and|y|,|over|sobre|con la de) ?)(\d{1,3})\b"
)
_BACKTEST = re.compile(r"\b(?:backtest\w*|back-test\w*|strateg\w+|estrateg\w+|trading rule|regla de)\b")
_NEWS = re.compile(r"\b(?:news|headlines?|noticias?|titulares?)\b")
_DAYS = re.compile(
    r"\b(?:(?:best|worst) (?:\w+ )?(?:day|session)s?|(?:mejor|peor)(?:es)? (?:dia|sesion)\w*|drawdown periods?|"
    r"(?:biggest|largest|deepest|worst) (?:falls?|drawdowns?|drops?)|(?:mayores|peores) (?:caidas|retrocesos)|"
    r"periodos de caida)\b"
)
_FUNDAMENTALS = re.compile(
    r"\b(?:p/?e|per|eps|fundamental\w*|revenue|ingresos|market cap\w*|capitaliza\w+|margin\w*|margen\w*|dividend\w*|"
    r"earnings|resultados|valuation|valoracion)\b"
)
_RULES = (
    ("rsi_reversion", re.compile(r"\brsi\b")),
    ("momentum", re.compile(r"\bmoment(?:um|o)\b")),
    ("buy_and_hold", re.compile(r"\b(?:buy and hold|comprar y mantener)\b(?!.*cross|.*cruce)")),
)


@dataclass(frozen=True, slots=True)
class WantedCall:
    """One call that the question asks for, and what a person calls it."""

    tool: str
    tickers: tuple[str, ...]
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class When:
    """A stretch as tools take it: days, or a length up to now; `period`: as claims write it."""

    arguments: dict[str, Any]
    period: str | None = None


def when_in(query: str) -> When:
    """The stretch that the question names; a length that a snapshot has is a period and no arguments."""
    text = folded(query)
    for match in times.RANGE.finditer(text):
        found = times.range_of(match["first"], match["last"])
        if found is not None:
            return _days(found)
    for pattern, read in ((times.QUARTER, times.quarter_range), (times.HALF, times.half_range)):
        match = pattern.search(text)
        if match is not None:
            return _days(read(match))
    match = times.SINCE.search(text)
    if match is not None and (since := times.since_of(match["first"])):
        return _days(since)
    match = times.IN_MONTH.search(text)
    if match is not None:
        return _days(times.month_range(int(match["year"]), times.month_of(match["month"])))
    match = times.IN_YEAR.search(text)
    if match is not None:
        return _days(times.year_range(int(match["year"])))
    ago = _AGO.search(text)
    if ago is not None:
        return _length(times.length_of(ago["count"] or ago["count2"], ago["unit"] or ago["unit2"]))
    for name, pattern in times.NAMED:
        match = pattern.search(text)
        if match is not None:
            return _length(times.span_of(match) if name == "span" else name)
    return When({})


def wanted_by(query: str, tickers: tuple[str, ...]) -> tuple[WantedCall, ...]:
    """The calls that the question asks for, in their order; none: it asks how the tickers stand."""
    text, when = folded(query), when_in(query)
    stretch = when.arguments or ({"period": when.period} if when.period and when.period != "ytd" else {})
    calls: list[WantedCall] = []
    amount = _amount_in(text)
    beta = _BETA.search(text)
    if _CORRELATION.search(text) or beta is not None:
        benchmark = tickers_in(query[beta.start("whom") :])[:1] if beta is not None else []
        calls.append(
            WantedCall(CORRELATION, tickers, {**stretch, **({"benchmark": benchmark[0]} if benchmark else {})})
        )
    if _BACKTEST.search(text):
        rule = next((name for name, pattern in _RULES if pattern.search(text)), "sma_cross")
        calls += [WantedCall(BACKTEST, (one,), {"rule": rule, **_lengths(text, rule), **stretch}) for one in tickers]
    elif _CROSSING.search(text):
        calls += [WantedCall(CROSSINGS, (one,), {**_lengths(text, "sma_cross"), **stretch}) for one in tickers]
    if amount is not None or _DAYS.search(text) or (when.arguments and not calls):
        calls.insert(0, WantedCall(PERFORMANCE, tickers, {**stretch, **({"amount": amount} if amount else {})}))
    if _NEWS.search(text):
        calls += [WantedCall(NEWS, (one,), {}) for one in tickers]
    if calls and _FUNDAMENTALS.search(text.replace("beta", " ")):
        calls.append(WantedCall("fundamentals_events", tickers, {}))
    return tuple(calls)


def named(tool: str, arguments: dict[str, Any], language: Language) -> str:
    """What a person calls what was asked for."""
    labels = {
        PERFORMANCE: {"es": "las cifras del periodo", "en": "the figures of the period"},
        CORRELATION: {"es": "la correlación o la beta", "en": "the correlation or beta"},
        CROSSINGS: {"es": "los cruces de medias", "en": "the crossings of averages"},
        BACKTEST: {"es": "la prueba de la regla", "en": "the trial of the rule"},
        NEWS: {"es": "las noticias", "en": "the news"},
    }
    label = labels.get(tool, {"es": tool, "en": tool})[language]
    if "start" in arguments or "end" in arguments:
        return f"{label} ({arguments.get('start', '…')} – {arguments.get('end', '…')})"
    return f"{label} ({arguments['period']})" if "period" in arguments else label


def _days(found: str) -> When:
    first, _, last = found.partition("/")
    return When({"start": first, **({"end": last} if last else {})}, found)


def _length(period: str) -> When:
    return When({}, period) if period in SNAPSHOTS else When({"period": period}, period)


def _amount_in(text: str) -> float | None:
    match = _AMOUNT.search(text)
    if match is None:
        return None
    found = readings(match["amount"] or match["amount2"])
    thousand = 1000.0 if match["k"] or match["k2"] else 1.0
    values = sorted(value for value, places in found if places == 0 or places == 2)
    return (values[-1] if values else found[0][0]) * thousand if found else None


def _lengths(text: str, rule: str) -> dict[str, int]:
    match = _LENGTHS.search(text)
    if match is None:
        return {"fast": 14} if rule == "rsi_reversion" else {}
    fast, slow = sorted((int(match[1]), int(match[2])))
    return {"fast": fast, "slow": slow} if 2 <= fast < slow <= 250 else {}
