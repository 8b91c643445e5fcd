"""Who is at the desk, where Redis is a cluster: no transaction may name keys of two slots."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory.adapters.redis_looks import RedisLooks
from runtime.stores.redis_client import redis_client
from runtime.testing.cluster import run_valkey_cluster

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
EARLIER = NOON - timedelta(minutes=3)


async def test_who_comes_to_an_empty_desk_is_told_apart_from_who_is_there_already(tmp_path: Path) -> None:
    with run_valkey_cluster(tmp_path) as (server,):
        async with redis_client(server.url, 10.0, name="test") as redis:
            looks = RedisLooks(redis)
            assert [await looks.at_desk("acme", who, None, NOON, EARLIER) for who in ("ana", "ana", "eva")] == [
                True,
                False,
                False,
            ]
            assert await looks.is_anybody_here("acme", EARLIER)
            later = NOON + timedelta(hours=1)
            assert await looks.at_desk("acme", "eva", "Eva", later, later - timedelta(minutes=3))
