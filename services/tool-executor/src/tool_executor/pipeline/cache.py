"""Steps 5 and 8: answers from cached results. Of many callers that miss at once, one executes the call."""

import asyncio
import contextlib
import hashlib

from contracts.errors import ToolCode
from contracts.events.tool import ToolResult
from tool_executor.adapters.result_cache import RedisResultCache
from tool_executor.domain.declaration import CACHE_SECONDS, CacheScope, Category, Data
from tool_executor.domain.fingerprint import fingerprint
from tool_executor.pipeline.call import CallProgress, Outcome, Rest
from tool_executor.ports import RedisUnavailableError

_SHARED_FAILURES = frozenset({ToolCode.EXECUTION_ERROR, ToolCode.INVALID_OUTPUT, ToolCode.UNAVAILABLE})
"""Failures that the followers would meet as well; a TIMEOUT may be due to the leader's own deadline."""


class Cache:
    """Steps 5 and 8, around 6 and 7. It never makes a call fail: without the store the call simply runs."""

    def __init__(self, cache: RedisResultCache) -> None:
        self._cache = cache
        self._flying: dict[str, asyncio.Future[Outcome | None]] = {}
        """The results that leaders of this process will get, by language and key; None if a leader got nothing to
        share."""

    async def __call__(self, call: CallProgress, rest: Rest) -> Outcome:
        if call.found.category is Category.TRADING and call.found.tool.side_effects:
            return await self._changing(call, rest)
        key, seconds = cache_key(call), keep_seconds(call)
        if key is None or seconds <= 0 or call.degraded:
            return await rest()
        if call.found.tool.cache is CacheScope.USER:
            try:
                key += f":{await self._cache.generation(owner_of(call))}"
            except RedisUnavailableError:
                call.degraded = True
                return await rest()
        # What fails is shared too, and says so in words: in each language there is a leader of its own.
        course = f"{call.caller.language}:{key}"
        if (leader := self._flying.get(course)) is not None:
            return await self._as_follower(call, leader, rest)
        flight: asyncio.Future[Outcome | None] = asyncio.get_running_loop().create_future()
        self._flying[course] = flight
        try:
            outcome = await self._as_leader(call, key, seconds, rest)
            flight.set_result(outcome)
            return outcome
        finally:
            del self._flying[course]
            # Cancelled or failed: whoever waits runs the call itself.
            if not flight.done():
                flight.set_result(None)

    async def _changing(self, call: CallProgress, rest: Rest) -> Outcome:
        """A call about orders drops the cached results of the user's own data, whatever its outcome."""
        try:
            return await rest()
        finally:
            with contextlib.suppress(RedisUnavailableError):
                await self._cache.forget(owner_of(call))

    async def _as_follower(self, call: CallProgress, leader: asyncio.Future[Outcome | None], rest: Rest) -> Outcome:
        try:
            async with asyncio.timeout(max(call.seconds_left, 0.0)):
                outcome = await asyncio.shield(leader)
        except TimeoutError:
            outcome = None
        if outcome is None:
            return await rest()
        if not isinstance(outcome, ToolResult):
            return outcome
        if outcome.data is not None:
            return call.success(outcome.data, cached=True)
        if outcome.error is not None and outcome.error.code in _SHARED_FAILURES:
            return ToolResult(success=False, error=outcome.error, metadata=call.metadata())
        return await rest()

    async def _as_leader(self, call: CallProgress, key: str, seconds: float, rest: Rest) -> Outcome:
        limit = max(min(call.found.tool.time_limit, call.seconds_left), 0.001)
        token: str | None = None
        try:
            data = await self._cache.get(key)
            if data is None:
                token = await self._cache.lead(key, 2 * limit + 1)
                # Between the look and the lead another leader may have stored its value and gone.
                data = await (self._cache.follow(key, limit) if token is None else self._cache.get(key))
        except RedisUnavailableError:
            call.degraded = True
            return await rest()
        outcome: Outcome
        try:
            if data is not None:
                outcome = call.success(data, cached=True)
            else:
                outcome = await rest()
                if isinstance(outcome, ToolResult) and outcome.data is not None:
                    await self._keep(key, outcome.data, seconds)
        finally:
            if token is not None:
                await self._yield(key, token)
        return outcome

    async def _keep(self, key: str, data: Data, seconds: float) -> None:
        try:
            await self._cache.put(key, data, seconds)
        except RedisUnavailableError:
            return

    async def _yield(self, key: str, token: str) -> None:
        try:
            await self._cache.yield_lead(key, token)
        except RedisUnavailableError:
            return


def owner_of(call: CallProgress) -> str:
    """Returns the user whose own data the call is about."""
    return f"{call.caller.company}:{call.caller.user}"


def cache_key(call: CallProgress) -> str | None:
    """Tool, version, canonical arguments, who shares it and, if texts differ, the language; None: never cached."""
    tool = call.found.tool
    match tool.cache:
        case CacheScope.PUBLIC:
            scope = "public"
        case CacheScope.USER:
            scope = f"user:{owner_of(call)}"
        case CacheScope.SITE if call.company is not None:
            # What a company forbids must not go on being served: its rules are part of the key.
            rules = "\x1f".join([*call.company.allowed_domains, "\x1e", *call.company.allowed_paths])
            scope = f"site:{call.caller.company}:{hashlib.sha256(rules.encode()).hexdigest()[:16]}"
        case _:
            return None
    if tool.side_effects:
        return None
    language = call.caller.language if tool.texts_differ else "-"
    return f"{tool.name}:{tool.version}:{scope}:{language}:{fingerprint(tool.name, call.given)}"


def keep_seconds(call: CallProgress) -> float:
    """Returns the seconds for which the result may be kept; 0 if it may not."""
    if call.found.tool.cache is CacheScope.SITE:
        company = call.company
        return company.cache_ttl_seconds if company is not None and company.cache_enabled else 0
    return CACHE_SECONDS.get(call.found.category, 0)
