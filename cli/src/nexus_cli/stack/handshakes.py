"""The first words of each protocol, spoken over a plain socket: a server is ready when it answers them itself.

Written by hand so that the supervisor needs no client library and starts at once. Every function raises OSError,
EOFError, TimeoutError or NotServingError when the server does not answer as it should.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import cast

from nexus_cli.stack.ports import HOST

ANSWER_WITHIN = 2.0
# OP_MSG (2013) with {hello: 1, $db: "admin"} in BSON; the header is length, request id, response to, opcode.
_HELLO = b"\x10hello\x00\x01\x00\x00\x00\x02$db\x00\x06\x00\x00\x00admin\x00\x00"
_MONGO_HELLO = (
    (len(_HELLO) + 4 + 21).to_bytes(4, "little")
    + (1).to_bytes(4, "little")
    + bytes(4)
    + (2013).to_bytes(4, "little")
    + bytes(5)
    + (len(_HELLO) + 4).to_bytes(4, "little")
    + _HELLO
)


class NotServingError(Exception):
    """The server is there, but says that it cannot serve yet."""


async def nats(port: int, login: tuple[str, str] | None = None) -> None:
    """INFO with JetStream on, then CONNECT and PING, answered by PONG. Without a `login` INFO is enough where the
    server wants one."""
    async with _connection(port) as (reader, writer):
        info = cast(dict[str, object], json.loads((await reader.readline()).removeprefix(b"INFO ") or b"{}"))
        if not info.get("jetstream"):
            raise NotServingError("JetStream is not on")
        if login is None and info.get("auth_required"):
            return
        options: dict[str, object] = {"verbose": False, "pedantic": False}
        if login is not None:
            options |= {"user": login[0], "pass": login[1]}
        writer.write(f"CONNECT {json.dumps(options)}\r\nPING\r\n".encode())
        answer = await reader.readline()
        if not answer.startswith(b"PONG"):
            raise NotServingError(answer.decode(errors="replace").strip())


async def redis(port: int) -> None:
    """PING, answered by PONG (it says LOADING while it reads its append-only file)."""
    async with _connection(port) as (reader, writer):
        writer.write(b"PING\r\n")
        answer = await reader.readline()
        if not answer.startswith(b"+PONG"):
            raise NotServingError(answer.decode(errors="replace").strip())


async def mongodb(port: int) -> None:
    """The command hello, answered by a server that takes writes."""
    async with _connection(port) as (reader, writer):
        writer.write(_MONGO_HELLO)
        length = int.from_bytes(await reader.readexactly(4), "little")
        answer = await reader.readexactly(min(length, 65_536) - 4)
        if b"\x08isWritablePrimary\x00\x01" not in answer:
            raise NotServingError("it does not take writes yet")


async def service(port: int) -> None:
    """GET /readyz, answered by 200; what else it says becomes the reason."""
    await _says_yes(port, "/readyz")


async def alive(port: int) -> None:
    """GET /healthz, answered by 200; anything else means that only a restart helps."""
    await _says_yes(port, "/healthz")


async def _says_yes(port: int, path: str) -> None:
    async with _connection(port) as (reader, writer):
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {HOST}:{port}\r\nConnection: close\r\n\r\n".encode())
        answer = await reader.read(4096)
        head, _, body = answer.partition(b"\r\n\r\n")
        status = head.split(b" ", 2)[1:2]
        if status != [b"200"]:
            body += await reader.read(4096)
            raise NotServingError(body.decode(errors="replace").strip() or head.decode(errors="replace").strip())


async def metrics(port: int) -> dict[str, float]:
    """GET /metrics: each sample by its name and labels, as written there."""
    async with _connection(port) as (reader, writer):
        writer.write(f"GET /metrics HTTP/1.1\r\nHost: {HOST}:{port}\r\nConnection: close\r\n\r\n".encode())
        body = (await reader.read()).partition(b"\r\n\r\n")[2].decode(errors="replace")
    samples = (line.rpartition(" ") for line in body.splitlines() if line and not line.startswith("#"))
    found: dict[str, float] = {}
    for name, _, value in samples:
        with suppress(ValueError):
            found[name] = float(value)
    return found


async def reach(host: str, port: int) -> None:
    """Opens a connection and closes it, which shows that something listens there."""
    async with asyncio.timeout(5.0):
        _, writer = await asyncio.open_connection(host, port)
        writer.close()


@asynccontextmanager
async def _connection(port: int) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    async with asyncio.timeout(ANSWER_WITHIN):
        reader, writer = await asyncio.open_connection(HOST, port)
        try:
            yield reader, writer
        finally:
            writer.close()
