"""The budget methods, one thin function each."""

import asyncio

from contracts.memory_rpc import (
    BUDGET_RESERVE,
    BUDGET_SETTLE,
    BudgetReserveReply,
    BudgetReserveRequest,
    BudgetSettled,
    BudgetSettleRequest,
)
from memory.application.budgets import BudgetBook
from memory.context_ports import PassageSearch
from runtime.service import Service


class BudgetMethods:
    """Reserve before a model call, settle after it."""

    def __init__(self, budgets: BudgetBook, knowledge: PassageSearch) -> None:
        self._budgets = budgets
        self._knowledge = knowledge

    async def reserve(self, request: BudgetReserveRequest) -> BudgetReserveReply:
        """Reserves tokens, and searches the company's knowledge for the question in the same call."""
        query = request.knowledge
        search = None if query is None else asyncio.ensure_future(self._knowledge(request.company_id, query))
        try:
            spent, at = await self._budgets.reserve(request)
            found = None if search is None else await search
        finally:
            if search is not None:
                search.cancel()
        if spent == "both":
            return BudgetReserveReply(granted=True, reserved_at=at, knowledge=found, further=True)
        return BudgetReserveReply(granted=spent is None, spent=spent, reserved_at=at, knowledge=found)

    async def settle(self, request: BudgetSettleRequest) -> BudgetSettled:
        return BudgetSettled(settled=await self._budgets.settle(request))


def serve(service: Service, budgets: BudgetBook, knowledge: PassageSearch) -> None:
    methods = BudgetMethods(budgets, knowledge)
    service.serve(BUDGET_RESERVE, methods.reserve)
    service.serve(BUDGET_SETTLE, methods.settle)
