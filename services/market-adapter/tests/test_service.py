"""The service as a process: it serves, agrees with its replica, and goes on after a kill -9."""

import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from nats.aio.client import Client

from contracts.market_rpc import QUEUE
from contracts.tools_rpc import Caller, ToolServiceRequest, tool_service
from market_adapter.adapters.sample_files import load_sample
from market_adapter.testing.process import Stack
from runtime.calls.rpc import RpcClient
from runtime.testing.servers import eventually

SESSIONS = [str(session) for session in load_sample().sessions[-121:]]


async def price(client: Client, symbol: str = "IBM") -> dict[str, Any]:
    request = ToolServiceRequest(
        call_id="call-1",
        tool="get_price",
        arguments={"symbol": symbol},
        caller=Caller(company_id="demo", role="visitor", plan="free"),
    )
    return (await RpcClient(client).call(tool_service("get_price", QUEUE), request, deadline=30)).result


async def session(client: Client) -> int:
    """Where the sample market stands: 0 is its first session, 120 its last."""
    return SESSIONS.index((await price(client))["as_of"][:10])


async def test_frozen_it_serves_the_last_bar_and_ends_on_sigterm(stack: Stack, nats_client: Client) -> None:
    async with stack.service() as service:
        await service.ready()
        answer = await price(nats_client, "AAPL")
        assert (answer["price"], answer["as_of"], answer["source"]) == (430.47, "2013-03-01T21:00:00Z", "sample")
        assert await service.end(signal.SIGTERM) == 0


async def test_the_clock_moves_and_survives_a_kill(stack: Stack, nats_client: Client) -> None:
    async with stack.service(0.2) as service:
        await service.ready()

        async def moved() -> bool:
            return await session(nats_client) >= 3

        await eventually(moved)
        await service.end(signal.SIGKILL)
    stood = service.logged("market.clock.moved")[-1]["session"]
    async with stack.service(60) as service:
        await service.ready()
        # The last move may have been stored and not yet logged.
        assert await session(nats_client) - SESSIONS.index(stood) in (0, 1)


async def test_two_replicas_share_one_clock(stack: Stack, nats_client: Client) -> None:
    async with stack.service(0.2) as one, stack.service(0.2) as two:
        await one.ready()
        await two.ready()

        async def far() -> bool:
            return await session(nats_client) >= 10

        await eventually(far)
        assert await one.end(signal.SIGTERM) == await two.end(signal.SIGTERM) == 0
        moves = [line["session"] for service in (one, two) for line in service.logged("market.clock.moved")]
        # Every move was made by one of them, none by both, none left out.
        assert sorted(moves) == SESSIONS[1 : len(moves) + 1]


async def test_without_its_database_it_does_not_start_and_says_what_to_do(stack: Stack) -> None:
    env = {"NEXUS_MONGODB_URL": "mongodb://user:hidden@127.0.0.1:1", "NEXUS_MONGODB_DEADLINE": "0.5"}
    async with stack.service(60, **env) as service:
        assert "NEXUS_MONGODB_URL" in await service.refusal()
        assert "hidden" not in service.log.read_text()


async def test_with_the_live_provider_it_starts_without_asking_anybody(stack: Stack) -> None:
    async with stack.service(NEXUS_MARKET_PROVIDER="live") as service:
        await service.ready()
        assert await service.end(signal.SIGTERM) == 0


async def test_an_exchange_that_the_library_does_not_have_is_named_at_the_start(stack: Stack) -> None:
    async with stack.service(NEXUS_MARKET_PROVIDER="live", NEXUS_CRYPTO_EXCHANGE="krakn") as service:
        assert "NEXUS_CRYPTO_EXCHANGE=krakn: ccxt has no such exchange" in await service.refusal()


async def test_a_folder_of_files_is_served_and_a_bad_one_refused_at_the_start(
    stack: Stack, nats_client: Client, tmp_path: Path
) -> None:
    file = tmp_path / "ACME.csv"
    file.write_text("Date,Open,High,Low,Close\n2024-01-02,10,12,9,11\n")
    async with stack.service(NEXUS_MARKET_PROVIDER=f"files:{tmp_path}") as service:
        await service.ready()
        answer = await price(nats_client, "acme")
        assert (answer["price"], answer["source"], answer["as_of"]) == (11, "files", "2024-01-02T21:00:00Z")
    file.write_text("Date,Open,High,Low,Close\n2024-01-02,10,12,9,eleven\n")
    async with stack.service(NEXUS_MARKET_PROVIDER=f"files:{tmp_path}") as service:
        assert "ACME.csv, line 2: close is 'eleven', no number" in await service.refusal()


async def test_the_demo_market_keeps_the_end_that_its_first_start_gave_it(stack: Stack, nats_client: Client) -> None:
    async with stack.service(60, NEXUS_MARKET_PROVIDER="demo") as service:
        await service.ready()
        first = await price(nats_client, "BTC/USD")
        assert first["source"] == "demo-made"
        assert "no son precios" in first["note"]
        assert datetime.fromisoformat(first["as_of"]) > datetime.now(UTC) - timedelta(days=200)
        await service.end(signal.SIGTERM)
    async with stack.service(60, NEXUS_MARKET_PROVIDER="demo") as service:
        await service.ready()
        assert (await price(nats_client, "BTC/USD"))["as_of"] == first["as_of"]


async def test_an_exchange_that_is_no_name_is_refused_at_the_start(stack: Stack) -> None:
    async with stack.service(NEXUS_MARKET_PROVIDER="live", NEXUS_CRYPTO_EXCHANGE="no/such") as service:
        assert await service.end() != 0
        assert "NEXUS_CRYPTO_EXCHANGE" in service.log.read_text()
