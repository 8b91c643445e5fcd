"""What a stack says to its servers: every message on the bus, every command to Redis and to MongoDB, in order.

The bus is heard as a subscriber of `>` with the operator's credentials hears it: requests and replies, deliveries and
acknowledgements. Redis tells by MONITOR, MongoDB's commands are read by a proxy that stands before it.
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
_OWN = frozenset({"hello", "ismaster", "isMaster", "ping", "endSessions", "CLIENT", "HELLO", "AUTH", "SELECT", "PING"})
"""What drivers say of their own accord, to see whether the server is there."""


@dataclass(frozen=True, slots=True)
class Line:
    """One message or command. `at`: when it was heard, by time.monotonic(); `size` in bytes, of a message its body."""

    at: float
    server: Server
    what: str
    reply: str = ""
    size: int = 0
    note: str = ""

    @property
    def kind(self) -> str:
        """What it is, without the ids: `_INBOX.agent.<id>.7` is `_INBOX.agent`."""
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
        """Whether it is a piece of text on its way to a reader."""
        return self.server == "bus" and _DELTAS in f"{self.what}."


@dataclass
class Account:
    """The lines since the last `clear`."""

    lines: list[Line] = field(default_factory=list[Line])

    def clear(self) -> None:
        """Forgets what was heard."""
        self.lines.clear()

    def of(self, server: Server, *, before: float | None = None) -> list[Line]:
        """A server's lines, without pieces of text; those heard before a moment."""
        return [
            line
            for line in self.lines
            if line.server == server and not line.text and (before is None or line.at < before)
        ]


def counted(lines: Iterable[Line]) -> Counter[str]:
    """How many of each kind."""
    return Counter(line.kind for line in lines)


@asynccontextmanager
async def listening(bus: str, redis: str, mongodb: Proxy | None) -> AsyncGenerator[Account]:
    """Listens to the three servers for the length of the block."""
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
    """Redis' own account; each line is `time [db address] "COMMAND" "argument" …`."""
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port, limit=1 << 24)
    if address.password:
        writer.write(f"AUTH {address.password}\r\n".encode())
    writer.write(b"MONITOR\r\n")
    try:
        async for line in reader:
            at = time.monotonic()
            words = line.decode(errors="replace").split('"')
            # What a script calls comes from `lua`: it is part of the one command that runs the script.
            if len(words) < 2 or " lua]" in words[0] or words[1].upper() in _OWN:
                continue
            key = next((word for word in words[3::2] if "nexus" in word or ":" in word), "")
            lines.append(Line(at, "redis", f"{words[1].upper()} {_without_ids(key)}".strip(), size=len(line)))
    finally:
        writer.close()


def _without_ids(key: str) -> str:
    return ":".join(part for part in key.split(":") if part.isalpha())


class _MongoReader:
    """Commands out of one client's bytes (MongoDB wire protocol, OP_MSG; its body's first field is the command)."""

    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines
        self._held = bytearray()

    def take(self, chunk: bytes) -> None:
        """More bytes."""
        self._held += chunk
        while len(self._held) >= 16:
            size = int.from_bytes(self._held[:4], "little")
            if len(self._held) < size:
                return
            message = bytes(self._held[:size])
            del self._held[:size]
            if int.from_bytes(message[12:16], "little") == 2013:
                self._command(message)

    def _command(self, message: bytes) -> None:
        name, _, rest = message[26:].partition(b"\0")
        command = name.decode(errors="replace")
        collection = ""
        if message[25] == 2:  # a string
            collection = rest[4:].split(b"\0", 1)[0].decode(errors="replace")
        if command not in _OWN:
            self._lines.append(Line(time.monotonic(), "mongodb", f"{command} {collection}".strip(), size=len(message)))
