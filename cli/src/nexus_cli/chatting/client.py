"""One conversation over the gateway's websocket (interfaces.md, "Websocket /v2/chat/ws")."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import aiohttp

Frame = dict[str, Any]
_CONNECT_WITHIN = 10.0


class ChatFailed(Exception):  # noqa: N818 - reads as an event
    """The gateway is out of reach, refuses, or has closed the socket; one line that says so."""


class Conversation:
    """An open conversation: frames in, frames out."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket

    async def send(self, frame_type: str, **fields: Any) -> None:
        """Sends one frame."""
        try:
            await self._socket.send_str(json.dumps({"v": 1, "type": frame_type, **fields}))
        except (ConnectionError, aiohttp.ClientError) as error:
            raise ChatFailed(f"the connection is gone: {error}") from error

    async def say(self, text: str) -> str:
        """Sends a message; returns its clientMessageId."""
        identity = str(uuid.uuid4())
        await self.send("message.send", clientMessageId=identity, text=text)
        return identity

    async def frames(self) -> AsyncIterator[Frame]:
        """Frames as they come.

        Raises:
            ChatFailed: the gateway has closed the socket.
        """
        async for message in self._socket:
            if message.type is aiohttp.WSMsgType.TEXT:
                yield cast(Frame, json.loads(message.data))
        raise ChatFailed(f"the gateway closed the conversation (code {self._socket.close_code})")


async def visitor_token(gateway: str, company: str, locale: str) -> str:
    """A new visitor's token (POST /v2/visitors).

    Raises:
        ChatFailed: no answer, or a refusal.
    """
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_CONNECT_WITHIN)) as http,
            http.post(f"{gateway}/v2/visitors", json={"companyId": company, "locale": locale}) as answer,
        ):
            body = cast(Frame, await answer.json(content_type=None))
            if answer.status != 201:
                raise ChatFailed(str(body.get("detail") or body.get("title") or f"refused with {answer.status}"))
            return str(body["token"])
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        raise ChatFailed(f"{gateway} does not answer as a gateway: {error}") from error


@asynccontextmanager
async def conversation(gateway: str, token: str, locale: str) -> AsyncGenerator[Conversation]:
    """A conversation that has been welcomed.

    Raises:
        ChatFailed: no connection, or no welcome within 10 s.
    """
    address = gateway.rstrip("/").replace("http", "ws", 1) + "/v2/chat/ws"
    async with aiohttp.ClientSession() as http:
        try:
            socket = await asyncio.wait_for(http.ws_connect(address, heartbeat=25), _CONNECT_WITHIN)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ChatFailed(f"{address} is out of reach: {error}") from error
        try:
            open_one = Conversation(socket)
            await open_one.send("hello", token=token, locale=locale)
            await asyncio.wait_for(_welcomed(open_one), _CONNECT_WITHIN)
            yield open_one
        except TimeoutError as error:
            raise ChatFailed(f"{address} did not say welcome within {_CONNECT_WITHIN:g} s") from error
        finally:
            await socket.close()


async def _welcomed(open_one: Conversation) -> None:
    async for frame in open_one.frames():
        if frame["type"] == "welcome":
            return
        if frame["type"] == "error":
            raise ChatFailed(f"{frame['code']}: {frame['message']}")
