"""Changes paper accounts one change at a time, and publishes their facts.

An account is loaded, brought up to date with the market, changed, and stored by compare-and-set; whoever loses the race
starts again. A decision is stored before it is published, and a fact leaves the document's outbox only when the bus has
it. So nothing is lost and nothing happens twice, whatever dies when.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

import structlog

from contracts.symbols import parse_symbol
from market_adapter.domain.paper.account import DECIDED, Account, Fact, News, Owner, advance
from market_adapter.domain.paper.orders import FINAL
from market_adapter.errors import BusyError, MarketError
from market_adapter.ports import AccountStore, MarketProvider, Tell
from market_adapter.texts import TEXTS
from runtime.clock import Clock
from runtime.errors import PublishFailedError

ResultT = TypeVar("ResultT")
Change = Callable[[Account, Mapping[str, News]], tuple[Account, ResultT]]
TRIES = 50
"""The number of tries to change an account that others are changing too."""
ASKED_AT_ONCE = 4
"""Symbols of one account that the provider is asked for side by side."""
KEPT = 200
"""Final orders that stay in the account; older ones go to the archive. It bounds the document (16 MB) for good."""


class PaperTrading:
    """The access of one replica to the accounts."""

    def __init__(self, store: AccountStore, provider: MarketProvider, tell: Tell, wall: Clock) -> None:
        self._store = store
        self._provider = provider
        self._publish = tell
        self._wall = wall
        self._log = structlog.get_logger()

    @property
    def store(self) -> AccountStore:
        """The store of the accounts."""
        return self._store

    async def current(self, owner: Owner) -> Account:
        """The account as it is now, with all that the market has done to it."""
        return await self.change(owner, lambda account, _news: (account, account))

    async def change(self, owner: Owner, change: Change[ResultT]) -> ResultT:
        """Stores the account as `change` makes it and returns its result; `change` may run several times.

        Raises:
            BusyError: too many others change the same account at this moment.
            PyMongoError: the store is away.
        """
        for _ in range(TRIES):
            stored = await self._store.load(owner)
            news = await self._news(stored)
            fresh = advance(stored, news, wall=self._wall.now(), market=self._provider.now())
            changed, result = change(fresh, news)
            if changed == stored:
                return result
            trimmed = await self._trimmed(self._with_source(changed))
            if await self._store.save(trimmed):
                await self._tell(owner, trimmed.outbox)
                return result
        raise BusyError(str(owner.user), TEXTS["order.account_is_busy"])

    async def attend(self) -> None:
        """Brings every account in which something is due up to date, and publishes its unpublished facts."""
        for owner in await self._store.attention(self._wall.now(), self._provider.now()):
            try:
                await self.current(owner)
                await self._tell(owner, (await self._store.load(owner)).outbox)
            except Exception as error:  # one account that cannot be dealt with must not hold up everybody after it
                self._log.warning("paper.account_waits", owner=str(owner), error=str(error) or type(error).__name__)

    async def _news(self, account: Account) -> dict[str, News]:
        limit = asyncio.Semaphore(ASKED_AT_ONCE)

        async def of(name: str) -> tuple[str, News | None]:
            async with limit:
                return name, await self._news_of(account, name)

        found = await asyncio.gather(*(of(name) for name in account.symbols))
        return {name: news for name, news in found if news is not None}

    async def _news_of(self, account: Account, name: str) -> News | None:
        """The market's news of one symbol; None: nothing now, and the symbol stands still until the provider
        answers."""
        symbol = parse_symbol(name)
        live = [order.seen_until for order in account.orders if order.live and order.symbol == name]
        since = min((moment for moment in live if moment is not None), default=None)
        try:
            bars = None if since is None else await self._provider.bars_since(symbol, since)
            history = await self._provider.daily_history(symbol, 1)
        except MarketError as error:
            self._log.warning("paper.no_news", symbol=name, reason=error.reason)
            return None
        return News(() if bars is None else bars.bars, history.splits, history.dividends)

    def _with_source(self, account: Account) -> Account:
        """Facts name where the prices are from, and when a decision was made."""
        named = tuple(self._named(fact) for fact in account.outbox)
        return replace(account, outbox=named)

    def _named(self, fact: Fact) -> Fact:
        if "source" in fact.data or "decidedAt" in fact.data:
            return fact
        more = (
            {"decidedAt": self._wall.now().isoformat()} if fact.kind == DECIDED else {"source": self._provider.source}
        )
        return replace(fact, data={**fact.data, **more})

    async def _trimmed(self, account: Account) -> Account:
        final = [order for order in account.orders if order.state in FINAL]
        if len(final) <= KEPT:
            return account
        old = final[: len(final) - KEPT]
        # Archived before they leave the account: a crash between leaves them in both, never in neither.
        await self._store.archive(account.owner, old)
        gone = {order.id for order in old}
        return replace(account, orders=tuple(order for order in account.orders if order.id not in gone))

    async def _tell(self, owner: Owner, outbox: tuple[Fact, ...]) -> None:
        told: set[tuple[str, str]] = set()
        try:
            for fact in outbox:
                await self._publish(owner, fact)
                told.add((fact.kind, fact.key))
        except PublishFailedError as error:
            self._log.warning("paper.fact_waits", owner=str(owner), error=str(error))
        for _ in range(TRIES if told else 0):
            account = await self._store.load(owner)
            left = tuple(fact for fact in account.outbox if (fact.kind, fact.key) not in told)
            if left == account.outbox or await self._store.save(replace(account, outbox=left)):
                return
