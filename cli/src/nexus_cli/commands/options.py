"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[
    Path, typer.Option("--data", help="Directory with the local stack's data, logs and secrets.", file_okay=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

DEFAULT_DATA = Path(".nexus")
