"""Writes sentences about the results that a question asked for; each names its period or its day.

"From 1 January 2008 to 31 December 2008, IBM: return -20.9%; maximum drawdown 42.4%." Several tickers are told side by
side, ranked by each figure.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, cast

from agent.domain.analysis.episodes import crossings_text, drawdowns_text, upcoming_results_text
from agent.domain.analysis.figures import has_prices
from agent.domain.analysis.formats import as_date, day, figure_name, joined, money, number, percent, period_text, signed
from agent.domain.analysis.headlines import news_text
from agent.domain.analysis.wanted_calls import CROSSINGS, Question
from agent.domain.claims.facts import FALL_FIGURES, HOLDING, MAX_CLOSED_DAYS, is_fraction
from agent.texts import TEXTS
from contracts.json_values import JsonObject
from contracts.languages import Language

Finding = Mapping[str, Any]
_DEFAULT_FIGURES = frozenset(
    ("return", "max_drawdown", "volatility", "high", "low", "best_day", "worst_day", "growth", "correlation", "beta",
     "exposure", "final", "costs")
)  # fmt: skip
"""The figures that are reported for a stretch when the question names none."""
_BACKTEST_FIGURES = ("return", "max_drawdown", "exposure", "final", "costs")
_PARTS: Mapping[str, tuple[str, ...]] = {
    "MACD": ("macd", "signal", "histogram"), "BB": ("upper", "middle", "lower"), "backtest": _BACKTEST_FIGURES,
    "price": ("price", "close"), "current_streak": ("up_run", "down_run"),
    "fundamentals": ("pe", "eps", "revenue", "market_cap", "gross_margin", "net_margin", "dividend_yield"),
}  # fmt: skip
"""Figures that one word asks for together."""
_UNRANKED_FIGURES = frozenset(
    ("sentiment", "macd", "signal", "histogram", "upper", "middle", "lower", "correlation", "beta", "exposure", "costs")
)
"""Figures by which nobody ranks tickers."""
_MONEY_FIGURES = frozenset(
    ("growth", "final", "costs", "high", "low", "close", "price", "dividends", "eps", "revenue", "market_cap",
     "upper", "middle", "lower", "EMA", "VWAP", "ATR", "atr_14", "base", "highest_close", "lowest_close")
)  # fmt: skip
_DATES = ("next_earnings_date", "next_dividend_date")
_NO_LIMITS: Mapping[str, int] = {}


def derived_text(findings: Sequence[Finding], language: Language) -> str:
    """A few short paragraphs on stretches, where the question names no figure; empty where there are none."""
    lines: list[str] = []
    for finding in findings:
        lines += _lines_by_period(finding, _DEFAULT_FIGURES, language)
        lines += crossings_text(finding, language)
        lines += news_text(finding, language)
    return "\n".join([*lines, *_ranking_lines(findings, ("return",), language, lowest_first=False)])


def requested_figures_text(findings: Sequence[Finding], question: Question, language: Language) -> str:
    """Reports what was asked for and nothing else: one ticker's figures stretch by stretch, several tickers' side by
    side."""
    then = [name for name in question.figures if name not in question.now_only]  # today's are not those of that time
    names = [part for name in then for part in _PARTS.get(name, (name,))]
    ranked = [name for name in names if name not in {*_UNRANKED_FIGURES, *question.most}] if len(findings) > 1 else []
    side_by_side = _ranking_lines(
        findings, ranked, language, question.lowest_first, question.periods, by_size=question.by_size
    )
    if chosen := _finding_at_place(findings, ranked, question):
        first, *others = dict.fromkeys(ranked)
        side_by_side = _ranking_lines(findings, [first], language, question.lowest_first, question.periods)
        return "\n".join([*side_by_side, *_lines_by_period(chosen, frozenset(others), language, question.periods)])
    told = {name for name in ranked if _is_ranked(findings, name, question.periods)}
    alone = frozenset(names) - {"sentiment"} - told
    lines: list[str] = []
    if question.by_year and len(findings) == 1:
        side_by_side = _year_ranking_lines(findings[0], sorted(alone), language, question.lowest_first)
        alone = frozenset[str]() if side_by_side else alone
    for finding in findings:
        if "averages" in question.figures:
            lines += _average_lines(finding, question.averages, language)
        lines += _lines_by_period(finding, alone, language, question.periods, question.most)
        if "drawdowns" in question.figures:
            lines += drawdowns_text(finding, language, question.most.get("drawdowns"))
        if "crossings" in question.figures:
            within = _period_of_tool(CROSSINGS, question)
            within = period_text(within, language, finding.get("as_of")) if within else ""
            most = question.most.get("crossings")
            lines += crossings_text(finding, language, within, most, upward=question.upward)
        if "sentiment" in question.figures:
            lines += _sentiment_lines(finding, language)
        if "news" in question.figures:
            lines += news_text(finding, language)
    if question.ahead and "next_earnings_date" in names:
        side_by_side = [*upcoming_results_text(findings, question.ahead, language), *side_by_side]
    return "\n".join([*side_by_side, *lines])


def _period_of_tool(tool: str, question: Question) -> str:
    """The stretch that a tool looks at; empty where its words are of the tool's own."""
    nothing: JsonObject = {}
    given = next((call.arguments for call in question.calls if call.tool == tool), nothing)
    period = str(given.get("period") or ("" if "start" in given else "1y"))
    if not period:
        return f"{given['start']}/{given.get('end', '')}"
    return period if re.fullmatch(r"\d+[dwmy]|ytd", period) else ""


def has_answer(finding: Finding, name: str, periods: Sequence[str]) -> bool:
    """Whether a finding has what was asked for by that name."""
    if name in ("news", "crossings", "drawdowns"):
        return finding.get(name) is not None
    if name == "averages":
        averages = (one for one in entries(finding, periods) if str(one["figure"]).startswith("sma_"))
        return any(one.get("value") is not None for one in averages)
    parts = _PARTS.get(name, (name,))
    beside = cast("Sequence[Mapping[str, Any]]", finding.get("derived") or ())
    return any(one["figure"] in parts and one.get("value") is not None for one in (*beside, *entries(finding, periods)))


def entries(finding: Finding, periods: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Returns every figure of a finding in one form: {ticker, figure, value, asked, on?, other?, currency?}."""
    ticker, currency = finding["ticker"], finding.get("currency")
    yield from _listed_figures(finding)
    for period, value in cast("Mapping[str, Any]", finding.get("returns") or {}).items():
        if period in periods:
            yield {"ticker": ticker, "figure": "return", "value": value, "asked": period}
    if has_prices(finding):
        for name in ("volatility", "max_drawdown", "current_drawdown"):
            yield {"ticker": ticker, "figure": name, "value": finding.get(name), "asked": "1y"}
    for name in ("price", "volume_zscore", *_PARTS["fundamentals"], "beta", *_DATES):
        if name in finding:
            status = finding.get("next_earnings_status") if name == "next_earnings_date" else None
            head = {"ticker": ticker, "currency": currency, "asked": None, "label": status}
            yield {**head, "figure": name, "value": finding[name]}


def _listed_figures(finding: Finding) -> list[Mapping[str, Any]]:
    """Returns the figures that a tool has listed one by one."""
    listed = cast("Sequence[Mapping[str, Any]]", finding.get("derived") or ())
    return [one for one in listed if one["ticker"] == finding["ticker"]]


def _lines_by_period(
    finding: Finding,
    names: frozenset[str],
    language: Language,
    periods: Sequence[str] = (),
    most: Mapping[str, int] = _NO_LIMITS,
) -> list[str]:
    ticker = str(finding["ticker"])
    known = entries(finding, periods) if periods else _listed_figures(finding)
    figures = [one for one in known if one["figure"] in names]
    found: list[str] = []
    for asked in dict.fromkeys(one.get("asked") for one in figures):
        mine = [one for one in figures if one.get("asked") == asked]
        head = f"{period_text(str(asked), language, _last_day(mine))}, {ticker}" if asked else ticker
        parts = _figure_texts([one for one in mine if one.get("value") is not None], language, most)
        if parts:
            found.append(f"{head}: {'; '.join(parts)}.")
        unknown = [one for one in mine if one.get("value") is None and periods == ()]
        if unknown:
            missing = joined([figure_name(str(one["figure"]), language) for one in unknown], language)
            told = TEXTS["analysis.told.missing"].in_language(language)
            found.append(told.format(ticker=ticker, missing=missing))
    return found


def _last_day(figures: Iterable[Mapping[str, Any]]) -> str | None:
    """The last day of the stretch that some figures are of; a best month has days of its own."""
    return max((str(one["to"]) for one in figures if one.get("to") and not one.get("on")), default=None)


def _figure_texts(figures: Sequence[Mapping[str, Any]], language: Language, most: Mapping[str, int]) -> list[str]:
    """Returns each figure as text. The best and worst parts are one sentence, with as many as the question asks for."""
    parts: dict[str, list[str]] = {}
    for at, one in enumerate(figures):
        name = str(one["figure"])
        end = name.startswith(("best_", "worst_"))
        said = parts.setdefault(name if end else str(at), [])
        if len(said) < (most.get(name, 1) if end else 1):
            said.append(_figure_text(one, language))
    for name in parts.keys() & most.keys():
        one, several = (figure_name(each, language) for each in (name, f"{name}s"))
        if len(parts[name]) > 1:
            parts[name] = [f"{several} {', '.join(text.removeprefix(one).strip() for text in parts[name])}"]
    return [text for said in parts.values() for text in said if text]


def _figure_text(one: Mapping[str, Any], language: Language) -> str:
    name, other = str(one["figure"]), one.get("other")
    if other == HOLDING:
        if name == "return":
            value = percent(float(one["value"]), language)
            return TEXTS["analysis.told.holding_return"].in_language(language).format(value=value)
        return ""
    label = figure_name(name, language)
    if one.get("length") and name in ("RSI", "ATR", "ADX", "EMA", "VWAP"):
        label += f" ({one['length']})"
    if name in ("correlation", "beta") and other:
        told = TEXTS["analysis.told.against"].in_language(language)
        return told.format(label=label, other=other, value=number(float(one["value"]), language, 2))
    text, on_day = f"{label} {_value_text(one, language)}", TEXTS["analysis.told.on_day"].in_language(language)
    if one.get("on") and name != "close" and not name.startswith("sma_") and one["figure"] not in _FIGURES_OF_DAY:
        first, last = one.get("from"), one.get("to")
        if name.startswith(("best_", "worst_", "up_", "down_")) and not name.endswith("_day") and first and last:
            told = TEXTS["analysis.told.between_days"].in_language(language)
            return text + told.format(first=day(first, language), last=day(last, language))
        return text + on_day.format(day=day(str(one["on"]), language))
    if name == "close" and one.get("on") and one.get("asked") != f"{one['on']}/{one['on']}":
        return text + on_day.format(day=day(str(one["on"]), language))
    return text


_FIGURES_OF_DAY = frozenset(
    ("price", "RSI", "EMA", "ATR", "atr_share", "VWAP", "OBV", "ADX", *_PARTS["MACD"], *_PARTS["BB"])
)
"""Figures whose day heads the line."""


def _value_text(one: Mapping[str, Any], language: Language) -> str:
    name, value = str(one["figure"]), one["value"]
    if name in _DATES:
        expected = one.get("label") == "expected"
        return day(str(value), language) + (TEXTS["analysis.told.expected"].in_language(language) if expected else "")
    if name in ("macd", "signal", "histogram"):
        return number(float(value), language, 3)
    if name in _MONEY_FIGURES or name.startswith("sma_"):
        return money(float(value), one.get("currency"), language)
    if name.startswith(("up_", "down_")) or name in ("OBV", "average_volume", "highest_volume"):
        return number(float(value), language, 0)
    if is_fraction(name):
        return percent(float(value), language)
    return number(float(value), language, 2)


def _average_lines(finding: Finding, lengths: Sequence[int], language: Language) -> list[str]:
    """Describes how the close stands to its averages, by their number of days."""
    ticker, found = finding["ticker"], list(entries(finding, ()))
    lines: list[str] = []
    for asked in dict.fromkeys(one.get("asked") for one in found if str(one["figure"]).startswith("sma_")):
        mine = {str(one["figure"]): one for one in found if one.get("asked") == asked and one.get("value") is not None}
        price = mine.get("price")
        if price is None or len(mine) == 1:
            continue
        parts: list[str] = []
        for one in (mine[f"sma_{length}"] for length in lengths if f"sma_{length}" in mine):
            gap_sign = float(price["value"]) - float(one["value"])
            place = "level" if gap_sign == 0 else "above" if gap_sign > 0 else "below"
            value = money(float(one["value"]), price.get("currency"), language)
            gap = mine.get(f"gap_{one['figure'][4:]}")
            value += f"; {signed(percent(float(gap['value']), language))}" if gap else ""
            place = TEXTS[f"analysis.told.{place}"].in_language(language)
            told = TEXTS["analysis.told.average"].in_language(language)
            parts.append(told.format(place=place, length=one["figure"][4:], value=value))
        close = money(float(price["value"]), price.get("currency"), language)
        told = TEXTS["analysis.told.close"].in_language(language)
        lines.append(
            told.format(
                over=period_text(str(asked), language), ticker=ticker, close=close, parts=joined(parts, language)
            )
        )
    return lines


def _sentiment_lines(finding: Finding, language: Language) -> list[str]:
    labels = TEXTS.section("analysis.tone")
    lines: list[str] = []
    for one in entries(finding, ()):
        if one["figure"] == "sentiment" and one.get("value") is not None:
            label, value = str(one.get("label")), number(float(one["value"]), language, 2)
            label = labels[label].in_language(language) if label in labels else label
            told = TEXTS["analysis.told.tone"].in_language(language)
            lines.append(told.format(ticker=finding["ticker"], label=label, value=value))
    return lines


def begin_together(days: Iterable[str]) -> bool:
    """Whether stretches begin within a few closed days of each other."""
    known = [date.fromisoformat(one) for one in days]
    return (max(known) - min(known)).days <= MAX_CLOSED_DAYS


def _first_days(known: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The first day of each ticker's stretch."""
    return {ticker: str(one["from"]) for ticker, one in known.items() if one.get("from") and not one.get("on")}


def _is_ranked(findings: Sequence[Finding], name: str, periods: Sequence[str]) -> bool:
    """Whether `_ranks` tells the figure of each ticker: of several, whose stretches begin together."""
    begun = (_first_days(known).values() for known in _by_period(findings, name, periods).values() if len(known) > 1)
    return _max_known_tickers(findings, name, periods) > 1 and all(begin_together(days) for days in begun if days)


def _ranking_lines(
    findings: Sequence[Finding],
    names: Sequence[str],
    language: Language,
    lowest_first: bool,
    periods: Sequence[str] = (),
    *,
    by_size: bool = False,
) -> list[str]:
    """Several tickers side by side, a figure a line, in its order."""
    lines: list[str] = []
    for name in dict.fromkeys(names):
        for asked, known in _by_period(findings, name, periods).items():
            if len(known) < 2:
                continue
            begun = _first_days(known)
            if begun and not begin_together(begun.values()):
                since = joined([f"{ticker} {day(first, language)}" for ticker, first in begun.items()], language)
                lines.append(TEXTS["analysis.told.unranked"].in_language(language).format(since=since))
                break
            order = _order(known, name, lowest_first=lowest_first)
            if by_size and name == "return":
                order = sorted(known, key=lambda ticker: abs(float(known[ticker]["value"])), reverse=not lowest_first)
            said = ", ".join(f"{ticker} {_value_with_day(known[ticker], language)}" for ticker in order)
            head = _order_label(name, language, lowest_first, by_size=by_size)
            head = (
                f"{period_text(asked, language, _last_day(known.values()))}, {head}"
                if asked
                else head[0].upper() + head[1:]
            )
            lines.append(f"{head}: {said}.")
    return lines


def _order(known: Mapping[str, Mapping[str, Any]], name: str, *, lowest_first: bool) -> list[str]:
    return sorted(
        known, key=lambda ticker: _sort_key(known[ticker]["value"], name in FALL_FIGURES), reverse=not lowest_first
    )


def _finding_at_place(findings: Sequence[Finding], ranked: Sequence[str], question: Question) -> Finding | None:
    """The one of which the other figures are asked for, by its place in the order by the first of them."""
    if question.place is None or len(set(ranked)) < 2:
        return None
    for known in _by_period(findings, ranked[0], question.periods).values():
        order = _order(known, ranked[0], lowest_first=question.lowest_first)
        if question.place < len(order):
            return next(one for one in findings if one["ticker"] == order[question.place])
    return None


def _year_ranking_lines(finding: Finding, names: Sequence[str], language: Language, lowest_first: bool) -> list[str]:
    """One ticker's whole years side by side, a figure a line, in its order."""
    lines: list[str] = []
    for name in names:
        known = {
            str(one["asked"])[:4]: one
            for one in _listed_figures(finding)
            if one["figure"] == name and one.get("value") is not None and str(one.get("asked")).endswith("-12-31")
        }
        order = sorted(
            known, key=lambda year: _sort_key(known[year]["value"], name in FALL_FIGURES), reverse=not lowest_first
        )
        if len(order) > 1:
            said = ", ".join(f"{year}: {_value_with_day(known[year], language)}" for year in order)
            lines.append(f"{finding['ticker']}, {_order_label(name, language, lowest_first)}: {said}.")
    return lines


def _order_label(name: str, language: Language, lowest_first: bool, *, by_size: bool = False) -> str:
    """Says by what the tickers or years are sorted, and in which direction."""
    label = figure_name(name, language)
    if name in _DATES:
        return label
    if by_size and name == "return":
        return TEXTS[f"analysis.order.{'smallest' if lowest_first else 'largest'}"].in_language(language)
    if name == "growth":
        label = TEXTS["analysis.order.final_amount"].in_language(language)
    first = ("deepest", "mildest") if name in FALL_FIGURES else ("highest", "lowest")
    return TEXTS[f"analysis.order.{first[lowest_first]}_first"].in_language(language).format(label=label)


def _value_with_day(one: Mapping[str, Any], language: Language) -> str:
    """A value with its day, where the figure is of one."""
    name, text = str(one["figure"]), _value_text(one, language)
    if name.startswith(("best_", "worst_")) and one.get("on"):
        return f"{text} ({day(str(one['on']), language)})"
    return text


def _sort_key(value: object, falls: bool) -> float:
    if isinstance(value, str):
        return -float(as_date(value).toordinal())
    number_of = float(cast("float", value))
    return -number_of if falls else number_of


def _max_known_tickers(findings: Sequence[Finding], name: str, periods: Sequence[str]) -> int:
    """Returns the largest number of tickers that have the figure over one stretch."""
    return max((len(known) for known in _by_period(findings, name, periods).values()), default=0)


def _by_period(
    findings: Sequence[Finding], name: str, periods: Sequence[str]
) -> dict[str | None, dict[str, Mapping[str, Any]]]:
    found: dict[str | None, dict[str, Mapping[str, Any]]] = {}
    for finding in findings:
        for one in entries(finding, periods):
            mine = one["ticker"] == finding["ticker"] and not one.get("other")
            if mine and one["figure"] == name and one.get("value") is not None:
                found.setdefault(one.get("asked"), {}).setdefault(str(one["ticker"]), one)
    return found
