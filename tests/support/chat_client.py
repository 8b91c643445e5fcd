"""A client of `/v2/chat/ws` that keeps every frame and waits for frames with a deadline."""

import asyncio
import json
import uuid
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

import aiohttp

Frame = dict[str, Any]
DEADLINE = 60.0
"""Seconds to wait for a frame, unless a test gives another value."""
FINAL_ROLES = frozenset({"assistant", "system"})


class ConnectionEndedError(AssertionError):
    """The socket was closed while a frame was waited for; `code` is the close code."""

    def __init__(self, code: int | None, wanted: str) -> None:
        super().__init__(f"the socket was closed with {code} while waiting for {wanted}")
        self.code = code


class ChatClient:
    """One websocket. Frames are read in the background; `frames` holds all of them, in order."""

    def __init__(self, base_url: str, token: str) -> None:
        self._url = base_url.rstrip("/").replace("http", "ws", 1) + "/v2/chat/ws"
        self._token = token
        self._http = aiohttp.ClientSession()
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._reader: asyncio.Task[None] | None = None
        self._news = asyncio.Condition()
        self.frames: list[Frame] = []
        self.conversation: str | None = None
        self.epoch: str | None = None
        self.seq = 0
        self.close_code: int | None = None

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.cut()
        await self._http.close()

    async def connect(self) -> None:
        """Opens the socket and sends nothing."""
        self.close_code = None
        self._socket = await self._http.ws_connect(self._url, max_msg_size=0, autoclose=True)
        self._reader = asyncio.create_task(self._read(self._socket))

    async def hello(self, **fields: Any) -> Frame:
        """Sends hello and returns the welcome; stores the conversation and the epoch for `resume`."""
        first_new = len(self.frames)
        await self.send_frame("hello", token=self._token, **fields)
        welcome = await self.wait_for("welcome", after=first_new)
        self.conversation = welcome.get("conversationId")
        self.epoch = welcome["epoch"]
        return welcome

    async def resume(self, **fields: Any) -> Frame:
        """Connects again and sends hello with the last sequence seen."""
        await self.connect()
        since = {"epoch": self.epoch, "seq": self.seq}
        return await self.hello(conversationId=self.conversation, since=since, **fields)

    async def cut(self) -> None:
        """Cuts the connection without a closing handshake."""
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
        if self._socket is not None:
            response = self._socket._response  # pyright: ignore[reportPrivateUsage]
            response.close()
        self._socket = self._reader = None

    async def send_frame(self, type_: str, **fields: Any) -> None:
        """Sends one frame of the protocol."""
        await self.send_raw(json.dumps({"v": 1, "type": type_, **fields}))

    async def send_raw(self, text: str | bytes) -> None:
        """Sends a text or a binary frame as it is."""
        assert self._socket is not None
        if isinstance(text, bytes):
            await self._socket.send_bytes(text)
        else:
            await self._socket.send_str(text)

    async def say(self, text: str, client_message_id: str | None = None, **fields: Any) -> Frame:
        """Sends a message and returns its ack."""
        message_id = client_message_id or str(uuid.uuid4())
        first_new = len(self.frames)
        await self.send_frame("message.send", clientMessageId=message_id, text=text, **fields)
        return await self.wait_for("message.ack", lambda frame: frame["clientMessageId"] == message_id, after=first_new)

    async def ask(self, text: str, deadline: float = DEADLINE) -> Frame:
        """Sends a message and returns the final message that answers it."""
        ack = await self.say(text)
        return await self.answer_after(ack["seq"], deadline)

    async def answer_after(self, seq: int, deadline: float = DEADLINE) -> Frame:
        """The first assistant or system message in the log after `seq`."""
        frame = await self.wait_for(
            "message.created",
            lambda created: created["message"]["seq"] > seq and created["message"]["role"] in FINAL_ROLES,
            deadline=deadline,
        )
        return frame["message"]

    async def wait_for(
        self,
        type_: str,
        accept: Callable[[Frame], bool] = lambda _: True,
        *,
        after: int = 0,
        deadline: float = DEADLINE,
    ) -> Frame:
        """The first frame of the type ("": of any), from number `after` on, that is accepted; fails after `deadline`
        seconds."""

        def first_accepted() -> Frame | None:
            return next(
                (
                    candidate
                    for candidate in self.frames[after:]
                    if type_ in ("", candidate["type"]) and accept(candidate)
                ),
                None,
            )

        try:
            async with asyncio.timeout(deadline), self._news:
                while (frame := first_accepted()) is None:
                    if self.close_code is not None:
                        raise ConnectionEndedError(self.close_code, type_)
                    await self._news.wait()
                return frame
        except TimeoutError:
            seen = [candidate["type"] for candidate in self.frames[after:]]
            raise AssertionError(f"no {type_} within {deadline} s; since then: {seen[-30:]}") from None

    async def wait_closed(self, deadline: float = DEADLINE) -> int | None:
        """The code with which the server closed the socket."""
        async with asyncio.timeout(deadline), self._news:
            await self._news.wait_for(lambda: self.close_code is not None)
        return self.close_code

    def of_type(self, type_: str) -> list[Frame]:
        """All frames of one type so far."""
        return [frame for frame in self.frames if frame["type"] == type_]

    def messages(self, role: str | None = None) -> list[Mapping[str, Any]]:
        """Returns the messages of all message.created frames so far, repeated ones too."""
        created = [frame["message"] for frame in self.of_type("message.created")]
        return [message for message in created if role is None or message["role"] == role]

    async def _read(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        async for message in socket:
            if message.type is not aiohttp.WSMsgType.TEXT:
                continue
            frame: Frame = json.loads(message.data)
            async with self._news:
                self.frames.append(frame)
                if frame["type"] in {"message.created", "owner.changed"}:
                    seq = frame["message"]["seq"] if "message" in frame else frame["seq"]
                    self.seq = max(self.seq, seq)
                elif frame["type"] == "snapshot":
                    self.seq = max(self.seq, frame["seq"])
                self._news.notify_all()
        async with self._news:
            self.close_code = socket.close_code or 1006
            self._news.notify_all()
