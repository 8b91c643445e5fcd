"""The server's end of the NATS wire protocol: parses commands and holds the subscriptions of a connection."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from tests.simulation.network import Connection


class Commands(Protocol):
    """The server that handles the commands of a connection."""

    def published(self, client: ClientEnd, subject: str, reply: str, head: bytes, data: bytes) -> None: ...
    def subscribe(self, subscription: Subscription) -> None: ...
    def unsubscribe(self, client: ClientEnd, sid: str, most: int) -> None: ...


@dataclass(eq=False)
class Subscription:
    """One subscription of one connection."""

    client: ClientEnd
    sid: str
    subject: str
    queue: str


@dataclass(eq=False)
class ClientEnd:
    """The server's end of a connection: parses its commands."""

    bus: Commands
    connection: Connection
    buffer: bytes = b""
    subscriptions: dict[str, Subscription] = field(default_factory=dict[str, Subscription])
    open: bool = True

    def received(self, data: bytes) -> None:
        """Handles the commands that have arrived completely."""
        data = self.buffer + data
        position, end = 0, len(data)
        while position < end:
            line_end = data.find(b"\r\n", position)
            if line_end < 0:
                break
            words = data[position:line_end].split()
            kind = words[0]
            if kind in (b"PUB", b"HPUB"):
                size = int(words[-1])
                start = line_end + 2
                if start + size + 2 > end:
                    break
                with_head = kind == b"HPUB"
                head = int(words[-2]) if with_head else 0
                reply = words[2].decode() if len(words) == (5 if with_head else 4) else ""
                position = start + size + 2
                self.bus.published(
                    self, words[1].decode(), reply, data[start : start + head], data[start + head : start + size]
                )
                continue
            position = line_end + 2
            if kind == b"PING":
                self.connection.answer(b"PONG\r\n")
            elif kind == b"SUB":
                queue = words[2].decode() if len(words) == 4 else ""
                self.bus.subscribe(Subscription(self, words[-1].decode(), words[1].decode(), queue))
            elif kind == b"UNSUB":
                self.bus.unsubscribe(self, words[1].decode(), int(words[2]) if len(words) > 2 else 0)
        self.buffer = data[position:]

    def closed(self) -> None:
        """Ends its subscriptions."""
        self.open = False
        for sid in list(self.subscriptions):
            self.bus.unsubscribe(self, sid, 0)


def read_headers(head: bytes) -> dict[str, str]:
    """Parses a header block."""
    headers: dict[str, str] = {}
    for line in head.decode().split("\r\n")[1:]:
        name, colon, value = line.partition(":")
        if colon:
            headers[name] = value.strip()
    return headers
