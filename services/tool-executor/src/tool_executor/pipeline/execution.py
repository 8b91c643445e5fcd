"""Step 6: runs the tool's handler within its time limit, and handles calls whose outcome nobody knows."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping

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
from tool_executor.pipeline.call import CallProgress, Outcome, Postponed, Rest
from tool_executor.pipeline.validation import invalid
from tool_executor.texts import TEXTS, in_language

_COME_BACK = 0.2
_COMPANYS_PART = 4


class Bulkhead:
    """Keeps slow categories from taking every place: a call whose category is full is delivered again. Each company
    gets only a part of the places for companies' own tools."""

    def __init__(self, places: Mapping[Category, int], default: int) -> None:
        self._places = places
        self._default = default
        self._taken: Counter[Category | str] = Counter()

    async def __call__(self, call: CallProgress, rest: Rest) -> Outcome:
        category = call.found.category
        # A call that nobody waits for any more goes on: the next step says TIMEOUT without running anything.
        places = self._places.get(category, self._default)
        held: dict[Category | str, int] = {category: places}
        if category is Category.OWN:
            held[call.caller.company] = max(places // _COMPANYS_PART, 1)
        if call.seconds_left > 0 and any(self._taken[one] >= most for one, most in held.items()):
            return Postponed(_COME_BACK)
        self._taken.update(held.keys())
        try:
            return await rest()
        finally:
            self._taken.subtract(held.keys())
            if not self._taken[call.caller.company]:
                del self._taken[call.caller.company]


class Execution:
    """Step 6, the innermost."""

    def __init__(self, remote: RemoteTools, on_fault: Callable[[CallProgress, BaseException], None]) -> None:
        self._remote = remote
        self._on_fault = on_fault

    async def __call__(self, call: CallProgress, rest: Rest) -> Outcome:
        del rest
        call.reached = True
        tool = call.found.tool
        language = call.caller.language
        look_up = call.abandoned and tool.side_effects
        if look_up and tool.reconcile is None:
            call.unknown = True
            return call.unknown_outcome(ToolCode.UNKNOWN_OUTCOME)
        limit = min(tool.time_limit, call.seconds_left)
        if limit <= 0:
            if look_up:  # not made now, but perhaps before
                return call.unknown_outcome(ToolCode.TIMEOUT)
            late = TEXTS["call.late"].in_language(language).format(tool=call.tool)
            return call.failure(ToolCode.TIMEOUT, late, reason="deadline_passed")
        # Until it has ended well, or has said why not, what has side effects may have had them.
        call.unknown = tool.side_effects
        try:
            async with asyncio.timeout(limit):
                data = await self._made(call, limit) if look_up else None
                if data is None:
                    data = await self._handle(tool.handler, call)
            call.unknown = False
            return call.success(data)
        except TimeoutError:
            key, reason = ("timeout_unknown", OUTCOME_UNKNOWN) if tool.side_effects else ("timeout", None)
            late = TEXTS[f"call.{key}"].in_language(language).format(tool=call.tool, seconds=f"{limit:.0f}")
            return call.failure(ToolCode.TIMEOUT, late, reason=reason)
        except ToolRefusedError as refused:
            call.unknown = False
            return invalid(call, refused.problems)
        except ToolFailedError as failed:
            call.unknown = False
            message = in_language(failed.message, language)
            return call.failure(ToolCode.EXECUTION_ERROR, message, reason=failed.reason)
        except ToolUnavailableError as away:
            # A store that answers too late may have written all the same, and an earlier attempt may still run.
            call.unknown = call.unknown and (away.asked or look_up)
            if call.unknown:
                return call.unknown_outcome(ToolCode.UNAVAILABLE)
            return call.failure(ToolCode.UNAVAILABLE, TEXTS["call.unavailable"].in_language(language), reason="service")
        except Exception as fault:  # whatever a handler raises is the call's failure, not ours
            self._on_fault(call, fault)
            if call.unknown:
                return call.unknown_outcome(ToolCode.EXECUTION_ERROR)
            message = TEXTS["call.failed"].in_language(language).format(tool=call.tool)
            return call.failure(ToolCode.EXECUTION_ERROR, message, reason="internal")

    async def _made(self, call: CallProgress, limit: float) -> Data | None:
        """Asks the tool's owner what an earlier attempt at this very call has done; None if nothing, so that it may be
        run."""
        look_up = call.found.tool.reconcile
        context = CallContext(call.call_id, call.caller, call.company, limit)
        if isinstance(look_up, OverTheBus):
            return await self._remote.outcome(call.tool, look_up.subject, call.given, context)
        return None if look_up is None else await look_up(call.given, context)

    async def _handle(self, handler: Handler | OverTheBus, call: CallProgress) -> Data:
        limit = min(call.found.tool.time_limit, call.seconds_left)
        context = CallContext(call.call_id, call.caller, call.company, limit)
        if isinstance(handler, OverTheBus):
            again = not call.found.tool.side_effects
            return await self._remote.call(call.tool, handler.subject, call.given, context, again=again)
        return await handler(call.given, context)
