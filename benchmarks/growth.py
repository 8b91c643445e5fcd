"""``python -m benchmarks growth``: does the projection keep up, and does a turn cost more where much is stored?

New conversations of a question and its answer are appended to the log as gateway and agent append them, 1,000 messages
a second for a minute, to the company whose turns are measured before and behind. Its AI is off meanwhile: what is
measured is memory.
"""

import asyncio
import bisect
import time
import uuid

import orjson
from nats.aio.client import Client
from pydantic import SecretStr

from agent.scripted_model.server import scripted_model
from benchmarks.first_token import COMPANY, SERVERS, SERVICES, measure, running, spent
from benchmarks.report import Figure, median
from contracts.company_rpc import COMPANY_GET, COMPANY_PATCH, CompanyPatchRequest, CompanyRequest
from contracts.streams import CHAT
from gateway.domain.conversation_ids import new_conversation_id
from memory.adapters.chat_consumer import DURABLE
from memory.testing.harness import Writer
from nexus_cli.stack.datadir import DataDirectory
from runtime.auth.principals import PrincipalSigner
from runtime.bus.connection import connect
from runtime.bus.marks import Marks
from runtime.calls.rpc import RpcClient
from runtime.settings import NatsSettings, TokenSettings
from tests.support.running_stack import RunningStack

QUESTION = "growth"
RATE, SECONDS = 1_000, 60
"""Messages a second."""
TURNS, PAUSE = 150, 0.05
AT_ONCE = 100
"""Conversations that are written at once: a busy machine takes fewer a second."""
LOOK = 0.2
CAUGHT_UP_WITHIN = 300.0
ASKED = "What does the Pro plan cost?"
ANSWER = "The Pro plan costs 29 euros a month, and includes support by e-mail on working days."


async def run() -> list[Figure]:
    """All figures; about two minutes."""
    async with scripted_model() as model, running(model) as stack:
        before = await measure(stack, model, TURNS, pause=PAUSE)
        bus = await connect(NatsSettings(url=stack.facts()["urls"]["nats"]), name="growth")
        try:
            await _answering(bus, on=False)
            filling = Filling(bus, stack)
            begun = spent(stack)
            await filling.fill()
            ended = spent(stack)
            await _answering(bus, on=True)
        finally:
            await bus.close()
        after = await measure(stack, model, TURNS, pause=PAUSE)
    note = f"{filling.messages / filling.seconds:,.0f} messages a second for {filling.seconds:.0f} s"
    each = {name: (ended[name] - begun[name]) / filling.messages for name in ended}
    stored = f"{filling.messages // 2:,} more conversations stored"
    return [
        Figure(QUESTION, "projection behind the bus at most", max(filling.behind), "s", 2, note=note),
        Figure(QUESTION, "projection behind the bus, median", median(filling.behind), "s", note=note),
        Figure(QUESTION, "CPU of memory, a message", each["memory"], "ms", note=note),
        Figure(QUESTION, "CPU of MongoDB, a message", each["mongodb"], "ms", note=note),
        *(
            Figure(QUESTION, f"{what}, in shares of before", share, "×", 1.1, note=stored)
            for what, share in (
                ("to the first token, p50", median(after.overhead) / median(before.overhead)),
                ("CPU a turn of the services", after.of(SERVICES) / before.of(SERVICES)),
                ("CPU a turn of the servers", after.of(SERVERS) / before.of(SERVERS)),
            )
        ),
    ]


class Filling:
    """Appends conversations, and looks how far the projection is: `behind` holds the age in seconds of the oldest
    message that it has not acknowledged, at each look."""

    def __init__(self, bus: Client, stack: RunningStack) -> None:
        self._bus = bus
        secrets = DataDirectory(stack.data).secrets()
        Marks.of(bus).use((secrets.mark_key.encode(),))
        self._signer = PrincipalSigner(TokenSettings(principal_key=SecretStr(secrets.principal_key)))
        self._appended: list[tuple[int, float]] = []
        self.behind: list[float] = []
        self.messages = 0
        self.seconds = 0.0

    async def fill(self) -> None:
        """Returns when the projection has everything."""
        looking = asyncio.create_task(self._look())
        began = time.monotonic()

        async def writer() -> None:
            while self.messages < RATE * SECONDS:
                self.messages += 2
                await asyncio.sleep(began + self.messages / RATE - time.monotonic())
                await self._conversation()

        await asyncio.gather(*(writer() for _ in range(AT_ONCE)))
        self.seconds = time.monotonic() - began
        async with asyncio.timeout(CAUGHT_UP_WITHIN):
            await looking

    async def _conversation(self) -> None:
        writer = Writer(self._bus, COMPANY, new_conversation_id(b"", COMPANY, "-"))
        writer.signer = self._signer
        asked = await writer.visitor(ASKED, user=f"f{uuid.uuid4().hex}", locale="en")
        self._appended.append((asked, time.monotonic()))
        answered = await writer.assistant(ANSWER, asked)
        self._appended.append((answered, time.monotonic()))

    async def _look(self) -> None:
        """Until everything is there."""
        while True:
            await asyncio.sleep(LOOK)
            now = time.monotonic()
            answer = await self._bus.request(f"$JS.API.CONSUMER.INFO.{CHAT.name}.{DURABLE}", b"", timeout=30)
            done: int = orjson.loads(answer.data)["ack_floor"]["stream_seq"]
            known = sorted(self._appended)
            waiting = known[bisect.bisect_right(known, (done, now)) :]
            self.behind.append(now - waiting[0][1] if waiting else 0.0)
            if self.seconds and not waiting:
                return


async def _answering(bus: Client, *, on: bool) -> None:
    rpc = RpcClient(bus)
    found = (await rpc.call(COMPANY_GET, CompanyRequest(company_id=COMPANY), deadline=10)).settings
    assert found is not None
    change = CompanyPatchRequest(company_id=COMPANY, version=found.version, patch={"aiAutoResponseEnabled": on})
    await rpc.call(COMPANY_PATCH, change, deadline=10)
