"""Fixtures of the real servers, loaded by the root conftest.py.

The tests of one worker share processes, since one of its own costs a test more CPU than what most tests do:

`nats_server`   an account of NATS, whose streams and subjects no other test sees
`valkey_server` a numbered database of Valkey
`mongo_server`  a named database of the MongoDB-wire server

A test that kills, freezes, configures or looks into a process is marked `own_servers`; its NATS and its Valkey are then
processes for it alone.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import AsyncIterator, Generator, Iterator, Sequence
from pathlib import Path

import pytest
from nats.aio.client import Client

from runtime.bus.connection import connect
from runtime.bus.streams import ensure_streams
from runtime.settings import NatsSettings
from runtime.testing.servers import (
    MongoDatabase,
    MongoServer,
    NatsServer,
    ServerProcess,
    ValkeyServer,
    run_mongo_server,
    run_nats_server,
    run_server,
    run_valkey_server,
)

SHARES = 64
"""Tests that share one process. A new one follows, so that what they leave behind does not grow."""
MEMORY = Path("/dev/shm")
MIN_MEMORY = 2 * 1024**3
"""Free bytes of a file system in memory from which on NATS stores its streams there: a third of the CPU."""


class _NatsOfAccounts(NatsServer):
    def command(self) -> Sequence[str]:
        config = self.directory / "accounts.conf"
        users = [
            f"t{number}: {{jetstream: enabled, users: [{{user: t{number}, password: t}}]}}" for number in range(SHARES)
        ]
        # Each stream reserves its greatest size.
        config.write_text("\n".join(["jetstream {max_file_store: 1000TB}", "accounts {", *users, "}"]))
        return [*super().command(), "-c", str(config)]


class _ValkeyOfDatabases(ValkeyServer):
    def command(self) -> Sequence[str]:
        return [*super().command(), "--databases", str(SHARES)]


class _Share(ServerProcess):
    """One test's part of a process that others use too."""

    def __init__(self, server: ServerProcess, number: int) -> None:
        # Not that of the parent: there is no process.
        self.host, self.port, self.number = server.host, server.port, number

    def __getattr__(self, name: str) -> object:
        raise AttributeError(f"tests share this server, so it has no {name}; mark the test `own_servers`")


class NatsAccount(_Share, NatsServer):
    """An account of a shared nats-server."""

    @property
    def url(self) -> str:
        return f"nats://t{self.number}:t@{self.host}:{self.port}"


class ValkeyDatabase(_Share, ValkeyServer):
    """A numbered database of a shared Valkey."""

    @property
    def url(self) -> str:
        return f"redis://{self.host}:{self.port}/{self.number}"


def _nats_accounts() -> Generator[NatsServer]:
    in_memory = MEMORY.is_dir() and os.statvfs(MEMORY).f_bavail * os.statvfs(MEMORY).f_frsize >= MIN_MEMORY
    while True:
        with run_server(_NatsOfAccounts, MEMORY if in_memory else None) as server:
            for number in range(SHARES):
                yield NatsAccount(server, number)


def _valkey_databases() -> Generator[ValkeyServer]:
    while True:
        with run_server(_ValkeyOfDatabases) as server:
            for number in range(SHARES):
                yield ValkeyDatabase(server, number)


@pytest.fixture(scope="session")
def nats_accounts() -> Iterator[Iterator[NatsServer]]:
    """Unused accounts of NATS."""
    with contextlib.closing(_nats_accounts()) as accounts:
        yield accounts


@pytest.fixture(scope="session")
def valkey_databases() -> Iterator[Iterator[ValkeyServer]]:
    """Unused databases of Valkey."""
    with contextlib.closing(_valkey_databases()) as databases:
        yield databases


def _has_own_servers(request: pytest.FixtureRequest) -> bool:
    return request.node.get_closest_marker("own_servers") is not None


@pytest.fixture
def nats_server(request: pytest.FixtureRequest, nats_accounts: Iterator[NatsServer]) -> Iterator[NatsServer]:
    """An account of NATS for this test alone, or a process if the test is marked `own_servers`."""
    if _has_own_servers(request):
        with run_nats_server() as server:
            yield server
    else:
        yield next(nats_accounts)


@pytest.fixture
async def nats_client(nats_server: NatsServer) -> AsyncIterator[Client]:
    """A connected client of this test's NATS."""
    client = await connect(NatsSettings(url=nats_server.url, ping_interval=1), name="test")
    try:
        yield client
    finally:
        await client.close()


@pytest.fixture
async def nats_streams(nats_client: Client) -> Client:
    """`nats_client`, with every stream of the contracts on the server."""
    await ensure_streams(nats_client)
    return nats_client


@pytest.fixture
def valkey_server(request: pytest.FixtureRequest, valkey_databases: Iterator[ValkeyServer]) -> Iterator[ValkeyServer]:
    """A database of Valkey for this test alone, or a process if the test is marked `own_servers`."""
    if _has_own_servers(request):
        with run_valkey_server() as server:
            yield server
    else:
        yield next(valkey_databases)


@pytest.fixture(scope="session")
def mongo_process() -> Iterator[MongoServer]:
    """The MongoDB-wire server that the tests of one worker share."""
    with run_mongo_server() as server:
        yield server


@pytest.fixture
def mongo_server(mongo_process: MongoServer) -> MongoDatabase:
    """A database for this test alone; a test that kills its server uses `run_mongo_server` instead."""
    return MongoDatabase(mongo_process.url, f"test_{uuid.uuid4().hex[:12]}", mongo_process)
