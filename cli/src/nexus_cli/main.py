"""The command `nexus`."""

from __future__ import annotations

import typer

from nexus_cli.commands import (
    ask,
    chat,
    dlq,
    doctor,
    evaluate,
    keeping,
    knowledge,
    marks,
    replay,
    stack,
    token,
    tools,
    top,
    trace,
)

app = typer.Typer(
    name="nexus",
    help="Nexus: the local stack, and what one can ask of it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
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
    doctor.doctor,
    top.top,
    keeping.backup,
    keeping.restore,
    stack.serve,
):
    app.command()(command)
app.add_typer(dlq.app, name="dlq")
app.add_typer(evaluate.app, name="eval")
app.add_typer(knowledge.app, name="knowledge")
app.add_typer(marks.app, name="marks")


def main() -> None:
    """Entry point of the console script."""
    app()
