"""Writes sentences about the results that a question asked for; each names its period or its day.

"From 1 January 2008 to 31 December 2008, IBM: return -20.9%; maximum drawdown 42.4%." Several tickers are listed side
by side, ranked by each figure.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agent.domain.analysis.episodes import crossings_text, drawdowns_text, news_text, upcoming_results_text
from agent.domain.analysis.figure_entries import (
    FIGURE_PARTS,
    Finding,
    entries,
    last_day,
    listed_figures,
    value_text,
)
from agent.domain.analysis.formats import day, figure_name, joined, money, number, percent, period_text, signed
from agent.domain.analysis.rankings import PART_FIGURE, finding_at_place, is_ranked, part_ranking_lines, ranking_lines
from agent.domain.analysis.texts import analysis_text
from agent.domain.analysis.wanted_calls import CROSSINGS, Question
from agent.domain.claims.facts import HOLDING
from agent.texts import TEXTS
from contracts.json_values import JsonObject
from contracts.languages import Language

_DEFAULT_FIGURES = frozenset(
    ("return", "max_drawdown", "volatility", "high", "low", "best_day", "worst_day", "growth", "correlation", "beta",
     "exposure", "final", "costs")
)  # fmt: skip
"""Figures that are reported for a period if the question names none."""
_UNRANKED_FIGURES = frozenset(
    ("sentiment", "macd", "signal", "histogram", "upper", "middle", "lower", "correlation", "beta", "exposure", "costs")
)
"""Figures by which tickers are not ranked."""
_OF_SEVERAL_DAYS = frozenset(("max_drawdown", "volatility", "best_day", "worst_day"))
"""Figures that say nothing of a single day."""
_NO_LIMITS: Mapping[str, int] = {}


def derived_text(findings: Sequence[Finding], language: Language) -> str:
    """Reports on periods if the question names no figure, in a few short paragraphs; empty if there are no figures."""
    lines: list[str] = []
    for finding in findings:
        lines += _lines_by_period(finding, _DEFAULT_FIGURES, language)
        lines += crossings_text(finding, language)
        lines += news_text(finding, language)
    return "\n".join([*lines, *ranking_lines(findings, ("return",), language, lowest_first=False)])


def requested_figures_text(findings: Sequence[Finding], question: Question, language: Language) -> str:
    """Reports what was asked for and nothing else: one ticker's figures period by period, several tickers' side by
    side."""
    # Current figures are no answer about the past.
    past_figures = [name for name in question.figures if name not in question.now_only]
    if "drawdowns" in past_figures and len(findings) == 1 and findings[0].get("drawdowns"):
        past_figures = [name for name in past_figures if name != "max_drawdown"]  # the falls have their depth
    names = [part_name for name in past_figures for part_name in FIGURE_PARTS.get(name, (name,))]
    ranked_names = (
        [name for name in names if name not in {*_UNRANKED_FIGURES, *question.most}] if len(findings) > 1 else []
    )
    side_by_side = ranking_lines(
        findings, ranked_names, language, question.lowest_first, question.periods, by_size=question.by_size
    )
    if chosen_finding := finding_at_place(findings, ranked_names, question):
        first_name, *other_names = dict.fromkeys(ranked_names)
        side_by_side = ranking_lines(findings, [first_name], language, question.lowest_first, question.periods)
        return "\n".join(
            [*side_by_side, *_lines_by_period(chosen_finding, frozenset(other_names), language, question.periods)]
        )
    listed_names = {name for name in ranked_names if is_ranked(findings, name, question.periods)}
    unranked_names = frozenset(names) - {"sentiment"} - listed_names
    lines: list[str] = []
    if (question.by_year and len(findings) == 1) or question.ranks_parts:
        part_names = sorted(name for name in unranked_names if question.by_year or PART_FIGURE.fullmatch(name))
        for finding in findings:
            side_by_side += part_ranking_lines(finding, part_names, language, question.lowest_first)
        unranked_names = unranked_names.difference(part_names) if side_by_side else unranked_names
    for finding in findings:
        if "averages" in question.figures:
            lines += _average_lines(finding, question.averages, language)
        lines += _lines_by_period(finding, unranked_names, language, question.periods, question.most)
        if "drawdowns" in question.figures:
            lines += drawdowns_text(finding, question, language)
        if "crossings" in question.figures:
            crossing_period = _period_of_tool(CROSSINGS, question)
            crossing_period = period_text(crossing_period, language, finding.get("as_of")) if crossing_period else ""
            max_crossings = question.most.get("crossings")
            lines += crossings_text(finding, language, crossing_period, max_crossings, upward=question.upward)
        if "sentiment" in question.figures:
            lines += _sentiment_lines(finding, language)
        if "news" in question.figures:
            lines += news_text(finding, language)
    if question.ahead and "next_earnings_date" in names:
        side_by_side = [*upcoming_results_text(findings, question.ahead, language), *side_by_side]
    return "\n".join([*side_by_side, *lines])


def _period_of_tool(tool: str, question: Question) -> str:
    """The period that a tool was asked for; empty if its format is the tool's own."""
    no_arguments: JsonObject = {}
    arguments = next((call.arguments for call in question.calls if call.tool == tool), no_arguments)
    period = str(arguments.get("period") or ("" if "start" in arguments else "1y"))
    if not period:
        return f"{arguments['start']}/{arguments.get('end', '')}"
    return period if re.fullmatch(r"\d+[dwmy]|ytd", period) else ""


def _lines_by_period(
    finding: Finding,
    names: frozenset[str],
    language: Language,
    periods: Sequence[str] = (),
    max_parts: Mapping[str, int] = _NO_LIMITS,
) -> list[str]:
    ticker = str(finding["ticker"])
    available = entries(finding, periods) if periods else listed_figures(finding)
    figures = [figure for figure in available if figure["figure"] in names]
    lines: list[str] = []
    for period in dict.fromkeys(figure.get("asked") for figure in figures):
        first, _, last = str(period or "").partition("/")
        of_period = [
            figure
            for figure in figures
            if figure.get("asked") == period and not (first == last and figure["figure"] in _OF_SEVERAL_DAYS)
        ]
        head = f"{period_text(str(period), language, last_day(of_period))}, {ticker}" if period else ticker
        texts = _figure_texts([figure for figure in of_period if figure.get("value") is not None], language, max_parts)
        if texts:
            lines.append(f"{head}: {'; '.join(texts)}.")
        unknown = [figure for figure in of_period if figure.get("value") is None and periods == ()]
        if unknown:
            missing = joined([figure_name(str(figure["figure"]), language) for figure in unknown], language)
            lines.append(analysis_text("told.missing", language, ticker=ticker, missing=missing))
    return lines


def _figure_texts(figures: Sequence[Mapping[str, Any]], language: Language, max_parts: Mapping[str, int]) -> list[str]:
    """Returns each figure as text. Best and worst parts are one text, with as many as the question asks for."""
    texts_by_name: dict[str, list[str]] = {}
    for index, figure in enumerate(figures):
        name = str(figure["figure"])
        is_extreme = name.startswith(("best_", "worst_"))
        texts = texts_by_name.setdefault(name if is_extreme else str(index), [])
        if len(texts) < (max_parts.get(name, 1) if is_extreme else 1):
            texts.append(_figure_text(figure, language))
    for name in texts_by_name.keys() & max_parts.keys():
        singular, plural = (figure_name(figure_id, language) for figure_id in (name, f"{name}s"))
        if len(texts_by_name[name]) > 1:
            texts_by_name[name] = [
                f"{plural} {', '.join(text.removeprefix(singular).strip() for text in texts_by_name[name])}"
            ]
    return [text for texts in texts_by_name.values() for text in texts if text]


def _figure_text(figure: Mapping[str, Any], language: Language) -> str:
    name, other = str(figure["figure"]), figure.get("other")
    if other == HOLDING:
        if name == "return":
            return analysis_text("told.holding_return", language, value=percent(float(figure["value"]), language))
        return ""
    label = figure_name(name, language)
    if figure.get("length") and name in ("RSI", "ATR", "ADX", "EMA", "VWAP"):
        label += f" ({figure['length']})"
    if name in ("correlation", "beta") and other:
        value = number(float(figure["value"]), language, 2)
        if figure.get("label"):
            returns_of = f"told.returns_of.{figure['label']}"
            label += f" ({analysis_text(returns_of, language)})"
        return analysis_text("told.against", language, label=label, other=other, value=value)
    text, on, first, last = f"{label} {value_text(figure, language)}", *map(figure.get, ("on", "from", "to"))
    is_day_known = name in _FIGURES_OF_DAY or name.startswith("sma_")
    if not on or is_day_known or (name == "close" and figure.get("asked") == f"{on}/{on}"):
        return text
    if name.startswith(("best_", "worst_", "up_", "down_")) and not name.endswith("_day") and first and last:
        return text + analysis_text("told.between_days", language, first=day(first, language), last=day(last, language))
    return text + analysis_text("told.on_day", language, day=day(str(on), language))


_FIGURES_OF_DAY = frozenset(
    ("price", "RSI", "EMA", "ATR", "atr_share", "VWAP", "OBV", "ADX", *FIGURE_PARTS["MACD"], *FIGURE_PARTS["BB"])
)
"""Figures whose day is at the beginning of the line."""


def _average_lines(finding: Finding, lengths: Sequence[int], language: Language) -> list[str]:
    """Says whether the close is above or below each average of these lengths, in days."""
    ticker, figures = finding["ticker"], list(entries(finding, ()))
    lines: list[str] = []
    for period in dict.fromkeys(figure.get("asked") for figure in figures if str(figure["figure"]).startswith("sma_")):
        by_name = {
            str(figure["figure"]): figure
            for figure in figures
            if figure.get("asked") == period and figure.get("value") is not None
        }
        price = by_name.get("price")
        if price is None or len(by_name) == 1:
            continue
        parts: list[str] = []
        for average in (by_name[f"sma_{length}"] for length in lengths if f"sma_{length}" in by_name):
            gap_sign = float(price["value"]) - float(average["value"])
            side = "level" if gap_sign == 0 else "above" if gap_sign > 0 else "below"
            value = money(float(average["value"]), price.get("currency"), language)
            gap = by_name.get(f"gap_{average['figure'][4:]}")
            value += f"; {signed(percent(float(gap['value']), language))}" if gap else ""
            place = analysis_text(f"told.{side}", language)
            parts.append(
                analysis_text("told.average", language, place=place, length=average["figure"][4:], value=value)
            )
        close = money(float(price["value"]), price.get("currency"), language)
        over, all_parts = period_text(str(period), language), joined(parts, language)
        lines.append(analysis_text("told.close", language, over=over, ticker=ticker, close=close, parts=all_parts))
    return lines


def _sentiment_lines(finding: Finding, language: Language) -> list[str]:
    labels = TEXTS.section("analysis.tone")
    lines: list[str] = []
    for figure in entries(finding, ()):
        if figure["figure"] == "sentiment" and figure.get("value") is not None:
            label, value = str(figure.get("label")), number(float(figure["value"]), language, 2)
            label = labels[label].in_language(language) if label in labels else label
            lines.append(analysis_text("told.tone", language, ticker=finding["ticker"], label=label, value=value))
    return lines
