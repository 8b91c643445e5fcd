"""Step 6: runs the tool's handler within its time limit, and handles calls whose outcome is unknown."""

import asyncio
from collections import Counter
from collections.abc import Callable

from contracts.errors import OUTCOME_UNKNOWN, ToolCode
from tool_executor.adapters.remote_tools import RemoteTools
from tool_executor.domain.declaration import (
    CallContext,
    Category,
    Data,
    Handler,
    OverTheBus,
    ToolFailedError,
    ToolRefusedError,
    ToolUnavailableError,
)
from tool_executor.pipeline.call import CallProgress, NextSteps, Outcome, Postponed
from tool_executor.pipeline.validation import invalid
from tool_executor.texts import TEXTS

_SLOW = frozenset({Category.SITE, Category.NEWS, Category.ML, Category.OWN})
"""Categories whose calls wait for other services."""
_POSTPONED_SECONDS = 0.2
"""Seconds before a call is delivered again whose category has no free place."""
_COMPANY_SHARE = 4
"""One company may use this part (1 in 4) of the places for companies' own tools."""

_LOOK_UP_SHARE = 0.3
"""The share of a call's time for looking up what became of an earlier attempt: a turn asks for it up to three times,
and a service that stands still should cost a person no more than twice the tool's limit."""


class Bulkhead:
    """Keeps slow categories from taking all places: a call whose category is full is delivered again. Of the places for
    companies' own tools, each company gets only a share."""

    def __init__(self, places: int, *, slow_places: int) -> None:
        self._places = places
        self._slow_places = slow_places
        self._running: Counter[Category | str] = Counter()

    async def __call__(self, call: CallProgress, next_steps: NextSteps) -> Outcome:
        category = call.tool_entry.category
        # A call that nobody waits for any more is let through: a later step answers it with TIMEOUT.
        places = self._slow_places if category in _SLOW else self._places
        limits: dict[Category | str, int] = {category: places}
        if category is Category.OWN:
            limits[call.caller.company] = max(places // _COMPANY_SHARE, 1)
        if call.seconds_left > 0 and any(self._running[key] >= limit for key, limit in limits.items()):
            return Postponed(_POSTPONED_SECONDS)
        self._running.update(limits.keys())
        try:
            return await next_steps()
        finally:
            self._running.subtract(limits.keys())
            if not self._running[call.caller.company]:
                del self._running[call.caller.company]


class Execution:
    """Step 6, the innermost."""

    def __init__(self, remote: RemoteTools, on_fault: Callable[[CallProgress, BaseException], None]) -> None:
        self._remote = remote
        self._on_fault = on_fault

    async def __call__(self, call: CallProgress, next_steps: NextSteps) -> Outcome:
        del next_steps
        call.reached_tool = True
        tool = call.tool_entry.tool
        must_look_up = call.abandoned and tool.side_effects
        if must_look_up and tool.reconcile is None:
            call.outcome_unknown = True
            return call.unknown_outcome(ToolCode.UNKNOWN_OUTCOME)
        limit = min(tool.time_limit, call.seconds_left)
        if limit <= 0:
            if must_look_up:  # not executed now, but perhaps by an earlier attempt
                return call.unknown_outcome(ToolCode.TIMEOUT)
            late = TEXTS["call.late"].format(tool=call.tool)
            return call.failure(ToolCode.TIMEOUT, late, reason="deadline_passed")
        # A tool with side effects may have had them until its handler has returned or refused.
        call.outcome_unknown = tool.side_effects
        try:
            async with asyncio.timeout(limit):
                data = await self._earlier_result(call, limit * _LOOK_UP_SHARE) if must_look_up else None
                if data is None:
                    data = await self._handle(tool.handler, call)
            call.outcome_unknown = False
            return call.success(data)
        except TimeoutError:
            key, reason = ("timeout_unknown", OUTCOME_UNKNOWN) if tool.side_effects else ("timeout", None)
            late = TEXTS[f"call.{key}"].format(seconds=f"{limit:.0f}")
            return call.failure(ToolCode.TIMEOUT, late, reason=reason)
        except ToolRefusedError as refusal:
            call.outcome_unknown = False
            return invalid(call, refusal.problems)
        except ToolFailedError as failure:
            call.outcome_unknown = False
            return call.failure(ToolCode.EXECUTION_ERROR, failure.message, reason=failure.reason)
        except ToolUnavailableError as unavailable:
            # A store that answers too late may still have written, and an earlier attempt may still run.
            call.outcome_unknown = call.outcome_unknown and (unavailable.was_received or must_look_up)
            if call.outcome_unknown:
                return call.unknown_outcome(ToolCode.UNAVAILABLE)
            return call.failure(ToolCode.UNAVAILABLE, TEXTS["call.unavailable"], reason="service")
        except Exception as fault:  # whatever a handler raises is the call's failure, not ours
            self._on_fault(call, fault)
            if call.outcome_unknown:
                return call.unknown_outcome(ToolCode.EXECUTION_ERROR)
            failed = TEXTS["call.failed"].format(tool=call.tool)
            return call.failure(ToolCode.EXECUTION_ERROR, failed, reason="internal")

    async def _earlier_result(self, call: CallProgress, limit: float) -> Data | None:
        """Asks the tool's owner, for `limit` seconds, for the result of an earlier attempt at this call; None if there
        was none, so that the call may run."""
        reconcile = call.tool_entry.tool.reconcile
        context = CallContext(call.call_id, call.caller, call.company, limit)
        if isinstance(reconcile, OverTheBus):
            return await self._remote.outcome(call.tool, reconcile.subject, call.checked_arguments, context)
        return None if reconcile is None else await reconcile(call.checked_arguments, context)

    async def _handle(self, handler: Handler | OverTheBus, call: CallProgress) -> Data:
        limit = min(call.tool_entry.tool.time_limit, call.seconds_left)
        context = CallContext(call.call_id, call.caller, call.company, limit)
        if isinstance(handler, OverTheBus):
            may_repeat = not call.tool_entry.tool.side_effects
            return await self._remote.call(
                call.tool, handler.subject, call.checked_arguments, context, may_repeat=may_repeat
            )
        return await handler(call.checked_arguments, context)
