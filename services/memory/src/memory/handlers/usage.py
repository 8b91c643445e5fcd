"""Companies' use of models: counted from facts, reported, and limited by budgets."""

import asyncio
from collections.abc import Sequence
from datetime import UTC

from contracts.envelope import CloudEvent
from contracts.events.fact import UsageRecorded
from contracts.memory_rpc import (
    BUDGET_RESERVE,
    BUDGET_SETTLE,
    USAGE,
    BudgetReserveReply,
    BudgetReserveRequest,
    BudgetSettled,
    BudgetSettleRequest,
)
from memory.application.budgets import BudgetBook
from memory.application.contexts import PassageSearch
from memory.application.usage import Usages
from memory.fact_intake import FactIntake, FactType, TakenFact, take_in_together
from memory.ports import Spent
from runtime.lifecycle.service import Service
from runtime.workers.outcomes import Ack, Outcome

USAGE_FACTS = FactType("usage.recorded.v1", "memory-usage", CloudEvent[UsageRecorded])
LINGER = 1.0
"""Seconds for which usage is collected: for that long, a company's usage today may be too low, while the calls'
reservations still count."""


def serve_budgets(service: Service, budgets: BudgetBook, knowledge: PassageSearch) -> None:
    """Budgets are reserved before a model call, and settled after it."""

    async def reserve(request: BudgetReserveRequest) -> BudgetReserveReply:
        """Reserves tokens, and searches the company's knowledge for the question in the same call."""
        query = request.knowledge
        search = None if query is None else asyncio.ensure_future(knowledge(request.company_id, query))
        try:
            spent, at = await budgets.reserve(request)
            found = None if search is None else await search
        finally:
            if search is not None:
                search.cancel()
        if spent == "both":
            return BudgetReserveReply(granted=True, reserved_at=at, knowledge=found, further=True)
        return BudgetReserveReply(granted=spent is None, spent=spent, reserved_at=at, knowledge=found)

    async def settle(request: BudgetSettleRequest) -> BudgetSettled:
        return BudgetSettled(settled=await budgets.settle(request))

    service.serve(BUDGET_RESERVE, reserve)
    service.serve(BUDGET_SETTLE, settle)


def serve(intake: FactIntake, usages: Usages, budgets: BudgetBook) -> None:
    """The usage of companies, and the facts that are counted and settle their reservations."""
    intake.service.serve(USAGE, usages.report)

    async def take(facts: Sequence[TakenFact[UsageRecorded]]) -> Sequence[Outcome]:
        await usages.count([spent(fact) for fact in facts])
        await budgets.settle_all([each for fact in facts for each in settlements(fact)])
        return [Ack() for _ in facts]

    take_in_together(intake, USAGE_FACTS, take, linger=LINGER)


def spent(fact: TakenFact[UsageRecorded]) -> Spent:
    data = fact.data
    tokens = data.usage.prompt_tokens + data.usage.completion_tokens
    return Spent(
        company=fact.company,
        conversation=data.conversation_id,
        event_id=fact.event.id,
        day=fact.event.time.astimezone(UTC).date(),
        turn_id=data.turn_id,
        prompt_tokens=data.usage.prompt_tokens,
        completion_tokens=data.usage.completion_tokens,
        cost=data.cost or 0.0,
        unpriced=data.cost is None and tokens > 0,
    )


def settlements(fact: TakenFact[UsageRecorded]) -> list[BudgetSettleRequest]:
    """The reservations that the usage of one or several calls settles; the first one with all the usage. An agent
    may have settled them already by a call that may be lost; each counts once."""
    data = fact.data
    held = [*([data.reservation] if data.reservation is not None else []), *(data.further or ())]
    return [
        BudgetSettleRequest(
            company_id=fact.company,
            reservation_id=one.id,
            reserved=one.tokens,
            used=0 if number else data.usage.prompt_tokens + data.usage.completion_tokens,
            reserved_at=one.at,
            payer=one.payer,
            tier=one.tier,
        )
        for number, one in enumerate(held)
    ]
