"""Records what a stack sends to its servers: every message on the bus, every command to Redis and to MongoDB, in order.

A subscriber of `>` sees the messages of the bus: requests and replies, deliveries and acknowledgements. MONITOR lists
the commands of Redis; a proxy before MongoDB reads its commands.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from nats.aio.msg import Msg

from runtime.bus.connection import connect, listen
from runtime.settings import NatsSettings
from runtime.testing.network import Proxy

Server = Literal["bus", "redis", "mongodb"]
_DELTAS = ".message.delta."
_DRIVER_COMMANDS = frozenset(
    {"hello", "ismaster", "isMaster", "ping", "endSessions", "CLIENT", "HELLO", "AUTH", "SELECT", "PING"}
)
"""Commands that drivers send by themselves, to open a connection or to check the server."""


@dataclass(frozen=True, slots=True)
class Line:
    """One message or command. `at`: when it was recorded, by time.monotonic(); `size`: bytes, of a message only the
    body."""

    at: float
    server: Server
    what: str
    reply: str = ""
    size: int = 0
    note: str = ""

    @property
    def kind(self) -> str:
        """Returns the subject or command without ids: `_INBOX.agent.<id>.7` is `to agent`."""
        if self.server != "bus":
            return self.what
        tokens = self.what.split(".")
        if tokens[0] == "_INBOX":
            return f"to {tokens[1]}" + (f" ({self.note})" if self.note else "")
        if tokens[:2] == ["$JS", "ACK"]:
            return f"ack {tokens[2]} {tokens[3]}" + (f" {self.note}" if self.note != "+ACK" else "")
        if tokens[:2] == ["$JS", "API"]:
            return " ".join(tokens[2:6]) if tokens[2] != "DIRECT" else " ".join(tokens[2:5])
        if tokens[0] in ("chat", "live", "turn"):
            return " ".join([tokens[0], *(token for token in tokens[1:] if token.isalpha())])
        return ".".join(token for token in tokens if not any(letter.isdigit() for letter in token) or token == "v1")

    @property
    def text(self) -> bool:
        """Returns whether it is a streamed piece of an answer's text."""
        return self.server == "bus" and _DELTAS in f"{self.what}."


@dataclass
class Account:
    """The lines since the last `clear`."""

    lines: list[Line] = field(default_factory=list[Line])

    def clear(self) -> None:
        """Deletes the lines recorded so far."""
        self.lines.clear()

    def of(self, server: Server, *, before: float | None = None) -> list[Line]:
        """Returns a server's lines without pieces of text, all or those before a moment."""
        return [
            line
            for line in self.lines
            if line.server == server and not line.text and (before is None or line.at < before)
        ]


def counted(lines: Iterable[Line]) -> Counter[str]:
    """Counts the lines of each kind."""
    return Counter(line.kind for line in lines)


@asynccontextmanager
async def listening(bus: str, redis: str, mongodb: Proxy | None) -> AsyncGenerator[Account]:
    """Records the three servers while the block runs."""
    account = Account()
    client = await connect(NatsSettings(url=bus), name="account")
    await listen(client, ">", lambda message: account.lines.append(_bus_line(message)))
    await client.flush()
    if mongodb is not None:
        mongodb.listener = lambda: _MongoReader(account.lines).take
    monitor = asyncio.create_task(_monitor(redis, account.lines))
    try:
        yield account
    finally:
        monitor.cancel()
        await client.close()


def _bus_line(message: Msg) -> Line:
    note = ""
    if message.subject.startswith("$JS.ACK."):
        note = message.data.decode(errors="replace")[:5].strip()
    elif message.headers and (status := message.headers.get("Status")):
        note = status
    elif message.reply.startswith("$JS.ACK."):
        note = "delivery " + message.reply.split(".")[3]
    return Line(time.monotonic(), "bus", message.subject, message.reply, len(message.data), note)


async def _monitor(url: str, lines: list[Line]) -> None:
    """Reads MONITOR; each of its lines is `time [db address] "COMMAND" "argument" …`."""
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port, limit=1 << 24)
    if address.password:
        writer.write(f"AUTH {address.password}\r\n".encode())
    writer.write(b"MONITOR\r\n")
    try:
        async for line in reader:
            at = time.monotonic()
            words = line.decode(errors="replace").split('"')
            # Calls inside a script are marked `lua`: the command that runs the script is counted already.
            if len(words) < 2 or " lua]" in words[0] or words[1].upper() in _DRIVER_COMMANDS:
                continue
            key = next((word for word in words[3::2] if "nexus" in word or ":" in word), "")
            lines.append(Line(at, "redis", f"{words[1].upper()} {_without_ids(key)}".strip(), size=len(line)))
    finally:
        writer.close()


def _without_ids(key: str) -> str:
    return ":".join(part for part in key.split(":") if part.isalpha())


class _MongoReader:
    """Reads commands from one client's bytes (MongoDB wire protocol, OP_MSG; the first field of the body is the
    command)."""

    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines
        self._buffer = bytearray()

    def take(self, chunk: bytes) -> None:
        """Adds bytes; records the commands that are complete."""
        self._buffer += chunk
        while len(self._buffer) >= 16:
            size = int.from_bytes(self._buffer[:4], "little")
            if len(self._buffer) < size:
                return
            message = bytes(self._buffer[:size])
            del self._buffer[:size]
            if int.from_bytes(message[12:16], "little") == 2013:
                self._command(message)

    def _command(self, message: bytes) -> None:
        name, _, rest = message[26:].partition(b"\0")
        command = name.decode(errors="replace")
        collection = ""
        if message[25] == 2:  # a string
            collection = rest[4:].split(b"\0", 1)[0].decode(errors="replace")
        if command not in _DRIVER_COMMANDS:
            self._lines.append(Line(time.monotonic(), "mongodb", f"{command} {collection}".strip(), size=len(message)))
