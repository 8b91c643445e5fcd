"""Has a small model propose, after a customer's turn, what to remember about the customer. Memory keeps only what the
customer's own words prove.

Nothing waits for proposals. Those that are lost with their agent are not made again: memory's rules have learned from
the turn.
"""

from agent.adapters.memory import MemoryClient
from agent.domain.prompt.proposals import parse_proposals, proposal_messages
from agent.metrics import PROPOSALS, PROPOSALS_JUDGED
from agent.ports import ConversationKey, Requester
from agent.turns.after_turn import AfterTurn, SmallModel
from contracts.company import CompanyConfig
from contracts.proposal_rpc import AnsweredTurn

MAX_RUNNING = 32
"""Turns for which proposals are made at the same time; the others are left to memory's rules."""
MAX_RESPONSE_TOKENS = 800


class Proposer:
    """Makes proposals, once for each turn."""

    def __init__(self, memory: MemoryClient, model: SmallModel) -> None:
        self._memory = memory
        self._model = model
        self._jobs = AfterTurn("proposals", MAX_RUNNING, PROPOSALS)
        self.drain = self._jobs.drain

    def propose(self, key: ConversationKey, requester: Requester, config: CompanyConfig, turn: AnsweredTurn) -> None:
        """Starts proposals about an answered turn in the background; does nothing if the company has no model."""
        if self._model.is_available(config):
            self._jobs.begin(turn.turn_id, lambda: self._propose(key, requester, config, turn), turn=turn.turn_id)

    async def _propose(
        self, key: ConversationKey, requester: Requester, config: CompanyConfig, turn: AnsweredTurn
    ) -> str:
        evidence = await self._memory.ground(turn)
        if not evidence.said:
            return "nothing_said"
        messages = proposal_messages(evidence, requester.language)
        reply = await self._model.ask(key, requester, config, messages, max_tokens=MAX_RESPONSE_TOKENS)
        if reply is None:
            return "no_model"
        proposals = parse_proposals(reply)
        if proposals is None:
            return "unreadable"
        judged = await self._memory.judge(turn, proposals)
        PROPOSALS_JUDGED.labels("accepted").inc(judged.accepted)
        for reason in judged.refused:
            PROPOSALS_JUDGED.labels(reason).inc()
        return "judged"
