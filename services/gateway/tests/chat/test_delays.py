"""A company whose visitors wait too long for answers: its newest messages are refused with a clear word for a while."""

import uuid

import pytest
from nats.aio.client import Client

from gateway.chat.delays import ANSWERS, RECENT_SECONDS, AnswerDelays
from gateway.errors import OverloadedError
from gateway.settings import GatewaySettings
from gateway.testing.harness import ChatClient, GatewayUnderTest, MemoryStandIn
from gateway.testing.tokens import TokenMaker
from runtime.testing.clock import FakeClock
from runtime.testing.servers import eventually

LONGEST_SECONDS = GatewaySettings().turn_deadline_seconds
VISITOR, ASSISTANT, OPERATOR = "message.visitor.v1", "message.assistant.v1", "message.operator.v1"


class Queue:
    """A company's conversations, which are answered one after the other."""

    def __init__(self, longest: float = LONGEST_SECONDS) -> None:
        self.clock = FakeClock()
        self.delays = AnswerDelays(self.clock, longest)
        self.waiting: list[str] = []

    def ask(self, number: int) -> None:
        for _ in range(number):
            self.waiting.append(uuid.uuid4().hex)
            self.delays.observe("busy", self.waiting[-1], VISITOR)

    async def answer(self, number: int, kind: str = ASSISTANT, seconds: float = 1.0) -> None:
        for _ in range(number):
            await self.clock.advance(seconds)
            self.delays.observe("busy", self.waiting.pop(0), kind)

    def refuses(self, company: str = "busy") -> bool:
        try:
            self.delays.admit(company)
        except OverloadedError:
            return True
        return False


async def test_a_slow_model_that_is_given_more_time_makes_nobody_wait_for_a_slot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NEXUS_TURN_DEADLINE_SECONDS", "200")
    queue = Queue(GatewaySettings().turn_deadline_seconds)
    queue.ask(ANSWERS)
    await queue.clock.advance(150)
    await queue.answer(ANSWERS)
    assert not queue.refuses()


async def test_the_newest_are_refused_while_answers_come_too_late_and_nobody_elses() -> None:
    queue = Queue()
    queue.ask(400)
    await queue.answer(int(LONGEST_SECONDS))
    assert not queue.refuses()
    await queue.answer(ANSWERS)
    assert queue.refuses()
    assert not queue.refuses("quiet")
    with pytest.raises(OverloadedError) as refusal:
        queue.delays.admit("busy")
    assert (refusal.value.wait, refusal.value.wait_ms, refusal.value.retryable) == (30, 30_000, True)
    # What was accepted is answered, and then everybody is welcome again.
    await queue.answer(len(queue.waiting))
    queue.ask(ANSWERS)
    await queue.answer(ANSWERS)
    assert not queue.refuses()


async def test_nobody_is_refused_while_nobody_is_answered() -> None:
    queue = Queue()
    queue.ask(400)
    await queue.answer(200)
    assert queue.refuses()
    await queue.clock.advance(RECENT_SECONDS)
    assert not queue.refuses()


async def test_late_answers_of_people_and_a_few_slow_ones_of_the_ai_are_no_overload() -> None:
    queue = Queue()
    queue.ask(100)
    await queue.clock.advance(3_600)
    await queue.answer(90, OPERATOR)
    await queue.answer(ANSWERS // 2)
    assert not queue.refuses()


async def test_a_visitor_is_told_to_try_again(
    gateway: GatewayUnderTest, memory: MemoryStandIn, tokens: TokenMaker, nats_client: Client
) -> None:
    memory.add_company("busy", aiAutoResponseEnabled=True)
    delays = gateway.gateway.chat.commands._delays  # pyright: ignore[reportPrivateUsage]
    for number in range(ANSWERS):
        delays._asked["busy", str(number)] = -2 * LONGEST_SECONDS  # pyright: ignore[reportPrivateUsage]
        await nats_client.publish(f"live.chat.busy.{number}.{ASSISTANT}", b"{}")

    def is_refused() -> bool:
        try:
            delays.admit("busy")
        except OverloadedError:
            return True
        return False

    await eventually(is_refused)
    identity = str(uuid.uuid4())
    async with ChatClient(gateway.url, hello=tokens.visitor("v1", company="busy")) as client:
        await client.send("message.send", clientMessageId=identity, text="hello")
        error = await client.until("error")
        assert (error["code"], error["retryable"], error["ref"]) == ("UNAVAILABLE", True, identity)
        assert error["retryAfterMs"] == 30_000
        assert error["message"] == "many people are writing here right now: try again in a while"
