"""``python -m benchmarks growth``: does the projection keep up, and does a turn cost more if much is stored?

New conversations with a question and an answer are appended to the log as gateway and agent do, 1,000 messages per
second for a minute, for the company whose turns are measured before and after. Its AI is off meanwhile, so that only
memory works.
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
from benchmarks.report import Figure, growth, median
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
"""Messages per second, and for how many seconds."""
TURNS, PAUSE = 150, 0.05
AT_ONCE = 100
"""Conversations that are written concurrently, since a busy machine takes fewer per second."""
CHECK_INTERVAL = 0.2
CATCH_UP_TIMEOUT = 300.0
QUESTION_TEXT = "What does the Pro plan cost?"
ANSWER_TEXT = "The Pro plan costs 29 euros a month, and includes support by e-mail on working days."


async def run() -> list[Figure]:
    """Returns all figures; takes about two minutes."""
    async with scripted_model() as model, running(model) as stack:
        figures_before = await measure(stack, model, TURNS, pause=PAUSE)
        bus = await connect(NatsSettings(url=stack.facts()["urls"]["nats"]), name="growth")
        try:
            await _switch_ai(bus, on=False)
            filling = Filling(bus, stack)
            spent_before = spent(stack)
            await filling.fill()
            cpu_per_message = growth(spent_before, spent(stack), filling.messages)
            await _switch_ai(bus, on=True)
        finally:
            await bus.close()
        figures_after = await measure(stack, model, TURNS, pause=PAUSE)
    note = f"{filling.messages / filling.seconds:,.0f} messages a second for {filling.seconds:.0f} s"
    stored_note = f"{filling.messages // 2:,} more conversations stored"
    return [
        Figure(QUESTION, "projection behind the bus at most", max(filling.behind), "s", 2, note=note),
        Figure(QUESTION, "projection behind the bus, median", median(filling.behind), "s", note=note),
        Figure(QUESTION, "CPU of memory, a message", cpu_per_message["memory"], "ms", note=note),
        Figure(QUESTION, "CPU of MongoDB, a message", cpu_per_message["mongodb"], "ms", note=note),
        *(
            Figure(QUESTION, f"{label}, in shares of before", share, "×", 1.1, note=stored_note)
            for label, share in (
                ("to the first token, p50", median(figures_after.overhead) / median(figures_before.overhead)),
                ("CPU a turn of the services", figures_after.of(SERVICES) / figures_before.of(SERVICES)),
                ("CPU a turn of the servers", figures_after.of(SERVERS) / figures_before.of(SERVERS)),
            )
        ),
    ]


class Filling:
    """Appends conversations, and regularly checks the projection: `behind` contains, for each check, the age in seconds
    of the oldest message that it has not acknowledged."""

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
        """Appends all messages; returns when the projection has acknowledged them."""
        watch_task = asyncio.create_task(self._watch_projection())
        started = time.monotonic()

        async def writer() -> None:
            while self.messages < RATE * SECONDS:
                self.messages += 2
                await asyncio.sleep(started + self.messages / RATE - time.monotonic())
                await self._append_conversation()

        await asyncio.gather(*(writer() for _ in range(AT_ONCE)))
        self.seconds = time.monotonic() - started
        async with asyncio.timeout(CATCH_UP_TIMEOUT):
            await watch_task

    async def _append_conversation(self) -> None:
        writer = Writer(self._bus, COMPANY, new_conversation_id(b"", COMPANY, "-"))
        writer.signer = self._signer
        question_seq = await writer.visitor(QUESTION_TEXT, user=f"f{uuid.uuid4().hex}", locale="en")
        self._appended.append((question_seq, time.monotonic()))
        answer_seq = await writer.assistant(ANSWER_TEXT, question_seq)
        self._appended.append((answer_seq, time.monotonic()))

    async def _watch_projection(self) -> None:
        """Records how far the projection is behind, until it has everything."""
        while True:
            await asyncio.sleep(CHECK_INTERVAL)
            now = time.monotonic()
            answer = await self._bus.request(f"$JS.API.CONSUMER.INFO.{CHAT.name}.{DURABLE}", b"", timeout=30)
            projected_seq: int = orjson.loads(answer.data)["ack_floor"]["stream_seq"]
            appended = sorted(self._appended)
            waiting = appended[bisect.bisect_right(appended, (projected_seq, now)) :]
            self.behind.append(now - waiting[0][1] if waiting else 0.0)
            if self.seconds and not waiting:
                return


async def _switch_ai(bus: Client, *, on: bool) -> None:
    rpc = RpcClient(bus)
    settings = (await rpc.call(COMPANY_GET, CompanyRequest(company_id=COMPANY), deadline=10)).settings
    assert settings is not None
    request = CompanyPatchRequest(company_id=COMPANY, version=settings.version, patch={"aiAutoResponseEnabled": on})
    await rpc.call(COMPANY_PATCH, request, deadline=10)
