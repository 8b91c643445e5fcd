"""Checks that servers are ready, by the first messages of their protocols over a plain socket.

Written by hand so that the supervisor needs no client library and starts fast. Every function raises OSError, EOFError,
TimeoutError or NotServingError if the server does not answer as expected.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import cast

from nexus_cli.stack.ports import HOST

ANSWER_SECONDS = 2.0
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
    """The server runs, but reports that it cannot serve yet."""


async def nats(port: int, login: tuple[str, str] | None = None) -> None:
    """NATS: INFO with JetStream on, then CONNECT and PING, answered by PONG. INFO is enough if the server requires a
    login and none is given."""
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
    """Redis: PING, answered by PONG; the answer is LOADING while it reads its append-only file."""
    async with _connection(port) as (reader, writer):
        writer.write(b"PING\r\n")
        answer = await reader.readline()
        if not answer.startswith(b"+PONG"):
            raise NotServingError(answer.decode(errors="replace").strip())


async def mongodb(port: int) -> None:
    """MongoDB: the command hello, answered by a server that accepts writes."""
    async with _connection(port) as (reader, writer):
        writer.write(_MONGO_HELLO)
        length = int.from_bytes(await reader.readexactly(4), "little")
        answer = await reader.readexactly(min(length, 65_536) - 4)
        if b"\x08isWritablePrimary\x00\x01" not in answer:
            raise NotServingError("it does not take writes yet")


async def service(port: int) -> None:
    """A service: GET /readyz, answered by 200; any other body becomes the reason."""
    await _require_ok(port, "/readyz")


async def alive(port: int) -> None:
    """A service: GET /healthz, answered by 200; any other answer means that only a restart helps."""
    await _require_ok(port, "/healthz")


async def _require_ok(port: int, path: str) -> None:
    async with _connection(port) as (reader, writer):
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {HOST}:{port}\r\nConnection: close\r\n\r\n".encode())
        answer = await reader.read(4096)
        head, _, body = answer.partition(b"\r\n\r\n")
        status = head.split(b" ", 2)[1:2]
        if status != [b"200"]:
            body += await reader.read(4096)
            raise NotServingError(body.decode(errors="replace").strip() or head.decode(errors="replace").strip())


async def metrics(port: int) -> dict[str, float]:
    """The samples of GET /metrics, by name with labels as written there."""
    async with _connection(port) as (reader, writer):
        writer.write(f"GET /metrics HTTP/1.1\r\nHost: {HOST}:{port}\r\nConnection: close\r\n\r\n".encode())
        body = (await reader.read()).partition(b"\r\n\r\n")[2].decode(errors="replace")
    samples = (line.rpartition(" ") for line in body.splitlines() if line and not line.startswith("#"))
    values: dict[str, float] = {}
    for name, _, value in samples:
        with suppress(ValueError):
            values[name] = float(value)
    return values


async def reach(host: str, port: int) -> None:
    """Checks that something listens at an address, by opening and closing a connection."""
    async with asyncio.timeout(5.0):
        _, writer = await asyncio.open_connection(host, port)
        writer.close()


@asynccontextmanager
async def _connection(port: int) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    async with asyncio.timeout(ANSWER_SECONDS):
        reader, writer = await asyncio.open_connection(HOST, port)
        try:
            yield reader, writer
        finally:
            writer.close()
