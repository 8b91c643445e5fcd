"""Redis by Sentinel and as a cluster: whoever is the primary is written to, also when the one before stands still."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from pymongo import AsyncMongoClient
from redis import Redis
from redis.exceptions import RedisError

from runtime.errors import NotReadyError
from runtime.settings import MongoSettings, RedisSettings
from runtime.stores.mongo import Document, url_must_be_valid
from runtime.stores.redis_client import incarnation, lost_servers, redis_client
from runtime.testing.cluster import run_valkey_cluster
from runtime.testing.servers import ValkeyServer, eventually

DEADLINE = 0.3


class Follower(ValkeyServer):
    """A server that goes by another one."""

    def __init__(self, directory: Path, primary: ValkeyServer) -> None:
        super().__init__(directory)
        self.primary = primary


class Replica(Follower):
    """Its copy."""

    def command(self) -> Sequence[str]:
        return [*super().command(), "--replicaof", f"{self.primary.host} {self.primary.port}"]


class Sentinel(Follower):
    """What watches it, under the name `main`."""

    def command(self) -> Sequence[str]:
        program, *options = super().command()
        config = self.directory / "sentinel.conf"
        config.write_text(
            f"sentinel monitor main {self.host} {self.primary.port} 1\n"
            "sentinel down-after-milliseconds main 200\nsentinel failover-timeout main 2000\n"
        )
        return [program, str(config), "--sentinel", *options[:4]]


@contextmanager
def watched(directory: Path, primary: ValkeyServer) -> Generator[str]:
    """The address by which a client finds the primary; it has a replica. Another Sentinel stands before ours, and does
    not answer."""
    servers = Replica(directory / "replica", primary), Sentinel(directory / "sentinel", primary)
    with Redis(primary.host, primary.port) as client:
        client.config_set("repl-diskless-sync-delay", 0)  # pyright: ignore[reportUnknownMemberType]
    try:
        for server in servers:
            server.start()
        yield f"redis+sentinel://{primary.host}:1,{primary.host}:{servers[1].port}/main/0"
    finally:
        for server in servers:
            server.kill()


@pytest.mark.own_servers
async def test_the_next_primary_is_written_to_when_the_one_before_stands_still(
    tmp_path: Path, valkey_server: ValkeyServer
) -> None:
    with watched(tmp_path, valkey_server) as url:
        client = redis_client(url, DEADLINE, name="test")

        async def written() -> bool:
            try:
                return bool(await client.set("k", "2"))  # pyright: ignore[reportUnknownMemberType]
            except (RedisError, OSError):
                return False

        async def copied() -> bool:
            info = await client.info("replication")  # pyright: ignore[reportUnknownMemberType]
            return info["connected_slaves"] == 1 and info["slave0"]["state"] == "online"

        await eventually(copied)
        valkey_server.pause()
        try:
            assert await eventually(written)
        finally:
            valkey_server.resume()
        assert (await client.info("server"))["tcp_port"] != valkey_server.port  # pyright: ignore[reportUnknownMemberType]
        await client.aclose()


async def test_a_cluster_goes_on_while_one_of_its_servers_stands_still(tmp_path: Path) -> None:
    keys = [f"k{number}" for number in range(40)]
    with run_valkey_cluster(tmp_path, primaries=3, replicas=1) as servers:
        client: Any = redis_client(servers[1].url, DEADLINE, name="test")
        before = await incarnation(client)

        async def written_together() -> list[bool]:
            pipe = client.pipeline(transaction=False)
            for key in keys:
                pipe.execute_command("SET", key, "1")
            return [one is True or one == b"OK" for one in await pipe.execute(raise_on_error=False)]

        async def all_written() -> bool:
            try:
                return all(await written_together())
            except (RedisError, OSError):
                return False

        assert await all_written()
        servers[0].pause()
        try:
            assert 0 < sum(await written_together()) < len(keys)
            assert await eventually(all_written)
            assert len([key async for key in client.scan_iter(match="k*")]) == len(keys)
            assert await client.mget(keys) == [b"1"] * len(keys)
            assert await client.delete(*keys) == len(keys)
            assert await incarnation(client) != before
            assert await lost_servers(client) == [f"{servers[0].host}:{servers[0].port}"]
        finally:
            servers[0].resume()
        for server in servers:
            server.kill()
        with pytest.raises((RedisError, OSError)):
            await client.get("k")
        await client.aclose()


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:6379",
        "http://redis",
        "redis://",
        "redis+sentinel://one:26379",
        "",
        "redis+cluster://one",
        "redis+cluster://one:6379,two",
        "redis+cluster://one:6379/3",
    ],
)
def test_an_address_that_cannot_be_one_is_refused_with_what_to_write(url: str) -> None:
    with pytest.raises(ValidationError, match="write redis://HOST:PORT/0"):
        RedisSettings(url=url)


@pytest.mark.parametrize("url", ["mongo:27017", "mongodb://", "mongodb://one:port", "mongodb://u:p@one,two:27017x"])
def test_an_address_of_mongodb_that_cannot_be_one_is_refused(url: str) -> None:
    with pytest.raises(ValidationError, match="write mongodb://"):
        MongoSettings(url=url)


def test_addresses_that_can_be_ones_are_taken() -> None:
    for url in ("mongodb://u:p@a,b:27018/?tls=true", "mongodb+srv://u:p@cluster.example.com/?w=1", "mongodb://[::1]:1"):
        assert MongoSettings(url=url).url == url
    for url in (
        "redis://:p@h:1/0",
        "rediss+sentinel://:p@a:1,b:2/main/0?x=1",
        "redis+cluster://a:1,[::1]:2",
        "unix:///s",
    ):
        assert RedisSettings(url=url).url == url


async def test_an_option_that_a_driver_does_not_know_is_refused() -> None:
    with pytest.raises(NotReadyError, match=r"NEXUS_REDIS_URL has an option that there is not: .*ssl_ca_cert"):
        redis_client("rediss://h:1/0?ssl_ca_cert=/x", 1.0, name="test")
    with pytest.raises(NotReadyError, match="NEXUS_MONGODB_URL: Unknown option: tlscafil"), url_must_be_valid():
        AsyncMongoClient[Document]("mongodb://h:1/?tls=true&tlsCAFil=/x")
