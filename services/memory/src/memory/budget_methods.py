"""The methods of budgets, one thin function each."""

from contracts.memory_rpc import (
    BUDGET_RESERVE,
    BUDGET_SETTLE,
    BudgetReserveReply,
    BudgetReserveRequest,
    BudgetSettled,
    BudgetSettleRequest,
)
from memory.application.budgets import Budgets
from memory.handlers import answering
from runtime.service import Service


class BudgetMethods:
    """Reserve before a model call, settle after it."""

    def __init__(self, budgets: Budgets) -> None:
        self._budgets = budgets

    async def reserve(self, request: BudgetReserveRequest) -> BudgetReserveReply:
        """May it use so many tokens?"""
        spent, at = await self._budgets.reserve(request)
        return BudgetReserveReply(granted=spent is None, spent=spent, reserved_at=at)

    async def settle(self, request: BudgetSettleRequest) -> BudgetSettled:
        """What it used."""
        return BudgetSettled(settled=await self._budgets.settle(request))


def serve(service: Service, budgets: Budgets) -> None:
    """Serves both."""
    methods = BudgetMethods(budgets)
    service.serve(BUDGET_RESERVE, answering(methods.reserve))
    service.serve(BUDGET_SETTLE, answering(methods.settle))
