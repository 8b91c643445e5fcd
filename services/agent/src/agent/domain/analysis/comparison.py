"""Compares several tickers figure by figure. The values are the tools' own; only the ranking is computed here."""

from collections.abc import Mapping, Sequence
from typing import Any

from agent.domain.analysis.asked import Period
from contracts.json_values import JsonObject

PERIODS: tuple[Period, ...] = ("1d", "1w", "1m", "3m", "1y", "ytd")
_FIGURES = (
    "max_drawdown", "current_drawdown", "volatility", "volume_zscore", "pe", "market_cap", "revenue", "gross_margin",
    "net_margin", "dividend_yield",
)  # fmt: skip
_IN_CURRENCY = frozenset(("market_cap", "revenue"))


def comparison(findings: Sequence[Mapping[str, Any]], period: Period) -> JsonObject | None:
    """The figures that several findings share, the period's return first; None for fewer than two tickers."""
    if len(findings) < 2:
        return None
    names = [f"returns.{period}", *(f"returns.{other}" for other in PERIODS if other != period), *_FIGURES]
    one_currency = len({finding.get("currency") for finding in findings if finding.get("currency")}) <= 1
    entries: list[JsonObject] = []
    for name in names:
        if name in _IN_CURRENCY and not one_currency:
            continue
        values = {str(finding["ticker"]): value_of(finding, name) for finding in findings}
        known = [value for value in values.values() if value is not None]
        if len(known) < 2:
            continue
        entry: JsonObject = {"figure": name, "values": values}
        if len(known) == len(values) and max(known) != min(known):
            entry["highest"] = max(values, key=lambda ticker: values[ticker] or 0.0)
            entry["lowest"] = min(values, key=lambda ticker: values[ticker] or 0.0)
        entries.append(entry)
    tickers = [str(finding["ticker"]) for finding in findings]
    return {"period": period, "tickers": tickers, "figures": entries} if entries else None


def value_of(finding: Mapping[str, Any], name: str) -> float | None:
    """The value of a figure by its name; returns are named returns.1y."""
    group, _, period = name.partition(".")
    value = finding.get(group)
    if period:
        value = value.get(period) if isinstance(value, Mapping) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
