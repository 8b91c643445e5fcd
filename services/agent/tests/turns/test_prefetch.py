"""What is made ready while a journal is being saved: no model hears of it before, and nothing of it is kept after."""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from agent.domain.knowledge import MAX_TOKENS
from agent.domain.turn.journal import Journal
from agent.ports import ConversationKey, Journals, KnowledgeReader
from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.scripted_model.server import scripted_model
from agent.settings import ModelSettings
from agent.testing.scripted_stage import scripted_stage
from agent.testing.stage import agent, stage
from agent.turns.deps import Ports
from contracts.knowledge import KnowledgeFound, KnowledgeQuery
from runtime.errors import RpcError
from runtime.testing.servers import NatsServer, eventually


@dataclass
class Held:
    """Journals whose `at`-th save (from 0) waits to be let go, and is refused if it is told to be."""

    at: int = 0
    refused: bool = False
    let_go: asyncio.Event = field(default_factory=asyncio.Event)
    saves: int = 0

    def around(self, ports: Ports) -> Ports:
        return replace(ports, journals=_Journals(self, ports.journals))


class _Journals:
    def __init__(self, held: Held, journals: Journals) -> None:
        self._held, self._journals = held, journals

    async def read(self, key: ConversationKey) -> tuple[Journal | None, int]:
        return await self._journals.read(key)

    async def save(self, key: ConversationKey, journal: Journal, revision: int) -> int | None:
        held = self._held
        held.saves += 1
        if held.saves == held.at + 1:
            await held.let_go.wait()
            if held.refused:
                return None
        return await self._journals.save(key, journal, revision)


async def test_tokens_are_reserved_beside_the_journal_and_the_model_is_asked_behind_it(
    nats_server: NatsServer,
) -> None:
    for at, rule in (
        (0, Rule(replies=[ScriptedReply(text="There.")])),
        (
            2,
            Rule(
                replies=[
                    ScriptedReply(tool_calls=[ScriptedCall(name="order", arguments={})]),
                    ScriptedReply(text="There."),
                ]
            ),
        ),
    ):
        held = Held(at)
        async with (
            stage(nats_server.url) as scene,
            scripted_model(rule) as model,
            agent(nats_server.url, model.base_url, wrap=held.around),
        ):
            scene.executor.offer("order", {"state": "placed"})
            conversation = f"c{at}"
            await scene.visitor(conversation, "hi")
            asked = len(rule.replies) - 1
            await eventually(lambda scene=scene, asked=asked: len(scene.reserved) == asked + 1)
            assert held.saves == at + 1
            assert len(model.asked) == asked
            held.let_go.set()
            await scene.answered(conversation)
            assert len(model.asked) == len(scene.reserved) == asked + 1


@dataclass
class _Searches:
    """How often what the company says was searched by itself."""

    within: KnowledgeReader
    count: int = 0

    async def search(self, company: str, query: KnowledgeQuery, *, when_read: bool = False) -> KnowledgeFound | None:
        self.count += 1
        return await self.within.search(company, query)


async def test_what_the_company_says_is_searched_in_the_request_for_tokens(nats_server: NatsServer) -> None:
    call = ScriptedReply(tool_calls=[ScriptedCall(name="order", arguments={})])
    searches: list[_Searches] = []

    def counted(ports: Ports) -> Ports:
        searches.append(_Searches(ports.knowledge))
        return replace(ports, knowledge=searches[0])

    for with_tokens in (True, False):
        searches.clear()
        async with (
            stage(nats_server.url) as scene,
            scripted_model(Rule(replies=[call, ScriptedReply(text="There.")])) as model,
            agent(nats_server.url, model.base_url, wrap=counted),
        ):
            scene.searches_with_tokens = with_tokens
            scene.executor.offer("order", {"state": "placed"})
            conversation = f"c{with_tokens}"
            await scene.visitor(conversation, "What does it cost?")
            await scene.answered(conversation)
            first, second = scene.reserved
            # With the room that passages may take, as long as nobody knows how many there are: there were none.
            assert MAX_TOKENS - 200 < first.tokens - second.tokens < MAX_TOKENS
            assert first.knowledge is not None
            assert second.knowledge is None
            # Memory of an earlier release reserves the tokens alone.
            assert (len(scene.searched), searches[0].count) == (1, 0 if with_tokens else 1)


async def test_where_tokens_cannot_be_had_of_memory_it_is_asked_what_the_company_says_all_the_same(
    nats_server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scripted_stage(nats_server.url, default=ScriptedReply(text="There.")) as (scene, _model):

        def away(*wanted: Any) -> Any:
            raise RpcError("UNAVAILABLE", "no Redis", retryable=True)

        monkeypatch.setattr(scene.budgets, "reserve", away)
        await scene.visitor("c1", "What does it cost?")
        await scene.answered("c1")
        assert [one.text for one in scene.searched] == ["What does it cost?"]


async def test_a_journal_that_is_refused_costs_nothing(nats_server: NatsServer) -> None:
    refused, following = Held(refused=True), Held(at=1)
    async with (
        stage(nats_server.url) as scene,
        scripted_model(default=ScriptedReply(text="There.", prompt_tokens=10)) as model,
        agent(nats_server.url, model.base_url, wrap=lambda ports: following.around(refused.around(ports))),
    ):
        await scene.visitor("c1", "hi")
        await eventually(lambda: len(scene.reserved) == 1)
        refused.let_go.set()
        # The turn is begun again at once: what comes next waits, so that it can be seen what the refusal alone did.
        await eventually(lambda: [request.used for request in scene.settled] == [0])
        assert model.asked == []
        following.let_go.set()
        await scene.answered("c1")
        await eventually(lambda: len(scene.settled) == 2)
        assert len(model.asked) == 1
        assert [r.reservation_id for r in scene.settled] == [r.reservation_id for r in scene.reserved]


async def test_a_provider_that_has_rested_is_asked_first_again(nats_server: NatsServer) -> None:
    async with (
        stage(nats_server.url) as scene,
        scripted_model(default=ScriptedReply(text="the preferred one")) as preferred,
        scripted_model(default=ScriptedReply(text="the other one")) as other,
    ):
        keys: dict[str, Any] = {
            "base_url": None,
            "provider_keys": {"groq": "g", "openai": "o"},
            "provider_addresses": {"groq": preferred.base_url, "openai": other.base_url},
            "chain": "groq,openai",
        }
        async with agent(nats_server.url, models=ModelSettings.model_validate(keys)) as running:
            rested = running.models.chosen("groq", "").candidates[0][0]
            rested._failures = 5  # pyright: ignore[reportPrivateUsage,reportAttributeAccessIssue] - its rest is over
            await scene.visitor("c1", "hi")
            await scene.answered("c1")
            assert (len(preferred.asked), len(other.asked)) == (1, 0)
