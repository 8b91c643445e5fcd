"""For tests: a server of OpenAI's /v1/embeddings on a real socket. It knows the meaning of a few words in Spanish and
English, and can be slow, broken or nonsensical."""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

MEANINGS = (
    "refund refunds money devolucion devoluciones reembolso devuelven dinero",
    "nurse hospital enfermera profesion living job trabajo",
    "dog puppy perro mascota",
    "hours open horario abre abierta",
)
SIZE = len(MEANINGS) + 1
_WORD = re.compile(r"\w+")


class EmbeddingServer:
    """`asked`: the bodies of all requests; `answers`: while it is not set, requests with `held` in a text wait;
    `answer`, if set, is sent instead of vectors; `max_texts` at once and `max_characters` of each are accepted;
    a text with `poison` in it fails; `extra` numbers more are in each vector."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.answers = asyncio.Event()
        self.answers.set()
        self.held = ""
        self.status = 200
        self.answer: Any = None
        self.max_texts = self.max_characters = 1_000_000
        self.poison = "no text has this"
        self.extra = 0
        self.base_url = ""

    @property
    def texts(self) -> list[str]:
        """All texts whose vectors were requested."""
        return [text for body in self.asked for text in body["input"]]

    async def embed(self, request: web.Request) -> web.Response:
        """POST /v1/embeddings."""
        body = await request.json()
        self.asked.append(body)
        self.keys.append(request.headers.get("Authorization"))
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        if any(self.held in text for text in texts):
            await self.answers.wait()
        status = 500 if any(self.poison in text for text in texts) else self.status
        if len(texts) > self.max_texts or max(map(len, texts)) > self.max_characters:
            status = 422
        if status != 200:
            error = {"message": "no", "type": "server_error", "param": None, "code": None}
            return web.json_response({"error": error}, status=status)
        if self.answer is not None:
            return web.json_response(self.answer)
        data = [
            {"object": "embedding", "index": index, "embedding": meaning(text, self.extra)}
            for index, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        # In another order: only the index counts.
        return web.json_response({"object": "list", "data": data[::-1], "model": body["model"], "usage": usage})


def meaning(text: str, extra: int) -> list[float]:
    """Returns a text's vector: a direction for each subject that it mentions, and `extra` zeros."""
    words = set(_WORD.findall(text.lower()))
    return [*(float(len(words & set(listed.split()))) for listed in MEANINGS), 0.1, *[0.0] * extra]


@asynccontextmanager
async def embedding_server() -> AsyncGenerator[EmbeddingServer]:
    """Runs a server for the length of the block."""
    server = EmbeddingServer()
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.add_routes([web.post("/v1/embeddings", server.embed)])
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield server
    finally:
        await runner.cleanup()
