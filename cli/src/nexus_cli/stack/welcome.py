"""The message after a start: where Nexus is, what to try, where it writes, how to stop it."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

from nexus_cli.identity import development_token
from nexus_cli.stack.datadir import DataDirectory

HOURS = 12


def welcome(address: str, directory: DataDirectory, jwt_secret: str, *, detached: bool) -> list[str]:
    """A line each. The console's link holds a token behind #: it is for the terminal, and not for a log."""
    token = development_token(jwt_secret, role="admin", user="demo-admin", company="demo", plan="free", hours=HOURS)
    nexus = _program()
    data = "" if directory.path == Path(".nexus").absolute() else f" --data {shlex.quote(str(directory.path))}"
    return [
        f"console  {address}console#token={token}",
        f"         (signs in as the demo's admin, for {HOURS} hours)",
        'try      ask on the page: "What does the Pro plan cost?"',
        f"try      {nexus} chat{data}",
        f'try      {nexus} company new "Your company" --site https://www.example.com{data}',
        f"logs     {directory.logs}",
        f"stop     {f'{nexus} down{data}' if detached else 'Ctrl-C'}",
    ]


def _program() -> str:
    """Returns how this program is called from here: by its name only if the shell finds it."""
    if shutil.which("nexus"):
        return "nexus"
    beside = Path(sys.executable).parent / "nexus"
    return str(beside.relative_to(Path.cwd())) if beside.is_relative_to(Path.cwd()) else str(beside)
