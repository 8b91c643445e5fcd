"""Finds the target of a command: the stack on the data directory, or the servers that the environment names."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from nats.aio.client import Client

from nexus_cli.stack.datadir import DataDirectory
from nexus_cli.stack.errors import NotRunningError, ServerUnreachableError
from nexus_cli.stack.settings import read_settings


@dataclass(frozen=True)
class Target:
    """Addresses and secrets. `gateway` is None if no gateway is known, as for a bus from the environment."""

    gateway: str | None
    nats: str
    jwt_secret: str
    principal_key: str


def find_target(data: Path) -> Target:
    """Finds the target in the environment, else from the running stack.

    Raises:
        NotRunningError: neither names a bus.
        BadSettingError: a variable has an invalid value.
    """
    addresses = find_addresses(data)
    secrets = read_settings().secrets_of(DataDirectory(data))
    gateways = addresses.services.get("gateway", ())
    return Target(gateways[0] if gateways else None, addresses.nats, secrets.jwt_secret, secrets.principal_key)


@dataclass(frozen=True)
class Addresses:
    """The addresses of the servers; None if unknown. `services`: base addresses of their health endpoints, by name."""

    nats: str
    redis: str | None = None
    mongodb: str | None = None
    database: str = "nexus"
    services: Mapping[str, Sequence[str]] = field(default_factory=dict[str, list[str]])

    @property
    def urls(self) -> dict[str, str]:
        servers = {"nats": self.nats, "redis": self.redis, "mongodb": self.mongodb}
        return {name: url for name, url in servers.items() if url} | {
            f"{name} {number}" if number else name: url
            for name, urls in self.services.items()
            for number, url in enumerate(urls)
        }


def find_addresses(data: Path, services: Mapping[str, Sequence[str]] | None = None) -> Addresses:
    """Finds the addresses in the environment, else from the running stack. `services`: more addresses, e.g. of a
    cluster.

    Raises:
        NotRunningError: neither names a bus.
        BadSettingError: a variable has an invalid value.
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
    service_urls: dict[str, list[str]] = {name: list(addresses) for name, addresses in (services or {}).items()}
    for process in cast(list[dict[str, str]], recorded.get("processes", [])):
        if process["url"].startswith("http"):
            service_urls.setdefault(process["name"], []).append(process["url"])
    return Addresses(urls["nats"], urls.get("redis"), urls.get("mongodb"), MongoSettings().database, service_urls)


@asynccontextmanager
async def bus(url: str, *, deadline: float = 5.0) -> AsyncGenerator[Client]:
    """Connects to the bus for the length of the block.

    Raises:
        ServerUnreachableError: nothing answers at the address within `deadline` seconds.
    """
    import structlog

    from runtime.bus.connection import connect
    from runtime.errors import RuntimeLibraryError
    from runtime.settings import NatsSettings

    # The command reports errors itself; the log of the library would disturb its output.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        client = await connect(NatsSettings(url=url, connect_deadline=deadline), name="nexus-cli")
    except RuntimeLibraryError as error:
        raise ServerUnreachableError(f"{error}; is the stack running? `nexus up` starts it") from error
    try:
        yield client
    finally:
        await client.close()
