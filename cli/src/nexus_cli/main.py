"""The command `nexus`."""

from __future__ import annotations

import signal
import threading
from importlib.metadata import version
from types import FrameType
from typing import Annotated

import typer

from nexus_cli.commands import (
    ask,
    backup,
    chat,
    company,
    dlq,
    doctor,
    drill,
    erase,
    evaluate,
    knowledge,
    marks,
    migrate,
    replay,
    stack,
    token,
    tools,
    top,
    trace,
)
from nexus_cli.commands.failures import CommandGroup


def _print_version(is_requested: bool) -> None:
    if is_requested:
        print(f"nexus {version('nexus-cli')}")
        raise typer.Exit


app = typer.Typer(
    name="nexus",
    cls=CommandGroup,
    help="Nexus: the local stack, and what one can ask of it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def nexus(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Say which release it is, and end."),
    ] = False,
) -> None:
    """Nexus: the local stack, and what one can ask of it."""
    # On SIGTERM every command ends as on Ctrl-C: it stops what it has started and leaves nothing half done.
    if threading.current_thread() is threading.main_thread():  # only the main thread may set signal handlers
        signal.signal(signal.SIGTERM, _as_ctrl_c)


def _as_ctrl_c(_number: int, frame: FrameType | None) -> None:
    on_ctrl_c = signal.getsignal(signal.SIGINT)
    (on_ctrl_c if callable(on_ctrl_c) else signal.default_int_handler)(signal.SIGINT, frame)


for command in (
    stack.up,
    stack.down,
    chat.chat,
    ask.ask,
    tools.tools,
    tools.call,
    replay.replay,
    trace.trace,
    token.token,
    token.env,
    doctor.doctor,
    top.top,
    backup.backup,
    backup.restore,
    migrate.migrate,
    drill.drill,
    erase.erase,
    erase.erasures,
    stack.serve,
):
    app.command()(command)
app.add_typer(company.app, name="company")
app.add_typer(dlq.app, name="dlq")
app.add_typer(evaluate.app, name="eval")
app.add_typer(knowledge.app, name="knowledge")
app.add_typer(marks.app, name="marks")


def main() -> None:
    """Entry point of the console script."""
    app()
