"""A Redis server as far as memory's windows, looks and budgets use one. It forgets everything when it dies.

What the budgets' scripts do is written down here once more (`SimulatedLedger`) and compared with them in test_store.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextvars import Context
from random import Random
from types import TracebackType
from typing import Any, Literal, Self

from redis.exceptions import ConnectionError as RedisConnectionError

from contracts.memory_rpc import FurtherCall
from memory.domain.spending_limits import BudgetAccount, Payer, Settlement
from memory.errors import RedisUnavailableError
from tests.simulation.store import StoreRates


class SimulatedRedis:
    """The server, and redis.asyncio.Redis."""

    def __init__(self, loop: asyncio.AbstractEventLoop, random: Random, latency: Callable[[], float]) -> None:
        self.rates = StoreRates()
        self.texts: dict[str, bytes] = {}
        self.hashes: dict[str, dict[str, bytes]] = {}
        self.accounts: dict[str, Account] = {}
        self.settled: set[str] = set()
        self._loop = loop
        self._random = random
        self._latency = latency
        self._outside = Context()
        self._up = True

    async def away(self, seconds: float) -> None:
        """It dies, and comes back empty."""
        self._up = False
        self.texts.clear()
        self.hashes.clear()
        self.accounts.clear()
        self.settled.clear()
        await asyncio.sleep(seconds)
        self._up = True

    def time(self) -> float:
        """The server's seconds."""
        return self._loop.time()

    async def ask(self, command: Callable[[], Any]) -> Any:
        """What a command gives; done whether or not who asked lives on."""
        done: asyncio.Future[Any] = self._loop.create_future()
        self._loop.call_later(self._latency(), self._arrive, command, done, context=self._outside)
        found = await done
        if isinstance(found, Exception):
            raise found
        return found

    def _arrive(self, command: Callable[[], Any], done: asyncio.Future[Any]) -> None:
        answer: Any = RedisConnectionError("connection closed")
        breaks = self.rates.cache > 0 and self._random.random() < self.rates.cache
        if self._up and not (breaks and self._random.random() < 0.5):
            found = command()
            answer = answer if breaks else found
        self._loop.call_later(self._latency(), _tell, done, answer, context=self._outside)

    # ------------------------------------------------------------ redis-py's names

    async def get(self, key: str) -> bytes | None:
        """A string."""
        return await self.ask(lambda: self.texts.get(key))

    async def hget(self, key: str, field: str) -> bytes | None:
        """A field of a hash."""
        return await self.ask(lambda: self.hashes.get(key, {}).get(field))

    def pipeline(self, *, transaction: bool) -> SimulatedPipeline:
        """Several commands at once."""
        del transaction
        return SimulatedPipeline(self)


class SimulatedPipeline:
    """Commands that are sent together."""

    def __init__(self, server: SimulatedRedis) -> None:
        self._server = server
        self._commands: list[Callable[[], Any]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._commands.clear()

    def set(self, key: str, text: bytes, ex: int) -> None:
        """A string; a simulation is shorter than `ex`."""
        del ex
        self._commands.append(lambda: self._server.texts.__setitem__(key, text))

    def hset(self, key: str, field: str, value: str) -> None:
        """A field of a hash."""
        self._commands.append(lambda: self._server.hashes.setdefault(key, {}).__setitem__(field, value.encode()))

    def expire(self, key: str, seconds: int) -> None:
        """A simulation is shorter."""

    async def execute(self) -> None:
        """Sends them."""
        commands = list(self._commands)

        def all_of_them() -> None:
            for command in commands:
                command()

        await self._server.ask(all_of_them)


class Account:
    """What is used of one purse, and what is held: the tokens and when they are let go, by call."""

    def __init__(self) -> None:
        self.used = 0
        self.held: dict[tuple[str, int], float] = {}

    def taken(self, now: float) -> int:
        """What is used and held; what has expired is let go."""
        self.held = {call: end for call, end in self.held.items() if end > now}
        return self.used + sum(tokens for _, tokens in self.held)


class SimulatedLedger:
    """Ledger: what adapters/redis_budgets.py has its scripts do."""

    def __init__(self, server: SimulatedRedis) -> None:
        self._server = server

    async def reserve(
        self, call: str, tokens: int, seconds: float, accounts: list[BudgetAccount], further: FurtherCall | None = None
    ) -> Payer | Literal["both"] | None:
        """Whose limit is reached; None: it is reserved; "both": the further call, too."""
        also = set[tuple[str, int]]() if further is None else {(further.reservation_id, further.tokens)}

        def reserve() -> Payer | Literal["both"] | None:
            kept, now = self._kept(accounts), self._server.time()
            if (call, tokens) in kept[0].held:
                return "both" if also and also <= kept[0].held.keys() else None
            calls = {(call, tokens): now + seconds} | dict.fromkeys(also, now + 2 * seconds)
            for account, one in zip(accounts, kept, strict=True):
                limit = account.limit if account.limit is not None else float("inf")
                if (taken := one.taken(now)) >= limit:
                    return account.payer
                if taken + sum(size for _, size in calls) > limit / 2:
                    calls = {(call, tokens): now + seconds}
            for one in kept:
                one.held |= calls
            return "both" if len(calls) > 1 else None

        return await self._answered(reserve)

    async def settle(self, company: str, call: str, reserved: int, used: int, accounts: list[BudgetAccount]) -> bool:
        """Whether it was settled now."""

        def settle() -> bool:
            if f"{company}:{call}" in self._server.settled:
                return False
            self._server.settled.add(f"{company}:{call}")
            for account in self._kept(accounts):
                account.held.pop((call, reserved), None)
                account.used += used
            return True

        return await self._answered(settle)

    async def settle_all(self, settlements: Sequence[Settlement]) -> None:
        """All of them, each a step of its own."""
        for settlement in settlements:
            await self.settle(
                settlement.company, settlement.call, settlement.reserved, settlement.used, settlement.accounts
            )

    def _kept(self, accounts: list[BudgetAccount]) -> list[Account]:
        return [self._server.accounts.setdefault(account.name, Account()) for account in accounts]

    async def _answered(self, step: Callable[[], Any]) -> Any:
        try:
            return await self._server.ask(step)
        except RedisConnectionError as error:
            raise RedisUnavailableError(f"Redis could not answer for a budget: {error}") from error


def _tell(done: asyncio.Future[Any], answer: Any) -> None:
    if not done.done():
        done.set_result(answer)
