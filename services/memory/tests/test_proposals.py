"""Proposals over the bus: what may be proposed about, what counts of it, and that a turn's proposals count once."""

import asyncio
from typing import Any

import pytest

from contracts.ids import turn_id
from contracts.memory_rpc import MEMORY_DELETE, MEMORY_GET, LongTermMemory, UserRef, fact_id
from contracts.proposal_rpc import PROPOSAL_GROUND, PROPOSE, AnsweredTurn, FactProposal, ProposalsRequest
from memory.testing.harness import Replica, Servers, Writer, replica

HOME, GONE = "I live in Lima", "I have unpacked my boxes in Bogotá"


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
