"""Steps 5 and 8: answers from cached results. If many callers miss at the same time, one of them executes the call."""

import asyncio
import contextlib
import hashlib

from contracts.errors import ToolCode
from contracts.events.tool import ToolResult
from tool_executor.adapters.result_cache import RedisResultCache
from tool_executor.domain.declaration import CACHE_SECONDS, CacheScope, Category
from tool_executor.domain.fingerprint import fingerprint
from tool_executor.pipeline.call import CallProgress, NextSteps, Outcome
from tool_executor.ports import RedisUnavailableError

_SHARED_FAILURES = frozenset({ToolCode.EXECUTION_ERROR, ToolCode.INVALID_OUTPUT, ToolCode.UNAVAILABLE})
"""Failures that followers share with their leader. A TIMEOUT is not one: it may come from the leader's own deadline."""


class Cache:
    """Steps 5 and 8, around 6 and 7. Without the store the call simply runs."""

    def __init__(self, cache: RedisResultCache) -> None:
        self._cache = cache
        self._flights: dict[str, asyncio.Future[Outcome | None]] = {}
        """The results that this process's leaders will get, by language and key; None if there is nothing to share."""

    async def __call__(self, call: CallProgress, next_steps: NextSteps) -> Outcome:
        if call.tool_entry.category is Category.TRADING and call.tool_entry.tool.side_effects:
            return await self._run_and_forget(call, next_steps)
        key, cache_seconds = cache_key(call), keep_seconds(call)
        if key is None or cache_seconds <= 0 or call.degraded:
            return await next_steps()
        if call.tool_entry.tool.cache is CacheScope.USER:
            try:
                key += f":{await self._cache.generation(owner_of(call))}"
            except RedisUnavailableError:
                call.degraded = True
                return await next_steps()
        # Failures are shared too, with messages in the caller's language, so each language has its own leader.
        flight_key = f"{call.caller.language}:{key}"
        if (leader := self._flights.get(flight_key)) is not None:
            return await self._as_follower(call, leader, next_steps)
        flight: asyncio.Future[Outcome | None] = asyncio.get_running_loop().create_future()
        self._flights[flight_key] = flight
        try:
            outcome = await self._as_leader(call, key, cache_seconds, next_steps)
            flight.set_result(outcome)
            return outcome
        finally:
            del self._flights[flight_key]
            # Cancelled or failed: the followers run the call themselves.
            if not flight.done():
                flight.set_result(None)

    async def _run_and_forget(self, call: CallProgress, next_steps: NextSteps) -> Outcome:
        """Runs a call that changes orders, then drops the user's cached results, whatever the outcome."""
        try:
            return await next_steps()
        finally:
            with contextlib.suppress(RedisUnavailableError):
                await self._cache.forget(owner_of(call))

    async def _as_follower(
        self, call: CallProgress, leader: asyncio.Future[Outcome | None], next_steps: NextSteps
    ) -> Outcome:
        try:
            async with asyncio.timeout(max(call.seconds_left, 0.0)):
                outcome = await asyncio.shield(leader)
        except TimeoutError:
            outcome = None
        if outcome is None:
            return await next_steps()
        if not isinstance(outcome, ToolResult):
            return outcome
        if outcome.data is not None:
            return call.success(outcome.data, cached=True)
        if outcome.error is not None and outcome.error.code in _SHARED_FAILURES:
            return ToolResult(success=False, error=outcome.error, metadata=call.metadata())
        return await next_steps()

    async def _as_leader(self, call: CallProgress, key: str, seconds: float, next_steps: NextSteps) -> Outcome:
        limit = max(min(call.tool_entry.tool.time_limit, call.seconds_left), 0.001)
        token: str | None = None
        try:
            data = await self._cache.get(key)
            if data is None:
                token = await self._cache.lead(key, 2 * limit + 1)
                # Another leader may have stored its value and ended between `get` and `lead`.
                data = await (self._cache.follow(key, limit) if token is None else self._cache.get(key))
        except RedisUnavailableError:
            call.degraded = True
            return await next_steps()
        outcome: Outcome
        try:
            if data is not None:
                outcome = call.success(data, cached=True)
            else:
                outcome = await next_steps()
                if isinstance(outcome, ToolResult) and outcome.data is not None:
                    with contextlib.suppress(RedisUnavailableError):
                        await self._cache.put(key, outcome.data, seconds)
        finally:
            if token is not None:
                with contextlib.suppress(RedisUnavailableError):
                    await self._cache.yield_lead(key, token)
        return outcome


def owner_of(call: CallProgress) -> str:
    """Returns the key of the user whose data the call is about."""
    return f"{call.caller.company}:{call.caller.user}"


def cache_key(call: CallProgress) -> str | None:
    """Returns the key: tool, version, scope, language (if texts differ by it) and canonical arguments; None if the
    result is never cached."""
    tool = call.tool_entry.tool
    match tool.cache:
        case CacheScope.PUBLIC:
            scope = "public"
        case CacheScope.USER:
            scope = f"user:{owner_of(call)}"
        case CacheScope.SITE if call.company is not None:
            # The company's rules are part of the key, so that forbidden pages are no longer served.
            rules = "\x1f".join([*call.company.config.allowed_domains, "\x1e", *call.company.config.allowed_paths])
            scope = f"site:{call.caller.company}:{hashlib.sha256(rules.encode()).hexdigest()[:16]}"
        case _:
            return None
    if tool.side_effects:
        return None
    language = call.caller.language if tool.texts_differ else "-"
    return f"{tool.name}:{tool.version}:{scope}:{language}:{fingerprint(tool.name, call.checked_arguments)}"


def keep_seconds(call: CallProgress) -> float:
    """Returns the seconds for which the result may be cached; 0 if it may not."""
    if call.tool_entry.tool.cache is CacheScope.SITE:
        config = call.company.config if call.company is not None else None
        return config.cache_ttl_seconds if config is not None and config.cache_enabled else 0
    return CACHE_SECONDS.get(call.tool_entry.category, 0)
