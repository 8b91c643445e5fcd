"""A deleted user: no key of theirs is left in Redis but what counts against limits, and nobody else's is touched."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import cast

import pytest
from nats.aio.client import Client

from contracts.company import ToolConfig
from contracts.company_rpc import CompanyRequest
from contracts.memory_rpc import UserRef
from runtime.errors import RpcError
from runtime.stores.redis_client import redis_client
from runtime.testing.cluster import run_valkey_cluster
from runtime.testing.servers import ValkeyServer
from tool_executor.adapters.redis_store import RedisStore
from tool_executor.adapters.user_keys import UserKeys
from tool_executor.domain.declaration import CacheScope
from tool_executor.testing.harness import CountingHandler, Memory, Someone, ToolRequester, running_executor, tool_named

ANA, ANNA, ELSEWHERE = Someone(sub="ana"), Someone(sub="anna"), Someone(sub="ana", company="other")
ASKED = UserRef(company_id="demo", user_id="ana")


async def test_nothing_of_a_deleted_user_is_left_and_others_keep_theirs(nats_client: Client, tmp_path: Path):
    tools = (
        tool_named("mine", CountingHandler(), category="portfolio", cache=CacheScope.USER),
        tool_named("order", CountingHandler(), category="trading", side_effects=True),
        tool_named("everybodys", CountingHandler(), category="market", cache=CacheScope.PUBLIC),
    )
    async with AsyncExitStack() as kept:
        # Keys of a cluster lie in slots: no command may name keys of two.
        (server,) = kept.enter_context(run_valkey_cluster(tmp_path))
        redis = await kept.enter_async_context(redis_client(server.url, 1.0, name="test"))
        await Memory({"demo": ToolConfig(), "other": ToolConfig()}).serve(nats_client)
        await kept.enter_async_context(running_executor(nats_client, server.url, tools=tools))
        store = RedisStore(server.url, 1.0)
        kept.push_async_callback(store.close)

        async def keys() -> set[str]:
            found = cast("AsyncIterator[bytes]", redis.scan_iter(match="tool:*"))  # pyright: ignore[reportUnknownMemberType]
            return {key.decode() async for key in found}

        asker = ToolRequester(nats_client)
        for someone in (ANNA, ELSEWHERE):
            for tool in ("order", "mine"):
                assert (await asker.call(tool, {}, someone)).result.success
        assert (await asker.call("everybodys", {}, ANNA)).result.success
        others = await keys()
        for tool in ("everybodys", "order", "mine"):
            assert (await asker.call(tool, {}, ANA)).result.success
        hers = await keys() - others
        assert {key.split(":")[1] for key in hers} == {"call", "limit", "generation", "cache"}
        counters = {key for key in hers if key.startswith("tool:limit:")}
        assert (await UserKeys(store).forget(ASKED)).deleted == len(hers - counters)
        # Nobody may do more by deleting themselves.
        assert await keys() == others | counters
        assert (await UserKeys(store).forget(ASKED)).deleted == 0
        # A whole company: counters too, and nothing of another one or of everybody's.
        gone = await UserKeys(store).forget_company(CompanyRequest(company_id="demo"))
        left = await keys()
        assert gone.deleted == len(others | counters) - len(left)
        assert left == {key for key in others if ":demo:" not in key}
        assert any(":other:" in key for key in left)


@pytest.mark.own_servers
async def test_while_redis_is_away_a_deletion_says_so(valkey_server: ValkeyServer):
    store = RedisStore(valkey_server.url, 0.5)
    valkey_server.kill()
    with pytest.raises(RpcError) as refused:
        await UserKeys(store).forget(ASKED)
    assert (refused.value.code, refused.value.retryable) == ("UNAVAILABLE", True)
    await store.close()
