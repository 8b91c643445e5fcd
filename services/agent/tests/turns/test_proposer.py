"""Proposals about a turn at which the model fails again and again."""

from collections.abc import Sequence
from typing import Any, cast

from agent.adapters.memory import MemoryClient
from agent.ports import ConversationKey, Requester
from agent.turns.after_turn import SmallModel
from agent.turns.proposer import MAX_TRIES, Proposer
from contracts.company import CompanyConfig
from contracts.ids import uuid7
from contracts.proposal_rpc import AnsweredTurn, FactProposal, ProposalGround, ProposalsJudged

KEY = ConversationKey("acme", uuid7())
REQUESTER = Requester(None, "user", "free", "ana", "en")


class Memory:
    """Takes every proposal; what was said in a turn is its id."""

    async def ground(self, turn: AnsweredTurn) -> ProposalGround:
        return ProposalGround(said=[turn.turn_id])

    async def judge(self, turn: AnsweredTurn, proposals: Sequence[FactProposal]) -> ProposalsJudged:
        return ProposalsJudged(accepted=len(proposals))


class Model:
    """Answers about all turns but one."""

    def __init__(self, refused: str) -> None:
        self.refused = refused
        self.refusals = 0

    def is_available(self, config: CompanyConfig) -> bool:
        return True

    async def ask(self, key: object, requester: object, config: object, messages: object, **more: Any) -> str | None:
        if self.refused not in str(messages):
            return '{"changes": []}'
        self.refusals += 1
        return None


async def test_a_turn_that_the_model_always_refuses_is_given_up() -> None:
    turns = [
        AnsweredTurn(company_id="acme", conversation_id=KEY.conversation, turn_id=uuid7(), basis=1, answered=2)
        for _ in range(3 * MAX_TRIES)
    ]
    model = Model(refused=turns[0].turn_id)
    proposer = Proposer(cast("MemoryClient", Memory()), cast("SmallModel", model))
    for turn in turns:
        proposer.propose(KEY, REQUESTER, CompanyConfig(company_id="acme"), turn)
        await proposer.drain(10)  # the turn's
        await proposer.drain(10)  # what was begun after it
    assert model.refusals == MAX_TRIES
