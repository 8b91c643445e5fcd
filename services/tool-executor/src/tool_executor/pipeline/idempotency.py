"""Step 0: answers a call id that is already recorded with its result; claims a new one before anything is done."""

import contextlib

from contracts.errors import UNRECORDED, ToolCode
from contracts.events.tool import ToolResult
from tool_executor.adapters.call_records import RedisCallRecords
from tool_executor.catalogue.announced import Offers
from tool_executor.catalogue.registry import Entry
from tool_executor.domain.fingerprint import fingerprint
from tool_executor.pipeline.call import CallProgress, Outcome, Postponed, Rest
from tool_executor.ports import (
    CallKey,
    Claimed,
    OtherArguments,
    RecordedResult,
    RedisUnavailableError,
    RunningElsewhere,
)
from tool_executor.texts import TEXTS

_MARGIN = 3.0
"""Seconds that a claim outlives the longest run of the call: what comes before and after the handler."""
_SHORTEST_WAIT = 0.05
"""Seconds before a request comes again whose call is running."""
_LONGEST_WAIT = 0.3
"""A turn that inherits a running call asks for it anew: somebody waits for the answer."""


class Idempotency:
    """Makes a call run once per id."""

    def __init__(self, records: RedisCallRecords, offers: Offers) -> None:
        self._records = records
        self._offers = offers

    async def __call__(self, call: CallProgress, rest: Rest) -> Outcome:
        key = CallKey(call.caller.company, call.caller.user, call.call_id)
        entry = self._offers.find(call.tool, call.caller.company)
        renewed = entry is not None and _may_run_twice(entry)
        try:
            claim = await self._records.claim(
                key, fingerprint(call.tool, call.arguments), _lease(call, entry), renewed=renewed
            )
        except RedisUnavailableError:
            call.degraded = True
            return call.final_outcome(await rest())
        match claim:
            case RecordedResult(result):
                call.repeated = call.recorded = True
                return result
            case OtherArguments():
                return call.failure(ToolCode.CONFLICT, TEXTS["call.conflict"].in_language(call.caller.language))
            case RunningElsewhere(seconds):
                return Postponed(min(max(seconds, _SHORTEST_WAIT), _LONGEST_WAIT))
            case Claimed(owner, abandoned):
                call.abandoned = abandoned
                try:
                    outcome = call.final_outcome(await rest())
                except BaseException:
                    # A fault of ours, or the end of the process: whoever gets the call next may begin at once.
                    with contextlib.suppress(RedisUnavailableError):
                        await self._records.release(key, owner, forget=False)
                    raise
                await self._settle(call, key, owner, outcome)
                return outcome

    async def _settle(self, call: CallProgress, key: CallKey, owner: str, outcome: Outcome) -> None:
        # With the store gone in mid-call the claim expires by itself; the result is true all the same.
        with contextlib.suppress(RedisUnavailableError):
            if isinstance(outcome, ToolResult) and not call.unknown and not _unrecorded(call, outcome):
                lasting = call.entry is not None and call.entry.tool.side_effects
                call.recorded = await self._records.finish(key, owner, outcome, lasting=lasting)
            else:
                await self._records.release(key, owner, forget=not (call.abandoned or call.unknown))


def _may_run_twice(entry: Entry) -> bool:
    """Whether a second execution does no harm: the call has no effects, or its service recognises its id."""
    return not entry.tool.side_effects or entry.tool.reconcile is not None


def _lease(call: CallProgress, entry: Entry | None) -> float:
    if entry is None:
        return _MARGIN
    tries = 1 if entry.tool.side_effects else 2
    return min(tries * entry.tool.time_limit, max(call.seconds_left, 0.0)) + _MARGIN


def _unrecorded(call: CallProgress, result: ToolResult) -> bool:
    if result.error is None:
        return False
    # A call that came too late was not made now, whatever an earlier attempt has done: in time it may be made.
    late = result.error.code == ToolCode.TIMEOUT and call.entry is not None and call.entry.tool.side_effects
    return late or result.error.code in UNRECORDED
