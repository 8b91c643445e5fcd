"""A tool call in the pipeline, and its possible results."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from contracts.errors import OUTCOME_UNKNOWN, ToolCode
from contracts.events.tool import FieldError, ToolError, ToolMetadata, ToolResult
from contracts.text import Text
from tool_executor.catalogue.registry import Entry
from tool_executor.domain.declaration import Data
from tool_executor.domain.limits import Quota
from tool_executor.domain.plans import Arguments, CompanyTools, VerifiedCaller
from tool_executor.texts import TEXTS, in_language


@dataclass(frozen=True, slots=True)
class Postponed:
    """The call cannot run now, because another executor runs it or its category has no free place. It must be delivered
    again."""

    seconds: float


Outcome = ToolResult | Postponed
NextSteps = Callable[[], Awaitable[Outcome]]


@dataclass(slots=True)
class CallProgress:
    """A call on its way through the steps, each of which sets what later steps need."""

    call_id: str
    tool: str
    arguments: Arguments
    caller: VerifiedCaller
    expires: float
    """Monotonic time after which nobody waits for the result any more."""
    started: float = field(default_factory=time.monotonic)
    entry: Entry | None = None
    checked_arguments: Arguments = field(default_factory=dict[str, object])
    """The validated arguments, with defaults and in canonical form."""
    company: CompanyTools | None = None
    abandoned: bool = False
    """Whether an executor has, or may have, started this very call, with an unknown outcome."""
    reached_tool: bool = False
    """Whether the tool's own step was reached; then the result also covers earlier attempts."""
    outcome_unknown: bool = False
    """Whether the call may have had its effects: the result is not final, and a repeat finds out what happened."""
    degraded: bool = False
    """Whether the shared store is unavailable: nothing is recorded, cached or counted for other processes."""
    repeated: bool = False
    """Whether the result is the recorded one of an earlier call."""
    recorded: bool = False
    """Whether the result is recorded for repeats of this call."""
    quotas: tuple[Quota, ...] = ()
    """What is left of the tool's limits after this call, if it was counted for all processes."""

    @property
    def tool_entry(self) -> Entry:
        """The tool's entry; only for steps after the one that finds it."""
        if self.entry is None:
            raise RuntimeError("this step comes before the one that finds the tool")
        return self.entry

    @property
    def seconds_left(self) -> float:
        """Seconds until nobody waits any more; negative after that."""
        return self.expires - time.monotonic()

    def metadata(self, cached: bool = False) -> ToolMetadata:
        milliseconds = round((time.monotonic() - self.started) * 1000, 3)
        is_foreign = self.entry is not None and self.entry.tool.foreign
        return ToolMetadata(
            execution_time=milliseconds, cached=cached, degraded=self.degraded or None, foreign=is_foreign or None
        )

    def success(self, data: Data, *, cached: bool = False) -> ToolResult:
        return ToolResult(success=True, data=data, metadata=self.metadata(cached))

    def unknown_outcome(self, code: ToolCode | str) -> ToolResult:
        return self.failure(code, TEXTS["call.unknown_outcome"].format(tool=self.tool), reason=OUTCOME_UNKNOWN)

    def final_outcome(self, outcome: Outcome) -> Outcome:
        """Returns the outcome, or an unknown one: a refusal before the tool is reached says nothing about an earlier
        attempt, which may still run in another executor."""
        refusal = None if self.reached_tool or not isinstance(outcome, ToolResult) else outcome.error
        is_harmless = self.entry is not None and not self.entry.tool.side_effects
        if refusal is None or not self.abandoned or is_harmless:
            return outcome
        self.outcome_unknown = True
        return self.unknown_outcome(refusal.code)

    def failure(
        self,
        code: ToolCode | str,
        message: Text | str,
        *,
        reason: str | None = None,
        required_plan: str | None = None,
        reset_at: int | None = None,
        fields: Sequence[FieldError] | None = None,
    ) -> ToolResult:
        error = ToolError(
            code=code,
            message=in_language(message, self.caller.language),
            reason=reason,
            required_plan=required_plan,
            reset_at=reset_at,
            fields=None if fields is None else list(fields),
        )
        return ToolResult(success=False, error=error, metadata=self.metadata())


Step = Callable[[CallProgress, NextSteps], Awaitable[Outcome]]
"""A step ends the call with a result, or awaits the next steps and returns their result, changed or not."""


class Pipeline:
    """Runs calls through the steps in order; raises no exceptions."""

    def __init__(self, steps: Sequence[Step], on_fault: Callable[[CallProgress, BaseException], None]) -> None:
        self._steps = tuple(steps)
        self._on_fault = on_fault

    async def run(self, call: CallProgress) -> Outcome:
        """Returns the call's result, or Postponed if it must be delivered again."""
        try:
            return await self._from(0, call)
        except Exception as fault:  # our own faults become results too: no exception crosses the bus
            self._on_fault(call, fault)
            return call.failure(ToolCode.EXECUTION_ERROR, "The call failed inside.", reason="internal")

    async def _from(self, index: int, call: CallProgress) -> Outcome:
        if index == len(self._steps):
            raise RuntimeError("the last step must return a result")
        return await self._steps[index](call, lambda: self._from(index + 1, call))
