"""What a command talks to: the stack on the data directory, or the servers that the environment names."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from nats.aio.client import Client

from nexus_cli.settings import read_settings
from nexus_cli.stack.datadir import DataDirectory
from nexus_cli.stack.errors import NotRunning, StackError


class Unreachable(StackError):  # noqa: N818 - reads as an event, like every error here
    """What the command needs does not answer."""


@dataclass(frozen=True)
class Target:
    """Addresses and secrets. `gateway` is None when no stack runs here: only the bus is known then."""

    gateway: str | None
    nats: str
    jwt_secret: str
    principal_key: str


def find_target(data: Path) -> Target:
    """The environment first, then the running stack.

    Raises:
        NotRunning: neither names a bus.
        BadSetting: a variable has a value that it cannot have.
    """
    settings = read_settings()
    directory = DataDirectory(data)
    try:
        recorded: dict[str, Any] = directory.recorded()
    except NotRunning:
        if settings.nats_url is None:
            raise
        recorded = {}
    made = directory.secrets()
    urls = cast(dict[str, str], recorded.get("urls", {}))
    processes = cast(list[dict[str, str]], recorded.get("processes", []))
    gateways = [process["url"] for process in processes if process["name"] == "gateway"]
    return Target(
        gateway=gateways[0] if gateways else None,
        nats=settings.nats_url or urls["nats"],
        jwt_secret=settings.jwt_secret.get_secret_value() if settings.jwt_secret else made.jwt_secret,
        principal_key=settings.principal_key.get_secret_value() if settings.principal_key else made.principal_key,
    )


@asynccontextmanager
async def bus(url: str) -> AsyncGenerator[Client]:
    """A connection to the bus for the length of the block.

    Raises:
        Unreachable: nothing answers at the address within 5 s.
    """
    import structlog

    from runtime.connection import connect
    from runtime.errors import RuntimeFault
    from runtime.settings import NatsSettings

    # Failures come back as errors, and are told by the command; the library's own log would stand in its output.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        client = await connect(NatsSettings(url=url, connect_deadline=5.0), name="nexus-cli")
    except RuntimeFault as error:
        raise Unreachable(f"{error}; is the stack running? `nexus up` starts it") from error
    try:
        yield client
    finally:
        await client.close()
