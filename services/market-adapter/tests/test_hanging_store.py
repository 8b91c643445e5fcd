"""MongoDB hangs: whoever asks for what is theirs is told so, and only two trials wait for it."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from nats.aio.client import Client
from prometheus_client import REGISTRY
from pymongo import AsyncMongoClient
from pymongo.errors import PyMongoError

from contracts import market_rpc
from contracts.errors import ToolCode
from contracts.market_rpc import QUEUE
from contracts.memory_rpc import UserRef
from contracts.rpc import Rpc
from contracts.tools_rpc import Caller, ToolServiceRequest, tool_service
from market_adapter.adapters.mongo import bounded
from market_adapter.adapters.mongo_accounts import MongoAccounts
from market_adapter.domain.paper.account import Owner
from market_adapter.testing.process import Stack
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError
from runtime.settings import MongoSettings
from runtime.stores.command_limit import TRIAL_ATTEMPTS
from runtime.stores.mongo import Document
from runtime.testing.servers import MongoDatabase, NatsServer, eventually, run_mongo_server

ANN = Owner("demo", "ann")
PATIENT = 15.0
"""Seconds for an answer that a command's 5 s decide, on any machine."""


async def test_orders_and_portfolios_are_answered_though_mongodb_hangs(
    nats_server: NatsServer, nats_streams: Client, tmp_path: Path
) -> None:
    caller = Caller(company_id="demo", user_id="ann", role="user", plan="pro", conversation_id="talk")

    async def asked(tool: str) -> dict[str, object]:
        request = ToolServiceRequest(call_id="c1", tool=tool, arguments={}, caller=caller)
        return (await RpcClient(nats_streams).call(tool_service(tool, QUEUE), request, deadline=PATIENT)).result

    async def told(method: Rpc[UserRef, Any]) -> object:
        ann = UserRef(company_id="demo", user_id="ann")
        return await RpcClient(nats_streams).call(method, ann, deadline=PATIENT)

    with run_mongo_server() as mongo:
        stack = Stack(nats_server, MongoDatabase(mongo.url, "test", mongo), tmp_path)
        async with stack.service() as service:
            await service.ready()
            mongo.pause()
            tools = ("get_pending_orders", "get_portfolio", "get_trade_history", "get_watchlist")
            for answer in await asyncio.gather(*map(asked, tools), return_exceptions=True):
                assert isinstance(answer, RpcError), answer
                assert (answer.code, answer.reason, answer.retryable) == (ToolCode.UNAVAILABLE, "store_down", True)
            calls = (told(market_rpc.ACTIONS_PENDING), told(market_rpc.ALERTS_UNTOLD), told(market_rpc.HOLDINGS))
            for answer in await asyncio.gather(*calls, return_exceptions=True):
                assert isinstance(answer, RpcError), answer
                assert (answer.code, answer.reason, answer.retryable) == (ToolCode.UNAVAILABLE, "store_down", True)
            mongo.resume()
            assert (await asked("get_pending_orders"))["orders"] == []


async def test_while_it_hangs_no_more_than_two_trials_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.stores.command_limit.HANGING_SECONDS", 0.0)
    with run_mongo_server() as mongo:
        client = AsyncMongoClient[Document](mongo.url, **MongoSettings(url=mongo.url).client_options)
        accounts = MongoAccounts(bounded(client["test"]))
        assert (await accounts.load(ANN)).version == 0
        mongo.pause()
        trials = [asyncio.create_task(accounts.load(ANN)) for _ in range(TRIAL_ATTEMPTS)]
        await eventually(lambda: REGISTRY.get_sample_value("nexus_market_store_commands") == TRIAL_ATTEMPTS)
        for _ in range(3):
            with pytest.raises(PyMongoError, match="does not answer"):
                await accounts.archived(ANN, 10, None)
        assert not any(trial.done() for trial in trials)
        mongo.resume()
        assert [one.version for one in await asyncio.gather(*trials)] == [0] * TRIAL_ATTEMPTS
        await client.close()
