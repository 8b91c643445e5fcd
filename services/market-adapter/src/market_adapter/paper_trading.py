"""Changes paper accounts one change at a time, and publishes their facts.

An account is loaded, brought up to date with the market, changed, and stored by compare-and-set; if another writer was
faster, this starts again. A decision is stored before it is published, and a fact leaves the document's outbox only
when the bus has it. So nothing is lost and nothing happens twice, whichever process dies.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

import structlog

from contracts.symbols import parse_symbol
from market_adapter.domain.paper.account import DECIDED, Account, Fact, News, Owner, advance
from market_adapter.domain.paper.orders import FINAL, Order
from market_adapter.errors import BusyError, MarketError
from market_adapter.ports import AccountStore, MarketProvider, PublishFact
from market_adapter.texts import TEXTS
from runtime.clock import Clock
from runtime.errors import PublishFailedError

ResultT = TypeVar("ResultT")
Change = Callable[[Account, Mapping[str, News]], tuple[Account, ResultT]]
MAX_ATTEMPTS = 50
"""How often changing an account is tried while others change it too."""
CONCURRENCY = 4
"""Symbols of one account for which the provider is asked concurrently."""
MAX_FINAL_ORDERS = 200
"""Final orders that stay in the account; older ones are archived, so that the document never reaches 16 MB."""


class PaperTrading:
    """One replica's access to the accounts."""

    def __init__(self, store: AccountStore, provider: MarketProvider, publish: PublishFact, wall_clock: Clock) -> None:
        self.store = store
        self._provider = provider
        self._publish = publish
        self._wall_clock = wall_clock
        self._log = structlog.get_logger()

    async def current(self, owner: Owner) -> Account:
        """The account as it is now, brought up to date with the market."""
        return await self.change(owner, lambda account, _news: (account, account))

    async def change(self, owner: Owner, change: Change[ResultT]) -> ResultT:
        """Stores the account as `change` returns it, and returns the result of `change`, which may run several times.

        Raises:
            BusyError: too many others change the same account at the same time.
            PyMongoError: the store is unavailable.
        """
        for _ in range(MAX_ATTEMPTS):
            stored = await self.store.load(owner)
            news = await self._news(stored)
            advanced = advance(stored, news, wall=self._wall_clock.now(), market=self._provider.now())
            changed, result = change(advanced, news)
            if changed == stored:
                return result
            outbox = tuple(self._complete(fact) for fact in changed.outbox)
            to_store = await self._archive_old(replace(changed, outbox=outbox))
            if await self.store.save(to_store):
                await self._publish_outbox(owner, to_store.outbox)
                return result
        raise BusyError(str(owner.user), TEXTS["order.account_is_busy"])

    async def archived_order(self, owner: Owner, order_id: str) -> Order | None:
        return (await self.store.archived_orders(owner, [order_id])).get(order_id)

    async def run(self) -> None:
        """Brings the accounts in which something is due up to date, and publishes their unpublished facts."""
        for owner in await self.store.due_owners(self._wall_clock.now(), self._provider.now()):
            try:
                await self.current(owner)
                await self._publish_outbox(owner, (await self.store.load(owner)).outbox)
            except Exception as error:  # one account that fails must not block the others
                self._log.warning("paper.account_waits", owner=str(owner), error=str(error) or type(error).__name__)

    async def _news(self, account: Account) -> dict[str, News]:
        limit = asyncio.Semaphore(CONCURRENCY)

        async def news_of(name: str) -> tuple[str, News | None]:
            async with limit:
                return name, await self._news_of(account, name)

        results = await asyncio.gather(*(news_of(name) for name in account.symbols))
        return {name: news for name, news in results if news is not None}

    async def _news_of(self, account: Account, name: str) -> News | None:
        """The market's news about one symbol; None if the provider does not answer: nothing happens to the symbol
        then."""
        symbol = parse_symbol(name)
        seen_times = [order.seen_until for order in account.orders if order.live and order.symbol == name]
        earliest = min((moment for moment in seen_times if moment is not None), default=None)
        try:
            bars = None if earliest is None else await self._provider.bars_since(symbol, earliest)
            history = await self._provider.daily_history(symbol, 1)
        except MarketError as error:
            self._log.warning("paper.no_news", symbol=name, reason=error.reason)
            return None
        return News(() if bars is None else bars.bars, history.splits, history.dividends)

    def _complete(self, fact: Fact) -> Fact:
        """The complete fact: one about prices names their source."""
        if fact.kind == DECIDED:
            return fact
        return replace(fact, data={"source": self._provider.source} | fact.data)

    async def _archive_old(self, account: Account) -> Account:
        final_orders = [order for order in account.orders if order.state in FINAL]
        if len(final_orders) <= MAX_FINAL_ORDERS:
            return account
        to_archive = final_orders[: len(final_orders) - MAX_FINAL_ORDERS]
        # Archived before they leave the account: after a crash in between they are in both places, never in neither.
        await self.store.archive(account.owner, to_archive)
        archived_ids = {order.id for order in to_archive}
        return replace(account, orders=tuple(order for order in account.orders if order.id not in archived_ids))

    async def _publish_outbox(self, owner: Owner, outbox: tuple[Fact, ...]) -> None:
        published: set[tuple[str, str]] = set()
        try:
            for fact in outbox:
                await self._publish(owner, fact)
                published.add((fact.kind, fact.key))
        except PublishFailedError as error:
            self._log.warning("paper.fact_waits", owner=str(owner), error=str(error))
        for _ in range(MAX_ATTEMPTS if published else 0):
            account = await self.store.load(owner)
            remaining = tuple(fact for fact in account.outbox if (fact.kind, fact.key) not in published)
            if remaining == account.outbox or await self.store.save(replace(account, outbox=remaining)):
                return
