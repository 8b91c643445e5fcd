"""Step 0: answers a recorded call id with its result; claims a new call id before anything else is done."""

import contextlib

from contracts.errors import UNRECORDED, ToolCode
from contracts.events.tool import ToolResult
from tool_executor.adapters.call_records import RedisCallRecords
from tool_executor.catalogue.announced import Offers
from tool_executor.catalogue.registry import Entry
from tool_executor.domain.fingerprint import fingerprint
from tool_executor.pipeline.call import CallProgress, NextSteps, Outcome, Postponed
from tool_executor.ports import (
    CallKey,
    Claimed,
    OtherArguments,
    RecordedResult,
    RedisUnavailableError,
    RunningElsewhere,
)
from tool_executor.texts import TEXTS

_LEASE_MARGIN_SECONDS = 3.0
"""Seconds that a claim outlives the longest run of the handler, for the steps before and after it."""
_MIN_WAIT_SECONDS = 0.05
"""Shortest time in seconds before a request is delivered again while its call is running."""
_MAX_WAIT_SECONDS = 0.3
"""Longest such time: a turn that takes over a running call requests it again, and somebody waits for the answer."""


class Idempotency:
    """Runs a call once for each id."""

    def __init__(self, records: RedisCallRecords, offers: Offers) -> None:
        self._records = records
        self._offers = offers

    async def __call__(self, call: CallProgress, next_steps: NextSteps) -> Outcome:
        key = CallKey(call.caller.company, call.caller.user, call.call_id)
        entry = self._offers.find(call.tool, call.caller.company)
        is_renewed = entry is not None and _may_run_twice(entry)
        try:
            claim = await self._records.claim(
                key, fingerprint(call.tool, call.arguments), _lease(call, entry), is_renewed=is_renewed
            )
        except RedisUnavailableError:
            call.degraded = True
            return call.final_outcome(await next_steps())
        match claim:
            case RecordedResult(result):
                call.repeated = call.recorded = True
                return result
            case OtherArguments():
                return call.failure(ToolCode.CONFLICT, TEXTS["call.conflict"])
            case RunningElsewhere(seconds):
                return Postponed(min(max(seconds, _MIN_WAIT_SECONDS), _MAX_WAIT_SECONDS))
            case Claimed(owner, abandoned):
                call.abandoned = abandoned
                try:
                    outcome = call.final_outcome(await next_steps())
                except BaseException:
                    # A fault of ours, or the end of the process: the next executor may begin at once.
                    with contextlib.suppress(RedisUnavailableError):
                        await self._records.release(key, owner, forget=False)
                    raise
                await self._settle(call, key, owner, outcome)
                return outcome

    async def _settle(self, call: CallProgress, key: CallKey, owner: str, outcome: Outcome) -> None:
        # If the store fails in mid-call, the claim expires by itself, and the result is still valid.
        with contextlib.suppress(RedisUnavailableError):
            if isinstance(outcome, ToolResult) and not call.outcome_unknown and not _is_unrecorded(call, outcome):
                is_lasting = call.entry is not None and call.entry.tool.side_effects
                call.recorded = await self._records.finish(key, owner, outcome, is_lasting=is_lasting)
            else:
                await self._records.release(key, owner, forget=not (call.abandoned or call.outcome_unknown))


def _may_run_twice(entry: Entry) -> bool:
    """Whether a second execution does no harm: the call has no effects, or its service recognises its id."""
    return not entry.tool.side_effects or entry.tool.reconcile is not None


def _lease(call: CallProgress, entry: Entry | None) -> float:
    if entry is None:
        return _LEASE_MARGIN_SECONDS
    attempts = 1 if entry.tool.side_effects else 2
    return min(attempts * entry.tool.time_limit, max(call.seconds_left, 0.0)) + _LEASE_MARGIN_SECONDS


def _is_unrecorded(call: CallProgress, result: ToolResult) -> bool:
    if result.error is None:
        return False
    # A call that came too late was not executed, whatever an earlier attempt did, so it may be tried again.
    is_late = result.error.code == ToolCode.TIMEOUT and call.entry is not None and call.entry.tool.side_effects
    return is_late or result.error.code in UNRECORDED
