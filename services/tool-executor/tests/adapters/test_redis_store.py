"""The batches to Redis: whoever waits for one that will not come is told so."""

import asyncio

import pytest

from runtime.testing.servers import ValkeyServer
from tool_executor.adapters.redis_store import RedisStore
from tool_executor.ports import RedisUnavailableError


@pytest.mark.own_servers
async def test_who_waits_when_the_connection_is_closed_is_told_and_not_cancelled(valkey_server: ValkeyServer):
    store = RedisStore(valkey_server.url, deadline=2.0)
    await store.ping()
    valkey_server.pause()
    waiting = [asyncio.create_task(store.ping()) for _ in range(2000)]
    await asyncio.sleep(0)
    await asyncio.wait_for(store.close(), 20)
    told = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 20)
    assert {type(one) for one in told} == {RedisUnavailableError}
    with pytest.raises(RedisUnavailableError):
        await RedisStore(valkey_server.url, deadline=0.1).ping()
    valkey_server.resume()
