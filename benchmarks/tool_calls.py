"""How many tool calls per second go through the bus, compared with calling the function; and what does the limiter
alone cost?

Runs real executor processes, NATS and Valkey; calls are published to the work queue and counted when their answers
come. All share the machine's cores with this process, which makes the calls: on two cores a third executor gains
nothing.
"""

import asyncio
import os
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import nats
import orjson
from nats.aio.client import Client
from nats.aio.msg import Msg
from pydantic import SecretStr

from benchmarks import cpu
from benchmarks.report import Figure
from contracts.company import CompanyConfig, CompanySettings
from contracts.company_rpc import COMPANY_GET, CompanyReply, CompanyRequest
from contracts.tools_rpc import ToolServiceData, ToolServiceRequest, tool_service
from runtime.auth.principals import PrincipalSigner
from runtime.calls.rpc import RpcServer
from runtime.settings import TokenSettings
from runtime.testing.servers import ValkeyServer, run_nats_server, run_valkey_server
from tool_executor.adapters.rate_limiter import RedisRateLimiter
from tool_executor.adapters.redis_store import RedisStore
from tool_executor.catalogue.calculate import calculate_risk_reward
from tool_executor.domain.declaration import CallContext
from tool_executor.domain.limits import limits_of
from tool_executor.domain.plans import VerifiedCaller

QUESTION = "tool calls"
KEY = "a-shared-secret-of-32-characters!"
USERS = 500
CALLS, WARM_UP, AT_ONCE = 12_000, 1_500, 400
RISK = {"entry_price": 100, "stop_loss_price": 95, "take_profit_price": 115}
RISK_REWARD = ("calculate_risk_reward", "calculate", RISK)
PRICE_OF_IBM = ("get_price", "market", {"symbol": "IBM"})
PRICE = {
    "symbol": "IBM",
    "price": 200.5,
    "change": 1.5,
    "change_percent": 0.75,
    "change_basis": "previous_close",
    "volume": 1000,
    "source": "sample",
    "as_of": "2013-03-01T21:00:00Z",
}


@dataclass(frozen=True, slots=True)
class Servers:
    """The servers of a run."""

    nats: str
    redis: ValkeyServer


async def run() -> list[Figure]:
    """Returns all figures; takes about a minute."""
    figures = [await _in_process()]
    for executors in (1, 3):
        with run_nats_server() as bus, run_valkey_server() as redis:
            servers = Servers(bus.url, redis)
            async with _executors(servers, executors) as (client, pids):
                asking = Caller(client)
                await asking.start()
                label = f"{executors} executor{'s' if executors > 1 else ''}"
                for name, target, call in (("cached", 5000, PRICE_OF_IBM), ("uncached", 2500, RISK_REWARD)):
                    await asking.calls(WARM_UP, *call)
                    cpu_before = cpu.seconds(pids)
                    rate = await asking.calls(CALLS, *call)
                    cpu_ms = (cpu.seconds(pids) - cpu_before) * 1000 / CALLS
                    figures.append(Figure(QUESTION, f"{name}, {label}", rate, "/s", target, ceiling=False))
                    figures.append(Figure(QUESTION, f"CPU of the executor a call, {name}, {label}", cpu_ms, "ms"))
    with run_valkey_server() as redis:
        figures.append(await _limiter(redis.url))
    return figures


async def _in_process() -> Figure:
    context = CallContext("c", VerifiedCaller("demo", "u", "user"), None, 5.0)
    started = time.perf_counter()
    for _ in range(CALLS):
        await calculate_risk_reward(RISK, context)
    return Figure(QUESTION, "the function itself", CALLS / (time.perf_counter() - started), "/s", note="uncached")


async def _limiter(url: str) -> Figure:
    store = RedisStore(url, 5.0)
    limiter, limits = RedisRateLimiter(store), limits_of(100, 1000, 10_000)
    callers = [VerifiedCaller("demo", f"u{n}", "user") for n in range(USERS)]

    async def admit(number: int) -> None:
        await limiter.admit(callers[number % USERS], "t", limits, str(number))

    rate = await _rate(CALLS * 2, admit)
    await store.close()
    return Figure(QUESTION, "limiter, three windows", rate, "/s", note="one process")


async def _rate(calls: int, call: Callable[[int], Awaitable[None]]) -> float:
    numbers = iter(range(calls))

    async def worker() -> None:
        for number in numbers:
            await call(number)

    started = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(AT_ONCE)))
    return calls / (time.perf_counter() - started)


class Caller:
    """Makes calls as cheaply as possible, so that the executor is measured."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._waiting: dict[str, asyncio.Future[bytes]] = {}
        self._inbox = client.new_inbox()
        signer = PrincipalSigner(TokenSettings(principal_key=SecretStr(KEY)))
        self._principals = [
            signer.issue(sub=f"u{n}-{uuid.uuid4().hex[:8]}", role="user", company="demo") for n in range(USERS)
        ]
        self._users = 0

    async def start(self) -> None:
        """Subscribes to the answers."""
        await self._client.subscribe(  # pyright: ignore[reportUnknownMemberType]
            f"{self._inbox}.*", cb=self._answer, pending_msgs_limit=-1
        )

    async def calls(self, count: int, tool: str, category: str, arguments: Mapping[str, object]) -> float:
        """Makes this many calls; returns calls per second."""

        async def call_once(number: int) -> None:
            call_id = uuid.uuid4().hex
            data = {
                "callId": call_id,
                "tool": tool,
                "arguments": arguments,
                "principal": self._principals[number % USERS],
                "replyTo": f"{self._inbox}.{call_id}",
            }
            event = {"specversion": "1.0", "id": call_id, "source": "/bench", "type": "tools.call.requested.v1"}
            answer = self._waiting[call_id] = asyncio.get_running_loop().create_future()
            await self._client.publish(f"tools.call.requested.v1.{category}", orjson.dumps({**event, "data": data}))
            async with asyncio.timeout(30):
                body = orjson.loads(await answer)
            assert body["data"]["result"]["success"], body["data"]["result"]

        return await _rate(count, call_once)

    async def _answer(self, message: Msg) -> None:
        waiting = self._waiting.pop(message.subject.rpartition(".")[2], None)
        if waiting is not None and not waiting.done():
            waiting.set_result(message.data)


@asynccontextmanager
async def _executors(servers: Servers, count: int) -> AsyncGenerator[tuple[Client, list[int]]]:
    """Runs this many executor processes, and stubs of what they call: the market, and memory for the company's
    settings, without which a call would wait. Yields a client and the processes' ids."""
    environment = os.environ | {
        "NEXUS_NATS_URL": servers.nats,
        "NEXUS_REDIS_URL": servers.redis.url,
        "NEXUS_PRINCIPAL_KEY": KEY,
        "NEXUS_LOG_FORMAT": "json",
        "NEXUS_DEV": "1",
    }
    processes: list[asyncio.subprocess.Process] = []
    client = await nats.connect(servers.nats)  # pyright: ignore[reportUnknownMemberType]
    neighbours = RpcServer(client)

    async def price(request: ToolServiceRequest) -> ToolServiceData:
        del request
        return ToolServiceData(result=PRICE)

    async def settings(request: CompanyRequest) -> CompanyReply:
        return CompanyReply(settings=CompanySettings(config=CompanyConfig(company_id=request.company_id), version=1))

    await neighbours.serve(tool_service("get_price", "market-adapter"), price)
    await neighbours.serve(COMPANY_GET, settings)
    try:
        for _ in range(count):
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "tool_executor", env=environment, stdout=subprocess.PIPE
            )
            processes.append(process)
            assert process.stdout is not None
            async with asyncio.timeout(30):
                while b"service.ready" not in await process.stdout.readline():
                    pass
        yield client, [process.pid for process in processes]
    finally:
        for process in processes:
            process.kill()
            await process.wait()
        await client.close()
