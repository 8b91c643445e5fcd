"""Protocols of the service's dependencies."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Protocol

from contracts.symbols import Symbol
from contracts.text import Text
from contracts.tools.market import Timeframe
from market_adapter.domain.bars import BarHistory
from market_adapter.domain.facts import Event, Fundamentals, Headline
from market_adapter.domain.paper.account import Account, Fact, Owner
from market_adapter.domain.paper.orders import Order
from market_adapter.domain.quotes import Quote


class MarketProvider(Protocol):
    """A source of market data. Every answer names its source and time; a failure is a MarketError, never a guess."""

    @property
    def source(self) -> str:
        """The name of the source in its answers."""
        ...

    def now(self) -> datetime:
        """The market's current time in UTC: anything later is not known yet."""
        ...

    def note(self) -> Text | None:
        """What readers must know about all its current answers, or None."""
        ...

    def symbols(self) -> Sequence[str]:
        """All its symbols in alphabetical order; empty if they cannot be listed."""
        ...

    async def quote(self, symbol: Symbol) -> Quote:
        """The latest price and its change."""
        ...

    async def daily_history(self, symbol: Symbol, limit: int) -> BarHistory:
        """The last `limit` (≥ 1) daily bars as traded; fewer if there are no more."""
        ...

    async def bars(self, symbol: Symbol, timeframe: Timeframe, limit: int) -> BarHistory:
        """The last `limit` (≥ 1) bars of a timeframe; weekly bars in shares of the last session, others as traded."""
        ...

    async def bars_since(self, symbol: Symbol, moment: datetime) -> BarHistory | None:
        """The finest closed bars that opened at `moment` or later, as traded; None if there are none yet."""
        ...

    async def fundamentals(self, symbol: Symbol) -> Fundamentals:
        """The latest published figures."""
        ...

    async def events(self, symbol: Symbol, until: date) -> Sequence[Event]:
        """The symbol's known events up to `until`, soonest first."""
        ...

    async def economic_events(self, until: date) -> Sequence[Event]:
        """Known events of the economy, soonest first; empty if the provider has no such calendar."""
        ...

    async def headlines(self, symbol: Symbol, limit: int) -> Sequence[Headline]:
        """The newest headlines, newest first."""
        ...


class AccountStore(Protocol):
    """The store of paper accounts: one document each, replaced by compare-and-set."""

    async def load(self, owner: Owner) -> Account:
        """The stored account; a new one (version 0) if there is none."""
        ...

    async def save(self, account: Account) -> bool:
        """Stores the account as the next version; returns False if another version was stored after it was loaded."""
        ...

    async def due_owners(self, wall_time: datetime, market_time: datetime) -> Sequence[Owner]:
        """The owners of accounts in which something is due: a live order that has not processed the market up to
        `market_time`, a pending order that has expired by `wall_time`, or an unpublished fact."""
        ...

    async def archive(self, owner: Owner, orders: Sequence[Order]) -> None:
        """Stores final orders outside the account; storing one again changes nothing."""
        ...

    async def archived(self, owner: Owner, limit: int, symbol: str | None) -> Sequence[Order]:
        """The newest archived orders that have fills."""
        ...

    async def archived_orders(self, owner: Owner, order_ids: Sequence[str]) -> Mapping[str, Order]:
        """The archived ones of these orders, by id."""
        ...

    async def forget(self, owner: Owner) -> int:
        """Deletes everything of a user; returns how many documents."""
        ...

    async def forget_company(self, company: str) -> int:
        """Deletes everything of a company's users; returns how many documents."""
        ...


PublishFact = Callable[[Owner, Fact], Awaitable[None]]
"""Stores a fact on the bus; the same fact again is the same event. Raises PublishFailedError."""
