"""`nexus top`: live turns, lag, errors and cost on a terminal."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nexus_cli.commands.failures import fail
from nexus_cli.commands.options import DEFAULT_DATA, Data, Json, Services, places

if TYPE_CHECKING:
    from rich.table import Table


def top(
    data: Data = DEFAULT_DATA,
    service: Services = None,
    every: Annotated[float, typer.Option(help="Seconds between two readings.", min=0.5, max=60)] = 2.0,
    count: Annotated[int, typer.Option(help="How many readings; 0: until Ctrl-C.", min=0)] = 0,
    as_json: Json = False,
) -> None:
    """Show live turns, lag, errors and cost. With --json one object a line, for scripts."""
    from nexus_cli.stack.errors import StackError
    from nexus_cli.target import find_addresses

    try:
        services = find_addresses(data, places(service)).services
    except StackError as error:
        fail(error)
    if not services:
        fail("no service is known: name them, --service agent=http://10.0.0.7:8081 …")
    with suppress(KeyboardInterrupt):
        asyncio.run(_json(services, every, count or 1) if as_json else _screen(services, every, count))


async def _json(services: Mapping[str, Any], every: float, count: int) -> None:
    from nexus_cli.top.figures import read, view

    before = await read(services)
    for _ in range(count):
        await asyncio.sleep(every)
        now = await read(services)
        print(json.dumps(view(before, now)), flush=True)
        before = now


async def _screen(services: Mapping[str, Any], every: float, count: int) -> None:
    from rich.live import Live

    from nexus_cli.top.figures import read, view

    before, shown = None, 0
    with Live(screen=count == 0, auto_refresh=False) as live:
        while not count or shown < count:
            now = await read(services)
            live.update(_table(view(before, now)), refresh=True)
            before, shown = now, shown + 1
            if shown != count:
                await asyncio.sleep(every)


def _table(seen: dict[str, Any]) -> Table:
    from rich.table import Table

    table = Table(title="nexus top", show_header=False, expand=True)
    turns, tools, models = seen["turns"], seen["tools"], seen["models"]
    rows = {
        "turns": f"{turns['running']} running, {turns['due']} due, the oldest for {turns['oldestDueSeconds']:g} s",
        "a minute": _listed(turns["perMinute"]),
        "tools": f"{tools['due']} due; {_listed(tools['perMinute'])}",
        "models": f"{_listed(models['perMinute'])}; tokens {_listed(models['tokensPerMinute'])}",
        "cost": ", ".join(
            f"{one['total']:g} {name}, {one['perMinute']:g} a minute" for name, one in seen["cost"].items()
        ),
        "people": f"{seen['sockets']} sockets, {seen['handovers']['waiting']} wait for a person",
        "lag": _listed(seen["lag"]) + f"; event loops {seen['loopLagSeconds']:g} s",
        "fill": ", ".join(f"{name} {value:.0%}" for name, value in seen["fill"].items()),
        "dead letters": str(seen["deadLetters"]),
    }
    for name, text in rows.items():
        table.add_row(name, text or "–")
    if seen["away"]:
        table.add_row("[red]away", "[red]" + ", ".join(seen["away"]))
    return table


def _listed(figures: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in figures.items() if value) or "nothing"
