"""The users of the embedded bus, with the permissions of production and with passwords of the data directory.

`nats.conf` beside this file is deploy/nats/nats.conf itself, so that a missing permission shows up here and not first
in production. Commands, tests and developers are the user `operator`, who may do everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from nexus_cli.stack.services import SERVICES

ACCOUNT = "NEXUS"
OPERATOR = "operator"
USERS = (*SERVICES, OPERATOR)
_CONF = Path(__file__).with_name("nats.conf")


def variable(user: str) -> str:
    """The environment variable for a user's password in nats.conf, e.g. NATS_TOOL_EXECUTOR_PASSWORD."""
    return f"NATS_{user.replace('-', '_').upper()}_PASSWORD"


def accounts() -> str:
    """The part of nats.conf with the users' permissions; passwords are variables of the server's environment."""
    text = _CONF.read_text()
    return text[text.index("accounts {") :]


def server_environment(passwords: Mapping[str, str]) -> dict[str, str]:
    """The environment of the server with the users' passwords."""
    return {variable(user): passwords[user] for user in USERS}
