"""The dependencies of the service, as Protocols."""

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
        """The market's present, UTC: what is later is not known yet."""
        ...

    def note(self) -> Text | None:
        """Returns what readers must know about all its answers at the moment, or None."""
        ...

    def symbols(self) -> Sequence[str]:
        """All that it has, in alphabetical order; none where nobody can list them."""
        ...

    async def quote(self, symbol: Symbol) -> Quote:
        """The latest price and its change."""
        ...

    async def daily_history(self, symbol: Symbol, limit: int) -> BarHistory:
        """The last `limit` (≥ 1) daily bars as traded; fewer when there are no more."""
        ...

    async def bars(self, symbol: Symbol, timeframe: Timeframe, limit: int) -> BarHistory:
        """The last `limit` (≥ 1) bars of a timeframe; weekly ones in shares of the last session, others as traded."""
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
        """Events of the economy that are known, soonest first; none where the provider has no such calendar."""
        ...

    async def headlines(self, symbol: Symbol, limit: int) -> Sequence[Headline]:
        """The newest headlines, newest first."""
        ...


class AccountStore(Protocol):
    """The store of paper accounts: one document each, replaced by compare-and-set."""

    async def load(self, owner: Owner) -> Account:
        """The account as stored; a new one (version 0) if there is none."""
        ...

    async def save(self, account: Account) -> bool:
        """Stores it as the next version; False if another version was stored after it was loaded."""
        ...

    async def attention(self, wall: datetime, market: datetime) -> Sequence[Owner]:
        """The owners of accounts in which something is due: a live order that has not seen the market up to
        `market`, a question that has expired by `wall`, or an unpublished fact."""
        ...

    async def archive(self, owner: Owner, orders: Sequence[Order]) -> None:
        """Keeps final orders outside the account; the same one again changes nothing."""
        ...

    async def archived(self, owner: Owner, limit: int, symbol: str | None) -> Sequence[Order]:
        """The newest archived orders that have fills."""
        ...

    async def archived_orders(self, owner: Owner, order_ids: Sequence[str]) -> Mapping[str, Order]:
        """Returns those of these orders that are archived, by id."""
        ...

    async def forget(self, owner: Owner) -> int:
        """Deletes everything of theirs; how many documents there were."""
        ...

    async def forget_company(self, company: str) -> int:
        """Deletes everything of everybody there; how many documents there were."""
        ...


Tell = Callable[[Owner, Fact], Awaitable[None]]
"""Stores a fact on the bus; the same one again is the same event. Raises PublishFailedError."""
