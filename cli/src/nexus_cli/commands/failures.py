"""Exit codes: 0 done, 1 failed with one clear line on standard error, 2 wrong usage."""

from __future__ import annotations

import sys
from typing import NoReturn

import typer

from nexus_cli.terminal_text import plain


def fail(line: object) -> NoReturn:
    """Ends the command with exit code 1 and one line."""
    print(f"nexus: {plain(line)}", file=sys.stderr)
    raise typer.Exit(1)


def misuse(line: object) -> NoReturn:
    """Ends the command with exit code 2 and one line: the arguments are wrong."""
    print(f"nexus: {plain(line)}", file=sys.stderr)
    raise typer.Exit(2)
