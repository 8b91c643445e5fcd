"""What do floods, idle sockets, everybody at once and a long queue cost, and do others notice?

One stack as `nexus up` starts it, with a scripted model; its limits by address are lifted, since all come from one.
"""

import asyncio
import json
import os
import signal
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

import aiohttp
import orjson
from nats.aio.client import Client

from agent.scripted_model.script import ScriptedReply
from agent.scripted_model.server import scripted_model
from benchmarks import cpu
from benchmarks.report import Figure
from contracts.channels import ChatKind, chat, chat_msg_id
from contracts.envelope import CloudEvent
from contracts.events.chat import VisitorMessage
from contracts.ids import derive_id
from runtime.bus.publisher import Publisher
from runtime.testing.servers import eventually
from tests.support.running_stack import RunningStack

QUESTION = "abuse"
COMPANY = "acme"
IDLE, AT_ONCE, WAITING, FLOOD = 5_000, 1_000, 10_000, 20_000
OPENING = 100
"""Sockets that are opened side by side."""
LOOKED_AT = 10.0
"""Seconds for which a stack with idle sockets is watched."""
_MIB = 1024 * 1024


async def run() -> list[Figure]:
    """All figures; some five minutes."""
    async with scripted_model(default=ScriptedReply(text="Hello.")) as model:
        limits = {"NEXUS_GATEWAY_CONNECTIONS_PER_ADDRESS": "100000", "NEXUS_SAMPLE_SECONDS_PER_BAR": "0"}
        data = Path(tempfile.mkdtemp(prefix="nexus-abuse-")) / "nexus"
        async with RunningStack(data, {**model.environment, **limits}) as stack:
            await stack.create_company(COMPANY, aiAutoResponseEnabled=True, responseDelayMs=0)
            return [*await _sockets(stack), *await _flood(stack), *await _queue(stack)]


async def _sockets(stack: RunningStack) -> list[Figure]:
    gateway = stack.process("gateway").pid
    before = _memory(gateway)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        began = time.monotonic()
        gate = asyncio.Semaphore(OPENING)
        lines = await asyncio.gather(*(_line(stack, session, gate) for _ in range(IDLE)))
        opened = time.monotonic() - began
        each = (_memory(gateway) - before) / IDLE
        used = cpu.seconds([gateway])
        await asyncio.sleep(LOOKED_AT)
        share = (cpu.seconds([gateway]) - used) / LOOKED_AT
        waited = await _asked(stack, session)
        for line in lines[:AT_ONCE]:
            line.cut()
        began = time.monotonic()
        await asyncio.gather(*(line.open() for line in lines[:AT_ONCE]))
        again = time.monotonic() - began
        beside = await _asked(stack, session)
        for line in lines:
            line.cut()
    return [
        Figure(QUESTION, f"{IDLE} sockets say hello, {OPENING} side by side", opened, "s"),
        Figure(QUESTION, "gateway's memory of an idle socket", each / 1024, "KiB"),
        Figure(QUESTION, f"gateway's share of a core with {IDLE} idle sockets", share * 100, "%"),
        Figure(QUESTION, "an answer beside them", waited, "s"),
        Figure(QUESTION, f"{AT_ONCE} sockets come back at once, until the last is welcome", again, "s"),
        Figure(QUESTION, "an answer right after", beside, "s"),
    ]


async def _flood(stack: RunningStack) -> list[Figure]:
    gateway = stack.process("gateway").pid
    async with aiohttp.ClientSession() as session:
        line = await _line(stack, session, asyncio.Semaphore(1))
        before, used = _memory(gateway), cpu.seconds([gateway])
        asking = asyncio.create_task(_asked(stack, session))
        sent = 0
        try:
            for _ in range(FLOOD):
                await line.socket.send_str('{"v":1,"type":"ping"}')
                sent += 1
        except (ConnectionError, aiohttp.ClientError):
            pass
        code = await line.closed()
        waited = await asking
    note = f"closed with {code} after {sent} frames were sent"
    return [
        Figure(QUESTION, "a flood of frames: gateway's CPU", (cpu.seconds([gateway]) - used) * 1000, "ms", note=note),
        Figure(QUESTION, "a flood of frames: gateway's memory", (_memory(gateway) - before) / _MIB, "MiB"),
        Figure(QUESTION, "an answer beside the flood", waited, "s"),
    ]


async def _queue(stack: RunningStack) -> list[Figure]:
    bus = Client()
    await bus.connect(stack.facts()["urls"]["nats"])
    try:
        publisher, gate = Publisher(bus), asyncio.Semaphore(200)
        agent = stack.process("agent").pid
        os.kill(agent, signal.SIGSTOP)
        await asyncio.gather(*(_say(publisher, gate) for _ in range(WAITING)))
        os.kill(agent, signal.SIGKILL)
        began = time.monotonic()
        most = 0.0

        async def done() -> bool:
            nonlocal most
            answer = await bus.request("$JS.API.CONSUMER.INFO.CHAT.agent", b"", timeout=10)
            info: dict[str, Any] = orjson.loads(answer.data)
            now = stack.process("agent").pid
            most = max(most, _memory(now) if now != agent else 0.0)
            return now != agent and info["num_pending"] + info["num_ack_pending"] == 0

        await eventually(done, 1200)
        took = time.monotonic() - began
    finally:
        await bus.close()
    return [
        Figure(QUESTION, f"{WAITING} messages wait at an agent's start, until all are answered", took, "s"),
        Figure(QUESTION, "turns a second of that", WAITING / took, ""),
        Figure(QUESTION, "agent's memory meanwhile, at most", most / _MIB, "MiB"),
    ]


class _Line:
    """A visitor's socket."""

    def __init__(self, stack: RunningStack, session: aiohttp.ClientSession, token: str) -> None:
        self._url, self._session, self._token = stack.url.replace("http", "ws", 1), session, token
        self.socket: aiohttp.ClientWebSocketResponse
        self._since: dict[str, Any] = {}

    async def open(self) -> None:
        self.socket = await self._session.ws_connect(f"{self._url}/v2/chat/ws", autoping=True)
        await self.socket.send_str(json.dumps({"v": 1, "type": "hello", "token": self._token, **self._since}))
        async with asyncio.timeout(120):
            while (frame := json.loads((await self.socket.receive()).data))["type"] != "welcome":
                pass
        self._since = {
            "conversationId": frame["conversationId"],
            "since": {"epoch": frame["epoch"], "seq": frame["seq"]},
        }

    def cut(self) -> None:
        response = self.socket._response  # pyright: ignore[reportPrivateUsage]
        response.close()

    async def closed(self) -> int | None:
        async with asyncio.timeout(30):
            while not self.socket.closed:
                if (await self.socket.receive()).type in (aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.CLOSE):
                    break
        return self.socket.close_code


async def _line(stack: RunningStack, session: aiohttp.ClientSession, gate: asyncio.Semaphore) -> _Line:
    line = _Line(stack, session, stack.mint("visitor", f"v-{uuid.uuid4().hex[:16]}", COMPANY))
    async with gate:
        await line.open()
    return line


async def _asked(stack: RunningStack, session: aiohttp.ClientSession) -> float:
    """Seconds until a newcomer's message is answered."""
    line = await _line(stack, session, asyncio.Semaphore(1))
    began = time.monotonic()
    message = {"v": 1, "type": "message.send", "clientMessageId": str(uuid.uuid4()), "text": "hello"}
    await line.socket.send_str(json.dumps(message))
    async with asyncio.timeout(60):
        async for frame in line.socket:
            told = json.loads(frame.data)
            if told["type"] == "message.created" and told["message"]["role"] == "assistant":
                break
    await line.socket.close()
    return time.monotonic() - began


async def _say(publisher: Publisher, gate: asyncio.Semaphore) -> None:
    conversation, name = f"c-{uuid.uuid4().hex[:16]}", str(uuid.uuid4())
    identity = derive_id(COMPANY, conversation, "visitor", name)
    said = VisitorMessage(message_id=identity, client_message_id=name, text="hello", locale="en")
    event = CloudEvent(id=identity, source="/bench", type=ChatKind.VISITOR.event_type, data=said)
    msg_id = chat_msg_id(COMPANY, conversation, ChatKind.VISITOR, identity)
    async with gate:
        await publisher.append(chat(COMPANY, conversation, ChatKind.VISITOR), event, stream="CHAT", msg_id=msg_id)


def _memory(pid: int) -> float:
    """Bytes that the process has in memory."""
    return float(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
