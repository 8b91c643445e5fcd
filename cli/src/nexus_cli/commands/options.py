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


def require_company(value: str) -> str:
    """Returns the value if it can be a company's id; otherwise ends the command."""
    from contracts.ids import InvalidIdError, check_company

    try:
        return check_company(value)
    except InvalidIdError as error:
        misuse(error)


def require_id(value: str | None) -> str | None:
    """Returns the value if it can be an id; otherwise ends the command."""
    from contracts.ids import InvalidIdError, check_id

    try:
        return None if value is None else check_id(value)
    except InvalidIdError as error:
        misuse(error)


Services = Annotated[
    list[str] | None,
    typer.Option("--service", help="NAME=URL of a service elsewhere, e.g. agent=http://10.0.0.7:8081; again for each."),
]

DEFAULT_DATA = Path(".nexus")


def places(options: Sequence[str] | None) -> dict[str, list[str]]:
    """The addresses of --service by the service's name. Ends the command if one is not an address."""
    urls_by_name: dict[str, list[str]] = {}
    for option in options or ():
        name, _, url = option.partition("=")
        if not url.startswith(("http://", "https://")):
            misuse(f"--service {option}: write NAME=http://host:port")
        urls_by_name.setdefault(name, []).append(url.rstrip("/"))
    return urls_by_name


def terminal_language() -> str:
    """Language of the terminal's locale, es or en; es if it names neither."""
    tag = next((os.environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(name)), "")
    return language_of_tags(tag)


def confirmed(question: str, locale: str = "en") -> bool:
    """Asks a question and returns whether the answer is yes, in the given language or in English. End of input is
    no."""
    print(f"{question} [{'s' if locale == 'es' else 'y'}/N]: ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().casefold() in {"y", "yes", *({"s", "si", "sí"} if locale == "es" else ())}


Language = Annotated[
    str,
    typer.Option(
        "--locale",
        help="Language of texts: es, en.",
        default_factory=terminal_language,
        show_default="the terminal's, else es",
    ),
]
