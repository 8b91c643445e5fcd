"""Proposals that memory asks for."""

from collections.abc import Sequence
from typing import Any, cast

from agent.adapters.companies import AgentCompanies
from agent.adapters.memory import MemoryClient
from agent.turns.after_turn import SmallModel
from agent.turns.proposer import Proposer
from contracts.company import CompanyConfig, CompanySettings
from contracts.ids import uuid7
from contracts.proposal_rpc import AnsweredTurn, FactProposal, ProposalGround, ProposalsJudged, UnproposedTurn


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


class Companies:
    """Has one company's settings."""

    async def get(self, company: str) -> CompanySettings | None:
        return CompanySettings(version=1, config=CompanyConfig(company_id=company))


async def test_memory_is_told_whether_proposals_were_made() -> None:
    lost, made = (
        UnproposedTurn(
            company_id="acme",
            conversation_id=uuid7(),
            turn_id=uuid7(),
            basis=1,
            answered=2,
            user_id="ana",
        )
        for _ in range(2)
    )
    model = Model(refused=lost.turn_id)
    proposer = Proposer(cast("MemoryClient", Memory()), cast("SmallModel", model), cast("AgentCompanies", Companies()))
    assert not (await proposer.propose_late(lost)).done
    assert (await proposer.propose_late(made)).done
    assert model.refusals == 1
