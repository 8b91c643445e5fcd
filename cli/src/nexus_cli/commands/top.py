"""`nexus top`: live turns, lag, errors and cost on a terminal."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
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
    """Show live turns, lag, errors and cost. With --json one object a line, for scripts.

    Where no terminal is, and with --json, it ends after --count readings, or one.
    """
    from nexus_cli.target import find_addresses

    services = places(service) or find_addresses(data).services
    if not services:
        fail("no service is known: name them, --service agent=http://10.0.0.7:8081 …")
    with suppress(KeyboardInterrupt):
        if as_json:
            asyncio.run(_lines(services, every, count or 1, lambda view: print(json.dumps(view), flush=True)))
        elif sys.stdout.isatty():
            asyncio.run(_screen(services, every, count))
        else:
            asyncio.run(_lines(services, every, count or 1, _print_table))


async def _lines(services: Mapping[str, Any], every: float, count: int, show: Callable[[dict[str, Any]], None]) -> None:
    from nexus_cli.top.figures import read, view

    previous = await read(services)
    for _ in range(count):
        await asyncio.sleep(every)
        current = await read(services)
        show(view(previous, current))
        previous = current


async def _screen(services: Mapping[str, Any], every: float, count: int) -> None:
    from rich.live import Live

    from nexus_cli.top.figures import read, view

    previous, shown_count = None, 0
    with Live(screen=count == 0, auto_refresh=False) as live:
        while not count or shown_count < count:
            current = await read(services)
            live.update(table_of(view(previous, current)), refresh=True)
            previous, shown_count = current, shown_count + 1
            if shown_count != count:
                await asyncio.sleep(every)


def _print_table(view: dict[str, Any]) -> None:
    from rich.console import Console

    Console().print(table_of(view))


def table_of(view: dict[str, Any]) -> Table:
    """The figures that `view` returns as a table for people."""
    from rich.table import Table

    table = Table(title="nexus top", show_header=False, expand=True)
    if view["away"]:
        # In the first row, since a small terminal shows only the first ones.
        table.add_row("[red]away", "[red]" + ", ".join(view["away"]))
    turns, tools, models, people = view["turns"], view["tools"], view["models"], view["handovers"]
    costs: dict[str, dict[str, float]] | None = view["cost"]
    fill: dict[str, float] = view["fill"] or {}
    rows = {
        "turns": f"{_or_dash(turns['running'])} running, {_or_dash(turns['due'])} due, "
        f"the oldest for {_or_dash(turns['oldestDueSeconds'])} s",
        "a minute": _listed(turns["perMinute"]),
        "tools": f"{_or_dash(tools['due'])} due; {_listed(tools['perMinute'])}",
        "models": f"{_listed(models['perMinute'])}; tokens {_listed(models['tokensPerMinute'])}",
        "cost": "–"
        if costs is None
        else ", ".join(f"{cost['total']:g} {name}, {cost['perMinute']:g} a minute" for name, cost in costs.items())
        or "nothing",
        "people": f"{_or_dash(view['sockets'])} sockets, {_or_dash(people['waiting'])} wait for a person, "
        f"the oldest for {_or_dash(people['oldestSeconds'])} s",
        "lag": _listed(view["lag"]) + f"; event loops {_or_dash(view['loopLagSeconds'])} s",
        "fill": ", ".join(f"{name} {value:.0%}" for name, value in fill.items()),
        "dead letters": _or_dash(view["deadLetters"]),
    }
    for name, text in rows.items():
        table.add_row(name, text or "–")
    return table


def _or_dash(figure: float | None) -> str:
    return "–" if figure is None else f"{figure:g}"


def _listed(figures: Mapping[str, float] | None) -> str:
    if figures is None:
        return "–"
    return ", ".join(f"{name} {value:g}" for name, value in figures.items() if value) or "nothing"
