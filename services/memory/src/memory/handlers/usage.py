"""Facts and methods about companies' use of models, and their budgets."""

import asyncio
from collections.abc import Sequence
from datetime import UTC

from contracts import memory_rpc
from contracts.envelope import CloudEvent
from contracts.events.fact import UsageRecorded
from memory.adapters.mongo_reports import MongoReports
from memory.adapters.mongo_usage import MongoUsage
from memory.application.budgets import BudgetBook
from memory.application.contexts import PassageSearch
from memory.application.usage import Usages
from memory.deps import Deps
from memory.fact_intake import FactIntake, FactType, ReceivedFact, consume_batches
from memory.ports import Spent
from runtime.lifecycle.service import Service
from runtime.workers.outcomes import Ack, Outcome

USAGE_FACTS = FactType("usage.recorded.v1", "memory-usage", CloudEvent[UsageRecorded])
LINGER_SECONDS = 1.0
"""How long usage is collected before it is counted: for that long, a company's usage today may be too low, while the
calls' reservations still count."""


def serve_budgets(service: Service, budgets: BudgetBook, knowledge: PassageSearch) -> None:
    """Serves budgets: reserved before a model call, and settled after it."""

    async def reserve(request: memory_rpc.BudgetReserveRequest) -> memory_rpc.BudgetReserveReply:
        """Reserves tokens, and searches the company's knowledge for the question in the same call."""
        query = request.knowledge
        search = None if query is None else asyncio.ensure_future(knowledge(request.company_id, query))
        try:
            reached_limit, reserved_at = await budgets.reserve(request)
            passages = None if search is None else await search
        finally:
            if search is not None:
                search.cancel()
        if reached_limit == "both":
            return memory_rpc.BudgetReserveReply(
                granted=True, reserved_at=reserved_at, knowledge=passages, further=True
            )
        return memory_rpc.BudgetReserveReply(
            granted=reached_limit is None, spent=reached_limit, reserved_at=reserved_at, knowledge=passages
        )

    async def settle(request: memory_rpc.BudgetSettleRequest) -> memory_rpc.BudgetSettled:
        return memory_rpc.BudgetSettled(settled=await budgets.settle(request))

    service.serve(memory_rpc.BUDGET_RESERVE, reserve)
    service.serve(memory_rpc.BUDGET_SETTLE, settle)


def serve(deps: Deps, intake: FactIntake, budgets: BudgetBook) -> None:
    """Serves companies' usage, and consumes the facts that are counted and that settle reservations."""
    usages = Usages(
        store=MongoUsage(deps.fact_database["usage"]),
        companies=deps.companies,
        clock=deps.clock,
        conversations=MongoReports(deps.fact_database),
    )
    deps.service.serve(memory_rpc.USAGE, usages.report)

    async def take(facts: Sequence[ReceivedFact[UsageRecorded]]) -> Sequence[Outcome]:
        await usages.count([usage_of(fact) for fact in facts])
        await budgets.settle_all([settlement for fact in facts for settlement in settlements(fact)])
        return [Ack() for _ in facts]

    async def count(fact: ReceivedFact[UsageRecorded]) -> None:
        await usages.count([usage_of(fact)])

    consume_batches(intake, USAGE_FACTS, take, linger=LINGER_SECONDS)
    intake.read_again(USAGE_FACTS, count)


def usage_of(fact: ReceivedFact[UsageRecorded]) -> Spent:
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


def settlements(fact: ReceivedFact[UsageRecorded]) -> list[memory_rpc.BudgetSettleRequest]:
    """The settlements of the reservations that a fact of one or several calls names; the first one has all the usage.
    An agent may have settled them before by a call, which may be lost; each counts once."""
    data = fact.data
    reservations = [*([data.reservation] if data.reservation is not None else []), *(data.further or ())]
    return [
        memory_rpc.BudgetSettleRequest(
            company_id=fact.company,
            reservation_id=reservation.id,
            reserved=reservation.tokens,
            used=0 if index else data.usage.prompt_tokens + data.usage.completion_tokens,
            reserved_at=reservation.at,
            payer=reservation.payer,
            tier=reservation.tier,
        )
        for index, reservation in enumerate(reservations)
    ]
