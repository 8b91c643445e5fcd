"""Reads the figures of findings in one form, and writes their values as text."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from agent.domain.analysis.figures import has_prices
from agent.domain.analysis.formats import day, money, number, percent
from agent.domain.analysis.texts import analysis_text
from agent.domain.claims.facts import MONEY_FIGURES, is_fraction
from contracts.languages import Language

Finding = Mapping[str, Any]
BACKTEST_FIGURES = ("return", "max_drawdown", "exposure", "final", "costs")
FIGURE_PARTS: Mapping[str, tuple[str, ...]] = {
    "MACD": ("macd", "signal", "histogram"), "BB": ("upper", "middle", "lower"), "backtest": BACKTEST_FIGURES,
    "price": ("price", "close"), "current_streak": ("up_run", "down_run"),
    "fundamentals": ("pe", "eps", "revenue", "market_cap", "gross_margin", "net_margin", "dividend_yield"),
}  # fmt: skip
"""Figures that one word asks for together."""
DATE_FIGURES = ("next_earnings_date", "next_dividend_date")


def has_answer(finding: Finding, name: str, periods: Sequence[str]) -> bool:
    """Whether a finding has the figure, news, crossings, … of that name."""
    if name in ("news", "crossings", "drawdowns"):
        return finding.get(name) is not None
    if name == "averages":
        averages = (entry for entry in entries(finding, periods) if str(entry["figure"]).startswith("sma_"))
        return any(entry.get("value") is not None for entry in averages)
    part_names = FIGURE_PARTS.get(name, (name,))
    listed = cast("Sequence[Mapping[str, Any]]", finding.get("derived") or ())
    return any(
        entry["figure"] in part_names and entry.get("value") is not None
        for entry in (*listed, *entries(finding, periods))
    )


def entries(finding: Finding, periods: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Yields every figure of a finding in one form: {ticker, figure, value, asked, on?, other?, currency?}."""
    ticker, currency = finding["ticker"], finding.get("currency")
    yield from listed_figures(finding)
    for period, value in cast("Mapping[str, Any]", finding.get("returns") or {}).items():
        if period in periods:
            yield {"ticker": ticker, "figure": "return", "value": value, "asked": period}
    if has_prices(finding):
        for name in ("volatility", "max_drawdown", "current_drawdown"):
            yield {"ticker": ticker, "figure": name, "value": finding.get(name), "asked": "1y"}
    for name in ("price", "volume_zscore", *FIGURE_PARTS["fundamentals"], "beta", *DATE_FIGURES):
        if name in finding:
            status = finding.get("next_earnings_status") if name == "next_earnings_date" else None
            head = {"ticker": ticker, "currency": currency, "asked": None, "label": status}
            yield {**head, "figure": name, "value": finding[name]}


def listed_figures(finding: Finding) -> list[Mapping[str, Any]]:
    """Returns the figures that a tool listed one by one."""
    listed = cast("Sequence[Mapping[str, Any]]", finding.get("derived") or ())
    return [figure for figure in listed if figure["ticker"] == finding["ticker"]]


def last_day(figures: Iterable[Mapping[str, Any]]) -> str | None:
    """The last day of the period of some figures, apart from those with days of their own, such as a best month."""
    return max((str(figure["to"]) for figure in figures if figure.get("to") and not figure.get("on")), default=None)


def value_text(figure: Mapping[str, Any], language: Language) -> str:
    name, value = str(figure["figure"]), figure["value"]
    if name in DATE_FIGURES:
        expected = analysis_text("told.expected", language) if figure.get("label") == "expected" else ""
        return day(str(value), language) + expected
    if name in ("macd", "signal", "histogram"):
        return number(float(value), language, 3)
    if name in MONEY_FIGURES or name.startswith("sma_"):
        return money(float(value), figure.get("currency"), language)
    if name.startswith(("up_", "down_")) or name in ("OBV", "average_volume", "highest_volume"):
        return number(float(value), language, 0)
    if is_fraction(name):
        return percent(float(value), language)
    return number(float(value), language, 2)
