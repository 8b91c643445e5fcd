"""Five days with the copilot, on a clock of their own: what a customer states, changes and has forgotten is what the
model is told each day. Memory and agent with real servers; the model is scripted, the market is away.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from agent.app import Agent, Connections
from agent.scripted_model.server import ScriptedModel, scripted_model
from agent.settings import AgentSettings, ModelSettings
from contracts.channels import ChatKind
from contracts.memory_rpc import MEMORY_GET, LongTermMemory, UserRef
from contracts.rpc import COMPANY_CREATE, SNAPSHOT, CompanyCreateRequest, SnapshotRequest
from memory.testing import TOKENS, Replica, Servers, Writer, replica
from runtime.clock import FakeClock
from runtime.connection import connect
from runtime.conversation import ConversationLog
from runtime.principals import PrincipalVerifier
from runtime.settings import NatsSettings
from runtime.testing import MongoDatabase, NatsServer, ValkeyServer, eventually

COMPANY, USER = "acme", "ana"
DAY = 24 * 3600.0
DEADLINE = 20.0
LEFT_OUT = ("what is remembered of the user", "the user's and the market's data")


@dataclass
class Life:
    """One customer, their copilot, and what time it is."""

    memory: Replica
    model: ScriptedModel
    clock: FakeClock

    async def day(self, *texts: str) -> list[str]:
        """The next day's conversation; its answers."""
        await self.clock.advance(DAY)
        return await self.say(*texts)

    async def say(self, *texts: str) -> list[str]:
        """A conversation; its answers."""
        writer = Writer(self.memory.client, COMPANY)
        log = ConversationLog(self.memory.client)
        answers: list[str] = []
        for text in texts:
            seq = await writer.visitor(text, user=USER, role="user", locale="en")

            async def answered(seq: int = seq) -> bool:
                answer = (await log.snapshot(COMPANY, writer.conversation)).last.get(ChatKind.ASSISTANT)
                return answer is not None and answer.seq > seq

            await eventually(answered, DEADLINE)
            request = SnapshotRequest(company_id=COMPANY, conversation_id=writer.conversation, min_seq=seq + 1)
            snapshot = await self.memory.rpc.call(SNAPSHOT, request, deadline=DEADLINE)
            answers.append(snapshot.messages[-1].text)
        return answers

    async def prompt(self) -> str:
        """The system prompt with which the model is greeted on the next day."""
        await self.clock.advance(DAY)

        async def whole() -> str:
            await self.say("good morning")
            prompt = str(self.model.asked[-1]["messages"][0]["content"])
            # A busy machine may leave memory's part out, and says so.
            return "" if any(words in prompt for words in LEFT_OUT) else prompt

        return await eventually(whole, DEADLINE)

    async def remembered(self) -> LongTermMemory:
        """What is remembered now."""
        who = UserRef(company_id=COMPANY, user_id=USER)
        return (await self.memory.rpc.call(MEMORY_GET, who, deadline=DEADLINE)).memory


@pytest.fixture
async def life(
    nats_server: NatsServer, valkey_server: ValkeyServer, mongo_server: MongoDatabase
) -> AsyncIterator[Life]:
    servers = Servers(nats_server.url, mongo_server.url, mongo_server.database, valkey_server.url)
    clock = FakeClock(datetime(2026, 3, 1, 15, 0, tzinfo=UTC))
    verifier = PrincipalVerifier(TOKENS)
    async with replica(servers, clock=clock) as memory, scripted_model() as model:
        config = {"companyId": COMPANY, "aiAutoResponseEnabled": True, "responseDelayMs": 0}
        await memory.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config=config), deadline=DEADLINE)
        client = await connect(NatsSettings(url=nats_server.url), name="agent")
        models = ModelSettings(base_url=model.base_url, model="scripted", provider_keys={})
        agent = Agent(Connections(client, verifier.verify, models), AgentSettings())
        await agent.start()
        yield Life(memory, model, clock)
        await agent.drain(2.0)
        await client.close()


async def test_what_is_said_changed_and_forgotten_shows_in_the_prompt_of_each_day(life: Life) -> None:
    # The first day: nothing is known. Something is said, and learned from the turn.
    await life.day("I prefer dividend stocks", "I do swing trading", "remember that my goal is a house")

    async def learned() -> bool:
        known = await life.remembered()
        return bool(known.preferences) and known.trading_style == "swing" and bool(known.user_notes)

    await eventually(learned, DEADLINE)
    # The second day: the copilot knows, and knows which day it is.
    prompt = await life.prompt()
    assert "- Trading style: swing" in prompt
    assert "- Preferences: I prefer dividend stocks" in prompt
    assert "- Asked to remember: my goal is a house" in prompt
    assert "2026-03-03" in prompt
    # The third day: something changes.
    await life.day("I moved from swing to day trading")

    async def moved() -> bool:
        return (await life.remembered()).trading_style == "day_trading"

    await eventually(moved, DEADLINE)
    (past, *_) = (await life.remembered()).superseded
    assert (past.field, past.value) == ("tradingStyle", "swing")
    # The fourth day: it shows; something is to be forgotten, and is.
    prompt = await life.prompt()
    assert "- Trading style: day trading" in prompt
    (told,) = await life.day("forget that I prefer dividend stocks")
    assert told == "Done, I have forgotten: “I prefer dividend stocks”."
    # The last day: it is gone, the rest is there.
    prompt = await life.prompt()
    assert "dividend" not in prompt
    assert "- Asked to remember: my goal is a house" in prompt
    (told,) = await life.day("what do you remember about me?")
    assert "dividend" not in told
    assert "Your trading style is day trading." in told
    # And everything, on request.
    await life.day("forget everything you know about me")
    prompt = await life.prompt()
    assert "What is known of the user" not in prompt
    assert "Not available right now" in prompt, "the market is away all the time"
