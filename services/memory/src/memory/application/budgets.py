"""Budgets of companies and visitors: reserved before a model call, settled from its usage."""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from contracts.memory_rpc import BudgetReserveRequest, BudgetSettleRequest, FurtherCall
from memory.domain.spending_limits import PREFIX, BudgetAccount, Payer, Settlement

DAY = 86_400
HOUR = 3_600


class BudgetLedger(Protocol):
    """The accounts' storage. Each method is one atomic step."""

    async def reserve(
        self, call: str, tokens: int, seconds: float, accounts: list[BudgetAccount], further: FurtherCall | None = None
    ) -> Payer | Literal["both"] | None:
        """Reserves in all the accounts or in none; returns whose limit is reached (None: reserved; "both": it is
        reached together with the further call, for which half of each limit must stay free).

        Reserving the same call again changes nothing.
        """
        ...

    async def settle(self, settlement: Settlement) -> bool:
        """Replaces the reservation by the usage; returns False if the call was settled before."""
        ...

    async def settle_all(self, settlements: Sequence[Settlement]) -> None:
        """The same for several calls."""
        ...


Clock = Callable[[], float]
"""Seconds since the epoch."""


class BudgetBook:
    """Reserves and settles budgets. Days and hours are in UTC; usage counts in the day and hour of its reservation."""

    def __init__(self, ledger: BudgetLedger, clock: Clock) -> None:
        self._ledger = ledger
        self._clock = clock

    async def reserve(self, request: BudgetReserveRequest) -> tuple[Payer | Literal["both"] | None, int]:
        """Returns whose limit is reached (None: reserved; "both": it is reached together with the further call), and
        the time of the decision in seconds since the epoch."""
        now = int(self._clock())
        accounts = paying_accounts(
            request.company_id, request.tier, request.payer, now, request.daily_tokens, request.hourly_tokens
        )
        reached_limit = await self._ledger.reserve(
            request.reservation_id, request.tokens, request.seconds, accounts, request.further
        )
        return reached_limit, now

    async def settle(self, request: BudgetSettleRequest) -> bool:
        """Settles a call; returns False if it was settled before."""
        return await self._ledger.settle(_settlement(request))

    async def settle_all(self, requests: Sequence[BudgetSettleRequest]) -> None:
        """Settles the calls that were not settled before."""
        if requests:
            await self._ledger.settle_all([_settlement(request) for request in requests])


def _settlement(request: BudgetSettleRequest) -> Settlement:
    accounts = paying_accounts(request.company_id, request.tier, request.payer, request.reserved_at, None, None)
    return Settlement(request.company_id, request.reservation_id, request.reserved, request.used, accounts)


def paying_accounts(
    company: str, tier: str, payer: str | None, time: int, daily_tokens: int | None, hourly_tokens: int | None
) -> list[BudgetAccount]:
    """The accounts that pay for a call at this time, in seconds since the epoch.

    The braces in their keys keep a company's accounts on one node of a Redis cluster.
    """
    prefix = f"{PREFIX}{{{company}}}:{tier}"
    accounts = [BudgetAccount("company", f"{prefix}:day:{time // DAY}", daily_tokens, 2 * DAY)]
    if payer is not None:
        accounts.append(BudgetAccount("visitor", f"{prefix}:hour:{time // HOUR}:{payer}", hourly_tokens, 2 * HOUR))
    return accounts
