"""After a customer's turn, has a small model propose what to remember of the customer; memory keeps only what the
customer's own words prove.

Nobody waits for it. Proposals that are lost with their agent are not made again: the rules have learned the turn.
"""

from agent.adapters.proofs import MemoryProofs
from agent.domain.prompt.proposals import parse_proposals, proposal_messages
from agent.metrics import PROPOSALS, PROPOSALS_JUDGED
from agent.ports import ConversationKey, Requester
from agent.turns.after_turn import AfterTurn, SmallModel
from contracts.company import CompanyConfig
from contracts.proposal_rpc import AnsweredTurn

MOST = 32
"""Turns that are proposed about at once; the others are left to the rules."""
MOST_TOKENS = 800


class Proposer:
    """Makes proposals, once for each turn."""

    def __init__(self, proofs: MemoryProofs, model: SmallModel) -> None:
        self._proofs = proofs
        self._model = model
        self._work = AfterTurn("proposals", MOST, PROPOSALS)
        self.drain = self._work.drain

    def propose(self, key: ConversationKey, requester: Requester, config: CompanyConfig, turn: AnsweredTurn) -> None:
        """Proposes about an answered turn, later and without waiting; with no model there is nothing to do."""
        if self._model.is_there(config):
            self._work.begin(turn.turn_id, lambda: self._proposed(key, requester, config, turn), turn=turn.turn_id)

    async def _proposed(
        self, key: ConversationKey, requester: Requester, config: CompanyConfig, turn: AnsweredTurn
    ) -> str:
        ground = await self._proofs.ground(turn)
        if not ground.said:
            return "nothing_said"
        messages = proposal_messages(ground, requester.language)
        said = await self._model.ask(key, requester, config, messages, most_tokens=MOST_TOKENS)
        if said is None:
            return "no_model"
        proposals = parse_proposals(said)
        if proposals is None:
            return "unreadable"
        judged = await self._proofs.judge(turn, proposals)
        PROPOSALS_JUDGED.labels("accepted").inc(judged.accepted)
        for why in judged.refused:
            PROPOSALS_JUDGED.labels(why).inc()
        return "judged"
