"""`nexus ask`: a market analysis in the terminal."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nexus_cli.commands.failures import fail, misuse, print_json
from nexus_cli.commands.options import DEFAULT_DATA, Data, Json

if TYPE_CHECKING:
    from contracts.events.analysis import AnalysisRecord
    from nexus_cli.ask.client import Series
    from nexus_cli.target import Target

_SVG = ".svg"
_SERVICES = "agent,tool-executor,memory,market-adapter"
"""The services that an analysis needs."""
_STAGES = {
    "queued": "waiting for an agent",
    "reading": "reading the question",
    "planning": "choosing tools",
    "writing": "writing the summary",
    "finished": "done",
}


def ask(
    query: Annotated[str, typer.Argument(metavar="QUESTION", help="E.g. “Compare IBM and MSFT over the last year”.")],
    tickers: Annotated[str | None, typer.Option(help="Tickers; else those in the question.", metavar="A,B")] = None,
    use_llm: Annotated[
        bool, typer.Option("--use-llm", help="Let the configured model find tickers, choose tools, write the summary.")
    ] = False,
    chart: Annotated[
        Path | None,
        typer.Option(
            help="Draw the closes of the year, or of the stretch asked for, into this SVG file.",
            dir_okay=False,
            metavar="FILE",
        ),
    ] = None,
    data: Data = DEFAULT_DATA,
    as_json: Json = False,
) -> None:
    """Analyse tickers: returns, risk, averages, fundamentals, dates; with sources and limitations.

    Uses the running stack; where none runs it starts what it needs, and ends it afterwards.
    """
    names = _tickers(query, tickers)
    if chart is not None and chart.suffix.lower() != _SVG:
        misuse(f"--chart writes SVG: name the file {chart.with_suffix(_SVG)}")
    if chart is not None and not os.access(chart.parent, os.W_OK):
        misuse(f"--chart cannot write into {chart.parent}: name a directory that is there and yours")
    try:
        with _progress() as tell:
            record, series = asyncio.run(_analyse(data, query, names, use_llm, chart is not None or not as_json, tell))
    except KeyboardInterrupt:
        fail("stopped before the report was there")
    if record.report is None:
        problem = record.error
        fail(f"{problem.code}: {problem.message}" if problem else "the analysis failed")
    print_report(record.report, series, as_json=as_json)
    if chart is not None:
        _draw(chart, record.report, series)


def _tickers(query: str, option: str | None) -> list[str]:
    from contracts.events.analysis import MAX_QUERY, MAX_TICKERS
    from contracts.symbols import InvalidSymbolError, parse_symbol

    if not query.strip() or len(query) > MAX_QUERY:
        misuse(f"ask something, in at most {MAX_QUERY} characters")
    try:
        names = [parse_symbol(name).name for name in (option or "").split(",") if name.strip()]
    except InvalidSymbolError as error:
        misuse(error)
    if option is not None and not 1 <= len(names) <= MAX_TICKERS:
        misuse(f"--tickers takes 1 to {MAX_TICKERS}, e.g. --tickers IBM,MSFT")
    return names


async def _analyse(
    data: Path, query: str, tickers: list[str], use_llm: bool, needs_prices: bool, tell: Callable[[str], None]
) -> tuple[AnalysisRecord, Series]:
    from nexus_cli.ask.client import analyse, closes, stretch_of
    from nexus_cli.target import bus
    from nexus_cli.tool_calls import TerminalCaller

    caller = TerminalCaller.of("premium", "demo", "en")
    async with _target(data, tell) as target, bus(target.nats) as client:
        record = await analyse(
            client,
            caller,
            target.principal_key,
            query,
            tickers=tickers,
            use_llm=use_llm,
            tell=lambda record: tell(_progress_line(record)),
        )
        findings: list[dict[str, Any]] = (record.report or {}).get("findings") or []
        priced = [str(finding["ticker"]) for finding in findings if finding.get("returns")]
        stretch = None if priced else stretch_of(findings)
        if not needs_prices or (not priced and stretch is None):
            return record, {}
        tell("looking up the closes")
        names = priced or [str(finding["ticker"]) for finding in findings]
        return record, await closes(client, caller, target.principal_key, names, stretch=stretch)


def _progress_line(record: AnalysisRecord) -> str:
    if record.stage != "calling":
        return _STAGES.get(record.stage, record.stage)
    calls = (f"{call.tool} {', '.join(call.tickers)}" for call in record.calls if call.result is None)
    return "; ".join(dict.fromkeys(calls))


@contextlib.asynccontextmanager
async def _target(data: Path, tell: Callable[[str], None]) -> AsyncGenerator[Target]:
    from nexus_cli.stack.errors import NotRunningError
    from nexus_cli.stack.temporary import stack_in
    from nexus_cli.target import find_target

    try:
        target = find_target(data)
    except NotRunningError:
        tell("starting what the question needs")
        # The sample market stays on its last day unless the environment says otherwise.
        environment = {"NEXUS_SAMPLE_SECONDS_PER_BAR": "0", **os.environ}
        with tempfile.TemporaryDirectory(prefix="nexus-ask-") as directory:
            async with stack_in(Path(directory), "--services", _SERVICES, environment=environment) as new_data:
                yield find_target(new_data.path)
        return
    yield target


@contextlib.contextmanager
def _progress() -> Generator[Callable[[str], None]]:
    """Shows progress in a line on standard error if that is a terminal, otherwise nowhere."""
    if not sys.stderr.isatty():
        yield lambda line: None
        return
    from rich.console import Console

    console = Console(stderr=True)
    with console.status("…") as status:
        # A line that wraps would remain in the terminal.
        yield lambda line: status.update(line[: console.width - 4])


def print_report(report: dict[str, Any], series: Series, *, as_json: bool) -> None:
    """Prints the report for people, or as JSON."""
    if as_json:
        print_json(report)
        return
    from rich.console import Console

    from nexus_cli.ask.report_text import show

    # A pipe has no width: the default is wide enough for the tables; COLUMNS overrides it.
    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    console = Console(highlight=False, width=None if has_width else 120)
    show(console, report, series)


def _draw(file: Path, report: dict[str, Any], series: Series) -> None:
    from nexus_cli.ask.chart import svg

    if not series:
        fail(f"{file} was not written: there are no prices to draw")
    try:
        file.write_text(svg(report, series), encoding="utf-8")
    except OSError as error:
        fail(f"{file} cannot be written: {error.strerror}")
