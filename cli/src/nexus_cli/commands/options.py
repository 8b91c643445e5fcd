"""Options that several commands share."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from contracts.languages import language_of_tags
from nexus_cli.commands.failures import misuse

Data = Annotated[
    Path, typer.Option("--data", help="Directory with the local stack's data, logs and secrets.", file_okay=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def require_company(said: str) -> str:
    """A company's id; ends the command where it can be none."""
    from contracts.ids import InvalidIdError, check_company

    try:
        return check_company(said)
    except InvalidIdError as error:
        misuse(error)


def require_id(said: str | None) -> str | None:
    """An id; ends the command if it cannot be one."""
    from contracts.ids import InvalidIdError, check_id

    try:
        return None if said is None else check_id(said)
    except InvalidIdError as error:
        misuse(error)


Services = Annotated[
    list[str] | None,
    typer.Option("--service", help="NAME=URL of a service elsewhere, e.g. agent=http://10.0.0.7:8081; again for each."),
]

DEFAULT_DATA = Path(".nexus")


def places(given: Sequence[str] | None) -> dict[str, list[str]]:
    """The addresses of --service, by name; ends the command if one is not an address."""
    found: dict[str, list[str]] = {}
    for one in given or ():
        name, _, url = one.partition("=")
        if not url.startswith(("http://", "https://")):
            misuse(f"--service {one}: write NAME=http://host:port")
        found.setdefault(name, []).append(url.rstrip("/"))
    return found


def terminal_language() -> str:
    """The language of the person at the terminal, by the locale: es or en; es if it names neither."""
    said = next((os.environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(name)), "")
    return language_of_tags(said)


def confirmed(question: str, said: str = "en") -> bool:
    """Whether the answer is yes, in the question's language or in English; the end of input is no."""
    print(f"{question} [{'s' if said == 'es' else 'y'}/N]: ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().casefold() in {"y", "yes", *({"s", "si", "sí"} if said == "es" else ())}


Language = Annotated[
    str,
    typer.Option(
        "--locale",
        help="Language of texts: es, en.",
        default_factory=terminal_language,
        show_default="the terminal's, else es",
    ),
]
