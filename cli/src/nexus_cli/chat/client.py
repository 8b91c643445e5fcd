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
from nexus_cli.errors import CommandFailedError

Frame = dict[str, Any]
Tell = Callable[[str], None]
"""Called when the connection changes, with `reconnecting` or `reconnected`."""
_CONNECT_SECONDS = 10.0
_RECONNECT_SECONDS = 60.0
_FINAL_CODES = range(4500, 5000)
_END_TYPES = (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSING, aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR)
_MAX_UNACKNOWLEDGED = 100
"""How many messages may wait for their acknowledgement."""


def pause_before(attempt: int, fraction: float) -> float:
    """Seconds before the next attempt to reconnect: at most two, varied by a random `fraction` (0 to 1), so that the
    clients of a gateway that went away do not all return at the same moment."""
    return min(0.2 * 2.0 ** min(attempt, 10), 2.0) * (0.25 + 0.75 * fraction)


class ChatFailedError(CommandFailedError):
    """The gateway is unreachable, refuses, or has closed the socket. The message is one line."""


class ChatConnection:
    """A conversation over the websocket. A lost connection is opened again and continues after the last fact."""

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
        """Opens the socket, sends the hello frame and returns the welcome frame.

        Raises:
            ChatFailedError: no connection, a refusal, or no welcome within 10 s.
        """
        try:
            socket = await asyncio.wait_for(self._http.ws_connect(self._address, heartbeat=25), _CONNECT_SECONDS)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ChatFailedError(f"{self._address} cannot be reached: {error}") from error
        try:
            await socket.send_json(self._hello())
            welcome = await asyncio.wait_for(_welcome(socket), _CONNECT_SECONDS)
        except TimeoutError as error:
            await socket.close()
            raise ChatFailedError(f"{self._address} did not say welcome within {_CONNECT_SECONDS:g} s") from error
        except BaseException:
            await socket.close()
            raise
        self._socket = socket
        self._id = welcome["conversationId"]
        if self._epoch is None:  # after a reconnect the snapshot sets it, which may not arrive
            self._epoch, self._seq = welcome["epoch"], welcome["seq"]
        for message_id, text in self._unacknowledged.items():
            await self._write("message.send", clientMessageId=message_id, text=text, retry=True)
        self._open.set()
        return welcome

    async def close(self) -> None:
        """Closes the socket, if there is one."""
        if self._socket is not None:
            await self._socket.close()

    async def send(self, frame_type: str, **fields: Any) -> None:
        """Sends one frame; while the connection is lost, it waits for the reconnect.

        Raises:
            ChatFailedError: the connection is gone.
        """
        try:
            await asyncio.wait_for(self._open.wait(), _RECONNECT_SECONDS)
            await self._write(frame_type, **fields)
        except (ConnectionError, aiohttp.ClientError, TimeoutError) as error:
            raise ChatFailedError(f"the connection was lost: {error}") from error

    async def say(self, text: str, refused_id: str | None = None) -> str:
        """Sends a message and returns its clientMessageId. Until it is acknowledged, it is sent again after each
        reconnect. `refused_id`: the clientMessageId of a message to repeat that was refused temporarily.

        Raises:
            ChatFailedError: too many messages wait for their acknowledgement.
        """
        if len(self._unacknowledged) >= _MAX_UNACKNOWLEDGED:
            raise ChatFailedError(f"{_MAX_UNACKNOWLEDGED} messages were not acknowledged")
        message_id = refused_id or str(uuid.uuid4())
        self._unacknowledged[message_id] = text
        if self._open.is_set():
            retry = {"retry": True} if refused_id else {}
            with contextlib.suppress(ConnectionError, aiohttp.ClientError):  # it is sent again after the reconnect
                await self._write("message.send", clientMessageId=message_id, text=text, **retry)
        return message_id

    async def frames(self) -> AsyncIterator[Frame]:
        """Yields frames as they arrive, across reconnects.

        Raises:
            ChatFailedError: the gateway has closed the socket for good, or was away for a minute.
        """
        while True:
            socket = self._connected()
            while (message := await socket.receive()).type not in _END_TYPES:
                if message.type is aiohttp.WSMsgType.TEXT:
                    for frame in self._frames_to_show(cast(Frame, json.loads(message.data))):
                        yield frame
            if socket.close_code in _FINAL_CODES:
                raise ChatFailedError(_closed(message, socket))
            self._open.clear()
            self._tell("reconnecting")
            welcome = await self._reconnect()
            self._tell("reconnected")
            yield welcome

    async def _reconnect(self) -> Frame:
        try:
            async with asyncio.timeout(_RECONNECT_SECONDS):
                for attempt in itertools.count():
                    try:
                        return await self.connect()
                    except SessionRefusedError:
                        raise
                    except (ChatFailedError, ConnectionError, aiohttp.ClientError):
                        await asyncio.sleep(pause_before(attempt, random.random()))
        except TimeoutError:
            pass
        raise ChatFailedError(f"the gateway was away for {_RECONNECT_SECONDS:g} s")

    def _frames_to_show(self, frame: Frame) -> list[Frame]:
        """Moves the cursor past a frame and returns the frames to show: of a snapshot, its new messages."""
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
    """The gateway answered with an error or closed the socket for good. Trying again would not help."""


class LimitedError(ChatFailedError):
    """A limit of the gateway refuses the request temporarily."""


async def _welcome(socket: aiohttp.ClientWebSocketResponse) -> Frame:
    while (message := await socket.receive()).type not in _END_TYPES:
        if message.type is not aiohttp.WSMsgType.TEXT:
            continue
        frame = cast(Frame, json.loads(message.data))
        if frame["type"] == "welcome":
            return frame
        if frame["type"] == "error":
            is_limited = frame["code"] == ErrorCode.RATE_LIMITED
            error_type = (
                LimitedError if is_limited else ChatFailedError if frame.get("retryable") else SessionRefusedError
            )
            raise error_type(f"{frame['code']}: {frame['message']}")
    error_type = SessionRefusedError if socket.close_code in _FINAL_CODES else ChatFailedError
    raise error_type(_closed(message, socket))


def _closed(message: aiohttp.WSMessage, socket: aiohttp.ClientWebSocketResponse) -> str:
    """Error text for a closed socket, with the gateway's reason if it gave one."""
    reason = message.type is aiohttp.WSMsgType.CLOSE and message.extra
    return f"the gateway closed the conversation: {reason or f'code {socket.close_code}'}"


async def visitor_token(gateway: str, company: str, locale: str) -> str:
    """Gets a token for a new visitor (POST /v2/visitors).

    Raises:
        LimitedError, SessionRefusedError: the gateway refuses.
        ChatFailedError: the gateway does not answer.
    """
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_CONNECT_SECONDS)) as http,
            http.post(f"{gateway}/v2/visitors", json={"companyId": company, "locale": locale}) as response,
        ):
            body = cast(Frame, await response.json(content_type=None))
            if response.status != 201:
                error_type = LimitedError if response.status == 429 else SessionRefusedError
                raise (error_type if response.status < 500 else ChatFailedError)(
                    str(body.get("detail") or body.get("title") or f"refused with {response.status}")
                )
            return str(body["token"])
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        raise ChatFailedError(f"{gateway} does not answer like a gateway: {error}") from error


@asynccontextmanager
async def conversation(
    gateway: str, token: str, locale: str, tell: Tell = lambda _: None, page: Frame | None = None
) -> AsyncGenerator[tuple[ChatConnection, Frame]]:
    """Opens a conversation; yields it with its welcome frame. `page`: the page of the company's site, {url, title?}.

    Raises:
        ChatFailedError: no connection, or no welcome within 10 s.
    """
    address = gateway.rstrip("/").replace("http", "ws", 1) + "/v2/chat/ws"
    async with aiohttp.ClientSession() as http:
        connection = ChatConnection(http, address, token, locale, tell, page)
        try:
            yield connection, await connection.connect()
        finally:
            await connection.close()
