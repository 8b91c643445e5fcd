"""Proposals over the bus: what may be proposed about, what counts of it, and that a turn's proposals count once."""

import asyncio
import contextlib
from typing import Any

import pytest
from pymongo import AsyncMongoClient

from contracts.ids import turn_id
from contracts.memory_rpc import MEMORY_DELETE, MEMORY_GET, LongTermMemory, UserRef, fact_id
from contracts.proposal_rpc import (
    PROPOSAL_GROUND,
    PROPOSE,
    PROPOSE_LATE,
    AnsweredTurn,
    FactProposal,
    ProposalsRequest,
    TurnProposed,
    UnproposedTurn,
)
from memory.application.unproposed import MAX_TRIES
from memory.testing.harness import Replica, Servers, Writer, replica
from runtime.calls.rpc import RpcServer
from runtime.testing.servers import eventually

HOME, GONE = "I live in Lima", "I have unpacked my boxes in Bogotá"
FEAR = "Leverage gives me nightmares"
"""A fact that no rule keeps."""


async def answered(writer: Writer, text: str, answer: str = "Good to know.", *, role: str = "user") -> AnsweredTurn:
    """A turn with its answer."""
    seq = await writer.visitor(text, user="ana", role=role)
    return AnsweredTurn(
        company_id="acme",
        conversation_id=writer.conversation,
        turn_id=turn_id("acme", writer.conversation, seq),
        basis=seq,
        answered=await writer.assistant(answer, seq),
    )


async def propose(on: Replica, turn: AnsweredTurn, *proposals: FactProposal) -> tuple[int, list[str]]:
    done = await on.rpc.call(PROPOSE, ProposalsRequest(**dict(turn), proposals=list(proposals)))
    return done.accepted, done.refused


async def memory(on: Replica) -> LongTermMemory:
    return (await on.rpc.call(MEMORY_GET, UserRef(company_id="acme", user_id="ana"))).memory


async def test_a_turns_proposals_rest_on_its_users_words_and_count_once(servers: Servers) -> None:
    async with replica(servers) as one, replica(servers) as two:
        writer = Writer(one.client)
        await one.rpc.call(PROPOSAL_GROUND, await answered(writer, HOME))
        turn = await answered(writer, f"{GONE}. How is the market?", "The user hates tea. I like milk.")
        ground = await one.rpc.call(PROPOSAL_GROUND, turn)
        assert ground.said == [f"{GONE}."]
        assert (fact_id(HOME), HOME) in [(fact.id, fact.fact) for fact in ground.facts]
        changes = (
            FactProposal(do="end", id=fact_id(HOME), quote=GONE),
            FactProposal(do="add", quote="I like milk"),
            FactProposal(do="add", quote="The user hates tea"),
        )
        outcomes = await asyncio.gather(*(propose(each, turn, *changes) for each in (one, two, one)))
        assert sorted(outcomes) == [(0, []), (0, []), (1, ["not_said", "not_said"])]
        held = await memory(one)
        assert HOME not in held.user_notes
        (past,) = held.superseded
        assert (past.value, past.by) == (HOME, GONE)
        assert past.since is not None
        assert past.since < past.until
        # What comes again, on whichever replica, finds nothing left to propose about.
        assert (await two.rpc.call(PROPOSAL_GROUND, turn)).said == []
        assert await propose(two, turn, FactProposal(do="add", quote=GONE)) == (0, [])


@pytest.mark.parametrize(
    ("said", "role"), [("I like tea", "visitor"), ("Is tea healthy?", "user"), ("forget that I like tea", "user")]
)
async def test_of_visitors_questions_and_wishes_there_is_nothing_to_propose(
    servers: Servers, said: str, role: str
) -> None:
    async with replica(servers) as one:
        turn = await answered(Writer(one.client), said, role=role)
        assert (await one.rpc.call(PROPOSAL_GROUND, turn)).said == []
        accepted, _ = await propose(one, turn, FactProposal(do="add", quote=said))
        assert accepted == 0
        assert (await memory(one)).user_notes == []


async def test_what_was_said_before_everything_was_forgotten_is_not_proposed_about(servers: Servers) -> None:
    async with replica(servers) as one:
        turn = await answered(Writer(one.client), GONE)
        await one.rpc.call(MEMORY_DELETE, UserRef(company_id="acme", user_id="ana"))
        assert (await one.rpc.call(PROPOSAL_GROUND, turn)).said == []
        done: Any = await propose(one, turn, FactProposal(do="add", quote=GONE))
        assert done == (0, ["not_said"])
        assert (await memory(one)).user_notes == []


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.application.lessons.FIRST_PAUSE", 0.0)
    monkeypatch.setattr("memory.application.unproposed.FIRST_PAUSE", 0.0)
    monkeypatch.setattr("memory.application.unproposed.CHECK_SECONDS", 0.05)


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize("replicas", [1, 2])
async def test_an_agent_is_asked_about_a_turn_without_proposals_until_it_has_some(
    servers: Servers, replicas: int
) -> None:
    async with contextlib.AsyncExitStack() as stack:
        ones = [await stack.enter_async_context(replica(servers)) for _ in range(replicas)]
        asked: list[UnproposedTurn] = []

        async def late(turn: UnproposedTurn) -> TurnProposed:
            asked.append(turn)
            if len(asked) == 1:
                return TurnProposed(done=False)
            await propose(ones[0], turn, FactProposal(do="add", quote=FEAR))
            return TurnProposed(done=True)

        await RpcServer(ones[0].client).serve(PROPOSE_LATE, late)
        turn = await answered(Writer(ones[0].client), FEAR)
        await answered(Writer(ones[0].client), "Is tea healthy?")

        async def is_kept() -> bool:
            return (await memory(ones[0])).user_notes == [FEAR]

        await eventually(is_kept)
        assert len(asked) > 1
        assert all(one == UnproposedTurn(**dict(turn), user_id="ana") for one in asked)


@pytest.mark.usefixtures("no_pauses")
async def test_a_turn_that_every_model_refuses_is_given_up(servers: Servers) -> None:
    async with replica(servers) as one:
        refused: list[str] = []
        taken = asyncio.Event()

        async def late(turn: UnproposedTurn) -> TurnProposed:
            refused.append(turn.turn_id)
            if refused.count(turn.turn_id) > MAX_TRIES:
                taken.set()
            return TurnProposed(done=False)

        await RpcServer(one.client).serve(PROPOSE_LATE, late)
        first = await answered(Writer(one.client), GONE)
        second = await answered(Writer(one.client), HOME)

        async def all_tried() -> bool:
            return len(refused) == 2 * MAX_TRIES

        await eventually(all_tried)
        assert refused.count(first.turn_id) == refused.count(second.turn_id) == MAX_TRIES
        assert not taken.is_set()


async def test_nobody_is_asked_about_a_turn_whose_agent_has_proposed(servers: Servers) -> None:
    async with replica(servers) as one:
        turn = await answered(Writer(one.client), GONE)

        async def saved() -> bool:
            return await waiting_turns(servers) == 1

        await eventually(saved)
        await propose(one, turn, FactProposal(do="add", quote=GONE))
        assert await waiting_turns(servers) == 0


async def waiting_turns(servers: Servers) -> int:
    """Returns how many turns wait for proposals."""
    async with AsyncMongoClient[dict[str, Any]](servers.mongo) as client:
        return await client[servers.database]["lessons"].count_documents({})
