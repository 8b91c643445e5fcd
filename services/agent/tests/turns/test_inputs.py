"""What one delivery knows: asked for once, and not lost with a call that is no longer wanted."""

import asyncio
from dataclasses import dataclass, field, replace

import pytest

from agent.domain.turn.effects import CallModel
from agent.domain.turn.journal import Journal
from agent.ports import ConversationKey, PromptHistory, Requester, TurnSnapshot
from agent.testing.company import COMPANY, demo_config
from agent.testing.stage import agent, stage
from agent.turns.deps import Limits, Ports
from agent.turns.inputs import TurnInputs
from contracts.conversation import Snapshot
from contracts.events.chat import OwnerKind
from runtime.testing.servers import NatsServer

ASKER = Requester("user/pro/ana", "user", "pro", "ana", "en")


@dataclass
class Slow:
    """Histories that come when they are let go."""

    let_go: asyncio.Event = field(default_factory=asyncio.Event)
    asked: int = 0

    def may_begin_with(self, key: ConversationKey, seq: int) -> bool:
        return False

    async def up_to(self, key: ConversationKey, seq: int) -> PromptHistory:
        self.asked += 1
        await self.let_go.wait()
        return PromptHistory(())


async def test_a_call_that_is_given_up_leaves_what_was_asked_for_to_the_next(nats_server: NatsServer) -> None:
    kept: list[Ports] = []

    def keep(ports: Ports) -> Ports:
        kept.append(ports)
        return ports

    async with stage(nats_server.url), agent(nats_server.url, wrap=keep):
        slow = Slow()
        inputs = TurnInputs(replace(kept[0], histories=slow), Limits(), ConversationKey(COMPANY, "c1"))
        view = Snapshot(7, 7, 0.0, 0, OwnerKind.AI)
        ask, seen = CallModel(Journal("t1", 7, 0.0, 60.0), view, last=False), TurnSnapshot(view, ASKER, "")
        first = asyncio.create_task(inputs.own_reply(ask, seen, demo_config()))
        await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        second = asyncio.create_task(inputs.own_reply(ask, seen, demo_config()))
        slow.let_go.set()
        assert await asyncio.wait_for(second, 20) is None
        assert slow.asked == 1
        inputs.close()
