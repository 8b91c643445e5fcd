"""`nexus backup` and `nexus restore`."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from nexus_cli.commands.failures import fail
from nexus_cli.commands.options import DEFAULT_DATA, Data

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="The backup's directory.", file_okay=False)]


def backup(directory: Directory, data: Data = DEFAULT_DATA) -> None:
    """Write streams, documents, files and settings into DIR, consistent to a sequence, while everything runs."""
    from nexus_cli.backup.backup import backup
    from nexus_cli.stack.datadir import DataDirectory
    from nexus_cli.target import find_addresses

    try:
        addresses = find_addresses(data)
        settings = data if DataDirectory(data).is_held() else None
        manifest = asyncio.run(backup(addresses, settings, directory, _say))
    except OSError as error:
        fail(f"{directory} cannot be written: {error.strerror}")
    print(f"{directory}: the conversations as of {manifest['streams']['CHAT']['state']['last_seq']}")


def restore(directory: Directory, data: Data = DEFAULT_DATA) -> None:
    """Restore DIR into a new local stack, or into the empty servers that the environment names. No service may run."""
    from nexus_cli.backup.backup import read, restore, restored_settings
    from nexus_cli.stack.datadir import DataDirectory
    from nexus_cli.stack.settings import read_settings
    from nexus_cli.target import find_addresses
    from runtime.settings import NatsSettings

    async def into_new_stack(manifest: dict[str, object]) -> None:
        from nexus_cli.stack.temporary import ready_program

        with restored_settings(manifest, directory, data), tempfile.TemporaryDirectory() as place:
            command = ["-m", "nexus_cli", "up", "--data", str(data), "--port", "0", "--services", "none"]
            async with ready_program(command, log=Path(place) / "log", environment=os.environ):
                await restore(manifest, directory, find_addresses(data), 1, _say, data)

    try:
        manifest = asyncio.run(read(directory))
        if read_settings().nats_url is None and not DataDirectory(data).is_held():
            asyncio.run(into_new_stack(manifest))
        else:
            local = data if DataDirectory(data).is_held() else None
            replicas = NatsSettings().replicas
            asyncio.run(restore(manifest, directory, find_addresses(data), replicas, _say, local))
    except OSError as error:
        fail(f"{error.filename or data}: {error.strerror}")
    print(
        f"restored as of {manifest['madeAt']}: what was deleted since then is back, delete it again; start the services"
    )


def _say(line: str) -> None:
    print(line, flush=True)
