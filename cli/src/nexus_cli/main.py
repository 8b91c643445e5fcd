"""The command `nexus`."""

from __future__ import annotations

import typer

from nexus_cli.commands import stack

app = typer.Typer(
    name="nexus",
    help="Nexus: the local stack, and what one can ask of it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(stack.up)
app.command()(stack.down)
app.command()(stack.serve)


def main() -> None:
    """Entry point of the console script."""
    app()
