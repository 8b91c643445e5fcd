"""Shows a report in the terminal, in the report's own language: summary, tables, sparklines, sources, limitations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from contracts.languages import named_language
from nexus_cli.ask.client import Series
from nexus_cli.terminal_text import plain
from nexus_cli.texts import TEXTS

Report = Mapping[str, Any]
_BLOCKS = "▁▂▃▄▅▆▇█"
MAX_SPARKS = 32
_PERIODS = ("1d", "1w", "1m", "3m", "ytd", "1y")


def show(console: Console, report: Report, series: Series) -> None:
    language = named_language(report.get("language")) or "en"
    words = {name: text.in_language(language) for name, text in TEXTS.section("report").items()}
    console.print(Text(plain(report["query"]), style="bold"))
    console.print()
    console.print(Text(plain(report["summary"])))
    findings = report["findings"]
    priced = [finding for finding in findings if finding.get("returns")]
    if priced:
        console.print()
        console.print(_moves(priced, words))
        console.print(_risk(priced, series, words))
    if any("pe" in finding for finding in findings):
        figures = [finding for finding in findings if "pe" in finding]
        # Company figures are the latest ones, whatever day was asked about.
        latest = max((str(source["as_of"])[:10] for source in report["sources"]), default="")
        console.print(_companies(figures, f"{words['companies']} {latest}".strip(), words))
    _print_list(console, words["sources"], _sources(report))
    _print_list(
        console, words["tools"], [f"{use['tool']}: {', '.join(use['tickers'])}" for use in report["tools_used"]]
    )
    _print_list(console, words["limits"], report["limitations"])
    console.print()
    console.print(Text(str(report["disclaimer"]), style="dim"))


def sparkline(closes: Sequence[float]) -> str:
    """The closes as block characters, at most MAX_SPARKS of them; each shows the last close of its part."""
    if len(closes) > MAX_SPARKS:
        closes = [closes[(index + 1) * len(closes) // MAX_SPARKS - 1] for index in range(MAX_SPARKS)]
    low, high = min(closes), max(closes)
    top = len(_BLOCKS) - 1
    return "".join(_BLOCKS[round((close - low) / (high - low) * top) if high > low else top // 2] for close in closes)


def _moves(findings: Sequence[Report], words: Mapping[str, str]) -> Table:
    latest = max((str(finding["as_of"])[:10] for finding in findings if finding.get("as_of")), default="")
    table = _table(f"{words['prices']} {latest}".strip(), words, ("close", *_PERIODS))
    for finding in findings:
        returns = finding["returns"]
        close = f"{_number(finding['price'], 2, words)} {finding.get('currency') or ''}".strip()
        table.add_row(str(finding["ticker"]), close, *(_coloured(returns.get(period), words) for period in _PERIODS))
    return table


def _risk(findings: Sequence[Report], series: Series, words: Mapping[str, str]) -> Table:
    table = _table(words["risk"], words, ("vol", "fall", "now"))
    if series:
        table.add_column(words["year"], no_wrap=True)
    for finding in findings:
        cells: list[Text | str] = [str(finding["ticker"]), _percent(finding.get("volatility"), words)]
        cells += [_coloured(finding.get(name), words) for name in ("max_drawdown", "current_drawdown")]
        if series:
            points = series.get(str(finding["ticker"]))
            cells.append(sparkline([close for _, close in points]) if points else "")
        table.add_row(*cells)
    return table


def _table(title: str, words: Mapping[str, str], columns: Sequence[str]) -> Table:
    table = Table(
        title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True
    )
    table.add_column(words["ticker"], style="bold")
    for name in columns:
        table.add_column(words[name], justify="right", no_wrap=True)
    return table


def _companies(findings: Sequence[Report], title: str, words: Mapping[str, str]) -> Table:
    table = _table(title, words, ("pe", "eps", "revenue", "cap", "margin", "yield"))
    table.add_column(words["results"])
    table.add_column(words["period"])
    for finding in findings:
        day = finding.get("next_earnings_date")
        table.add_row(
            str(finding["ticker"]),
            _number(finding.get("pe"), 1, words),
            _number(finding.get("eps"), 2, words),
            _large(finding.get("revenue"), words),
            _large(finding.get("market_cap"), words),
            _percent(finding.get("net_margin"), words),
            _percent(finding.get("dividend_yield"), words),
            str(day or "—"),
            str(finding.get("period") or "—").partition(" ")[0],
        )
    return table


def _sources(report: Report) -> list[str]:
    lines = (
        f"{source['ticker']}: {source['source']}, {str(source['as_of'])[:10]}"
        + (f", {source['report']}" if source.get("report") else "")
        for source in report["sources"]
    )
    return list(dict.fromkeys(lines))


def _print_list(console: Console, title: str, lines: Sequence[str]) -> None:
    if not lines:
        return
    console.print()
    console.print(Text(title, style="bold"))
    for line in lines:
        console.print(Padding(Text(plain(f"• {line}")), (0, 0, 0, 2), expand=False))


def _coloured(fraction: float | None, words: Mapping[str, str]) -> Text:
    style = "" if not fraction else "green" if fraction > 0 else "red"
    return Text(_percent(fraction, words, sign="+"), style=style)


def _percent(fraction: float | None, words: Mapping[str, str], *, sign: str = "") -> str:
    if fraction is None:
        return "—"
    rounded = round(fraction * 100, 1) + 0.0  # no minus zero
    return f"{_with_marks(f'{rounded:{sign},.1f}', words)} %"


def _number(value: float | None, places: int, words: Mapping[str, str]) -> str:
    return "—" if value is None else _with_marks(f"{value:,.{places}f}", words)


def _large(value: float | None, words: Mapping[str, str]) -> str:
    if value is None:
        return "—"
    for scale in ("1e12", "1e9", "1e6"):
        if words[scale] and abs(value) >= float(scale):
            scaled = value / float(scale)
            return f"{_number(scaled, 1 if scaled < 1000 else 0, words)} {words[scale]}"
    return _number(value, 0, words)


def _with_marks(figure: str, words: Mapping[str, str]) -> str:
    """The figure with the decimal and thousands marks of the language."""
    return figure.translate(str.maketrans(",.", words["marks"]))
