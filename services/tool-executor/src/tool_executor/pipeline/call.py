"""A tool call in the pipeline, and its possible results."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from contracts.errors import OUTCOME_UNKNOWN, ToolCode
from contracts.events.tool import FieldError, ToolError, ToolMetadata, ToolResult
from tool_executor.catalogue.registry import Entry
from tool_executor.domain.declaration import Data
from tool_executor.domain.limits import Quota
from tool_executor.domain.plans import Arguments, CompanyTools, VerifiedCaller
from tool_executor.texts import TEXTS


@dataclass(frozen=True, slots=True)
class Postponed:
    """The call cannot run now, because another executor is running it or all places for its kind are taken. It is to be
    delivered again."""

    seconds: float


Outcome = ToolResult | Postponed
Rest = Callable[[], Awaitable[Outcome]]


@dataclass(slots=True)
class CallProgress:
    """One call on its way through the steps; each fills in what the next ones need."""

    call_id: str
    tool: str
    arguments: Arguments
    caller: VerifiedCaller
    expires: float
    """Monotonic time after which nobody waits for the result."""
    started: float = field(default_factory=time.monotonic)
    entry: Entry | None = None
    given: Arguments = field(default_factory=dict[str, object])
    """The arguments with defaults, in one spelling."""
    company: CompanyTools | None = None
    abandoned: bool = False
    """An executor had started this very call, or may have, and nobody knows what came of it."""
    reached: bool = False
    """The tool's own step was reached: what is said of the call speaks for earlier attempts at it too."""
    unknown: bool = False
    """The call may have had its effects: the result is not final, and a repeat looks up what became of it."""
    degraded: bool = False
    """The shared store is away: nothing is recorded, kept or counted for other processes."""
    repeated: bool = False
    """The result is the recorded one of an earlier call."""
    recorded: bool = False
    """The result is kept for repeats of this call."""
    quotas: tuple[Quota, ...] = ()
    """What the call has left of its tool's limits, where it was counted for all processes."""

    @property
    def found(self) -> Entry:
        """The tool; only for steps after the one that finds it."""
        if self.entry is None:
            raise RuntimeError("this step comes before the one that finds the tool")
        return self.entry

    @property
    def seconds_left(self) -> float:
        """Seconds until nobody waits any more; negative after that."""
        return self.expires - time.monotonic()

    def metadata(self, cached: bool = False) -> ToolMetadata:
        spent = round((time.monotonic() - self.started) * 1000, 3)
        foreign = self.entry is not None and self.entry.tool.foreign
        return ToolMetadata(
            execution_time=spent, cached=cached, degraded=self.degraded or None, foreign=foreign or None
        )

    def success(self, data: Data, *, cached: bool = False) -> ToolResult:
        return ToolResult(success=True, data=data, metadata=self.metadata(cached))

    def unknown_outcome(self, code: ToolCode | str) -> ToolResult:
        message = TEXTS["call.unknown_outcome"].in_language(self.caller.language).format(tool=self.tool)
        return self.failure(code, message, reason=OUTCOME_UNKNOWN)

    def final_outcome(self, outcome: Outcome) -> Outcome:
        """The outcome, or that it is unknown: a refusal on the way to the tool, by a limit or because nobody serves it
        here, says nothing of an earlier attempt, which may still run in another executor."""
        refusal = None if self.reached or not isinstance(outcome, ToolResult) else outcome.error
        harmless = self.entry is not None and not self.entry.tool.side_effects
        if refusal is None or not self.abandoned or harmless:
            return outcome
        self.unknown = True
        return self.unknown_outcome(refusal.code)

    def failure(
        self,
        code: ToolCode | str,
        message: str,
        *,
        reason: str | None = None,
        required_plan: str | None = None,
        reset_at: int | None = None,
        fields: Sequence[FieldError] | None = None,
    ) -> ToolResult:
        error = ToolError(
            code=code,
            message=message,
            reason=reason,
            required_plan=required_plan,
            reset_at=reset_at,
            fields=None if fields is None else list(fields),
        )
        return ToolResult(success=False, error=error, metadata=self.metadata())


Step = Callable[[CallProgress, Rest], Awaitable[Outcome]]
"""One step: ends the call with a result, or awaits the rest and returns what it gave, changed or not."""


class Pipeline:
    """Runs calls through the steps in their order. No exception leaves it."""

    def __init__(self, steps: Sequence[Step], on_fault: Callable[[CallProgress, BaseException], None]) -> None:
        self._steps = tuple(steps)
        self._on_fault = on_fault

    async def run(self, call: CallProgress) -> Outcome:
        """The call's result; Postponed when it has to be delivered again."""
        try:
            return await self._from(0, call)
        except Exception as fault:  # a fault of ours is a result too: no exception crosses the bus
            self._on_fault(call, fault)
            return call.failure(ToolCode.EXECUTION_ERROR, "The call failed inside.", reason="internal")

    async def _from(self, index: int, call: CallProgress) -> Outcome:
        if index == len(self._steps):
            raise RuntimeError("the last step must return a result")
        return await self._steps[index](call, lambda: self._from(index + 1, call))
