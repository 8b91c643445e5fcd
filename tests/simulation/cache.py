"""A simulated Redis server with what memory uses of one. It loses everything when it restarts.

`SimulatedLedger` repeats in Python what the scripts of the budgets do; test_store.py compares the two.
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
        """Stops the server for some seconds; it comes back empty."""
        self._up = False
        self.texts.clear()
        self.hashes.clear()
        self.accounts.clear()
        self.settled.clear()
        await asyncio.sleep(seconds)
        self._up = True

    def time(self) -> float:
        """Returns the server's time in seconds."""
        return self._loop.time()

    async def ask(self, command: Callable[[], Any]) -> Any:
        """Runs a command on the server, even if the caller's process dies; returns its result."""
        done: asyncio.Future[Any] = self._loop.create_future()
        self._loop.call_later(self._latency(), self._arrive, command, done, context=self._outside)
        result = await done
        if isinstance(result, Exception):
            raise result
        return result

    def _arrive(self, command: Callable[[], Any], done: asyncio.Future[Any]) -> None:
        answer: Any = RedisConnectionError("connection closed")
        connection_breaks = self.rates.cache > 0 and self._random.random() < self.rates.cache
        if self._up and not (connection_breaks and self._random.random() < 0.5):
            result = command()
            answer = answer if connection_breaks else result
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
        """Sets a string; ignores `ex`, which is longer than a simulation."""
        del ex
        self._commands.append(lambda: self._server.texts.__setitem__(key, text))

    def hset(self, key: str, field: str, value: str) -> None:
        """A field of a hash."""
        self._commands.append(lambda: self._server.hashes.setdefault(key, {}).__setitem__(field, value.encode()))

    def expire(self, key: str, seconds: int) -> None:
        """Does nothing: a simulation is shorter than any expiry."""

    async def execute(self) -> None:
        """Sends the commands."""
        commands = list(self._commands)

        def run_all() -> None:
            for command in commands:
                command()

        await self._server.ask(run_all)


class Account:
    """The tokens used of one budget, and those reserved: when each reservation ends, by call and tokens."""

    def __init__(self) -> None:
        self.used = 0
        self.held: dict[tuple[str, int], float] = {}

    def taken(self, now: float) -> int:
        """Returns the tokens used and reserved, after removing the reservations that have expired."""
        self.held = {call: end for call, end in self.held.items() if end > now}
        return self.used + sum(tokens for _, tokens in self.held)


class SimulatedLedger:
    """A Ledger that does what the scripts of adapters/redis_budgets.py do."""

    def __init__(self, server: SimulatedRedis) -> None:
        self._server = server

    async def reserve(
        self, call: str, tokens: int, seconds: float, accounts: list[BudgetAccount], further: FurtherCall | None = None
    ) -> Payer | Literal["both"] | None:
        """Returns whose limit is reached; None: the call is reserved; "both": the further call is reserved too."""
        further_calls = set[tuple[str, int]]() if further is None else {(further.reservation_id, further.tokens)}

        def reserve() -> Payer | Literal["both"] | None:
            stored, now = self._kept(accounts), self._server.time()
            if (call, tokens) in stored[0].held:
                return "both" if further_calls and further_calls <= stored[0].held.keys() else None
            calls = {(call, tokens): now + seconds} | dict.fromkeys(further_calls, now + 2 * seconds)
            for account, stored_account in zip(accounts, stored, strict=True):
                limit = account.limit if account.limit is not None else float("inf")
                if (taken := stored_account.taken(now)) >= limit:
                    return account.payer
                if taken + sum(size for _, size in calls) > limit / 2:
                    calls = {(call, tokens): now + seconds}
            for stored_account in stored:
                stored_account.held |= calls
            return "both" if len(calls) > 1 else None

        return await self._answered(reserve)

    async def settle(self, settlement: Settlement) -> bool:
        """Returns whether this call settled it; False if it was settled before."""

        def settle() -> bool:
            if (name := f"{settlement.company}:{settlement.call}") in self._server.settled:
                return False
            self._server.settled.add(name)
            for account in self._kept(settlement.accounts):
                account.held.pop((settlement.call, settlement.reserved), None)
                account.used += settlement.used
            return True

        return await self._answered(settle)

    async def settle_all(self, settlements: Sequence[Settlement]) -> None:
        """Settles each of them in a step of its own."""
        for settlement in settlements:
            await self.settle(settlement)

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
