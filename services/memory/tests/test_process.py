"""Memory as a process: started by its environment, ended by SIGTERM and by kill -9."""

import asyncio
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from contracts import market_rpc, tools_rpc
from contracts.company_rpc import COMPANY_CREATE, COMPANY_GET, CompanyCreateRequest, CompanyRequest
from contracts.conversation_rpc import HISTORY, HistoryRequest
from contracts.erasure_rpc import ERASE, RECEIPT, EraseRequest, Receipt, ReceiptRef
from contracts.market_rpc import ForgottenReply
from contracts.memory_rpc import UserRef
from memory.testing.harness import KEY, Servers, Writer
from memory.testing.receiver import ReceivedWebhook, receiving
from runtime.bus.connection import connect
from runtime.calls.rpc import RpcClient, RpcServer
from runtime.errors import RpcError
from runtime.settings import NatsSettings
from runtime.testing.logged_process import LoggedProcess, logged_process
from runtime.testing.servers import eventually

SECRET = "a secret that both know"


@asynccontextmanager
async def process(servers: Servers, folder: Path) -> AsyncGenerator[tuple[LoggedProcess, int]]:
    """A replica as a process of its own, ready, and its health port."""
    environment = {
        "NEXUS_NATS_URL": servers.nats,
        "NEXUS_MONGODB_URL": servers.mongo,
        "NEXUS_MONGODB_DATABASE": servers.database,
        "NEXUS_REDIS_URL": servers.redis,
        "NEXUS_PRINCIPAL_KEY": KEY,
        "NEXUS_DEMO_ORIGIN": "http://127.0.0.1:8080",
    }
    async with logged_process("memory", folder / "log", folder, **environment) as started:
        yield started, await started.ready()


async def health(port: int, path: str) -> bytes:
    """The body of a GET on the health port."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    try:
        async with asyncio.timeout(20):
            return await reader.read()
    finally:
        writer.close()


async def test_a_process_serves_is_ready_and_ends_when_it_is_told_to(servers: Servers, tmp_path: Path) -> None:
    async with process(servers, tmp_path) as (memory, port):
        client = await connect(NatsSettings(url=servers.nats), name="test")
        demo = (await RpcClient(client).call(COMPANY_GET, CompanyRequest(company_id="demo"))).settings
        assert demo is not None
        assert b" 200 " in (await health(port, "/readyz")).splitlines()[0]
        assert b"nexus_" in await health(port, "/metrics")
        assert await memory.end(signal.SIGTERM) == 0
        await client.close()


async def test_a_killed_process_loses_nothing_and_its_successor_goes_on(servers: Servers, tmp_path: Path) -> None:
    client = await connect(NatsSettings(url=servers.nats), name="test")
    rpc = RpcClient(client)
    writer: Writer | None = None
    seq = 0
    for life in range(3):
        async with process(servers, tmp_path) as (memory, _):
            writer = writer or Writer(client)
            for number in range(20):
                seq = await writer.visitor(f"{life}-{number}")
            await memory.end(signal.SIGKILL)
    async with process(servers, tmp_path):
        assert writer is not None
        request = HistoryRequest(company_id="acme", conversation_id=writer.conversation, up_to_seq=seq, limit=100)
        found = (await rpc.call(HISTORY, request)).messages
        assert [message.text for message in found] == [f"{life}-{number}" for life in range(3) for number in range(20)]
    await client.close()


async def test_a_process_killed_within_a_deletion_leaves_a_receipt_that_ends_truthfully(
    servers: Servers, tmp_path: Path
) -> None:
    client = await connect(NatsSettings(url=servers.nats), name="test")
    rpc, tools = RpcClient(client), RpcServer(client)
    request = EraseRequest(company_id="acme", receipt_id="r1", kind="user", name="ana-7", by="admin")
    asked = 0

    async def tools_deleted(_: UserRef) -> ForgottenReply:
        return ForgottenReply(deleted=0)

    await tools.serve(tools_rpc.USER_FORGET, tools_deleted)
    async with process(servers, tmp_path) as (killed, _):

        async def market_deleted(_: UserRef) -> ForgottenReply:
            # What there was is gone; whoever asked never hears how much that was.
            nonlocal asked
            asked += 1
            if asked == 1:
                await killed.end(signal.SIGKILL)
            return ForgottenReply(deleted=3 if asked == 1 else 0)

        await tools.serve(market_rpc.USER_FORGET, market_deleted)
        writer = Writer(client)
        await writer.assistant("29", await writer.visitor("how much?", user="ana-7", role="user"))
        asking = asyncio.create_task(rpc.call(ERASE, request, deadline=30, retries=0))
        await killed.end()
        asking.cancel()
    async with process(servers, tmp_path):

        async def ended() -> Receipt | None:
            try:
                found = (await rpc.call(RECEIPT, ReceiptRef(company_id="acme", receipt_id="r1"), deadline=10)).receipt
            except RpcError as error:
                raise AssertionError("the store does not answer yet") from error
            return found if found and found.state == "done" else None

        receipt = await eventually(ended)
        assert receipt is not None
        removed = {one.place: one for one in receipt.removed}
        assert (removed["market-adapter"].removed, removed["market-adapter"].at_least) == (0, True)
        assert (removed["stream CHAT"].removed, removed["mongodb facts"].removed, asked) == (2, 2, 2)
        assert [one.place for one in receipt.removed if one.at_least] == ["market-adapter", "tool-executor"]
    await tools.drain(1)
    await client.close()


async def test_what_a_killed_process_was_telling_an_endpoint_its_successor_tells_again(
    servers: Servers,
    tmp_path: Path,
) -> None:
    client = await connect(NatsSettings(url=servers.nats), name="test")
    asked, release = asyncio.Event(), asyncio.Event()

    async def slowly(_: ReceivedWebhook) -> int:
        asked.set()
        await release.wait()
        return 204

    async with receiving(SECRET.encode()) as shop:
        shop.say = slowly
        async with process(servers, tmp_path) as (memory, _):
            hook = {"url": shop.url, "events": ["message.visitor"], "secret": SECRET}
            request = CompanyCreateRequest(config={"companyId": "acme", "webhooks": [hook]})
            await RpcClient(client).call(COMPANY_CREATE, request)
            await Writer(client).visitor("once at least")
            async with asyncio.timeout(40):
                await asked.wait()
            await memory.end(signal.SIGKILL)
        release.set()
        async with process(servers, tmp_path):
            await eventually(lambda: len(shop.taken) == 2, 70)
        assert shop.taken[0].id == shop.taken[1].id
    await client.close()
