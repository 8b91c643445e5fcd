"""nats-py's client, with shortcuts for the common kinds of messages.

nats-py makes a future and wakes a task for every publish, parses each header character by character, and passes every
message to the task of its subscription. The shortcuts here cost less than half as much. Each handles only simple cases;
everything else, above all malformed input, goes through nats-py's own code.
"""
# pyright: reportPrivateUsage=false

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.transport import TcpTransport
from nats.protocol.parser import AWAITING_CONTROL_LINE

_MAX_NAMES = 256
_NAME = re.compile("[A-Za-z0-9-]+")
_STATUS_LINE = b"NATS/1.0\r\n"
_MAX_PENDING_BYTES = 4 * 1024 * 1024
"""If more bytes than this wait to be written, publishing is left to nats-py, which blocks at 8 MiB."""
_MAX_BUFFERED_BYTES = 1024 * 1024
"""If the socket has more bytes than this queued, writing is left to nats-py's flusher, which waits for room."""

TakeMessage = Callable[[Msg], None]


class BusClient(Client):
    """The NATS client of every service. `listen` registers a function that gets a subscription's messages
    immediately."""

    _known_names: ClassVar[set[str]] = set()
    _sent_names: ClassVar[set[str]] = set()

    def __init__(self) -> None:
        super().__init__()
        self._listeners: dict[int, TakeMessage] = {}
        self._writing = False
        self._failed: set[asyncio.Future[None]] = set()
        self.on_reconnect: list[Callable[[], None]] = []
        """Called before the other reconnect hooks, for code whose requests the server has lost; must return quickly."""

    def listen(self, subscription: int, take: TakeMessage) -> None:
        """Calls `take` with each message of this subscription as it is read, without a queue.

        `take` must be quick. Nothing waits, so no bound is needed and nothing is dropped.
        """
        self._listeners[subscription] = take

    # ------------------------------------------------------------------ out

    async def publish(
        self, subject: str, payload: bytes = b"", reply: str = "", headers: dict[str, str] | None = None
    ) -> None:
        if not self.publish_now(subject, payload, reply, headers):
            await super().publish(subject, payload, reply, headers)

    def publish_now(
        self, subject: str, payload: bytes = b"", reply: str = "", headers: dict[str, str] | None = None
    ) -> bool:
        """Publishes a simple message without waiting. Returns False if it was not sent and must be published
        normally."""
        head = b"" if headers is None else self._header_lines(headers)
        size, names = len(payload), f"{subject} {reply}"
        if (
            self._status != Client.CONNECTED
            or head is None
            or size > self._max_payload
            or self._pending_data_size > _MAX_PENDING_BYTES
            or not subject
            or not names.isprintable()
            or names.count(" ") > 1
            or not isinstance(self._transport, TcpTransport)
        ):
            return False
        if head:
            command = f"HPUB {names} {len(head)} {len(head) + size}\r\n".encode()
        else:
            command = f"PUB {names} {size}\r\n".encode()
        self.stats["out_msgs"] += 1
        self.stats["out_bytes"] += size
        message = b"".join((command, head, payload, b"\r\n"))
        self._pending.append(message)
        self._pending_data_size += len(message)
        if not self._writing:
            self._writing = True
            asyncio.get_running_loop().call_soon(self._write)
        return True

    def _write(self) -> None:
        """Writes everything that was published since the event loop's last iteration in one go."""
        self._writing = False
        transport = self._transport
        if not self._pending or self._status != Client.CONNECTED or not isinstance(transport, TcpTransport):
            return  # nats-py sends it after the reconnect
        writer = transport._io_writer
        if writer is None:
            return
        if writer.transport.get_write_buffer_size() > _MAX_BUFFERED_BYTES:
            queue = self._flush_queue
            if queue is not None and queue.empty():
                queue.put_nowait(asyncio.get_running_loop().create_future())
            return
        messages, self._pending, self._pending_data_size = self._pending, [], 0
        writer.write(messages[0] if len(messages) == 1 else b"".join(messages))

    def _header_lines(self, headers: dict[str, str]) -> bytes | None:
        """Returns the header block; None if nats-py must encode it."""
        if not (headers.keys() <= self._sent_names or all(map(self._may_send, headers))):
            return None
        block = "\r\n".join(["NATS/1.0", *[f"{name}: {value.strip()}" for name, value in headers.items()]])
        if block.count("\r") != len(headers) or block.count("\n") != len(headers):
            return None  # a value contains a line break
        return f"{block}\r\n\r\n".encode()

    def _may_send(self, name: str) -> bool:
        if name not in self._sent_names and len(self._sent_names) < _MAX_NAMES and _NAME.fullmatch(name):
            self._sent_names.add(name)
        return name in self._sent_names

    # ------------------------------------------------------------------ in

    async def _process_connect_init(self) -> None:
        await super()._process_connect_init()
        # nats-py's reader does not know that it runs over TLS, so asyncio would log a warning when the connection ends.
        writer = getattr(self._transport, "_io_writer", None)
        if writer is not None:
            writer._protocol._over_ssl = writer.get_extra_info("sslcontext") is not None
        self.read_directly(getattr(self._transport, "_io_reader", None))

    def read_directly(self, reader: Any) -> None:
        """Passes whole messages on as the reader gets them, without waking nats-py's read loop; None: no reader."""
        if reader is not None:
            reader.feed_data = partial(self._fed, reader, reader.feed_data)

    def _fed(self, reader: Any, feed_normally: Callable[[bytes], None], data: bytes) -> None:
        """Handles the simple messages. Anything else goes to nats-py, with all that follows until its read loop waits
        and has no half-read message."""
        waiter, parser = reader._waiter, self._ps
        is_idle = waiter is not None and not waiter.done() and not reader._buffer
        if is_idle and not parser.buf and parser.state == AWAITING_CONTROL_LINE and type(data) is bytes:
            data = data[self._deliver_simple(data) :]
        if data:
            feed_normally(data)

    def _deliver_simple(self, data: bytes) -> int:
        """Delivers the simple messages for listeners at the start of these bytes; returns the position where they
        end."""
        position = 0
        while (end := data.find(b"\r\n", position)) > 0:
            kind, *words = data[position:end].split(b" ")  # (H)MSG subject sid [reply] [header size] total size
            has_header, start = kind == b"HMSG", end + 2
            if not (has_header or kind == b"MSG") or len(words) - has_header not in (3, 4):
                break
            sid, *sizes = words[1], *words[-1 - has_header :]
            if not all(map(bytes.isdigit, (sid, *sizes))):
                break
            take, size = self._listeners.get(int(sid)), int(sizes[-1])
            body = start + (int(sizes[0]) if has_header else 0)
            next_position = start + size + 2
            if take is None or body > next_position - 2 or next_position > len(data):
                break
            if has_header and not data.startswith(_STATUS_LINE, start):
                break
            reply = words[2] if len(words) - has_header == 4 else b""
            try:
                head = self._parse_header_lines(data[start + len(_STATUS_LINE) : body]) or None if has_header else None
                self._deliver(take, int(sid), words[0], reply, data[body : next_position - 2], head)
            except Exception as error:
                failed = asyncio.ensure_future(self._error_cb(error))
                self._failed.add(failed)
                failed.add_done_callback(self._failed.discard)
            position = next_position
        return position

    def _deliver(
        self, take: TakeMessage, sid: int, subject: bytes, reply: bytes, data: bytes, head: dict[str, str] | None
    ) -> None:
        self.stats["in_msgs"] += 1
        self.stats["in_bytes"] += len(data)
        take(Msg(self, subject.decode(), reply.decode(), data, head, _sid=sid))

    async def _process_pong(self) -> None:
        # nats-py would set the result of an abandoned flush, which ends its read loop: nothing would be received any
        # more.
        pongs: list[asyncio.Future[bool]] = self._pongs  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if pongs and pongs[0].done():
            pongs[0] = asyncio.get_running_loop().create_future()
        await super()._process_pong()

    async def _process_msg(self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: bytes) -> None:
        take = self._listeners.get(sid)
        if take is None:
            await super()._process_msg(sid, subject, reply, data, headers)
            return
        try:
            if headers and headers.startswith(_STATUS_LINE):  # nats-py returns None for the headers of a large message
                head = self._parse_header_lines(headers[len(_STATUS_LINE) :]) or None
            else:
                head = await self._process_headers(headers) if headers else None  # pyright: ignore[reportUnknownMemberType]
            self._deliver(take, sid, subject, reply, data, head)
        except Exception as error:
            # As nats-py does with callbacks' exceptions, so that the read loop continues.
            await self._error_cb(error)

    def _remove_sub(self, sid: int, max_msgs: int = 0) -> None:
        super()._remove_sub(sid, max_msgs)
        if sid not in self._subs:
            self._listeners.pop(sid, None)

    @staticmethod
    def _parse_header_lines(raw: bytes) -> dict[str, str]:
        known = BusClient._known_names
        headers: dict[str, str] = {}
        if raw.isascii():
            for line in raw.decode().split("\r\n"):
                name, colon, value = line.partition(":")
                if colon and name in known:
                    headers[name] = value.strip()
                elif line:
                    break
            else:
                return headers
        headers = Client._parse_header_lines(raw)
        if len(known) < _MAX_NAMES:
            known.update(headers)
        return headers
