"""Collects what the tools returned for each ticker: findings, sources and failures. Nothing is computed here.

Results of several calls about one ticker become one finding; a result without the ticker is noted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from agent.domain.analysis.wanted_calls import COMPANY, SNAPSHOT
from contracts.events.analysis import AnalysisCall

ATR_SHARE = "atr_share"
_SNAPSHOT_FIGURES = (
    "price", "currency", "returns", "max_drawdown", "current_drawdown", "volatility", "sma_20", "sma_50", "sma_200",
    "atr_14", "volume_zscore",
)  # fmt: skip
_EVENTS_FIGURES = (
    "period", "pe", "eps", "revenue", "market_cap", "gross_margin", "net_margin", "dividend_yield", "beta",
    "next_earnings_date", "next_earnings_status", "next_dividend_date",
)  # fmt: skip
_LISTS = frozenset(("derived", "drawdowns", "news", "crossings"))
_WINDOW = ("first", "last", "bars", "open", "high", "low", "close", "volume")


@dataclass(frozen=True, slots=True)
class CollectedResults:
    """The results of the calls. `findings` by ticker, in order; `unanswered`: (ticker, tool) without a result."""

    findings: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    sources: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    errors: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    unanswered: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    notes: list[str] = field(default_factory=list[str])
    """The notes of the tools about all their figures."""
    assumptions: list[str] = field(default_factory=list[str])
    """What backtests assumed."""

    @property
    def unknown(self) -> set[str]:
        """The tickers for which every call failed."""
        return {str(entry["ticker"]) for entry in self.errors} - {str(entry["ticker"]) for entry in self.findings}


def collect_results(tickers: Sequence[str], calls: Sequence[AnalysisCall]) -> CollectedResults:
    """Collects the usable results for the analysis' tickers. Later results for a ticker replace earlier ones."""
    results = CollectedResults()
    figures: dict[str, dict[str, Any]] = {}
    for call in calls:
        data = data_of(call)
        if data is None:
            continue
        if (tool_note := data.get("note")) and tool_note not in results.notes:
            results.notes.append(str(tool_note))
        assumptions = cast("list[str]", data.get("assumptions") or [])
        results.assumptions.extend(assumption for assumption in assumptions if assumption not in results.assumptions)
        ticker_data = cast("dict[str, Any]", data.get("tickers") or {})
        failed_tickers = {
            str(entry["ticker"]): {**entry, "tool": call.tool}
            for entry in cast("list[dict[str, Any]]", data.get("errors") or [])
        }
        for ticker in call.tickers:
            if ticker in ticker_data:
                entry = cast("dict[str, Any]", ticker_data[ticker])
                figures.setdefault(ticker, {"ticker": ticker}).update(_own_fields(call.tool, entry))
                results.sources.append(_source(call.tool, ticker, entry))
            elif ticker in failed_tickers:
                results.errors.append(failed_tickers[ticker])
            elif ticker_data or call.tool in (SNAPSHOT, COMPANY):
                results.unanswered.append((ticker, call.tool))
            elif fields := _other_tool_fields(data, ticker):
                finding = figures.setdefault(ticker, {"ticker": ticker, "as_of": data.get("as_of")})
                for name, value in fields.items():
                    finding[name] = [*finding.get(name, []), *value] if name in _LISTS else value
                results.sources.append(_source(call.tool, ticker, data))
    results.findings.extend(figures[ticker] for ticker in tickers if ticker in figures)
    results.sources.sort(key=lambda source: list(tickers).index(source["ticker"]))
    return results


def data_of(call: AnalysisCall) -> dict[str, Any] | None:
    """The data of a call that succeeded."""
    result = call.result or {}
    data = result.get("data") if result.get("success") else None
    return cast("dict[str, Any]", data) if isinstance(data, dict) else None


def error_of(call: AnalysisCall) -> dict[str, Any]:
    """The error of a call that failed; empty for any other."""
    return (call.result or {}).get("error") or {}


def has_prices(finding: Mapping[str, Any]) -> bool:
    """Whether the finding has returns."""
    return finding.get("returns") is not None


def _own_fields(tool: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    names = _SNAPSHOT_FIGURES if tool == SNAPSHOT else _EVENTS_FIGURES
    fields = {name: entry[name] for name in names if name in entry}
    fields["as_of"] = entry["as_of"]
    if tool == SNAPSHOT:
        window = entry.get("ohlcv")
        if isinstance(window, dict):
            bars = cast("dict[str, Any]", window)
            fields["window"] = {name: bars[name] for name in _WINDOW if name in bars}
    elif "currency" in entry:
        fields["currency"] = entry["currency"]
    return fields


def _other_tool_fields(data: Mapping[str, Any], ticker: str) -> dict[str, Any]:
    """Fields of a finding from any other tool: typed figures, crossings, headlines; of an unknown tool, its numbers
    under their own names."""
    if "crossings" in data:
        return {"crossings": data["crossings"], "crossing_averages": [data.get("fast"), data.get("slow")]}
    if "indicators" in data:
        return {"derived": _indicator_figures(data, ticker)}
    if "score" in data and "label" in data:
        return {"derived": [{"ticker": ticker, "figure": "sentiment", "value": data["score"], "label": data["label"]}]}
    if "items" in data:
        items = cast("list[dict[str, Any]]", data["items"])
        return {"news": [{name: item.get(name) for name in ("title", "time", "source")} for item in items]}
    if "figures" in data:
        typed_figures = cast("list[dict[str, Any]]", data["figures"])
        own_figures = [figure for figure in typed_figures if ticker in (figure.get("ticker"), figure.get("other"))]
        falls = [fall for fall in cast("list[dict[str, Any]]", data.get("drawdowns") or ()) if fall["ticker"] == ticker]
    else:
        falls = []
        own_figures = [
            {"ticker": ticker, "figure": name, "value": value}
            for name, value in data.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        ]
    return {name: entries for name, entries in (("derived", own_figures), ("drawdowns", falls)) if entries}


def _indicator_figures(data: Mapping[str, Any], ticker: str) -> list[dict[str, Any]]:
    """Returns each part of an indicator as a figure, named as in claims, and the close that it belongs to."""
    day = str(data["as_of"])[:10]
    head = {"ticker": ticker, "currency": data.get("currency"), "on": day, "asked": f"{day}/{day}"}
    figures = [{**head, "figure": "price", "value": data.get("price")}]
    for name, values in cast("Mapping[str, Mapping[str, Any]]", data["indicators"]).items():
        length = values.get("period")
        for part, value in values.items():
            if part not in ("period", "bars"):
                figure = f"sma_{length}" if name == "SMA" else name if part == "value" else part
                if part in ("gap", "share"):
                    figure = f"gap_{length}" if part == "gap" else ATR_SHARE
                figures.append({**head, "figure": figure, "value": value, "length": length})
    return figures


def _source(tool: str, ticker: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    source = {"ticker": ticker, "source": entry["source"], "as_of": entry["as_of"], "tool": tool}
    report = entry.get("report_source")
    return {**source, "report": report} if report else source
