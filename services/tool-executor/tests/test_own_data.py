"""What is kept of a user's own data ends at once with a fill or an order; and what is left of limits can be asked."""

import asyncio
import time

import pytest
from nats.aio.client import Client

from contracts.channels import fact
from contracts.tools_rpc import CATALOGUE, CatalogueRequest
from runtime.calls.rpc import RpcClient
from runtime.testing.servers import ValkeyServer, eventually
from tool_executor.adapters.redis_store import RedisStore
from tool_executor.domain.declaration import CacheScope, CallContext, Data
from tool_executor.domain.plans import Arguments
from tool_executor.testing.harness import CountingHandler, Memory, Someone, asking, running_executor, tool_named

BEN = Someone(sub="user-2")


@pytest.mark.parametrize("kind", ["order.filled.v1", "action.decided.v1"])
async def test_a_fill_or_a_decision_ends_what_is_kept_of_that_user_alone(
    nats_client: Client, valkey_server: ValkeyServer, store: RedisStore, kind: str
):
    mine = tool_named("mine", CountingHandler(), category="portfolio", cache=CacheScope.USER)
    async with asking(nats_client, valkey_server.url, tools=(mine,)) as asker:
        assert (await asker.call("mine", {})).result.data == {"run": 1}
        assert (await asker.call("mine", {}, BEN)).result.data == {"run": 2}
        await nats_client.publish(fact(kind, "demo", "user-1"), b"{}")

        async def forgotten() -> bool:
            return await store.command("EXISTS", "tool:generation:demo:user-1") == 1

        await eventually(forgotten)
        assert (await asker.call("mine", {})).result.data == {"run": 3}
        kept = (await asker.call("mine", {}, BEN)).result
        assert (kept.data, kept.metadata.cached) == ({"run": 2}, True)


async def test_what_was_computed_before_an_order_is_not_kept_after_it(nats_client: Client, valkey_server: ValkeyServer):
    counting, started, go_on = CountingHandler(), asyncio.Event(), asyncio.Event()

    async def slow(arguments: Arguments, context: CallContext) -> Data:
        data = await counting(arguments, context)
        started.set()
        await go_on.wait()
        return data

    tools = (
        tool_named("mine", slow, category="portfolio", cache=CacheScope.USER, time_limit=60.0),
        tool_named("order", CountingHandler(), category="trading", side_effects=True),
    )
    async with asking(nats_client, valkey_server.url, tools=tools) as asker:
        before = asyncio.create_task(asker.call("mine", {}))
        async with asyncio.timeout(20):
            await started.wait()
        assert (await asker.call("order", {})).result.success
        go_on.set()
        assert (await before).result.data == {"run": 1}
        after = (await asker.call("mine", {})).result
        assert (after.data, after.metadata.cached) == ({"run": 2}, False)


async def test_what_is_left_of_each_window_can_be_asked_without_consuming(
    nats_client: Client, valkey_server: ValkeyServer
):
    await Memory().serve(nats_client)
    tool = tool_named("few", CountingHandler(), per_minute=3, per_hour=5)
    async with asking(nats_client, valkey_server.url, tools=(tool,)) as asker:
        asker, client = asker, RpcClient(nats_client)
        for _ in range(2):
            await asker.call("few", {})

        async def ask(user: str | None, *, with_quota: bool = True) -> dict[str, int] | None:
            request = CatalogueRequest(company_id="demo", role="user", user_id=user, name="few", with_quota=with_quota)
            (found,) = (await client.call(CATALOGUE, request)).tools
            if found.quota is None:
                return None
            assert 0 < found.quota["minute"].reset_at / 1000 - time.time() <= 61
            return {window: quota.remaining for window, quota in found.quota.items()}

        for _ in range(2):
            assert await ask("user-1") == {"minute": 1, "hour": 3}
        assert await ask("user-2") == {"minute": 3, "hour": 5}
        assert await ask(None) is None
        assert await ask("user-1", with_quota=False) is None


async def test_without_the_shared_store_no_quota_is_made_up(nats_client: Client):
    await Memory().serve(nats_client)
    async with running_executor(nats_client, "redis://127.0.0.1:1"):
        request = CatalogueRequest(company_id="demo", role="user", user_id="ana", with_quota=True)
        tools = (await RpcClient(nats_client).call(CATALOGUE, request)).tools
        assert tools
        assert all(tool.quota is None for tool in tools)
