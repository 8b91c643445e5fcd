"""Has a small model propose, after a customer's turn, what to remember about the customer. Memory keeps only what the
customer's own words prove.

Nothing waits for proposals. If the model or memory fails, the turn is tried again after the company's next turn for
which proposals were made. Those that are lost with their agent are not made again: memory's rules have learned from the
turn.
"""

from dataclasses import dataclass, replace

from agent.adapters.memory import MemoryClient
from agent.domain.prompt.proposals import parse_proposals, proposal_messages
from agent.metrics import PROPOSALS, PROPOSALS_JUDGED
from agent.ports import ConversationKey, Requester
from agent.turns.after_turn import AfterTurn, SmallModel
from contracts.company import CompanyConfig
from contracts.proposal_rpc import AnsweredTurn
from runtime.errors import RpcError

MAX_RUNNING = 32
"""Turns for which proposals are made at the same time; the others are left to memory's rules."""
MAX_FAILED, MAX_TRIES = 500, 4
"""Failed turns that are kept to be tried again, of which the oldest go, and how often one is tried in all."""
MAX_RESPONSE_TOKENS = 800


@dataclass(frozen=True, slots=True)
class _Job:
    """A turn for which proposals are made."""

    key: ConversationKey
    requester: Requester
    config: CompanyConfig
    turn: AnsweredTurn
    tries: int = 1


class Proposer:
    """Makes proposals, once for each turn."""

    def __init__(self, memory: MemoryClient, model: SmallModel) -> None:
        self._memory = memory
        self._model = model
        self._jobs = AfterTurn("proposals", MAX_RUNNING, PROPOSALS)
        self._failed: dict[str, _Job] = {}
        self.drain = self._jobs.drain

    def propose(self, key: ConversationKey, requester: Requester, config: CompanyConfig, turn: AnsweredTurn) -> None:
        """Starts proposals about an answered turn in the background; does nothing if the company has no model."""
        if self._model.is_available(config):
            self._begin(_Job(key, requester, config, turn))

    def _begin(self, job: _Job) -> None:
        self._jobs.begin(job.turn.turn_id, lambda: self._propose(job), turn=job.turn.turn_id)

    async def _propose(self, job: _Job) -> str:
        try:
            outcome = await self._try_once(job)
        except RpcError:
            self._postpone(job)
            raise
        if outcome == "no_model":
            self._postpone(job)
        elif outcome == "judged":
            self._retry_one(job)
        return outcome

    async def _try_once(self, job: _Job) -> str:
        evidence = await self._memory.ground(job.turn)
        if not evidence.said:
            return "nothing_said"
        messages = proposal_messages(evidence, job.requester.language)
        reply = await self._model.ask(job.key, job.requester, job.config, messages, max_tokens=MAX_RESPONSE_TOKENS)
        if reply is None:
            return "no_model"
        proposals = parse_proposals(reply)
        if proposals is None:
            return "unreadable"
        judged = await self._memory.judge(job.turn, proposals)
        PROPOSALS_JUDGED.labels("accepted").inc(judged.accepted)
        for reason in judged.refused:
            PROPOSALS_JUDGED.labels(reason).inc()
        return "judged"

    def _postpone(self, job: _Job) -> None:
        if job.tries == MAX_TRIES:
            return
        self._failed[job.turn.turn_id] = replace(job, tries=job.tries + 1)
        if len(self._failed) > MAX_FAILED:
            del self._failed[next(iter(self._failed))]

    def _retry_one(self, done: _Job) -> None:
        """Begins one failed turn of the company, whose model and settings have just worked."""
        turn = next((turn for turn, job in self._failed.items() if job.key.company == done.key.company), None)
        if turn is not None:
            self._begin(replace(self._failed.pop(turn), config=done.config))
