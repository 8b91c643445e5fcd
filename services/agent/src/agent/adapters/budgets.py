"""Token budgets, which memory keeps for all agents. While memory does not answer, each agent applies the limits by
itself."""

import asyncio
import time
from dataclasses import replace

import structlog
from nats.aio.client import Client

from agent.domain.cost import Reservation
from agent.domain.local_budgets import LocalBudgets
from agent.errors import BudgetSpentError
from agent.metrics import BUDGET_LOCAL, BUDGET_REFUSED
from agent.ports import Search
from contracts.errors import ErrorCode
from contracts.memory_rpc import BUDGET_RESERVE, BUDGET_SETTLE, BudgetReserveRequest, BudgetSettleRequest, FurtherCall
from runtime.bus.connection import post
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError

log = structlog.get_logger(__name__)

DEADLINE = 1.5
"""Seconds for memory's answer."""
UNAVAILABLE_SECONDS = 5.0
"""Seconds for which memory is not asked after it failed to answer, so that not every turn waits for it."""


class MemoryBudgets:
    def __init__(self, rpc: RpcClient, client: Client) -> None:
        self._rpc = rpc
        self._client = client
        self._unavailable_until = 0.0
        self._local = LocalBudgets()

    async def reserve(
        self, reservation: Reservation, daily: int | None, hourly: int | None, search: Search | None = None
    ) -> Reservation:
        """Returns the reservation as granted; raises BudgetSpentError. A memory of an older release ignores the
        search."""
        if time.time() >= self._unavailable_until:
            request = BudgetReserveRequest(
                company_id=reservation.company,
                reservation_id=reservation.call,
                tokens=reservation.tokens,
                seconds=min(reservation.seconds, 600.0),
                payer=reservation.payer,
                daily_tokens=daily,
                hourly_tokens=hourly,
                tier=reservation.tier,
                knowledge=search.query if search is not None else None,
                further=None
                if reservation.further is None
                else FurtherCall(reservation_id=reservation.further.call, tokens=reservation.further.tokens),
            )
            try:
                reply = await self._rpc.call(BUDGET_RESERVE, request, deadline=DEADLINE)
            except asyncio.CancelledError:
                # Granted or not, nobody will use it. The further reservation expires by itself.
                self.settle(replace(reservation, at=int(time.time())), 0)
                raise
            except RpcError as error:
                self._unavailable_until = time.time() + UNAVAILABLE_SECONDS
                log.warning("budgets.local", reason=error.code)
                if search is not None and error.code == ErrorCode.TIMEOUT:
                    search.set_result(None)  # another request would only take more time
            else:
                if search is not None and reply.knowledge is not None:
                    search.set_result(reply.knowledge)
                if not reply.granted:
                    raise _budget_spent(reply.spent)
                further = reservation.further if reply.further else None
                return replace(
                    reservation,
                    at=reply.reserved_at,
                    further=further and replace(further, at=reply.reserved_at),
                )
        BUDGET_LOCAL.inc()
        now = int(time.time())
        spent_budget = self._local.reserve(
            reservation.company, reservation.payer, reservation.tier, reservation.tokens, daily, hourly, now
        )
        if spent_budget is not None:
            raise _budget_spent(spent_budget)
        return replace(reservation, at=now, further=None)

    def settle(self, reservation: Reservation, used: int) -> None:
        """Publishes the tokens used on core NATS, without waiting. If the message is lost, the reservation expires."""
        request = BudgetSettleRequest(
            company_id=reservation.company,
            reservation_id=reservation.call,
            reserved=reservation.tokens,
            used=used,
            reserved_at=reservation.at,
            payer=reservation.payer,
            tier=reservation.tier,
        )
        post(self._client, BUDGET_SETTLE.subject, request.to_json())


def _budget_spent(owner: str | None) -> BudgetSpentError:
    BUDGET_REFUSED.labels("visitor" if owner == "visitor" else "company").inc()
    if owner == "visitor":
        return BudgetSpentError("the visitor's tokens for this hour are used up", "hour")
    return BudgetSpentError("the company's tokens for today are used up: raise budget.dailyTokens")
