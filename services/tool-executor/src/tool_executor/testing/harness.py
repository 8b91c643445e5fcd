"""Helpers that the service's tests share: an executor on real servers, and a caller that uses it over the bus."""

import asyncio
import contextlib
import os
import sys
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import nats
from aiohttp import web
from nats.aio.client import Client
from nats.aio.subscription import Subscription

from contracts.channels import tool_request
from contracts.company import CompanyConfig, CompanySettings, ToolConfig
from contracts.company_rpc import COMPANY_GET, CompanyReply, CompanyRequest
from contracts.envelope import CloudEvent
from contracts.events.tool import ToolCallCompleted, ToolCallRequested, ToolError
from contracts.own_tools import OwnTools
from contracts.text import Text
from contracts.tools_rpc import CATALOGUE, TOOL_DETAILS
from runtime.auth.principals import Principal
from runtime.auth.seal import Seal
from runtime.bus.publisher import Publisher
from runtime.bus.streams import ensure_streams
from runtime.calls.rpc import RpcServer
from runtime.errors import InvalidTokenError
from runtime.settings import SealSettings
from runtime.testing.forks import ForkedProcess, fork
from runtime.testing.servers import eventually
from tool_executor.app import Executor, ExecutorConnections
from tool_executor.domain.declaration import CallContext, Data, DeclaredTool, Handler, OverTheBus
from tool_executor.domain.plans import Arguments
from tool_executor.domain.site_address import Origin
from tool_executor.settings import ExecutorSettings

DEADLINE = 30.0


@dataclass(frozen=True)
class Someone:
    """A caller, and the principal that the test's verifier accepts for them."""

    sub: str = "user-1"
    role: str = "user"
    company: str = "demo"
    plan: str | None = "free"
    conversation: str | None = None
    language: str | None = "en"
    signed: str | None = None
    """A real principal, for an executor that checks signatures."""

    @property
    def principal(self) -> str:
        unsigned = f"{self.role}/{self.sub}/{self.company}/{self.plan}/{self.language}/{self.conversation or ''}"
        return self.signed or unsigned


def verify(principal: str) -> Principal:
    """Reads an unsigned principal; replaces only the signature check, which runtime.auth.principals owns and tests."""
    parts = principal.split("/")
    if len(parts) != 6:
        raise InvalidTokenError("not a principal")
    role, sub, company, plan, language, conversation = parts
    return Principal(sub, role, company, plan, 2**40, conversation or None, language)


@dataclass
class Memory:
    """Serves company settings as memory does."""

    configs: dict[str, ToolConfig] = field(default_factory=dict[str, ToolConfig])
    own: dict[str, OwnTools] = field(default_factory=dict[str, OwnTools])
    asked: int = 0
    version: int = 1

    async def serve(self, client: Client) -> RpcServer:
        server = RpcServer(client)
        await server.serve(COMPANY_GET, self._get)
        await client.flush()
        return server

    async def _get(self, request: CompanyRequest) -> CompanyReply:
        self.asked += 1
        config = self.configs.get(request.company_id)
        if config is None:
            return CompanyReply()
        return CompanyReply(
            settings=settings_of(request.company_id, config, self.version, self.own.get(request.company_id))
        )


def settings_of(company: str, config: ToolConfig, version: int, own: OwnTools | None = None) -> CompanySettings:
    """Returns a company's settings with these tool settings and these tools of its own."""
    company_config = CompanyConfig(company_id=company, tool_config=config, own_tools=own or OwnTools())
    return CompanySettings(config=company_config, version=version)


async def listen(client: Client, subject: str) -> Subscription:
    """Subscribes, and returns when the server has registered the subscription."""
    subscription = await client.subscribe(subject)  # pyright: ignore[reportUnknownMemberType] - a bare Future in it
    await client.flush()
    return subscription


class ToolRequester:
    """Requests tool calls as an agent does, and waits for their results."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._publisher = Publisher(client)

    async def send(
        self,
        tool: str,
        arguments: dict[str, Any],
        someone: Someone | None,
        *,
        call_id: str | None = None,
        attempt: int = 1,
        reply_to: str | None = None,
        seconds: float = 30.0,
        category: str = "calculate",
        conversation: str | None = None,
        said: list[str] | None = None,
    ) -> str:
        """Puts a call into the work queue and returns its id."""
        call_id = call_id or uuid.uuid4().hex
        request = ToolCallRequested(
            call_id=call_id,
            tool=tool,
            arguments=arguments,
            principal=someone.principal if someone is not None else None,
            reply_to=reply_to,
            deadline=datetime.now(UTC) + timedelta(seconds=seconds),
            attempt=attempt,
            conversation_id=conversation,
            said=said,
        )
        event = CloudEvent[ToolCallRequested](source="/test", type="tools.call.requested.v1", data=request)
        msg_id = f"{call_id}-{attempt}"
        await self._publisher.append(tool_request(category), event, stream="TOOLS", msg_id=msg_id)
        return call_id

    async def call(
        self,
        tool: str,
        arguments: dict[str, Any],
        someone: Someone | None = None,
        *,
        anonymous: bool = False,
        deadline: float = DEADLINE,
        **more: Any,
    ) -> ToolCallCompleted:
        """Sends one call and returns its completion."""
        inbox = self.client.new_inbox()
        subscription = await listen(self.client, inbox)
        try:
            caller = None if anonymous else someone or Someone()
            await self.send(tool, arguments, caller, reply_to=inbox, **more)
            message = await subscription.next_msg(timeout=deadline)
            return CloudEvent[ToolCallCompleted].model_validate_json(message.data).data
        finally:
            await subscription.unsubscribe()

    async def failure(
        self, tool: str, arguments: dict[str, Any], someone: Someone | None = None, **more: Any
    ) -> ToolError:
        """Sends one call and returns the error with which it ends."""
        error = (await self.call(tool, arguments, someone, **more)).result.error
        if error is None:
            raise AssertionError(f"{tool} succeeded")
        return error


@contextlib.asynccontextmanager
async def running_executor(
    client: Client,
    redis_url: str,
    *,
    demo: Origin | None = None,
    loopback: bool = False,
    tools: tuple[DeclaredTool, ...] = (),
    settings: ExecutorSettings | None = None,
    seal: Seal | None = None,
) -> AsyncGenerator[Executor]:
    """Runs an executor in this process, on the given servers."""
    await ensure_streams(client)
    connections = ExecutorConnections(
        client,
        redis_url,
        redis_deadline=5.0,
        verify=verify,
        demo=demo,
        loopback=loopback,
        seal=seal or Seal(SealSettings()),
    )
    executor = Executor(connections, settings or ExecutorSettings(), tools)
    server = RpcServer(client)
    await executor.start()
    await server.serve(CATALOGUE, executor.catalogue)
    await server.serve(TOOL_DETAILS, executor.details)
    await executor.worker.start()
    for worker in executor.reading:
        await worker.start()
    await client.flush()
    try:
        yield executor
    finally:
        async with asyncio.timeout(30):
            await executor.worker.drain(2.0)
            for worker in executor.reading:
                await worker.drain(2.0)
            await server.drain(2.0)
            await executor.close()


@contextlib.asynccontextmanager
async def asking(client: Client, redis_url: str, **executor: Any) -> AsyncGenerator[ToolRequester]:
    """Runs an executor, and returns who asks it."""
    async with running_executor(client, redis_url, **executor):
        yield ToolRequester(client)


PageHandler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class Served:
    """A local web site that records the requests that it gets."""

    def __init__(self) -> None:
        self.origin = Origin("http", "127.0.0.1", 0)
        self.asked: list[web.BaseRequest] = []
        self.pages: dict[str, PageHandler] = {}

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        self.asked.append(request)
        page = self.pages.get(request.path)
        return web.Response(status=404) if page is None else await page(request)


@contextlib.asynccontextmanager
async def serving() -> AsyncGenerator[Served]:
    """Serves a site on a free loopback port."""
    served = Served()
    runner = web.ServerRunner(web.Server(served.answer), shutdown_timeout=0.2)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    served.origin = Origin("http", "127.0.0.1", runner.addresses[0][1])
    try:
        yield served
    finally:
        await runner.cleanup()


def html_page(text: str) -> PageHandler:
    """Returns a handler that responds with this markup."""
    return answering(text.encode())


def answering(
    body: bytes, kind: str = "text/html; charset=utf-8", status: int = 200, encoding: str = "", **headers: str
) -> PageHandler:
    """Returns a handler that responds with these bytes."""
    encoding_header = {"Content-Encoding": encoding} if encoding else {}

    async def page(request: web.BaseRequest) -> web.StreamResponse:
        del request
        return web.Response(body=body, status=status, headers={"Content-Type": kind, **encoding_header, **headers})

    return page


NOTHING: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
ANYTHING: dict[str, Any] = {"type": "object"}


def tool_named(name: str, handler: Handler | OverTheBus, **declared: Any) -> DeclaredTool:
    """Returns a declaration with plain defaults; a test overrides the fields that it is about."""
    defaults: dict[str, Any] = {
        "id": f"test.{name}",
        "name": name,
        "description": Text(es="Prueba", en="Test"),
        "category": "calculate",
        "handler": handler,
        "input_schema": NOTHING,
        "output_schema": ANYTHING,
        "per_minute": 1000,
        "time_limit": 10.0,
    }
    return DeclaredTool(**(defaults | declared))


class CountingHandler:
    """A handler that counts its runs and returns the count: {"run": 1}, {"run": 2} …"""

    def __init__(self) -> None:
        self.runs = 0

    async def __call__(self, arguments: Arguments, context: CallContext) -> Data:
        del arguments, context
        self.runs += 1
        return {"run": self.runs}


async def serve_until_killed(nats_url: str, redis_url: str, ready: Path, **executor: Any) -> None:
    """Runs an executor as a process of its own; creates the file `ready` when it can be called."""
    client = await nats.connect(nats_url)  # pyright: ignore[reportUnknownMemberType] - untyped options
    async with running_executor(client, redis_url, **executor):
        await asyncio.to_thread(ready.touch)
        await asyncio.Event().wait()


@contextlib.asynccontextmanager
async def executor_processes(
    module: str, nats_url: str, redis_url: str, folder: Path, count: int, *arguments: object
) -> AsyncGenerator[list[ForkedProcess]]:
    """Runs `count` processes of `tool_executor.testing.<module>`, when they are ready; they are gone afterwards, paused
    ones too."""
    marks = [folder / str(number) for number in range(count)]
    for mark in marks:
        mark.unlink(missing_ok=True)
    started = [
        await asyncio.to_thread(
            *(fork, f"tool_executor.testing.{module}", nats_url, redis_url, str(mark), *map(str, arguments)),
            environment=os.environ,
        )
        for mark in marks
    ]
    try:
        await eventually(lambda: all(mark.exists() for mark in marks))
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait(timeout=30)


async def _serve_endless_tools(nats_url: str, redis_url: str, marks: Path) -> None:
    """Runs an executor for tests that kill it: its tools never end and create a file named by the call id."""

    async def endless(arguments: Arguments, context: CallContext) -> Data:
        del arguments
        (marks / context.call_id).touch()
        await asyncio.Event().wait()
        return {}

    tools = (
        tool_named("read", endless, time_limit=60.0),
        tool_named("write", endless, time_limit=1.0, side_effects=True),
        tool_named("reconciled", endless, time_limit=60.0, side_effects=True, reconcile=endless),
    )
    await serve_until_killed(nats_url, redis_url, marks / "ready", tools=tools)


if __name__ == "__main__":
    asyncio.run(_serve_endless_tools(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
