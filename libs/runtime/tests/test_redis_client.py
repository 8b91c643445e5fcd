"""Redis by Sentinel: whoever is the primary is written to, also when the one before stands still."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from pydantic import ValidationError
from redis.exceptions import RedisError

from runtime.redis_client import redis_client
from runtime.settings import RedisSettings
from runtime.testing import ValkeyServer, eventually

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
    try:
        for server in servers:
            server.start()
        yield f"redis+sentinel://{primary.host}:1,{primary.host}:{servers[1].port}/main/0"
    finally:
        for server in servers:
            server.kill()


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


@pytest.mark.parametrize("url", ["127.0.0.1:6379", "http://redis", "redis://", "redis+sentinel://one:26379", ""])
def test_an_address_that_cannot_be_one_is_refused_with_what_to_write(url: str) -> None:
    with pytest.raises(ValidationError, match="write redis://HOST:PORT/0"):
        RedisSettings(url=url)
