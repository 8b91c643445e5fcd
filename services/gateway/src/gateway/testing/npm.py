"""For tests: the official clients of npm, under node, over real sockets. `make mcp-suite` installs them."""

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
    """One node process with a client of each kind for each call."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._asked: dict[str, asyncio.Future[Json]] = {}
        self._hearing: dict[str, Callable[[str], None]] = {}

    async def ask(
        self, client: str, url: str, token: str, heard: Callable[[str], None] | None = None, **params: Any
    ) -> Any:
        """The result of a call by one of the clients, or its failure. `heard` gets the answer's text so far."""
        assert self._process.stdin is not None
        identity = uuid.uuid4().hex
        answer = self._asked[identity] = asyncio.get_running_loop().create_future()
        if heard is not None:
            self._hearing[identity] = heard
        call = {"id": identity, "with": client, "url": url, "token": token, **params}
        self._process.stdin.write(json.dumps(call).encode() + b"\n")
        async with asyncio.timeout(DEADLINE):
            told = await answer
        return told["done"] if "done" in told else told["failed"]

    async def read(self) -> None:
        """Passes on the process's output until it ends."""
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            told = json.loads(line)
            if "heard" not in told:
                self._hearing.pop(told["id"], None)
                self._asked.pop(told["id"]).set_result(told)
            elif told["id"] in self._hearing:
                self._hearing[told["id"]](told["heard"])


@asynccontextmanager
async def npm_clients() -> AsyncGenerator[NpmClients]:
    """The clients, running."""
    async with node_process("door_clients.mjs", "openai", NpmClients) as clients:
        yield clients
