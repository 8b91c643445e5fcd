"""What the service needs of the world outside."""

from datetime import date
from typing import Protocol

from contracts.symbols import Symbol
from market_adapter.domain.bars import History
from market_adapter.domain.quotes import Quote


class MarketProvider(Protocol):
    """A source of market data. Every answer names its source and time; a failure is a MarketError, never a guess."""

    async def quote(self, symbol: Symbol) -> Quote:
        """The latest price and its change."""
        ...

    async def daily_history(self, symbol: Symbol, limit: int) -> History:
        """The last `limit` (≥ 1) daily bars as traded; fewer when there are no more."""
        ...


class SessionStore(Protocol):
    """Where the sample clock stands, for all replicas and over restarts."""

    async def begin(self, session: date) -> date:
        """The stored session; stores this one when there is none yet."""
        ...

    async def advance(self, current: date, to: date) -> bool:
        """Moves from `current` to `to`, both or neither; False when the clock no longer stands at `current`."""
        ...


class Nudge(Protocol):
    """Tells the other replicas that the sample clock has moved, so that they look at once. May be lost."""

    async def send(self) -> None:
        """Wakes them."""
        ...
