"""One conversation over the gateway's websocket (interfaces.md, "Websocket /v2/chat/ws")."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import random
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import aiohttp

from contracts.errors import ErrorCode

Frame = dict[str, Any]
Tell = Callable[[str], None]
"""Told what happens to the connection: `reconnecting`, `reconnected`."""
_CONNECT_WITHIN = 10.0
_RECONNECT_WITHIN = 60.0
_FINAL_CODES = range(4500, 5000)
_ENDS = (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSING, aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR)
_UNANSWERED = 100
"""Messages that may wait for their acknowledgement."""


def pause_before(attempt: int, lot: float) -> float:
    """Seconds before a lost connection is tried again: within two, and drawn by `lot` (0 to 1), so that not all clients
    of a gateway that went away come back in the same moment."""
    return min(0.2 * 2.0 ** min(attempt, 10), 2.0) * (0.25 + 0.75 * lot)


class ChatFailedError(Exception):
    """The gateway is unreachable, refuses, or has closed the socket; the message is one line about it."""


class ChatConnection:
    """An open conversation: frames in, frames out. A lost connection is opened again and continues after the last
    fact."""

    def __init__(
        self,
        http: aiohttp.ClientSession,
        address: str,
        token: str,
        locale: str,
        tell: Tell,
        page: Frame | None = None,
    ) -> None:
        self._http = http
        self._address = address
        self._token = token
        self._locale = locale
        self._tell = tell
        self._page = page
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._open = asyncio.Event()
        self._id: str | None = None
        self._epoch: str | None = None
        self._seq = 0
        self._unacknowledged: dict[str, str] = {}

    async def connect(self) -> Frame:
        """Opens the socket and says hello; returns the welcome.

        Raises:
            ChatFailedError: no connection, a refusal, or no welcome within 10 s.
        """
        try:
            socket = await asyncio.wait_for(self._http.ws_connect(self._address, heartbeat=25), _CONNECT_WITHIN)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ChatFailedError(f"{self._address} cannot be reached: {error}") from error
        try:
            await socket.send_json(self._hello())
            welcome = await asyncio.wait_for(_welcome(socket), _CONNECT_WITHIN)
        except TimeoutError as error:
            await socket.close()
            raise ChatFailedError(f"{self._address} did not say welcome within {_CONNECT_WITHIN:g} s") from error
        except BaseException:
            await socket.close()
            raise
        self._socket = socket
        self._id = welcome["conversationId"]
        if self._epoch is None:  # later its snapshot says it, which may not arrive
            self._epoch, self._seq = welcome["epoch"], welcome["seq"]
        for identity, text in self._unacknowledged.items():
            await self._write("message.send", clientMessageId=identity, text=text, retry=True)
        self._open.set()
        return welcome

    async def close(self) -> None:
        """Closes the socket, if there is one."""
        if self._socket is not None:
            await self._socket.close()

    async def send(self, frame_type: str, **fields: Any) -> None:
        """Sends one frame; while the connection is made again, after that.

        Raises:
            ChatFailedError: the connection is gone.
        """
        try:
            await asyncio.wait_for(self._open.wait(), _RECONNECT_WITHIN)
            await self._write(frame_type, **fields)
        except (ConnectionError, aiohttp.ClientError, TimeoutError) as error:
            raise ChatFailedError(f"the connection was lost: {error}") from error

    async def say(self, text: str, again: str | None = None) -> str:
        """Sends a message; returns its clientMessageId. One that was not acknowledged is sent again after a reconnect.
        `again`: the clientMessageId of one that was refused for the moment.

        Raises:
            ChatFailedError: too many messages wait for their acknowledgement.
        """
        if len(self._unacknowledged) >= _UNANSWERED:
            raise ChatFailedError(f"{_UNANSWERED} messages were not acknowledged")
        identity = again or str(uuid.uuid4())
        self._unacknowledged[identity] = text
        if self._open.is_set():
            retry = {"retry": True} if again else {}
            with contextlib.suppress(ConnectionError, aiohttp.ClientError):  # it is sent again after the reconnect
                await self._write("message.send", clientMessageId=identity, text=text, **retry)
        return identity

    async def frames(self) -> AsyncIterator[Frame]:
        """Frames as they come, over every reconnect.

        Raises:
            ChatFailedError: the gateway has closed the socket for good, or was away for a minute.
        """
        while True:
            socket = self._connected()
            while (message := await socket.receive()).type not in _ENDS:
                if message.type is aiohttp.WSMsgType.TEXT:
                    for frame in self._seen(cast(Frame, json.loads(message.data))):
                        yield frame
            if socket.close_code in _FINAL_CODES:
                raise ChatFailedError(_closed(message, socket))
            self._open.clear()
            self._tell("reconnecting")
            welcome = await self._again()
            self._tell("reconnected")
            yield welcome

    async def _again(self) -> Frame:
        try:
            async with asyncio.timeout(_RECONNECT_WITHIN):
                for attempt in itertools.count():
                    try:
                        return await self.connect()
                    except SessionRefusedError:
                        raise
                    except (ChatFailedError, ConnectionError, aiohttp.ClientError):
                        await asyncio.sleep(pause_before(attempt, random.random()))
        except TimeoutError:
            pass
        raise ChatFailedError(f"the gateway was away for {_RECONNECT_WITHIN:g} s")

    def _seen(self, frame: Frame) -> list[Frame]:
        """Returns the frames with what was not shown before, and moves the cursor."""
        match frame["type"]:
            case "message.ack":
                self._unacknowledged.pop(frame["clientMessageId"], None)
            case "error" if frame.get("ref") in self._unacknowledged:
                self._unacknowledged.pop(frame["ref"])
            case "snapshot":
                missed = [message for message in frame["messages"] if message["seq"] > self._seq]
                self._epoch, self._seq = frame["epoch"], frame["seq"]
                return [{"type": "message.created", "message": message} for message in missed]
            case "message.created":
                self._seq = max(self._seq, frame["message"]["seq"])
            case "owner.changed" | "run.cancelled":
                self._seq = max(self._seq, frame.get("seq", 0))
            case _:
                pass
        return [frame]

    def _hello(self) -> Frame:
        hello: Frame = {"v": 1, "type": "hello", "token": self._token, "locale": self._locale}
        if self._page is not None:
            hello["page"] = self._page
        if self._id is not None:
            hello |= {"conversationId": self._id, "since": {"epoch": self._epoch, "seq": self._seq}}
        return hello

    async def _write(self, frame_type: str, **fields: Any) -> None:
        await self._connected().send_str(json.dumps({"v": 1, "type": frame_type, **fields}))

    def _connected(self) -> aiohttp.ClientWebSocketResponse:
        if self._socket is None:
            raise ChatFailedError("connect first")
        return self._socket


class SessionRefusedError(ChatFailedError):
    """The gateway answered with an error, or closed the socket for good; trying again would not help."""


class LimitedError(ChatFailedError):
    """A limit of the gateway's refuses it for the moment."""


async def _welcome(socket: aiohttp.ClientWebSocketResponse) -> Frame:
    while (message := await socket.receive()).type not in _ENDS:
        if message.type is not aiohttp.WSMsgType.TEXT:
            continue
        frame = cast(Frame, json.loads(message.data))
        if frame["type"] == "welcome":
            return frame
        if frame["type"] == "error":
            limited = frame["code"] == ErrorCode.RATE_LIMITED
            failed = LimitedError if limited else ChatFailedError if frame.get("retryable") else SessionRefusedError
            raise failed(f"{frame['code']}: {frame['message']}")
    failed = SessionRefusedError if socket.close_code in _FINAL_CODES else ChatFailedError
    raise failed(_closed(message, socket))


def _closed(message: aiohttp.WSMessage, socket: aiohttp.ClientWebSocketResponse) -> str:
    """That the socket is closed, with the gateway's reason if it gave one."""
    said = message.type is aiohttp.WSMsgType.CLOSE and message.extra
    return f"the gateway closed the conversation: {said or f'code {socket.close_code}'}"


async def visitor_token(gateway: str, company: str, locale: str) -> str:
    """A new visitor's token (POST /v2/visitors).

    Raises:
        LimitedError, SessionRefusedError: a refusal.
        ChatFailedError: no answer.
    """
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_CONNECT_WITHIN)) as http,
            http.post(f"{gateway}/v2/visitors", json={"companyId": company, "locale": locale}) as answer,
        ):
            body = cast(Frame, await answer.json(content_type=None))
            if answer.status != 201:
                failed = LimitedError if answer.status == 429 else SessionRefusedError
                raise (failed if answer.status < 500 else ChatFailedError)(
                    str(body.get("detail") or body.get("title") or f"refused with {answer.status}")
                )
            return str(body["token"])
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        raise ChatFailedError(f"{gateway} does not answer like a gateway: {error}") from error


@asynccontextmanager
async def conversation(
    gateway: str, token: str, locale: str, tell: Tell = lambda _: None, page: Frame | None = None
) -> AsyncGenerator[tuple[ChatConnection, Frame]]:
    """A conversation and its welcome. `page`: where on the company's site it is held, {url, title?}.

    Raises:
        ChatFailedError: no connection, or no welcome within 10 s.
    """
    address = gateway.rstrip("/").replace("http", "ws", 1) + "/v2/chat/ws"
    async with aiohttp.ClientSession() as http:
        open_one = ChatConnection(http, address, token, locale, tell, page)
        try:
            yield open_one, await open_one.connect()
        finally:
            await open_one.close()
