"""After a customer's turn a small model proposes what is to be remembered of them, and memory takes what is proven.

Nobody waits for it. Proposals that are lost with their agent are not made again: the rules have learned the turn.
"""

import asyncio
from typing import Protocol

import structlog

from agent.domain.cost import SpendingAccount
from agent.domain.prompt.proposals import proposal_messages, read_proposals
from agent.domain.providers import small_model
from agent.errors import BudgetSpentError, ModelError
from agent.measures import PROPOSALS, PROPOSALS_JUDGED
from agent.ports import Asker, Key, Models, Prompt
from agent.turns.metering import Spending, ask_paid
from contracts.company import CompanyConfig
from contracts.proposal_rpc import AnsweredTurn, FactProposal, ProposalGround, ProposalsJudged

log = structlog.get_logger(__name__)

MOST = 32
"""Turns that are proposed about at once; the others are left to the rules."""
SECONDS = 20.0
"""For the model."""
MOST_TOKENS = 800


class FactProofs(Protocol):
    """Memory: what proposals may rest on, and which of them count."""

    async def ground(self, turn: AnsweredTurn) -> ProposalGround:
        """What may be proposed about; raises RpcError."""
        ...

    async def judge(self, turn: AnsweredTurn, proposals: list[FactProposal]) -> ProposalsJudged:
        """Which of them count; raises RpcError."""
        ...


class Proposer:
    """Proposals, once a turn."""

    def __init__(self, proofs: FactProofs, models: Models, spending: Spending) -> None:
        self._proofs = proofs
        self._models = models
        self._spending = spending
        self._running: dict[str, asyncio.Task[None]] = {}

    def propose(self, key: Key, asker: Asker, config: CompanyConfig, turn: AnsweredTurn) -> None:
        """Proposes about an answered turn, later and without waiting; with no model there is nothing to do."""
        if turn.turn_id in self._running or len(self._running) >= MOST:
            return
        small = small_model(config.preferred_provider, config.budget.cheaper_model or config.preferred_model)
        if self._models.chosen(config.preferred_provider, small).candidates[0][0].provider == "offline":
            return
        cheap = config.model_copy(update={"preferred_model": small})
        task = asyncio.create_task(self._made(key, asker, cheap, turn))
        self._running[turn.turn_id] = task
        task.add_done_callback(lambda _: self._running.pop(turn.turn_id, None))

    async def drain(self, seconds: float) -> None:
        """Waits for what is being made, and gives up the rest."""
        running = list(self._running.values())
        if running:
            _, late = await asyncio.wait(running, timeout=seconds)
            for task in late:
                task.cancel()

    async def _made(self, key: Key, asker: Asker, config: CompanyConfig, turn: AnsweredTurn) -> None:
        try:
            outcome = await self._proposed(key, asker, config, turn)
        except Exception as error:
            # Nobody waits for it: the rules have learned the turn.
            log.warning("proposals.failed", turn=turn.turn_id, error=type(error).__name__)
            outcome = "failed"
        PROPOSALS.labels(outcome).inc()

    async def _proposed(self, key: Key, asker: Asker, config: CompanyConfig, turn: AnsweredTurn) -> str:
        ground = await self._proofs.ground(turn)
        if not ground.said:
            return "nothing_said"
        prompt = Prompt(
            messages=proposal_messages(ground, asker.language),
            tools=(),
            tool_choice="none",
            model=config.preferred_model,
            temperature=0.0,
            max_tokens=MOST_TOKENS,
            time_limit=SECONDS,
            language=asker.language,
        )
        account = SpendingAccount(key.company, key.conversation, asker.user or key.conversation, asker.user)
        try:
            reply = await ask_paid(self._spending, self._models, account, config, prompt)
        except (ModelError, BudgetSpentError):
            return "no_model"
        proposals = read_proposals(reply.text)
        if proposals is None:
            return "unreadable"
        judged = await self._proofs.judge(turn, proposals)
        PROPOSALS_JUDGED.labels("accepted").inc(judged.accepted)
        for why in judged.refused:
            PROPOSALS_JUDGED.labels(why).inc()
        return "judged"
