"""Budgets, which memory keeps for all agents. While memory does not answer, each agent applies the limits by itself."""

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
AWAY = 5.0
"""Seconds for which memory is not asked after it did not answer: turns must not wait for it one after the other."""


class MemoryBudgets:
    def __init__(self, rpc: RpcClient, client: Client) -> None:
        self._rpc = rpc
        self._client = client
        self._away_until = 0.0
        self._local = LocalBudgets()

    async def reserve(
        self, wanted: Reservation, daily: int | None, hourly: int | None, search: Search | None = None
    ) -> Reservation:
        """The reservation as granted; raises BudgetSpentError. An older memory reserves, and leaves the search."""
        if time.time() >= self._away_until:
            request = BudgetReserveRequest(
                company_id=wanted.company,
                reservation_id=wanted.call,
                tokens=wanted.tokens,
                seconds=min(wanted.seconds, 600.0),
                payer=wanted.payer,
                daily_tokens=daily,
                hourly_tokens=hourly,
                tier=wanted.tier,
                knowledge=search.query if search is not None else None,
                further=None
                if wanted.further is None
                else FurtherCall(reservation_id=wanted.further.call, tokens=wanted.further.tokens),
            )
            try:
                reply = await self._rpc.call(BUDGET_RESERVE, request, deadline=DEADLINE)
            except asyncio.CancelledError:
                # Granted or not, nobody will use it; the further one, for which there is room, runs out by itself.
                self.settle(replace(wanted, at=int(time.time())), 0)
                raise
            except RpcError as error:
                self._away_until = time.time() + AWAY
                log.warning("budgets.local", reason=error.code)
                if search is not None and error.code == ErrorCode.TIMEOUT:
                    search.set_result(None)  # asking once more would only take more time
            else:
                if search is not None and reply.knowledge is not None:
                    search.set_result(reply.knowledge)
                if not reply.granted:
                    raise _spent(reply.spent)
                further = wanted.further if reply.further else None
                return replace(
                    wanted,
                    at=reply.reserved_at,
                    further=further and replace(further, at=reply.reserved_at),
                )
        BUDGET_LOCAL.inc()
        now = int(time.time())
        spent = self._local.reserve(wanted.company, wanted.payer, wanted.tier, wanted.tokens, daily, hourly, now)
        if spent is not None:
            raise _spent(spent)
        return replace(wanted, at=now, further=None)

    def settle(self, reservation: Reservation, used: int) -> None:
        """Published on core NATS without waiting. If it is lost on a broken connection, the reservation expires."""
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


def _spent(whose: str | None) -> BudgetSpentError:
    BUDGET_REFUSED.labels("visitor" if whose == "visitor" else "company").inc()
    if whose == "visitor":
        return BudgetSpentError("the visitor's tokens for this hour are used up", "hour")
    return BudgetSpentError("the company's tokens for today are used up: raise budget.dailyTokens")
