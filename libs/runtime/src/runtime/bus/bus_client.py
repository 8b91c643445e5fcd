"""nats-py's client, with shortcuts for the common kinds of messages.

nats-py makes a future and wakes a task for every publish, parses each header character by character, and passes every
message to the task of its subscription. The shortcuts here cost less than half of that. Each handles only simple
cases; everything else, above all malformed input, goes to nats-py's own code.
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

_MOST_NAMES = 256
_NAME = re.compile("[A-Za-z0-9-]+")
_STATUS_LINE = b"NATS/1.0\r\n"
_MUCH = 4 * 1024 * 1024
"""Bytes queued for writing beyond which publishing is left to nats-py, which blocks at 8 MiB."""
_FULL = 1024 * 1024
"""Bytes queued in the socket beyond which writing is left to nats-py's flusher, which waits for room."""

Take = Callable[[Msg], None]


class BusClient(Client):
    """The client of every service. `listen` gives a subscription a function that is called at once."""

    _known_names: ClassVar[set[str]] = set()
    _sent_names: ClassVar[set[str]] = set()

    def __init__(self) -> None:
        super().__init__()
        self._takers: dict[int, Take] = {}
        self._writing = False
        self._failed: set[asyncio.Future[None]] = set()
        self.on_reconnect: list[Callable[[], None]] = []
        """Called first after each reconnect, for code whose requests the server has lost; must be quick."""

    def listen(self, subscription: int, take: Take) -> None:
        """Calls `take` with each message of this subscription as it is read, without a queue.

        `take` must be quick. Nothing waits, so no bound is needed and nothing is dropped.
        """
        self._takers[subscription] = take

    # ------------------------------------------------------------------ out

    async def publish(
        self, subject: str, payload: bytes = b"", reply: str = "", headers: dict[str, str] | None = None
    ) -> None:
        if not self.publish_now(subject, payload, reply, headers):
            await super().publish(subject, payload, reply, headers)

    def publish_now(
        self, subject: str, payload: bytes = b"", reply: str = "", headers: dict[str, str] | None = None
    ) -> bool:
        """Publishes a simple message without waiting; False: it was not sent, and must be published normally."""
        head = b"" if headers is None else self._header_lines(headers)
        size, names = len(payload), f"{subject} {reply}"
        if (
            self._status != Client.CONNECTED
            or head is None
            or size > self._max_payload
            or self._pending_data_size > _MUCH
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
        """Writes at once what was published since the event loop's last iteration."""
        self._writing = False
        transport = self._transport
        if not self._pending or self._status != Client.CONNECTED or not isinstance(transport, TcpTransport):
            return  # nats-py sends it after the reconnect
        writer = transport._io_writer
        if writer is None:
            return
        if writer.transport.get_write_buffer_size() > _FULL:
            queue = self._flush_queue
            if queue is not None and queue.empty():
                queue.put_nowait(asyncio.get_running_loop().create_future())
            return
        pending, self._pending, self._pending_data_size = self._pending, [], 0
        writer.write(pending[0] if len(pending) == 1 else b"".join(pending))

    def _header_lines(self, headers: dict[str, str]) -> bytes | None:
        """The header block; None if something in it must be left to nats-py."""
        if not (headers.keys() <= self._sent_names or all(map(self._may_send, headers))):
            return None
        block = "\r\n".join(["NATS/1.0", *[f"{name}: {value.strip()}" for name, value in headers.items()]])
        if block.count("\r") != len(headers) or block.count("\n") != len(headers):
            return None  # a value has a line end of its own
        return f"{block}\r\n\r\n".encode()

    def _may_send(self, name: str) -> bool:
        if name not in self._sent_names and len(self._sent_names) < _MOST_NAMES and _NAME.fullmatch(name):
            self._sent_names.add(name)
        return name in self._sent_names

    # ------------------------------------------------------------------ in

    async def _process_connect_init(self) -> None:
        await super()._process_connect_init()
        # nats-py's reader does not know that TLS is below it: asyncio would log a warning when the connection ends.
        writer = getattr(self._transport, "_io_writer", None)
        if writer is not None:
            writer._protocol._over_ssl = writer.get_extra_info("sslcontext") is not None
        self.read_directly(getattr(self._transport, "_io_reader", None))

    def read_directly(self, reader: Any) -> None:
        """Passes whole messages on as the reader gets them, without waking nats-py's read loop; None: no reader."""
        if reader is not None:
            reader.feed_data = partial(self._fed, reader, reader.feed_data)

    def _fed(self, reader: Any, leave: Callable[[bytes], None], data: bytes) -> None:
        """Leaves to nats-py what is no simple message, and all that follows until its loop waits with nothing begun."""
        waiter, parser = reader._waiter, self._ps
        waits = waiter is not None and not waiter.done() and not reader._buffer
        if waits and not parser.buf and parser.state == AWAITING_CONTROL_LINE and type(data) is bytes:
            data = data[self._hear(data) :]
        if data:
            leave(data)

    def _hear(self, data: bytes) -> int:
        """Passes on the simple messages for listeners that these bytes begin with; returns where they end."""
        at = 0
        while (end := data.find(b"\r\n", at)) > 0:
            kind, *words = data[at:end].split(b" ")  # (H)MSG subject sid [reply] [header's bytes] bytes
            headed, begin = kind == b"HMSG", end + 2
            if not (headed or kind == b"MSG") or len(words) - headed not in (3, 4):
                break
            sid, *sizes = words[1], *words[-1 - headed :]
            if not all(map(bytes.isdigit, (sid, *sizes))):
                break
            take, size = self._takers.get(int(sid)), int(sizes[-1])
            body = begin + (int(sizes[0]) if headed else 0)
            after = begin + size + 2
            if take is None or body > after - 2 or after > len(data):
                break
            if headed and not data.startswith(_STATUS_LINE, begin):
                break
            reply = words[2] if len(words) - headed == 4 else b""
            try:
                head = self._parse_header_lines(data[begin + len(_STATUS_LINE) : body]) or None if headed else None
                self._tell(take, int(sid), words[0], reply, data[body : after - 2], head)
            except Exception as error:
                failed = asyncio.ensure_future(self._error_cb(error))
                self._failed.add(failed)
                failed.add_done_callback(self._failed.discard)
            at = after
        return at

    def _tell(
        self, take: Take, sid: int, subject: bytes, reply: bytes, data: bytes, head: dict[str, str] | None
    ) -> None:
        self.stats["in_msgs"] += 1
        self.stats["in_bytes"] += len(data)
        take(Msg(self, subject.decode(), reply.decode(), data, head, _sid=sid))

    async def _process_pong(self) -> None:
        # nats-py sets the result of a flush that was given up, which ends its read loop: nothing is heard any more.
        pongs: list[asyncio.Future[bool]] = self._pongs  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if pongs and pongs[0].done():
            pongs[0] = asyncio.get_running_loop().create_future()
        await super()._process_pong()

    async def _process_msg(self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: bytes) -> None:
        take = self._takers.get(sid)
        if take is None:
            await super()._process_msg(sid, subject, reply, data, headers)
            return
        try:
            if headers and headers.startswith(_STATUS_LINE):  # of a large message nats-py tells None
                head = self._parse_header_lines(headers[len(_STATUS_LINE) :]) or None
            else:
                head = await self._process_headers(headers) if headers else None  # pyright: ignore[reportUnknownMemberType]
            self._tell(take, sid, subject, reply, data, head)
        except Exception as error:
            # As nats-py does with what callbacks raise: the read loop goes on.
            await self._error_cb(error)

    def _remove_sub(self, sid: int, max_msgs: int = 0) -> None:
        super()._remove_sub(sid, max_msgs)
        if sid not in self._subs:
            self._takers.pop(sid, None)

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
        if len(known) < _MOST_NAMES:
            known.update(headers)
        return headers
