"""Limits that one agent applies alone while the shared budgets are unavailable.

A reservation counts as used until its real use is known, so errors are on the safe side.
"""

from collections import OrderedDict
from typing import Literal

DAY = 86_400
HOUR = 3_600
MAX_ACCOUNTS = 20_000
"""Accounts that are kept; the least recently used are forgotten."""


class LocalBudgets:
    """Tokens by company and day, and by payer and hour (UTC)."""

    def __init__(self) -> None:
        self._used: OrderedDict[tuple[str, ...], int] = OrderedDict()

    def reserve(
        self, company: str, payer: str | None, tier: str, tokens: int, daily: int | None, hourly: int | None, now: int
    ) -> Literal["company", "visitor"] | None:
        """Reserves tokens, which count as used from now on. Returns the account whose limit is reached, or None.
        `now`: seconds since the epoch."""
        day = (company, tier, "day", str(now // DAY))
        hour = (company, tier, "hour", str(now // HOUR), payer) if payer is not None else None
        if daily is not None and self._used.get(day, 0) >= daily:
            return "company"
        if hour is not None and hourly is not None and self._used.get(hour, 0) >= hourly:
            return "visitor"
        for account in (day, hour):
            if account is not None:
                self._used[account] = self._used.get(account, 0) + tokens
                self._used.move_to_end(account)
        while len(self._used) > MAX_ACCOUNTS:
            self._used.popitem(last=False)
        return None
