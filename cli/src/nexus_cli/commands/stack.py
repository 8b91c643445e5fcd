"""`nexus up`, `nexus down` and `nexus serve`."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import signal
import sys
from enum import StrEnum
from typing import Annotated

import typer

from nexus_cli.commands.failures import fail, misuse
from nexus_cli.commands.options import DEFAULT_DATA, Data


class ServiceName(StrEnum):
    """The five services."""

    GATEWAY = "gateway"
    AGENT = "agent"
    TOOL_EXECUTOR = "tool-executor"
    MEMORY = "memory"
    MARKET_ADAPTER = "market-adapter"


def up(
    port: Annotated[
        int | None,
        typer.Option(
            help="Port of the page; 0 takes a free one. Else NEXUS_GATEWAY_PORT, else 8080.", min=0, max=65535
        ),
    ] = None,
    data: Data = DEFAULT_DATA,
    detach: Annotated[bool, typer.Option("--detach", help="Return when all is ready; `nexus down` stops it.")] = False,
    with_parent: Annotated[
        bool, typer.Option("--with-parent", help="Stop when the program that started this one dies, as `make up` does.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print the page's address alone.")] = False,
    services: Annotated[
        str, typer.Option(help="Services to run, separated by commas; `none` for the servers alone.")
    ] = ",".join(ServiceName),
) -> None:
    """Start the local stack: embedded servers and the five services. Ctrl-C stops all of it.

    Prints one line, the page's address, when everything is ready; on standard error also what to try and how to stop.
    """
    from nexus_cli.stack.datadir import DataDirectory
    from nexus_cli.stack.detach import start_detached
    from nexus_cli.stack.settings import read_settings
    from nexus_cli.stack.up import UpOptions, run_stack, say
    from nexus_cli.stack.welcome import welcome
    from runtime.lifecycle.parent import end_with_parent

    chosen = [] if services == "none" else [name.strip() for name in services.split(",")]
    unknown = [name for name in chosen if name not in list(ServiceName)]
    if unknown:
        misuse(f"no such service: {', '.join(unknown)}; there are {', '.join(ServiceName)}")
    settings = read_settings()
    page_port = settings.gateway_port if port is None else port
    if detach:
        directory = DataDirectory(data)
        address = start_detached(directory, port=page_port, services=services)
        print(address, flush=True)
        if not quiet and "gateway" in chosen:
            for line in welcome(address, directory, settings.secrets_of(directory).jwt_secret, detached=True):
                say(line)
    else:
        if with_parent:
            end_with_parent(signal.SIGTERM)
        asyncio.run(run_stack(UpOptions(page_port, tuple(chosen), quiet), DataDirectory(data), settings))


def down(data: Data = DEFAULT_DATA) -> None:
    """Stop the stack that runs on a data directory. Its data stays. Fine if there is none."""
    from nexus_cli.stack.datadir import DataDirectory
    from nexus_cli.stack.detach import stop_running
    from nexus_cli.stack.errors import NotRunningError

    try:
        stop_running(DataDirectory(data))
    except NotRunningError as error:
        print(f"nexus: {error}", file=sys.stderr)


def serve(service: Annotated[ServiceName, typer.Argument(help="Which service.")]) -> None:
    """Run one service in this process, configured by the environment: for containers."""
    from nexus_cli.stack.services import package

    module = package(service)
    if importlib.util.find_spec(module) is None:
        fail(f"{service} is not installed here: install the distribution nexus-{service}")
    # The service takes this process over: signals and exit code are its own.
    os.execv(sys.executable, [sys.executable, "-m", module])  # noqa: S606
