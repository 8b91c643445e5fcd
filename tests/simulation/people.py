"""People with simulated websockets, served by the gateway's real sessions.

A client does what the widget does: it repeats what was not acknowledged, sends hello again with the last fact it has,
and records what it gets, so that it can be compared with the log at the end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context
from random import Random
from typing import Any
from uuid import UUID

import orjson

from contracts.channels import parse_chat
from contracts.identity_rpc import KnownUser
from gateway.app import Gateway
from gateway.chat.session import ClientSession
from gateway.domain.close_codes import CloseCode
from gateway.errors import TokenInvalidError
from gateway.ports import TokenCaller, Visit, VisitorToken
from tests.simulation.network import Network
from tests.simulation.streams import SimulatedStream

COMPANY = "demo"
Frame = dict[str, Any]
RESEND = 6.0
"""Seconds without an acknowledgement after which a message is sent again."""
Door = Callable[[], "tuple[Gateway, Context] | None"]
"""Returns a gateway that accepts connections now, and the context of its process."""


class SimulatedTokens:
    """Tokens of the form "role/subject"."""

    async def verify(self, token: str) -> TokenCaller:
        """Returns the caller that the token names."""
        role, _, subject = token.partition("/")
        if not subject:
            raise TokenInvalidError("not a token")
        return TokenCaller(subject, role, COMPANY, "free", 4e9, None)

    verify_for_renewal = verify

    def visitor(self, company: str, subject: str, visit: Visit) -> VisitorToken:
        """Returns a token that `verify` accepts; simulations do not ask for one."""
        del company, visit
        return VisitorToken(f"visitor/{subject}", subject, 4e9)

    def known_user(self, company: str, user: KnownUser, visit: Visit) -> VisitorToken:
        """Returns a token that `verify` accepts; simulations do not ask for one."""
        del company, visit
        return VisitorToken(f"user/{user.user_id}", user.user_id, user.expires_at.timestamp())


class SimulatedSocket:
    """One websocket: frames arrive in order after the network's latency, unless it is closed before."""

    def __init__(self, client: SocketClient, gateway: Gateway, context: Context) -> None:
        self._client = client
        self._loop = asyncio.get_running_loop()
        self._network = client.network
        self.gateway = gateway
        self._context = context
        self._outside = client.context
        self._frames: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._up_at = self._down_at = 0.0
        self.open = True
        self._task = self._loop.create_task(self._serve(), context=context)

    async def _serve(self) -> None:
        """Does the endpoint's work in the gateway's process."""
        session = ClientSession(self.gateway.chat, self, "203.0.113.7")
        try:
            while (frame := await self._frames.get()) is not None:
                await session.receive(frame)
        finally:
            await session.close()

    # ------------------------------------------------------------ the client's end

    def send(self, frame: Frame) -> None:
        """Sends a frame to the gateway."""
        if self.open:
            self._up_at = max(self._up_at, self._loop.time() + self._network.latency())
            data = orjson.dumps({"v": 1, **frame})
            self._loop.call_at(self._up_at, self._frames.put_nowait, data, context=self._context)

    def leave(self) -> None:
        """The client closes the socket; frames under way still arrive."""
        if self.open:
            self.open = False
            self._loop.call_at(
                max(self._up_at, self._loop.time()), self._frames.put_nowait, None, context=self._context
            )

    def lose(self) -> None:
        """The gateway's process has died: closes the socket for the client."""
        self._close()

    # ------------------------------------------------------------ gateway.ports.Socket

    def push(self, frame: bytes) -> None:
        """Sends a frame to the client."""
        if self.open:
            self._down_at = max(self._down_at, self._loop.time() + self._network.latency())
            self._loop.call_at(self._down_at, self._client.heard, self, frame, context=self._outside)

    def terminate(self, code: CloseCode) -> None:
        """The gateway closes the socket."""
        del code
        if self.open:
            self._frames.put_nowait(None)
            at = max(self._down_at, self._loop.time() + self._network.latency())
            self._loop.call_at(at, self._close, context=self._outside)

    async def drained(self) -> None:
        """Returns at once: the buffer is never full."""

    def _close(self) -> None:
        if self.open:
            self.open = False
            self._client.lost(self)


class SocketClient:
    """A person's client. `told`: the sequences of durable facts it got, in order; `covered`: the last one in a
    snapshot."""

    def __init__(self, name: str, token: str, network: Network, door: Door, random: Random, context: Context) -> None:
        self.name = name
        self.network = network
        self.context = context
        self.conversation: str | None = None
        self.told: list[int] = []
        self.covered = 0
        self.acknowledged: dict[str, int] = {}
        self.texts: dict[str, str] = {}
        self.faults: list[str] = []
        self.running: str | None = None
        self.owner = ""
        self._token = token
        self._door = door
        self._random = random
        self._socket: SimulatedSocket | None = None
        self._epoch = ""
        self._welcome = asyncio.Event()
        self._unacknowledged: dict[str, int] = {}
        self._wanted: list[Frame] = []

    @property
    def cursor(self) -> int:
        """Returns the sequence of the last durable fact it has."""
        return max(self.covered, self.told[-1] if self.told else 0)

    @property
    def waiting(self) -> bool:
        """Returns whether a message it sent is not acknowledged."""
        return bool(self._unacknowledged)

    def behind(self, stream: SimulatedStream) -> list[int]:
        """Returns the sequences of its conversation that it has not got."""
        tree = f"chat.{COMPANY}.{self.conversation}."
        told = set(self.told)
        return [
            stored.seq
            for stored in stream.log
            if stored.seq > self.covered
            and stored.seq not in told
            and stored.subject.startswith(tree)
            and parse_chat(stored.subject) is not None
        ]

    def owner_in(self, stream: SimulatedStream) -> str:
        """Returns who owns its conversation according to the log."""
        stored = stream.last.get(f"chat.{COMPANY}.{self.conversation}.owner.changed.v1")
        return "ai" if stored is None else str(orjson.loads(stored.data)["data"]["owner"]["kind"])

    # ------------------------------------------------------------ what people do

    def say(self, text: str) -> None:
        """Sends a message, repeatedly until it is acknowledged."""
        message_id = str(UUID(int=self._random.getrandbits(128)))
        self.texts[message_id] = text
        self._unacknowledged[message_id] = 0
        asyncio.get_running_loop().create_task(self._until_acknowledged(message_id))

    def ask(self, kind: str, **fields: Any) -> None:
        """Sends any other frame, once."""
        if self._socket is not None and self._welcome.is_set():
            self._socket.send({"type": kind, "conversationId": self.conversation, **fields})

    def leave(self) -> None:
        """Closes the page and opens it again."""
        socket = self._socket
        if socket is not None:
            socket.leave()
            self.lost(socket)

    async def _until_acknowledged(self, message_id: str) -> None:
        while message_id in self._unacknowledged:
            await self._welcome.wait()
            if self._socket is not None:
                attempts = self._unacknowledged.get(message_id, 0)
                frame = {"type": "message.send", "clientMessageId": message_id, "text": self.texts[message_id]}
                frame |= {"conversationId": self.conversation} | ({"retry": True} if attempts else {})
                self._socket.send(frame)
                self._unacknowledged[message_id] = attempts + 1
            for _ in range(int(RESEND / 0.25)):
                await asyncio.sleep(0.25)
                if message_id not in self._unacknowledged or not self._welcome.is_set():
                    break

    # ------------------------------------------------------------ the connection

    async def connect(self) -> None:
        """Finds a gateway and sends hello, until a welcome arrives."""
        while not self._welcome.is_set():
            found = self._door()
            if found is None:
                await asyncio.sleep(0.2)
                continue
            gateway, context = found
            self._socket = socket = SimulatedSocket(self, gateway, context)
            self._hello(socket)
            for _ in range(40):
                await asyncio.sleep(0.25)
                if self._welcome.is_set() or not socket.open:
                    break
            else:
                socket.leave()

    def _hello(self, socket: SimulatedSocket) -> None:
        frame: Frame = {"type": "hello", "token": self._token, "locale": "en"}
        if self.conversation is not None:
            frame["conversationId"] = self.conversation
            if self._epoch:
                frame["since"] = {"epoch": self._epoch, "seq": self.cursor}
        socket.send(frame)

    def served_by(self, gateway: Gateway) -> SimulatedSocket | None:
        """Returns its socket if this gateway serves it."""
        socket = self._socket
        return socket if socket is not None and socket.gateway is gateway else None

    def lost(self, socket: SimulatedSocket) -> None:
        """The connection is closed: connects again after a moment."""
        if socket is self._socket:
            self._socket = None
            was_in = self._welcome.is_set()
            self._welcome.clear()
            if was_in:
                asyncio.get_running_loop().create_task(self._reconnect())

    async def _reconnect(self) -> None:
        await asyncio.sleep(self._random.uniform(0.1, 1.5))
        await self.connect()

    def heard(self, socket: SimulatedSocket, data: bytes) -> None:
        """Handles a frame from the gateway."""
        if socket is not self._socket or not socket.open:
            return
        frame: Frame = orjson.loads(data)
        match frame["type"]:
            case "welcome":
                self._epoch = frame["epoch"]
                self.conversation = frame["conversationId"]
                self._welcome.set()
            case "error" if not self._welcome.is_set():
                asyncio.get_running_loop().call_later(2.0, self._hello, socket)
            case "snapshot":
                if frame["seq"] < self.cursor:
                    self.faults.append(f"{self.name}: was shown all up to {frame['seq']} after {self.cursor}")
                self.covered = max(self.covered, frame["seq"])
            case "message.created":
                self._fact(frame["message"]["seq"])
            case "owner.changed":
                self.owner = frame["owner"]["kind"]
                if frame["seq"] > self.cursor:
                    self._fact(frame["seq"])
            case "run.cancelled" if "seq" in frame:
                self._fact(frame["seq"])
            case "run.started":
                self.running = frame["turnId"]
            case "message.ack":
                message_id = frame["clientMessageId"]
                first_seq = self.acknowledged.setdefault(message_id, frame["seq"])
                if first_seq != frame["seq"]:
                    self.faults.append(
                        f"{self.name}: {message_id} was acknowledged as {first_seq} and as {frame['seq']}"
                    )
                self._unacknowledged.pop(message_id, None)
            case _:
                pass

    def _fact(self, seq: int) -> None:
        if seq <= self.cursor:
            self.faults.append(f"{self.name}: was told {seq} after {self.cursor}")
            return
        self.told.append(seq)
