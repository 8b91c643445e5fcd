"""`nexus ask`: what it draws and prints, and a question on a machine where nothing runs."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import date
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.console import Console
from typer.testing import CliRunner

from agent.domain.analysis.chat_text import report_in_chat
from agent.domain.analysis.derived import derived_text
from agent.domain.analysis.formats import percent
from agent.domain.analysis.summary import rule_summary
from contracts.languages import Language
from nexus_cli.ask.chart import svg
from nexus_cli.ask.client import spans, stretch_of
from nexus_cli.ask.report_text import show, sparkline
from nexus_cli.commands.ask import print_report
from nexus_cli.main import app
from nexus_cli.testing.stacks import Nexus

REPORT: dict[str, Any] = {
    "query": "Compare <IBM> & MSFT",
    "tickers": ["IBM", "MSFT"],
    "summary": "IBM rose, MSFT fell.",
    "findings": [
        {
            "ticker": ticker,
            "as_of": "2013-03-01T21:00:00Z",
            "price": 202.91,
            "currency": "USD",
            "returns": {"1d": 0.01, "1w": None, "1m": -0.011, "3m": 0.068, "1y": 0.027, "ytd": 0.059},
            "max_drawdown": -0.126,
            "current_drawdown": -0.038,
            "volatility": 0.165,
            "pe": 14.1,
            "eps": 14.37,
            "revenue": 104_507_000_000.0,
            "net_margin": 0.159,
            "dividend_yield": 0.017,
            "market_cap": 234_465_000_000.0,
            "period": "FY2012",
            "next_earnings_date": "2013-04-18",
        }
        for ticker in ("IBM", "MSFT")
    ],
    "tools_used": [{"tool": "market_snapshot", "tickers": ["IBM", "MSFT"], "calls": 2}],
    "sources": [{"ticker": "IBM", "source": "sample", "as_of": "2013-03-01T21:00:00Z"}],
    "limitations": ["No figure for beta."],
    "disclaimer": "Information, not financial advice.",
    "language": "en",
}
DERIVED: list[dict[str, Any]] = [
    {
        "ticker": ticker,
        "derived": [
            {"ticker": ticker, "figure": name, "value": value / 100, "asked": f"{year}-01-01/{year}-12-31", "on": on}
            for year in (2008, 2009, 2010)
            for on, name, value in (
                (None, "return", year - 2000.7), (None, "volatility", year - 1980.4), (f"{year}-03-09", "best_day", 8.1)
            )
        ],
    }
    for ticker in ("IBM", "MSFT")
]  # fmt: skip
SERIES = {
    "IBM": [(f"2013-01-{day:02d}", 100.0 + day) for day in range(1, 31)],
    "MSFT": [(f"2013-01-{day:02d}", 50.0 - day / 10) for day in range(5, 31)],
}


def test_a_sparkline_rises_and_falls_with_the_closes_and_is_never_too_long() -> None:
    assert sparkline([1, 2, 3, 4, 5, 6, 7, 8]) == "▁▂▃▄▅▆▇█"
    assert sparkline([5, 5, 5]) == "▄▄▄"
    assert len(sparkline(list(range(1000)))) == 32
    assert sparkline(list(range(1000)))[-1] == "█"


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize(
    ("language", "figures"),
    [
        ("en", ("202.91 USD", "+2.7 %", "-12.6 %", "234.5 B")),
        ("es", ("202,91 USD", "+2,7 %", "-12,6 %", "234.465 M")),
    ],
)
def test_a_report_is_shown_whole_at_the_width_of_a_terminal_in_its_languages_figures(
    width: int, language: Language, figures: tuple[str, ...]
) -> None:
    console = Console(file=StringIO(), width=width, highlight=False)
    findings = REPORT["findings"]
    long = " ".join([rule_summary(findings, "1y", language), derived_text(DERIVED, language)])
    report = {**REPORT, "language": language, "summary": long}
    show(console, report, SERIES)
    text = console.file.getvalue()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
    assert isinstance(text, str)
    for part in (*figures, "▁", "sample, 2013-03-01", "beta", "advice"):
        assert part in text
    # Of what day they are is said with the figures: not always that of the question.
    assert len(re.findall(r"(?m)^\w+ 2013-03-01 *$", text)) == 2
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    # Every figure of a long answer stands whole, and is the chat's and the JSON's.
    said = re.findall(r"\d[\d.,]*\d", long)
    assert len(said) > 20
    shown, chat = (re.findall(r"\d[\d.,]*\d", one) for one in (text, report_in_chat(report, language)))
    assert not Counter(said) - Counter(shown)
    assert not Counter(said) - Counter(chat)
    values = [one["value"] for finding in DERIVED for one in finding["derived"]]
    assert not {percent(value, language) for value in values} - {" ".join(one.split()) for one in re.findall(
        r"-?\d+[.,]\d\s?%", text)}  # fmt: skip


def test_a_pipe_is_as_wide_as_it_says_and_a_source_is_named_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    report = {**REPORT, "summary": "IBM rose. " * 20, "sources": REPORT["sources"] * 3}
    print_report(report, {}, as_json=False)
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    assert shown.count("IBM: sample") == 1


def test_a_chart_is_an_svg_with_a_line_for_each_ticker_whatever_the_question_holds() -> None:
    drawn = ElementTree.fromstring(svg(REPORT, SERIES))
    space = "{http://www.w3.org/2000/svg}"
    lines = drawn.findall(f"{space}polyline")
    assert [len(line.attrib["points"].split()) for line in lines] == [30, 26]
    texts = [element.text or "" for element in drawn.findall(f"{space}text")]
    assert "Compare <IBM> & MSFT" in texts
    assert any("sample" in text and "2013-01-30" in text for text in texts)
    assert any(re.fullmatch(r"IBM 128\.7", text) for text in texts)


def test_what_is_drawn_is_the_stretch_that_was_asked_for() -> None:
    years = [{"figure": "return", "from": f"{year}-01-02", "to": f"{year}-12-31"} for year in (2011, 2008)]
    found = [{"ticker": "IBM", "derived": [*years, {"figure": "RSI", "from": None}]}, {"ticker": "MSFT"}]
    assert stretch_of(found) == (date(2008, 1, 2), date(2011, 12, 31))
    base = {"figure": "base", "from": "2008-01-02", "to": "2011-12-31", "on": "2007-12-31"}
    assert stretch_of([{"ticker": "IBM", "derived": [*years, base]}]) == (date(2007, 12, 31), date(2011, 12, 31))
    parts = list(spans(date(2001, 1, 3), date(2012, 12, 31)))
    assert [(part.weekday(), other.weekday()) for part, other in parts] == [(2, 6), (0, 0)]
    assert all((other - part).days < 500 * 7 for part, other in parts)
    assert stretch_of([{"ticker": "IBM", "returns": {"1y": 0.1}}]) is None


@pytest.mark.parametrize(
    ("arguments", "what_to_do"),
    [
        (("How has IBM done?", "--chart", "chart.png"), "chart.svg"),
        (("How has IBM done?", "--chart", "no/such/directory/chart.svg"), "no/such/directory"),
        (("How has IBM done?", "--tickers", "!!"), "AAPL"),
        (("How have they done?", "--tickers", ",".join(f"A{n}" for n in range(13))), "1 to 12"),
        (("   ",), "ask something"),
    ],
)
def test_wrong_usage_says_what_to_do(arguments: tuple[str, ...], what_to_do: str) -> None:
    refused = CliRunner().invoke(app, ["ask", *arguments])
    assert refused.exit_code == 2
    assert what_to_do in refused.stderr
    assert refused.stdout == ""


def test_where_nothing_runs_it_starts_what_it_needs_and_leaves_nothing_behind(tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    nexus = Nexus(tmp_path / "nothing", {"TMPDIR": str(temporary)})
    asked = nexus.run("ask", "Compare IBM and MSFT over the last year", "--json")
    assert asked.returncode == 0, asked.stderr
    assert asked.stderr == ""
    report = json.loads(asked.stdout)
    assert [finding["ticker"] for finding in report["findings"]] == ["IBM", "MSFT"]
    assert report["sources"][0]["as_of"].startswith("2013-03-01")
    assert list(temporary.iterdir()) == []
    assert not (tmp_path / "nothing").exists()
