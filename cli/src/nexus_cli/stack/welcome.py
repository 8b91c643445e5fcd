"""The message after a start: the address, what to try, where the logs are, how to stop."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

from nexus_cli.identity import development_token
from nexus_cli.stack.datadir import DataDirectory

TOKEN_HOURS = 12


def welcome(address: str, directory: DataDirectory, jwt_secret: str, *, detached: bool) -> list[str]:
    """The lines of the message. The link to the console contains a token, so it must not go into a log."""
    token = development_token(
        jwt_secret, role="admin", user="demo-admin", company="demo", plan="free", hours=TOKEN_HOURS
    )
    nexus = _program()
    data = "" if directory.path == Path(".nexus").absolute() else f" --data {shlex.quote(str(directory.path))}"
    return [
        f"console  {address}console#token={token}",
        f"         (signs in as the demo's admin, for {TOKEN_HOURS} hours)",
        'try      ask on the page: "What does the Pro plan cost?"',
        f"try      {nexus} chat{data}",
        f'try      {nexus} company new "Your company" --site https://www.example.com{data}',
        f"logs     {directory.logs}",
        f"stop     {f'{nexus} down{data}' if detached else 'Ctrl-C'}",
    ]


def _program() -> str:
    """How to call this program from the current folder: by its name if the shell finds it, else by its path."""
    if shutil.which("nexus"):
        return "nexus"
    path = Path(sys.executable).parent / "nexus"
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
