"""Budgets, kept by memory for all agents; while memory does not answer, each agent keeps the limits by itself.

With a call's tokens those of some later calls are reserved, so that most calls ask nobody. Each of these reservations
is one like any other: it is held in the same accounts, used once, and settled by its own name.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace

import structlog
from nats.aio.client import Client
from nats.errors import Error as NatsError

from agent.domain.local_budgets import LocalBudgets
from agent.errors import BudgetSpentError
from agent.measures import BUDGET_LOCAL, BUDGET_REFUSED
from agent.ports import Reservation
from contracts.memory_rpc import (
    AHEAD_SECONDS,
    BUDGET_RESERVE,
    BUDGET_SETTLE,
    BudgetReserveRequest,
    BudgetSettleRequest,
)
from runtime.errors import RpcError
from runtime.rpc import RpcClient

log = structlog.get_logger(__name__)

DEADLINE = 1.5
"""Seconds for memory's answer."""
AHEAD = 3
"""Later calls for which tokens are reserved with a call's own."""
ROOM = 1.5
"""Reservations are so much larger than the call that they are first made for: conversations grow."""
STOCKS = 10_000
"""Payers whose reservations for later calls are kept, the latest."""
HOUR = 3_600
AWAY = 5.0
"""Seconds for which memory is not asked after it did not answer: turns must not wait for it one after the other."""


_Purse = tuple[str, str | None, str, int | None, int | None]
"""Company, payer and tier, with the limits that were asked for: after a change of settings others hold."""


class MemoryBudgets:
    """Budgets."""

    def __init__(self, rpc: RpcClient, client: Client, clock: Callable[[], float] = time.time) -> None:
        self._rpc = rpc
        self._client = client
        self._clock = clock
        self._away_until = 0.0
        self._local = LocalBudgets()
        self._stocks: OrderedDict[_Purse, list[Reservation]] = OrderedDict()
        self._telling: set[asyncio.Task[None]] = set()

    async def reserve(self, wanted: Reservation, daily: int | None, hourly: int | None) -> Reservation:
        """The reservation as granted; raises BudgetSpentError."""
        purse = (wanted.company, wanted.payer, wanted.tier, daily, hourly)
        kept = self._from_stock(purse, wanted)
        if kept is not None:
            return kept
        if self._clock() >= self._away_until:
            larger = replace(wanted, tokens=int(wanted.tokens * ROOM))
            request = BudgetReserveRequest(
                company_id=wanted.company,
                reservation_id=wanted.call,
                tokens=larger.tokens,
                ahead=AHEAD,
                seconds=min(wanted.seconds, 600.0),
                payer=wanted.payer,
                daily_tokens=daily,
                hourly_tokens=hourly,
                tier=wanted.tier,
            )
            try:
                reply = await self._rpc.call(BUDGET_RESERVE, request, deadline=DEADLINE)
            except asyncio.CancelledError:
                # Granted or not, nobody will use it.
                for number in range(AHEAD + 1):
                    name = f"{wanted.call}-{number}" if number else wanted.call
                    self.settle(replace(larger, call=name, at=int(self._clock())), 0)
                raise
            except RpcError as error:
                self._away_until = self._clock() + AWAY
                log.warning("budgets.local", reason=error.code)
            else:
                if not reply.granted:
                    if self._give_back(wanted.company):
                        return await self.reserve(wanted, daily, hourly)
                    raise _spent(reply.spent)
                granted = replace(larger, at=reply.reserved_at)
                self._stocks[purse] = [replace(granted, call=name, seconds=AHEAD_SECONDS) for name in reply.ahead]
                self._stocks.move_to_end(purse)
                if len(self._stocks) > STOCKS:
                    self._stocks.popitem(last=False)
                return granted
        BUDGET_LOCAL.inc()
        now = int(self._clock())
        spent = self._local.reserve(wanted.company, wanted.payer, wanted.tier, wanted.tokens, daily, hourly, now)
        if spent is not None:
            raise _spent(spent)
        return replace(wanted, at=now)

    def _from_stock(self, purse: "_Purse", wanted: Reservation) -> Reservation | None:
        """One that was made for a later call: large enough, of this hour, and held for as long as the call may take."""
        stock, now = self._stocks.get(purse), self._clock()
        while stock:
            kept = stock.pop()
            if kept.at // HOUR == int(now) // HOUR and now + wanted.seconds <= kept.at + AHEAD_SECONDS:
                if kept.tokens >= wanted.tokens:
                    return kept
                self.settle(kept, 0)
        return None

    def _give_back(self, company: str) -> bool:
        """Lets go of what is kept for a company's later calls: others need it. False: there is nothing."""
        kept = [purse for purse, stock in self._stocks.items() if purse[0] == company and stock]
        for purse in kept:
            for reservation in self._stocks.pop(purse):
                self.settle(reservation, 0)
        return bool(kept)

    def settle(self, reservation: Reservation, used: int) -> None:
        """Told on core NATS and not waited for: what is lost on a broken connection expires as a reservation."""
        request = BudgetSettleRequest(
            company_id=reservation.company,
            reservation_id=reservation.call,
            reserved=reservation.tokens,
            used=used,
            reserved_at=reservation.at,
            payer=reservation.payer,
            tier=reservation.tier,
        )
        self._tell(request.to_json())

    def _tell(self, body: bytes) -> None:
        task = asyncio.create_task(self._publish(body))
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def _publish(self, body: bytes) -> None:
        try:
            await self._client.publish(BUDGET_SETTLE.subject, body)
        except NatsError as error:
            log.warning("budgets.unsettled", reason=type(error).__name__)


def _spent(whose: str | None) -> BudgetSpentError:
    BUDGET_REFUSED.labels("visitor" if whose == "visitor" else "company").inc()
    if whose == "visitor":
        return BudgetSpentError("the visitor's tokens for this hour are used up", "hour")
    return BudgetSpentError("the company's tokens for today are used up: raise budget.dailyTokens")
