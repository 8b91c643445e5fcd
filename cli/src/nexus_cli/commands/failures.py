"""Exit codes: 0 done, 1 failed with one clear line on standard error, 2 wrong usage; and answers as JSON."""

from __future__ import annotations

import json
import sys
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from nexus_cli.errors import CommandFailedError
from nexus_cli.terminal_text import plain


class CommandGroup(TyperGroup):
    """Ends a command with one line for each error whose text is meant for people."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # nobody reads the output any more
        except (CommandFailedError, OSError) as error:
            fail(str(error) or type(error).__name__)
        except Exception as error:
            from runtime.errors import RuntimeLibraryError

            if not isinstance(error, RuntimeLibraryError):
                raise
            fail(error)


def fail(line: object) -> NoReturn:
    """Ends the command with exit code 1 and one line."""
    print(f"nexus: {plain(line)}", file=sys.stderr)
    raise typer.Exit(1)


def misuse(line: object) -> NoReturn:
    """Ends the command with exit code 2 and one line: the arguments are wrong."""
    print(f"nexus: {plain(line)}", file=sys.stderr)
    raise typer.Exit(2)


def print_json(answer: object) -> None:
    print(json.dumps(answer, indent=2, ensure_ascii=False))
