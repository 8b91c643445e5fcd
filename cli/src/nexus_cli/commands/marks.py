"""`nexus marks`: from when on facts and journals must carry the mark of one of our services."""

from __future__ import annotations

import typer

from nexus_cli.commands.bus import on_bus
from nexus_cli.commands.failures import fail
from nexus_cli.commands.options import DEFAULT_DATA, Data

app = typer.Typer(help="Marks of facts and journals: demand them, or do so no more.", no_args_is_help=True)


@app.command()
def demand(data: Data = DEFAULT_DATA) -> None:
    """From now on nothing counts without a mark: once every service of an older log has a key, and after a key was
    replaced. All services apply it within a minute."""
    from nexus_cli.stack.datadir import DataDirectory
    from nexus_cli.stack.settings import read_settings
    from runtime.bus.marks import demand as demand_marks
    from runtime.settings import MarkSettings

    key, directory = read_settings().mark_key, DataDirectory(data)
    if key is None and directory.is_new:
        fail(f"no stack has run on {data}: name its directory (--data), or set NEXUS_MARK_KEY as the services have it")
    stored_key = None if key is not None else directory.secrets().mark_key
    try:
        keys = MarkSettings().keys or ((stored_key.encode(),) if stored_key else ())
    except ValueError as error:
        fail(error)
    for stream, start in on_bus(data, lambda client: demand_marks(client, keys)).items():
        print(f"{stream}: marks are demanded from {start} on")


@app.command()
def lift(data: Data = DEFAULT_DATA) -> None:
    """From now on everything counts again, as before a release that goes back to one which marks nothing."""
    from runtime.bus.marks import lift as lift_marks

    on_bus(data, lift_marks)
    print("marks are demanded no more")
