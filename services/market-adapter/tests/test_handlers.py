"""get_price over a real NATS, as the tool-executor calls it."""

from typing import Any

import pytest
from nats.aio.client import Client
from pymongo import AsyncMongoClient

from contracts.market_rpc import QUEUE
from contracts.text import Text
from contracts.tools_rpc import Caller, ToolServiceData, ToolServiceRequest, tool_service
from market_adapter.adapters.mongo import bounded
from market_adapter.adapters.mongo_alerts import MongoAlerts
from market_adapter.adapters.mongo_watchlists import MongoWatchlists
from market_adapter.adapters.sample_facts import load_facts
from market_adapter.adapters.sample_files import load_sample
from market_adapter.adapters.sample_provider import SampleProvider
from market_adapter.domain.sample_clock import SampleClock
from market_adapter.errors import MarketError, NotConfiguredError, ProviderRateLimitedError
from market_adapter.handlers import list_tools, market_tools
from market_adapter.ports import MarketProvider
from market_adapter.testing.markets import RefusingProvider
from runtime.calls.rpc import RpcClient, RpcServer
from runtime.clock import SystemClock
from runtime.errors import RpcError

SAMPLE = load_sample()


async def serving(client: Client, provider: MarketProvider) -> None:
    server = RpcServer(client)
    for method, handler in market_tools(provider):
        await server.serve(method, handler)
    await client.flush()


async def get_price(client: Client, language: str = "en", **arguments: Any) -> dict[str, Any]:
    request = ToolServiceRequest(
        call_id="call-1",
        tool="get_price",
        arguments=arguments,
        caller=Caller(company_id="demo", user_id="visitor-1", role="visitor", plan="free", language=language),
    )
    reply: ToolServiceData = await RpcClient(client).call(tool_service("get_price", QUEUE), request, deadline=30)
    return reply.result


@pytest.fixture
async def market(nats_client: Client) -> Client:
    clock = SampleClock(SAMPLE.sessions, SAMPLE.closes, at_end=True)
    await serving(nats_client, SampleProvider(SAMPLE, load_facts(), clock))
    return nats_client


async def test_a_price_comes_back_with_its_date_and_source(market: Client) -> None:
    result = await get_price(market, symbol="aapl")
    assert result == {
        "symbol": "AAPL",
        "price": 430.47,
        "change": -10.93,
        "change_percent": -2.4762,
        "change_basis": "previous_close",
        "volume": 19730300,
        "currency": "USD",
        "as_of": "2013-03-01T21:00:00Z",
        "source": "sample",
    }


@pytest.mark.parametrize(
    ("symbol", "reason"), [("TSLA", "not_in_sample"), ("btc-usd", "not_in_sample"), ("AAPL,MSFT", "bad_symbol")]
)
async def test_a_symbol_that_has_no_price_is_an_error_with_its_reason(market: Client, symbol: str, reason: str) -> None:
    with pytest.raises(RpcError) as raised:
        await get_price(market, symbol=symbol)
    assert (raised.value.code, raised.value.reason, raised.value.retryable) == ("EXECUTION_ERROR", reason, False)


@pytest.mark.parametrize("arguments", [{}, {"symbol": ""}, {"symbol": 7}, {"symbol": None}, {"symbol": "A" * 1000}])
async def test_arguments_that_do_not_fit_are_refused_by_field(market: Client, arguments: dict[str, Any]) -> None:
    with pytest.raises(RpcError, match="get_price: symbol: ") as raised:
        await get_price(market, **arguments)
    assert raised.value.code == "VALIDATION_ERROR"


@pytest.mark.parametrize(
    ("error", "retryable"),
    [
        (ProviderRateLimitedError("AAPL", Text(es="demasiadas veces", en="asked too often")), True),
        (NotConfiguredError("AAPL", Text(es="falta una clave", en="set a key")), False),
    ],
)
async def test_a_providers_trouble_reaches_the_caller_as_it_is(
    nats_client: Client, error: MarketError, retryable: bool
) -> None:
    await serving(nats_client, RefusingProvider(error))
    for language in ("en-GB", "es", "fr"):
        with pytest.raises(RpcError) as raised:
            await get_price(nats_client, language, symbol="AAPL")
        assert raised.value.message == error.text.in_language(language)
        assert (raised.value.reason, raised.value.retryable) == (error.reason, retryable)


async def test_while_the_store_is_away_a_tool_is_unavailable_so_that_the_same_call_may_be_made_again(
    nats_client: Client,
) -> None:
    provider = SampleProvider(SAMPLE, load_facts(), SampleClock(SAMPLE.sessions, SAMPLE.closes, at_end=True))
    # Nobody listens at port 1.
    async with AsyncMongoClient[dict[str, Any]]("mongodb://127.0.0.1:1", serverSelectionTimeoutMS=50) as away:
        server, store = RpcServer(nats_client), bounded(away["nexus"])
        for method, handler in list_tools(provider, MongoAlerts(store), MongoWatchlists(store), SystemClock()):
            await server.serve(method, handler)
        await nats_client.flush()
        request = ToolServiceRequest(
            call_id="call-1",
            tool="get_watchlist",
            arguments={},
            caller=Caller(company_id="demo", user_id="ann", role="user", plan="pro"),
        )
        with pytest.raises(RpcError) as raised:
            await RpcClient(nats_client).call(tool_service("get_watchlist", QUEUE), request, deadline=30)
    assert (raised.value.code, raised.value.reason, raised.value.retryable) == ("UNAVAILABLE", "store_down", True)
