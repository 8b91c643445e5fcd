"""`nexus trace`: shows a turn across services as a waterfall."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from nexus_cli.commands.bus import on_bus
from nexus_cli.commands.failures import fail, misuse
from nexus_cli.commands.options import DEFAULT_DATA, Data, Json


def trace(
    turn: Annotated[str, typer.Argument(metavar="TURN", help="The turnId, as run.started and the answer have it.")],
    data: Data = DEFAULT_DATA,
    as_json: Json = False,
) -> None:
    """Show a turn as a waterfall: queue, context, model, each tool, commit, in every service."""
    from contracts.ids import is_id
    from nexus_cli.traces import waterfall
    from nexus_cli.traces.spans import spans_of

    if not is_id(turn):
        misuse(f"{turn!r} is no turnId: 1 to 64 of A-Z a-z 0-9 _ -")
    spans = on_bus(data, lambda client: spans_of(client, turn))
    if not spans:
        fail(f"nothing is recorded of turn {turn}: it never was, is older than two days, or still runs")
    if as_json:
        print(json.dumps(waterfall.view(turn, spans), indent=2))
        return
    from rich.console import Console

    console = Console()
    console.print(waterfall.table(turn, spans, console.width))
