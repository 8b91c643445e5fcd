"""Has a small model propose, after a customer's turn, what to remember about the customer. Memory keeps only what the
customer's own words prove.

Nothing waits for proposals. About a turn whose proposals fail, are lost with their agent or do not begin because of too
many others, memory asks some agent again.
"""

from agent.adapters.memory import MemoryClient
from agent.domain.prompt.proposals import parse_proposals, proposal_messages
from agent.domain.text_features import language_last_shown
from agent.metrics import PROPOSALS, PROPOSALS_JUDGED
from agent.ports import Companies, ConversationKey, Requester
from agent.turns.after_turn import AfterTurn, SmallModel
from contracts.company import CompanyConfig
from contracts.proposal_rpc import PROPOSE_LATE, AnsweredTurn, TurnProposed, UnproposedTurn
from runtime.calls.rpc import RpcServer
from runtime.errors import RpcError

MAX_RUNNING = 32
"""Turns for which proposals are made at the same time."""
MAX_RESPONSE_TOKENS = 800
_NO_MODEL = "no_model"
_AGAIN = (_NO_MODEL, "failed")
"""Outcomes of a turn at which the model or memory did not answer."""


class Proposer:
    """Makes proposals, once for each turn."""

    def __init__(self, memory: MemoryClient, model: SmallModel, companies: Companies) -> None:
        self._memory = memory
        self._model = model
        self._companies = companies
        self._jobs = AfterTurn("proposals", MAX_RUNNING, PROPOSALS)
        self.drain = self._jobs.drain

    async def serve(self, server: RpcServer) -> None:
        await server.serve(PROPOSE_LATE, self.propose_late)

    def propose(self, key: ConversationKey, requester: Requester, config: CompanyConfig, turn: AnsweredTurn) -> None:
        """Starts proposals about an answered turn in the background; does nothing if the company has no model."""
        if self._model.is_available(config):
            self._jobs.begin(turn.turn_id, lambda: self._propose(key, requester, config, turn), turn=turn.turn_id)

    async def propose_late(self, turn: UnproposedTurn) -> TurnProposed:
        """Makes proposals about a turn for which none have been made, and returns whether there is nothing left to
        make. Raises UnreachableError."""
        settings = await self._companies.get(turn.company_id)
        if settings is None or not self._model.is_available(settings.config):
            return TurnProposed(done=True)
        key = ConversationKey(turn.company_id, turn.conversation_id)
        requester = Requester(None, "user", "free", turn.user_id, settings.config.answer_language(None))
        try:
            outcome = await self._propose(key, requester, settings.config, turn)
        except RpcError:
            outcome = "failed"
        PROPOSALS.labels(outcome).inc()
        return TurnProposed(done=outcome not in _AGAIN)

    async def _propose(
        self, key: ConversationKey, requester: Requester, config: CompanyConfig, turn: AnsweredTurn
    ) -> str:
        evidence = await self._memory.ground(turn)
        if not evidence.said:
            return "nothing_said"
        messages = proposal_messages(evidence, language_last_shown(evidence.said, requester.language))
        reply = await self._model.ask(key, requester, config, messages, max_tokens=MAX_RESPONSE_TOKENS)
        if reply is None:
            return _NO_MODEL
        proposals = parse_proposals(reply)
        if proposals is None:
            return "unreadable"
        judged = await self._memory.judge(turn, proposals)
        PROPOSALS_JUDGED.labels("accepted").inc(judged.accepted)
        for reason in judged.refused:
            PROPOSALS_JUDGED.labels(reason).inc()
        return "judged"
