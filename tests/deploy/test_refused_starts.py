"""Bad input of an operator: each service ends with one clear line that says what to do, and none runs by half."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import orjson
import pytest
from pymongo import AsyncMongoClient

from contracts.streams import CHAT, STREAMS, TOOLS
from nexus_cli.stack.services import refusal_reason
from nexus_cli.testing.stacks import ProductionNats, production_nats
from runtime.bus.connection import connect
from runtime.bus.streams import await_streams, ensure_streams
from runtime.settings import NatsSettings
from runtime.stores.mongo import Document
from runtime.stores.store_format import FORMAT
from runtime.testing.forks import fork
from runtime.testing.servers import MongoDatabase, ValkeyServer, eventually, run_valkey_server

ENDS_WITHIN = 150.0
KEY = "k" * 32
SERVICES = ("gateway", "agent", "tool-executor", "memory", "market-adapter")
HEARD_BY_EXECUTOR = '            "tools.withdrawn.v1.>"\n'
"""A line of the executor's permissions alone, as a configuration of an earlier release may be without it."""


@dataclass(frozen=True)
class Servers:
    """A bus with the production configuration that holds the streams, and the stores."""

    nats: ProductionNats
    redis: ValkeyServer

    def settings(self, service: str, mongo: MongoDatabase) -> dict[str, str]:
        """What the service is given when all is right."""
        return {
            "NEXUS_NATS_URL": f"nats://{self.nats.address}",
            "NEXUS_NATS_USER": service,
            "NEXUS_NATS_PASSWORD": f"pw-{service}",
            "NEXUS_NATS_MANAGE_STREAMS": str(service == "memory").lower(),
            "NEXUS_NATS_CONNECT_DEADLINE": "2",
            "NEXUS_REDIS_URL": self.redis.url,
            "NEXUS_MONGODB_URL": mongo.url,
            "NEXUS_MONGODB_DATABASE": mongo.database,
            "NEXUS_JWT_SECRET": KEY,
            "NEXUS_PRINCIPAL_KEY": KEY,
            "NEXUS_GATEWAY_PORT": "0",
        }


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Generator[Servers]:
    directory = tmp_path_factory.mktemp("nats")
    with production_nats(directory, omitted=HEARD_BY_EXECUTOR) as nats, run_valkey_server() as redis:
        asyncio.run(make_streams(nats))
        yield Servers(nats, redis)


def as_memory(nats: ProductionNats) -> NatsSettings:
    return NatsSettings.model_validate({"url": f"nats://{nats.address}", "user": "memory", "password": "pw-memory"})


async def make_streams(nats: ProductionNats) -> None:
    client = await connect(as_memory(nats), name="test")
    await ensure_streams(client)
    await client.close()


async def last_word(service: str, settings: Mapping[str, str | None], tmp_path: Path) -> str:
    """The one error that the service ends with. It was never ready."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NEXUS_")}
    given = {name: value for name, value in settings.items() if value is not None}
    with (tmp_path / "output").open("wb") as output:
        process = await asyncio.to_thread(
            *(fork, service.replace("-", "_")),
            environment=kept | given | {"NEXUS_LOG_FORMAT": "json"},
            output=output,
            cwd=tmp_path,
        )
    try:
        await eventually(lambda: process.poll() is not None, ENDS_WITHIN)
    finally:
        process.kill()
    text = (tmp_path / "output").read_text()
    assert process.returncode == 1, text
    assert "Traceback" not in text, text
    said = [orjson.loads(line) for line in text.splitlines()]
    assert "service.ready" not in [one["event"] for one in said], text
    # Nothing else is said aloud that might be taken for the cause.
    (error,) = (one for one in said if one["level"] in ("warning", "error") and one["event"] != "nats.error")
    assert error["event"] == "service.not_ready"
    assert error["service"] == service
    assert refusal_reason(orjson.dumps(error).decode()) == error["error"], (
        "the local stack would start it again in vain"
    )
    return str(error["error"])


BAD: Mapping[str, tuple[str, Mapping[str, str | None], Sequence[str]]] = {
    "a slip in a name": ("agent", {"NEXUS_NATS_REPLCAS": "3"}, ["NEXUS_NATS_REPLCAS", "mean NEXUS_NATS_REPLICAS?"]),
    "a value that cannot be": ("gateway", {"NEXUS_NATS_REPLICAS": "three"}, ["NEXUS_NATS_REPLICAS: Input should be a"]),
    "no secret of tokens": ("gateway", {"NEXUS_JWT_SECRET": None}, ["NEXUS_JWT_SECRET"]),
    "a secret of tokens that can be guessed": (
        "gateway",
        {"NEXUS_JWT_SECRET": "short"},
        ["NEXUS_JWT_SECRET", "5 characters", "32", "openssl rand -hex 32"],
    ),
    "no key, before it has set up its log": (
        "memory",
        {"NEXUS_PRINCIPAL_KEY": None},
        ["NEXUS_PRINCIPAL_KEY is not set"],
    ),
    "a password that is not its own": (
        "market-adapter",
        {"NEXUS_NATS_PASSWORD": "wrong"},
        ["refuses the user market-adapter", "set NEXUS_NATS_USER and NEXUS_NATS_PASSWORD"],
    ),
    "another's user": (
        "agent",
        {"NEXUS_NATS_USER": "gateway", "NEXUS_NATS_PASSWORD": "pw-gateway"},
        ["NATS does not let gateway subscribe to ", "deploy/nats/nats.conf", "NEXUS_NATS_USER"],
    ),
    "a table without a subject": (
        "tool-executor",
        {},
        ["NATS does not let tool-executor ", "subscribe to tools.withdrawn.v1.>", "deploy/nats/nats.conf"],
    ),
}


@pytest.mark.parametrize("bad", BAD)
async def test_it_ends_with_one_line(bad: str, servers: Servers, mongo_server: MongoDatabase, tmp_path: Path) -> None:
    service, changed, expected = BAD[bad]
    told = await last_word(service, {**servers.settings(service, mongo_server), **changed}, tmp_path)
    for words in expected:
        assert words in told


@pytest.mark.parametrize("service", ["memory", "market-adapter"])
async def test_a_store_of_a_newer_release_is_left_alone(
    service: str, servers: Servers, mongo_server: MongoDatabase, tmp_path: Path
) -> None:
    written = {"_id": "format", "format": FORMAT + 1, "release": "9.0"}
    async with AsyncMongoClient[Document](mongo_server.url) as client:
        await client[mongo_server.database]["meta"].insert_one(dict(written))
        told = await last_word(service, servers.settings(service, mongo_server), tmp_path)
        assert await client[mongo_server.database]["meta"].find_one({"_id": "format"}) == written
    assert "the store is of release 9.0" in told
    assert "start release 9.0 or newer" in told


@asynccontextmanager
async def bus_of(tmp_path: Path, tools_kept: str) -> AsyncGenerator[ProductionNats]:
    """A bus with all streams, where somebody has made TOOLS with this retention."""
    with production_nats(tmp_path) as nats:
        client = await connect(as_memory(nats), name="test")
        odd = [replace(one, retention=tools_kept) if one is TOOLS else one for one in STREAMS]  # pyright: ignore[reportArgumentType]
        await ensure_streams(client, odd)
        await client.close()
        yield nats


async def test_a_stream_with_other_limits_stops_who_makes_it_and_who_uses_it(
    servers: Servers, mongo_server: MongoDatabase, tmp_path: Path
) -> None:
    (tmp_path / "nats").mkdir()
    async with bus_of(tmp_path / "nats", "limits") as nats:
        there = replace(servers, nats=nats)
        told = await last_word("memory", there.settings("memory", mongo_server), tmp_path)
        client = await connect(as_memory(nats), name="test")
        with pytest.raises(Exception, match="retention is limits and must be workqueue") as used:
            await await_streams(client, [CHAT, TOOLS], deadline=0.5)
        await client.close()
    assert "stream TOOLS is not what this release needs: retention is limits and must be workqueue" in told
    assert "save what it holds (nexus backup), delete it" in told
    assert "Start memory of this release" in str(used.value)
