"""For tests: the official clients from npm, run by node over real sockets. `make mcp-suite` installs them."""

import asyncio
import json
import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from gateway.testing.ui import node_process

Json = dict[str, Any]
DEADLINE = 60.0


class NpmClients:
    """A node process that runs a client for each call."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._pending: dict[str, asyncio.Future[Json]] = {}
        self._listeners: dict[str, Callable[[str], None]] = {}

    async def ask(
        self, client: str, url: str, token: str, on_text: Callable[[str], None] | None = None, **params: Any
    ) -> Any:
        """Makes a call with one of the clients; returns its result or failure. `on_text` receives the answer's text so
        far."""
        assert self._process.stdin is not None
        call_id = uuid.uuid4().hex
        answer = self._pending[call_id] = asyncio.get_running_loop().create_future()
        if on_text is not None:
            self._listeners[call_id] = on_text
        call = {"id": call_id, "with": client, "url": url, "token": token, **params}
        self._process.stdin.write(json.dumps(call).encode() + b"\n")
        async with asyncio.timeout(DEADLINE):
            outcome = await answer
        return outcome["done"] if "done" in outcome else outcome["failed"]

    async def read(self) -> None:
        """Reads the output of the process until it ends."""
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            message = json.loads(line)
            if "heard" not in message:
                self._listeners.pop(message["id"], None)
                self._pending.pop(message["id"]).set_result(message)
            elif message["id"] in self._listeners:
                self._listeners[message["id"]](message["heard"])


@asynccontextmanager
async def npm_clients() -> AsyncGenerator[NpmClients]:
    """Runs the clients."""
    async with node_process("door_clients.mjs", "openai", NpmClients) as clients:
        yield clients
