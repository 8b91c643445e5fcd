"""Finds what a command talks to: the stack on the data directory, or the servers that the environment names."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from nats.aio.client import Client

from nexus_cli.stack.datadir import DataDirectory
from nexus_cli.stack.errors import NotRunningError, StackError
from nexus_cli.stack.settings import read_settings


class ServerUnreachableError(StackError):
    """A server that the command needs does not answer."""


@dataclass(frozen=True)
class Target:
    """Addresses and secrets. `gateway` is None if no stack runs here: only the bus is known then."""

    gateway: str | None
    nats: str
    jwt_secret: str
    principal_key: str


def find_target(data: Path) -> Target:
    """The environment first, then the running stack.

    Raises:
        NotRunningError: neither names a bus.
        BadSettingError: a variable has a value that it cannot have.
    """
    settings = read_settings()
    directory = DataDirectory(data)
    addresses = find_addresses(data)
    made = directory.secrets()
    gateways = addresses.services.get("gateway", ())
    return Target(
        gateway=gateways[0] if gateways else None,
        nats=addresses.nats,
        jwt_secret=settings.jwt_secret.get_secret_value() if settings.jwt_secret else made.jwt_secret,
        principal_key=settings.principal_key.get_secret_value() if settings.principal_key else made.principal_key,
    )


@dataclass(frozen=True)
class Addresses:
    """The addresses of the servers; None if unknown. `services`: base addresses of their health, by name."""

    nats: str
    redis: str | None = None
    mongodb: str | None = None
    database: str = "nexus"
    services: Mapping[str, Sequence[str]] = field(default_factory=dict[str, list[str]])

    @property
    def urls(self) -> dict[str, str]:
        named = {"nats": self.nats, "redis": self.redis, "mongodb": self.mongodb}
        return {name: url for name, url in named.items() if url} | {
            f"{name} {number}" if number else name: url
            for name, urls in self.services.items()
            for number, url in enumerate(urls)
        }


def find_addresses(data: Path, services: Mapping[str, Sequence[str]] | None = None) -> Addresses:
    """The environment first, then the running stack; `services`: those of a cluster, which it keeps no list of.

    Raises:
        NotRunningError: neither names a bus.
        BadSettingError: a variable has a value that it cannot have.
    """
    from runtime.settings import MongoSettings

    settings = read_settings()
    try:
        recorded: dict[str, object] = DataDirectory(data).recorded()
    except NotRunningError:
        if settings.nats_url is None:
            raise
        recorded = {}
    urls = cast(dict[str, str], recorded.get("urls", {})) | settings.urls()
    found: dict[str, list[str]] = {name: list(places) for name, places in (services or {}).items()}
    for process in cast(list[dict[str, str]], recorded.get("processes", [])):
        if process["url"].startswith("http"):
            found.setdefault(process["name"], []).append(process["url"])
    return Addresses(urls["nats"], urls.get("redis"), urls.get("mongodb"), MongoSettings().database, found)


@asynccontextmanager
async def bus(url: str, *, deadline: float = 5.0) -> AsyncGenerator[Client]:
    """A connection to the bus for the length of the block.

    Raises:
        ServerUnreachableError: nothing answers at the address within `deadline` seconds.
    """
    import structlog

    from runtime.bus.connection import connect
    from runtime.errors import RuntimeLibraryError
    from runtime.settings import NatsSettings

    # Failures come back as errors, and are told by the command; the library's own log would stand in its output.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        client = await connect(NatsSettings(url=url, connect_deadline=deadline), name="nexus-cli")
    except RuntimeLibraryError as error:
        raise ServerUnreachableError(f"{error}; is the stack running? `nexus up` starts it") from error
    try:
        yield client
    finally:
        await client.close()
