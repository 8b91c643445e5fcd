"""Requests an analysis, and the closes for its chart, over the bus like any other service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from datetime import date, timedelta
from typing import Any, cast

from nats.aio.client import Client

from contracts.events.analysis import AnalysisRecord, AnalysisRequested
from contracts.ids import uuid7
from nexus_cli.tool_calls import TerminalCaller, call_tool
from runtime.analyses import Analyses
from runtime.errors import RpcError, RuntimeLibraryError

FINISH_SECONDS = 180.0
BEGIN_SECONDS = 20.0
"""Seconds in which an agent must begin the analysis."""
MAX_DAILY_DAYS = 700
"""The longest period in days that is drawn with daily closes."""
MAX_WEEKS = 480
"""Weeks for one call, which returns at most 500 bars."""
MAX_BARS = 253
"""Number of daily bars: a year of sessions and the one before it."""

Series = dict[str, list[tuple[str, float]]]
"""Closes by ticker, each with its day (YYYY-MM-DD), oldest first."""


async def analyse(
    client: Client,
    caller: TerminalCaller,
    principal_key: str,
    query: str,
    *,
    tickers: Sequence[str] | None,
    use_llm: bool,
    tell: Callable[[AnalysisRecord], None],
) -> AnalysisRecord:
    """Requests an analysis and returns its final record; `tell` is called with each change before.

    Raises:
        RpcError: no agent begins it, or it is not finished in time.
        RuntimeLibraryError: the bus does not answer.
    """
    analyses = Analyses(client, "/nexus/cli")
    request = AnalysisRequested(
        analysis_id=uuid7(),
        company_id=caller.company,
        user_id=caller.user,
        query=query,
        tickers=list(tickers) if tickers else None,
        use_llm=use_llm,
        principal=caller.principal(principal_key),
    )
    await analyses.begin(request)
    analysis_key = (caller.company, caller.user, request.analysis_id)
    record = await _record_when(analyses.follow(*analysis_key, BEGIN_SECONDS), lambda record: record.openings > 0, tell)
    if record is None or (record.status == "running" and record.openings == 0):
        raise RpcError("TIMEOUT", f"no agent has taken the question within {BEGIN_SECONDS:g} s: is one running?")
    if record.status == "running":
        record = await _record_when(analyses.follow(*analysis_key, FINISH_SECONDS), lambda last_seen: False, tell)
    if record is None or record.status == "running":
        raise RpcError("TIMEOUT", f"the analysis was not finished within {FINISH_SECONDS:g} s")
    return record


async def _record_when(
    records: AsyncGenerator[AnalysisRecord],
    is_enough: Callable[[AnalysisRecord], bool],
    tell: Callable[[AnalysisRecord], None],
) -> AnalysisRecord | None:
    """The first record that is finished or for which `is_enough` holds; otherwise the last one."""
    record: AnalysisRecord | None = None
    async with aclosing(records):
        async for record in records:
            tell(record)
            if record.status != "running" or is_enough(record):
                break
    return record


async def closes(
    client: Client,
    caller: TerminalCaller,
    principal_key: str,
    tickers: Sequence[str],
    stretch: tuple[date, date] | None = None,
) -> Series:
    """The closes of each ticker over the last year or over the period `stretch`: daily, or weekly if the period is
    long. Tickers without closes are left out."""
    requests: list[dict[str, Any]] = [{"timeframe": "1d", "limit": MAX_BARS}]
    is_weekly = stretch is not None and (stretch[1] - stretch[0]).days > MAX_DAILY_DAYS
    if stretch is not None:
        timeframe = "1w" if is_weekly else "1d"
        requests = [
            {"timeframe": timeframe, "limit": 500, "start": start.isoformat(), "end": end.isoformat()}
            for start, end in spans(*stretch)
        ]

    async def closes_of(ticker: str) -> list[tuple[str, float]]:
        points: dict[str, float] = {}
        for period in requests:
            try:
                arguments = {"symbol": ticker, **period}
                result = await call_tool(client, caller, principal_key, "get_ohlcv", "market", arguments)
            except RuntimeLibraryError:
                continue
            bars = cast("list[dict[str, Any]]", (result.data or {}).get("bars") or [])
            points |= {str(bar["time"])[:10]: float(bar["close"]) for bar in bars}
        if stretch is None:
            return _last_year(list(points.items()))
        if is_weekly:
            return [(_closing_day(day, stretch[1]), close) for day, close in points.items()]
        return [*points.items()]

    series_list = await asyncio.gather(*(closes_of(ticker) for ticker in tickers))
    return {ticker: series for ticker, series in zip(tickers, series_list, strict=True) if len(series) > 1}


def stretch_of(findings: Sequence[Mapping[str, Any]]) -> tuple[date, date] | None:
    """The period that the derived figures cover, from the close on which the first return is based to the last day.
    None if there are no such figures."""
    derived = [
        derivation for finding in findings for derivation in finding.get("derived") or () if derivation.get("from")
    ]
    if not derived:
        return None
    return (
        min(
            date.fromisoformat(str(derivation["on"] if derivation["figure"] == "base" else derivation["from"]))
            for derivation in derived
        ),
        max(date.fromisoformat(str(derivation["to"])) for derivation in derived),
    )


def spans(start: date, end: date) -> Iterator[tuple[date, date]]:
    """Splits a period into parts of at most MAX_WEEKS weeks; all but the first part start on a Monday."""
    while (end - start).days > MAX_WEEKS * 7:
        sunday = start + timedelta(days=MAX_WEEKS * 7 - 1 - start.weekday())
        yield start, sunday
        start = sunday + timedelta(days=1)
    yield start, end


def _closing_day(monday: str, end: date) -> str:
    """The day of a week's close, given its Monday: the Friday, or the end of the period if that is earlier."""
    start = date.fromisoformat(monday)
    return min(start + timedelta(days=4 - start.weekday()), end).isoformat()


def _last_year(points: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """The points of the last year, from the last close on or before the same day a year earlier, like the one-year
    return."""
    if not points:
        return points
    year, month_and_day = points[-1][0].split("-", 1)
    start_day = f"{int(year) - 1}-{month_and_day}"
    start = max((index for index, (day, _) in enumerate(points) if day <= start_day), default=0)
    return points[start:]
