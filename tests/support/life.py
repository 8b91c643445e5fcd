"""One customer over several days on a simulated clock: memory and agent with real servers, a scripted model, no
market."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from agent.app import Agent, AgentConnections
from agent.scripted_model.server import ScriptedModel, scripted_model
from agent.settings import AgentSettings, ModelSettings
from contracts.channels import ChatKind
from contracts.company_rpc import COMPANY_CREATE, CompanyCreateRequest
from contracts.conversation_rpc import SNAPSHOT, SnapshotRequest
from contracts.memory_rpc import MEMORY_GET, LongTermMemory, UserRef
from memory.testing.harness import TOKENS, Replica, Servers, Writer, replica
from runtime.auth.principals import PrincipalVerifier
from runtime.bus.connection import connect
from runtime.conversation import ConversationLog
from runtime.settings import NatsSettings
from runtime.testing.clock import FakeClock
from runtime.testing.servers import eventually

COMPANY, USER = "acme", "ana"
DAY = 24 * 3600.0
DEADLINE = 60.0
LEFT_OUT = ("what is remembered of the user", "the user's and the market's data")
PROPOSING = '"said": '
"""Text that is in every prompt that asks the model what to remember, and in no prompt of a turn."""


@dataclass
class Life:
    """One customer, the services that serve them, and the clock."""

    memory: Replica
    model: ScriptedModel
    clock: FakeClock

    async def day(self, *texts: str) -> list[str]:
        """Moves to the next day and has a conversation; returns the answers."""
        await self.clock.advance(DAY)
        return await self.say(*texts)

    async def say(self, *texts: str) -> list[str]:
        """Has a conversation; returns the answers."""
        writer = Writer(self.memory.client, COMPANY)
        log = ConversationLog(self.memory.client)
        answers: list[str] = []
        for text in texts:
            seq = await writer.visitor(text, user=USER, role="user", locale="en")

            async def answered(seq: int = seq) -> bool:
                answer = (await log.snapshot(COMPANY, writer.conversation)).last.get(ChatKind.ASSISTANT)
                return answer is not None and answer.seq > seq

            await eventually(answered)
            request = SnapshotRequest(company_id=COMPANY, conversation_id=writer.conversation, min_seq=seq + 1)
            snapshot = await self.memory.rpc.call(SNAPSHOT, request, deadline=DEADLINE)
            answers.append(snapshot.messages[-1].text)
        return answers

    @property
    def proposing(self) -> list[str]:
        """Returns the prompts that asked the model what to remember, oldest first."""
        asked = (str(body["messages"][-1]["content"]) for body in self.model.asked)
        return [text for text in asked if PROPOSING in text]

    async def prompt(self) -> str:
        """Moves to the next day, says good morning, and returns the system prompt of that turn."""
        await self.clock.advance(DAY)

        async def complete_prompt() -> str:
            await self.say("good morning")
            turn_bodies = [body for body in self.model.asked if PROPOSING not in str(body["messages"][-1]["content"])]
            prompt = str(turn_bodies[-1]["messages"][0]["content"])
            # On a busy machine the prompt may lack memory's part and says that it does: then try again.
            return "" if any(words in prompt for words in LEFT_OUT) else prompt

        return await eventually(complete_prompt)

    async def remembered(self) -> LongTermMemory:
        """Returns the long-term memory of the customer."""
        user = UserRef(company_id=COMPANY, user_id=USER)
        return (await self.memory.rpc.call(MEMORY_GET, user, deadline=DEADLINE)).memory


@asynccontextmanager
async def living(servers: Servers, *, again: bool = False) -> AsyncGenerator[Life]:
    """Starts the services, `again` on the same servers; the clock begins at 1 March 2026."""
    clock = FakeClock(datetime(2026, 3, 1, 15, 0, tzinfo=UTC))
    verifier = PrincipalVerifier(TOKENS)
    async with replica(servers, clock=clock) as memory, scripted_model() as model:
        config = {"companyId": COMPANY, "aiAutoResponseEnabled": True, "responseDelayMs": 0}
        if not again:
            await memory.rpc.call(COMPANY_CREATE, CompanyCreateRequest(config=config), deadline=DEADLINE)
        client = await connect(NatsSettings(url=servers.nats), name="agent")
        models = ModelSettings(base_url=model.base_url, model="scripted", provider_keys={})
        agent = Agent(AgentConnections(client, verifier.verify, models), AgentSettings())
        await agent.start()
        yield Life(memory, model, clock)
        await agent.drain(2.0)
        await client.close()
