"""The scripted model's HTTP server."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import orjson
from aiohttp import web
from pydantic import TypeAdapter, ValidationError

from agent.scripted_model import anthropic
from agent.scripted_model.script import Rule, Script, ScriptedReply

_RULES = TypeAdapter(list[Rule])
Stream = Callable[[web.Request, web.StreamResponse, ScriptedReply, dict[str, Any]], Awaitable[None]]
MAX_RECORDED_REQUESTS = 10_000
"""The most requests that are recorded; older ones are dropped."""


class ScriptedModel:
    """One server. `asked` holds the bodies of the requests, newest last, each with `cancelled` (the caller hung up),
    `at` and `firstAt`: the times of the request and of its first token, in monotonic seconds."""

    def __init__(self, script: Script | None = None) -> None:
        self.script = script or Script()
        self.asked: list[dict[str, Any]] = []
        self.changed = asyncio.Event()
        self.base_url = ""
        self._runner: web.AppRunner | None = None

    def say(self, *rules: Rule, default: ScriptedReply | None = None) -> None:
        """Replaces the script."""
        self.script = Script(list(rules), default)

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Starts to listen and sets `base_url`, which ends in /v1."""
        app = web.Application(client_max_size=16 * 1024 * 1024)
        app.add_routes(
            [
                web.post("/v1/chat/completions", self._complete_chat),
                web.post("/v1/messages", self._messages),
                web.get("/v1/models", self._models),
                web.put("/script", self._put_script),
                web.get("/requests", self._get_requests),
                web.delete("/requests", self._clear_requests),
            ]
        )
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, host, port)
        await site.start()
        actual_port: int = self._runner.addresses[0][1]
        self.base_url = f"http://{host}:{actual_port}/v1"

    async def stop(self) -> None:
        """Stops listening and closes every connection."""
        if self._runner is not None:
            await self._runner.cleanup()

    @property
    def environment(self) -> dict[str, str]:
        """Returns the environment variables with which a stack calls this model."""
        return {"NEXUS_LLM_BASE_URL": self.base_url, "NEXUS_LLM_API_KEY": "not-a-key", "NEXUS_LLM_MODEL": "scripted"}

    async def _complete_chat(self, request: web.Request) -> web.StreamResponse:
        return await self._respond(request, _openai_error_body, _openai_stream)

    async def _messages(self, request: web.Request) -> web.StreamResponse:
        return await self._respond(request, anthropic.error_body, anthropic.stream)

    async def _respond(
        self, request: web.Request, error_body: Callable[[ScriptedReply], dict[str, Any]], stream: Stream
    ) -> web.StreamResponse:
        body: dict[str, Any] = orjson.loads(await request.read())
        record = {**body, "at": time.monotonic(), "cancelled": False}
        self.asked.append(record)
        del self.asked[:-MAX_RECORDED_REQUESTS]
        self._notify_change()
        reply = self.script.next_reply(_last_user_text(body))
        try:
            if reply.status != 200:
                headers = {} if reply.retry_after is None else {"Retry-After": f"{reply.retry_after:g}"}
                return web.json_response(error_body(reply), status=reply.status, headers=headers)
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
            await response.prepare(request)
            await stream(request, response, reply, record)
            return response
        except asyncio.CancelledError:
            self._mark_cancelled(record)
            raise
        except ConnectionResetError:
            self._mark_cancelled(record)
            return web.Response()

    def _mark_cancelled(self, record: dict[str, Any]) -> None:
        """Notes that the caller has hung up."""
        record["cancelled"] = True
        self._notify_change()

    def _notify_change(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()

    async def _models(self, request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    async def _put_script(self, request: web.Request) -> web.Response:
        try:
            self.script = Script(_RULES.validate_json(await request.read()))
        except ValidationError as error:
            return web.Response(status=422, text=error.json(include_url=False), content_type="application/json")
        return web.Response(status=204)

    async def _get_requests(self, request: web.Request) -> web.Response:
        return web.Response(body=orjson.dumps(self.asked), content_type="application/json")

    async def _clear_requests(self, request: web.Request) -> web.Response:
        self.asked.clear()
        return web.Response(status=204)


@asynccontextmanager
async def scripted_model(*rules: Rule, default: ScriptedReply | None = None) -> AsyncGenerator[ScriptedModel]:
    """Runs a server for the length of the block."""
    server = ScriptedModel(Script(list(rules), default))
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


def _last_user_text(body: dict[str, Any]) -> str:
    user_messages = [message for message in body.get("messages", []) if message.get("role") == "user"]
    # Anthropic's messages consist of blocks; those with tool results alone have no text.
    texts = [text for message in user_messages if (text := anthropic.text_of(message.get("content", "")))]
    return texts[-1] if texts else ""


def _openai_error_body(reply: ScriptedReply) -> dict[str, Any]:
    return {"error": {"message": "scripted failure", "type": "scripted", "code": reply.error_code}}


async def _openai_stream(
    request: web.Request, response: web.StreamResponse, reply: ScriptedReply, record: dict[str, Any]
) -> None:
    model = str(record.get("model", "scripted"))
    await reply.begin(record)
    if reply.raw is not None:
        await response.write(reply.raw.encode())
        if reply.cut_after is not None:
            anthropic.break_off(request)
        return
    pieces = reply.pieces()
    buffer = bytearray()
    for piece in pieces[: reply.cut_after]:
        buffer += _chunk(model, {"content": piece})
        if reply.token_ms:
            await response.write(bytes(buffer))
            buffer.clear()
            await asyncio.sleep(reply.token_ms / 1000)
    if reply.cut_after is not None:
        await response.write(bytes(buffer))
        anthropic.break_off(request)
        return
    if reply.garbled:
        buffer += b'data: {"choices": [{"delta": {"cont\n\n'
    for index, call in enumerate(reply.tool_calls):
        head = {"index": index, "id": f"call_{index}", "type": "function"}
        buffer += _chunk(model, {"tool_calls": [{**head, "function": {"name": call.name, "arguments": ""}}]})
        for part in call.parts():
            buffer += _chunk(model, {"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    buffer += _chunk(model, {}, finish="tool_calls" if reply.tool_calls else "stop")
    usage = {"prompt_tokens": reply.prompt_tokens, "completion_tokens": len(pieces)}
    buffer += b"data: " + orjson.dumps({"id": "scripted", "model": model, "choices": [], "usage": usage}) + b"\n\n"
    buffer += b"data: [DONE]\n\n"
    await response.write(bytes(buffer))
    await response.write_eof()


def _chunk(model: str, delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": "scripted", "object": "chat.completion.chunk", "model": model, "choices": [choice]}
    return b"data: " + orjson.dumps(body) + b"\n\n"
