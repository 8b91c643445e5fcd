"""What do floods, idle sockets, simultaneous reconnects and a long queue cost, and do other visitors notice?

Runs one stack as `nexus up` starts it, with a scripted model; its limits by address are lifted, since all clients have
the same address.
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
OPENED_AT_ONCE = 100
"""Sockets that are opened concurrently."""
IDLE_SECONDS = 10.0
"""Seconds for which a stack with idle sockets is measured."""
_MIB = 1024 * 1024


async def run() -> list[Figure]:
    """Returns all figures; takes about five minutes."""
    async with scripted_model(default=ScriptedReply(text="Hello.")) as model:
        limits = {"NEXUS_GATEWAY_CONNECTIONS_PER_ADDRESS": "100000", "NEXUS_SAMPLE_SECONDS_PER_BAR": "0"}
        data = Path(tempfile.mkdtemp(prefix="nexus-abuse-")) / "nexus"
        async with RunningStack(data, {**model.environment, **limits}) as stack:
            await stack.create_company(COMPANY, aiAutoResponseEnabled=True, responseDelayMs=0)
            return [*await _sockets(stack), *await _flood(stack), *await _queue(stack)]


async def _sockets(stack: RunningStack) -> list[Figure]:
    gateway = stack.process("gateway").pid
    memory_before = _memory_bytes(gateway)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        started = time.monotonic()
        gate = asyncio.Semaphore(OPENED_AT_ONCE)
        clients = await asyncio.gather(*(_open_client(stack, session, gate) for _ in range(IDLE)))
        opened = time.monotonic() - started
        memory_each = (_memory_bytes(gateway) - memory_before) / IDLE
        cpu_before = cpu.seconds([gateway])
        await asyncio.sleep(IDLE_SECONDS)
        cpu_share = (cpu.seconds([gateway]) - cpu_before) / IDLE_SECONDS
        wait = await _answer_seconds(stack, session)
        for line in clients[:AT_ONCE]:
            line.cut()
        started = time.monotonic()
        await asyncio.gather(*(line.open() for line in clients[:AT_ONCE]))
        reopening = time.monotonic() - started
        wait_after = await _answer_seconds(stack, session)
        for line in clients:
            line.cut()
    return [
        Figure(QUESTION, f"{IDLE} sockets say hello, {OPENED_AT_ONCE} side by side", opened, "s"),
        Figure(QUESTION, "gateway's memory of an idle socket", memory_each / 1024, "KiB"),
        Figure(QUESTION, f"gateway's share of a core with {IDLE} idle sockets", cpu_share * 100, "%"),
        Figure(QUESTION, "an answer beside them", wait, "s"),
        Figure(QUESTION, f"{AT_ONCE} sockets come back at once, until the last is welcome", reopening, "s"),
        Figure(QUESTION, "an answer right after", wait_after, "s"),
    ]


async def _flood(stack: RunningStack) -> list[Figure]:
    gateway = stack.process("gateway").pid
    async with aiohttp.ClientSession() as session:
        client = await _open_client(stack, session, asyncio.Semaphore(1))
        memory_before, cpu_before = _memory_bytes(gateway), cpu.seconds([gateway])
        answer_task = asyncio.create_task(_answer_seconds(stack, session))
        sent_count = 0
        try:
            for _ in range(FLOOD):
                await client.socket.send_str('{"v":1,"type":"ping"}')
                sent_count += 1
        except (ConnectionError, aiohttp.ClientError):
            pass
        code = await client.closed()
        wait = await answer_task
    note = f"closed with {code} after {sent_count} frames were sent"
    return [
        Figure(
            QUESTION, "a flood of frames: gateway's CPU", (cpu.seconds([gateway]) - cpu_before) * 1000, "ms", note=note
        ),
        Figure(QUESTION, "a flood of frames: gateway's memory", (_memory_bytes(gateway) - memory_before) / _MIB, "MiB"),
        Figure(QUESTION, "an answer beside the flood", wait, "s"),
    ]


async def _queue(stack: RunningStack) -> list[Figure]:
    bus = Client()
    await bus.connect(stack.facts()["urls"]["nats"])
    try:
        publisher, slots = Publisher(bus), asyncio.Semaphore(200)
        agent = stack.process("agent").pid
        os.kill(agent, signal.SIGSTOP)
        await asyncio.gather(*(_publish_message(publisher, slots) for _ in range(WAITING)))
        os.kill(agent, signal.SIGKILL)
        started = time.monotonic()
        max_memory = 0.0

        async def done() -> bool:
            nonlocal max_memory
            answer = await bus.request("$JS.API.CONSUMER.INFO.CHAT.agent", b"", timeout=10)
            info: dict[str, Any] = orjson.loads(answer.data)
            now = stack.process("agent").pid
            max_memory = max(max_memory, _memory_bytes(now) if now != agent else 0.0)
            return now != agent and info["num_pending"] + info["num_ack_pending"] == 0

        await eventually(done, 1200)
        seconds = time.monotonic() - started
    finally:
        await bus.close()
    return [
        Figure(QUESTION, f"{WAITING} messages wait at an agent's start, until all are answered", seconds, "s"),
        Figure(QUESTION, "turns a second of that", WAITING / seconds, ""),
        Figure(QUESTION, "agent's memory meanwhile, at most", max_memory / _MIB, "MiB"),
    ]


class _SocketClient:
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


async def _open_client(stack: RunningStack, session: aiohttp.ClientSession, slots: asyncio.Semaphore) -> _SocketClient:
    client = _SocketClient(stack, session, stack.mint("visitor", f"v-{uuid.uuid4().hex[:16]}", COMPANY))
    async with slots:
        await client.open()
    return client


async def _answer_seconds(stack: RunningStack, session: aiohttp.ClientSession) -> float:
    """Returns the seconds until a new visitor's message is answered."""
    client = await _open_client(stack, session, asyncio.Semaphore(1))
    started = time.monotonic()
    message = {"v": 1, "type": "message.send", "clientMessageId": str(uuid.uuid4()), "text": "hello"}
    await client.socket.send_str(json.dumps(message))
    async with asyncio.timeout(60):
        async for frame in client.socket:
            event = json.loads(frame.data)
            if event["type"] == "message.created" and event["message"]["role"] == "assistant":
                break
    await client.socket.close()
    return time.monotonic() - started


async def _publish_message(publisher: Publisher, slots: asyncio.Semaphore) -> None:
    conversation, name = f"c-{uuid.uuid4().hex[:16]}", str(uuid.uuid4())
    identity = derive_id(COMPANY, conversation, "visitor", name)
    message = VisitorMessage(message_id=identity, client_message_id=name, text="hello", locale="en")
    event = CloudEvent(id=identity, source="/bench", type=ChatKind.VISITOR.event_type, data=message)
    msg_id = chat_msg_id(COMPANY, conversation, ChatKind.VISITOR, identity)
    async with slots:
        await publisher.append(chat(COMPANY, conversation, ChatKind.VISITOR), event, stream="CHAT", msg_id=msg_id)


def _memory_bytes(pid: int) -> float:
    """Returns the bytes that the process has in memory."""
    return float(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
