"""Options that several commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[
    Path, typer.Option("--data", help="Directory with the local stack's data, logs and secrets.", file_okay=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

DEFAULT_DATA = Path(".nexus")


def spoken() -> str:
    """The language of whoever sits at the terminal, by its locale: es or en; es where it names neither."""
    said = next((os.environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if os.environ.get(name)), "")
    return "en" if said.lower().startswith("en") else "es"


Language = Annotated[
    str, typer.Option(help="Language of texts: es, en.", default_factory=spoken, show_default="the terminal's, else es")
]
