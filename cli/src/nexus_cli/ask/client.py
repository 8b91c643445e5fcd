"""Requests an analysis over the bus, as any other service does, and the closes for its chart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from datetime import date, timedelta
from typing import Any, cast

from nats.aio.client import Client

from contracts.events.analysis import AnalysisRecord, AnalysisRequested
from contracts.ids import uuid7
from nexus_cli.identity import development_principal
from nexus_cli.tool_calls import TerminalCaller, call_tool
from runtime.analyses import Analyses
from runtime.errors import RpcError, RuntimeLibraryError

FINISHED_WITHIN = 180.0
TAKEN_WITHIN = 20.0
"""Seconds after which an analysis that no agent has taken is given up."""
MOST_DAYS = 700
"""The longest period that is drawn day by day."""
MOST_WEEKS = 480
"""The most weeks for one call, which returns 500 bars at most."""
BARS = 253
"""A year of sessions, and the one before it."""

Series = dict[str, list[tuple[str, float]]]
"""Closes by ticker, each with its day (YYYY-MM-DD), oldest first."""


async def analyse(
    client: Client,
    caller: TerminalCaller,
    *,
    principal_key: str,
    query: str,
    tickers: Sequence[str] | None,
    use_llm: bool,
    tell: Callable[[AnalysisRecord], None],
) -> AnalysisRecord:
    """The finished analysis; `tell` is called with each change on the way.

    Raises:
        RpcError: no agent takes it, or it is not finished in time.
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
        principal=development_principal(
            principal_key, user=caller.user, role=caller.role, company=caller.company, plan=caller.plan
        ),
    )
    await analyses.begin(request)
    where = (caller.company, caller.user, request.analysis_id)
    record = await _until(analyses.follow(*where, TAKEN_WITHIN), lambda found: found.openings > 0, tell)
    if record is None or (record.status == "running" and record.openings == 0):
        raise RpcError("TIMEOUT", f"no agent has taken the question within {TAKEN_WITHIN:g} s: is one running?")
    if record.status == "running":
        record = await _until(analyses.follow(*where, FINISHED_WITHIN), lambda found: False, tell)
    if record is None or record.status == "running":
        raise RpcError("TIMEOUT", f"the analysis was not finished within {FINISHED_WITHIN:g} s")
    return record


async def _until(
    records: AsyncGenerator[AnalysisRecord],
    enough: Callable[[AnalysisRecord], bool],
    tell: Callable[[AnalysisRecord], None],
) -> AnalysisRecord | None:
    """The first record that is enough or finished; else the last one seen."""
    last: AnalysisRecord | None = None
    async with aclosing(records):
        async for last in records:
            tell(last)
            if last.status != "running" or enough(last):
                break
    return last


async def closes(
    client: Client,
    caller: TerminalCaller,
    *,
    principal_key: str,
    tickers: Sequence[str],
    stretch: tuple[date, date] | None = None,
) -> Series:
    """The closes of each ticker that has them, of a year or of that stretch: daily, or weekly where those are too many;
    those that cannot be had are left out."""
    asked: list[dict[str, Any]] = [{"timeframe": "1d", "limit": BARS}]
    weekly = stretch is not None and (stretch[1] - stretch[0]).days > MOST_DAYS
    if stretch is not None:
        timeframe = "1w" if weekly else "1d"
        asked = [
            {"timeframe": timeframe, "limit": 500, "start": start.isoformat(), "end": end.isoformat()}
            for start, end in spans(*stretch)
        ]

    async def one(ticker: str) -> list[tuple[str, float]]:
        points: dict[str, float] = {}
        for days in asked:
            try:
                result = await call_tool(
                    client,
                    caller,
                    principal_key=principal_key,
                    tool="get_ohlcv",
                    category="market",
                    arguments={"symbol": ticker, **days},
                )
            except RuntimeLibraryError:
                continue
            bars = cast("list[dict[str, Any]]", (result.data or {}).get("bars") or [])
            points |= {str(bar["time"])[:10]: float(bar["close"]) for bar in bars}
        if stretch is None:
            return _last_year(list(points.items()))
        return (
            [(_closing_day(day, stretch[1]), close) for day, close in points.items()] if weekly else [*points.items()]
        )

    found = await asyncio.gather(*(one(ticker) for ticker in tickers))
    return {ticker: series for ticker, series in zip(tickers, found, strict=True) if len(series) > 1}


def stretch_of(findings: Sequence[Mapping[str, Any]]) -> tuple[date, date] | None:
    """Returns the period that the figures cover: from the close that the first return is measured from to the last day;
    None if they cover none."""
    derived = [one for finding in findings for one in finding.get("derived") or () if one.get("from")]
    if not derived:
        return None
    return (
        min(date.fromisoformat(str(one["on"] if one["figure"] == "base" else one["from"])) for one in derived),
        max(date.fromisoformat(str(one["to"])) for one in derived),
    )


def spans(first: date, last: date) -> Iterator[tuple[date, date]]:
    """The stretch in parts of no more weeks than one call gives, from a Monday each."""
    while (last - first).days > MOST_WEEKS * 7:
        sunday = first + timedelta(days=MOST_WEEKS * 7 - 1 - first.weekday())
        yield first, sunday
        first = sunday + timedelta(days=1)
    yield first, last


def _closing_day(monday: str, last: date) -> str:
    """The day of a week's close, by the week's first day: its Friday, or the end of the stretch."""
    first = date.fromisoformat(monday)
    return min(first + timedelta(days=4 - first.weekday()), last).isoformat()


def _last_year(points: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """Returns the last year: from the last close on or before the same day a year earlier, like the return over a
    year."""
    if not points:
        return points
    year, rest = points[-1][0].split("-", 1)
    before = f"{int(year) - 1}-{rest}"
    start = max((index for index, (day, _) in enumerate(points) if day <= before), default=0)
    return points[start:]
