"""The users of the embedded bus: those of production with their permissions, and passwords of this data directory.

`nats.conf` beside this file is deploy/nats/nats.conf itself: whoever runs into a missing permission in production would
have run into it here. Whoever is not a service (commands, tests, developers) is `operator`, who may do everything.
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
    """The environment variable with a user's password in nats.conf: NATS_TOOL_EXECUTOR_PASSWORD."""
    return f"NATS_{user.replace('-', '_').upper()}_PASSWORD"


def accounts() -> str:
    """The part of nats.conf with the users' permissions; passwords are variables of the server's environment."""
    text = _CONF.read_text()
    return text[text.index("accounts {") :]


def server_environment(passwords: Mapping[str, str]) -> dict[str, str]:
    """The passwords, for the server."""
    return {variable(user): passwords[user] for user in USERS}
