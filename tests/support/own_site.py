"""A company's site on this machine, with an HTTP interface, a model and an MCP server."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

PAGE = """<!doctype html><html lang="es"><title>Clínica Sol</title><body><main><h1>Clínica Sol</h1>
<h2>Horario de consulta</h2><p>La consulta abre de lunes a viernes de 9 a 14 horas.</p>
<h2>Seguros</h2><p>Trabajamos con Adeslas y Sanitas.</p></main></body></html>"""
BROKER = """<!doctype html><html lang="en"><title>Harbour Brokers</title><body><main><h1>Harbour Brokers</h1>
<h2>Commission</h2><p>The commission is 4 USD for each order, whatever its size.</p>
<h2>Opening an account</h2><p>An account is opened online within one working day.</p></main></body></html>"""


@asynccontextmanager
async def own_site(body: str = PAGE) -> AsyncGenerator[str]:
    """Serves the site while the block runs; yields its address."""

    async def page(_: web.Request) -> web.Response:
        return web.Response(text=body, content_type="text/html")

    async def order(request: web.Request) -> web.Response:
        is_authorized = request.headers.get("X-Api-Key") == "my-secret"
        return web.json_response(
            {"order": request.match_info["order"], "state": "sent"}, status=200 if is_authorized else 401
        )

    async def model(request: web.Request) -> web.Response:
        is_authorized = request.headers.get("Authorization") == "Bearer my-key"
        choice = {"message": {"role": "assistant", "content": "ready"}, "finish_reason": "stop"}
        return web.json_response({"model": "house-1", "choices": [choice]}, status=200 if is_authorized else 401)

    async def mcp(request: web.Request) -> web.Response:
        message = await request.json()
        schema = {"type": "object", "properties": {"day": {"type": "string"}}}
        results: dict[str, Any] = {
            "initialize": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "agenda", "version": "1"},
            },
            "tools/list": {
                "tools": [{"name": "free_slots", "description": "Free appointments on a day", "inputSchema": schema}]
            },
        }
        if "id" not in message:
            return web.Response(status=202)
        result = results.get(message["method"])
        outcome = {"result": result} if result else {"error": {"code": -32601, "message": "no such method"}}
        return web.json_response({"jsonrpc": "2.0", "id": message["id"], **outcome})

    app = web.Application()
    app.router.add_get("/", page)
    app.router.add_post("/mcp", mcp)
    app.router.add_get("/orders/{order}", order)
    app.router.add_post("/v1/chat/completions", model)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        yield f"http://{host}:{port}"
    finally:
        await runner.cleanup()
