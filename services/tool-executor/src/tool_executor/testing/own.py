"""Helpers for tests of companies' own tools: an executor, a company, and the company's server."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from nats.aio.client import Client
from pydantic import SecretStr

from contracts.company import ToolConfig
from contracts.events.tool import ToolCallCompleted
from contracts.own_tools import HttpTool, McpServer, OwnTools
from runtime.auth.seal import Seal
from runtime.settings import SealSettings
from runtime.testing.servers import ValkeyServer
from tool_executor.app import Executor
from tool_executor.own_actions import OwnActions
from tool_executor.own_checks import OwnChecks
from tool_executor.testing.harness import Memory, Served, Someone, ToolRequester, running_executor, serving, settings_of

SEAL = Seal(SealSettings(secrets_key=SecretStr("k" * 40)))
SCHEMA = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}
ANA = Someone(sub="ana", company="acme", conversation="c1")


def declared(origin: str, name: str = "order_status", **more: Any) -> HttpTool:
    fields: dict[str, Any] = {
        "name": name,
        "description": "Where an order is",
        "inputSchema": SCHEMA,
        "url": f"{origin}/orders/{{order}}",
        "method": "GET",
    }
    return HttpTool.model_validate(fields | more, context={"door": True})


def json_page(body: Any, **more: Any) -> Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]:
    async def page(request: web.BaseRequest) -> web.StreamResponse:
        del request
        return web.json_response(body, **more)

    return page


@dataclass
class Company:
    """An executor, the company's settings, and its server."""

    asker: ToolRequester
    memory: Memory
    site: Served
    executor: Executor

    @property
    def checks(self) -> OwnChecks:
        return self.executor.own_checks

    @property
    def actions(self) -> OwnActions:
        return self.executor.own_actions

    def learn(self, own: OwnTools) -> None:
        self.memory.own["acme"] = own
        self.executor.settings.learn(settings_of("acme", ToolConfig(), 2, own))

    async def call(
        self, tool: str, arguments: dict[str, Any], someone: Someone = ANA, **more: Any
    ) -> ToolCallCompleted:
        return await self.asker.call(tool, arguments, someone, category="own", **more)

    async def code(
        self, tool: str, arguments: dict[str, Any], someone: Someone = ANA, **more: Any
    ) -> tuple[str, str | None]:
        error = await self.asker.failure(tool, arguments, someone, category="own", **more)
        return error.code, error.reason


@contextlib.asynccontextmanager
async def company(
    client: Client, valkey: ValkeyServer, own: Callable[[str], OwnTools], *, loopback: bool = True
) -> AsyncGenerator[Company]:
    async with serving() as site, running_executor(client, valkey.url, loopback=loopback, seal=SEAL) as executor:
        memory = Memory({"acme": ToolConfig(), "other": ToolConfig()}, {"acme": own(str(site.origin))})
        server = await memory.serve(client)
        try:
            yield Company(ToolRequester(client), memory, site, executor)
        finally:
            await server.drain(1.0)


async def hang(request: web.BaseRequest) -> web.StreamResponse:
    del request
    await asyncio.Event().wait()
    raise AssertionError


async def drip(request: web.BaseRequest) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    with contextlib.suppress(ConnectionError):
        while True:
            await response.write(b" " * 4096)
    return response


async def break_off(request: web.BaseRequest) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.close()
    return web.Response()


async def redirect(request: web.BaseRequest) -> web.StreamResponse:
    del request
    return web.Response(status=302, headers={"Location": "http://127.0.0.1/secret"})


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def mcp_server(url: str, tools: list[str], **more: Any) -> McpServer:
    schema = {"type": "object", "properties": {"who": {"type": "string"}}}
    selected = [{"name": name, "description": name, "inputSchema": schema, "sideEffects": False} for name in tools]
    return McpServer.model_validate({"name": "crm", "url": url, "tools": selected, **more}, context={"door": True})
