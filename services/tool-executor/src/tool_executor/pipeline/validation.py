"""Before step 0: leaves out optional nulls. Step 4: defaults, the input schema, the tool's own validator, normal
spelling. Step 7: the output schema."""

from collections.abc import Sequence

from contracts.errors import ToolCode
from contracts.events.tool import FieldError, ToolResult
from tool_executor.catalogue.announced import Offers
from tool_executor.domain.declaration import ArgumentProblem
from tool_executor.domain.defaults import with_defaults
from tool_executor.domain.nulls import without_nulls
from tool_executor.domain.numbers import numbers_out_of_range
from tool_executor.pipeline.call import CallProgress, Outcome, Postponed, Rest
from tool_executor.texts import TEXTS, in_language


class LeaveOutNulls:
    """Removes optional nulls before step 0, so that a call with a null and the same call without it are one call."""

    def __init__(self, offers: Offers) -> None:
        self._offers = offers

    async def __call__(self, call: CallProgress, rest: Rest) -> Outcome:
        entry = self._offers.find(call.tool, call.caller.company)
        if entry is not None:
            call.arguments = without_nulls(call.arguments, entry.tool.input_schema)
        return await rest()


class Validate:
    """Step 4."""

    async def __call__(self, call: CallProgress, rest: Rest) -> Outcome:
        tool = call.found.tool
        given = with_defaults(call.arguments, tool.input_schema)
        problems = numbers_out_of_range(given) or call.found.input.problems(given)
        if not problems and tool.validator is not None:
            problems = tool.validator(given)
        if problems:
            return invalid(call, problems)
        call.given = tool.normaliser(given) if tool.normaliser is not None else given
        return await rest()


class CheckOutput:
    """Step 7. A tool without side effects gets one more try."""

    async def __call__(self, call: CallProgress, rest: Rest) -> Outcome:
        outcome, problems = await self._once(call, rest)
        if problems and not call.found.tool.side_effects:
            outcome, problems = await self._once(call, rest)
        if not problems:
            return outcome
        message = TEXTS["call.invalid_output"].in_language(call.caller.language).format(tool=call.tool)
        return call.failure(ToolCode.INVALID_OUTPUT, message, fields=_told(call, problems))

    async def _once(self, call: CallProgress, rest: Rest) -> tuple[Outcome, Sequence[ArgumentProblem]]:
        outcome = await rest()
        if isinstance(outcome, Postponed) or outcome.data is None:
            return outcome, ()
        problems = call.found.output.problems(outcome.data)
        process = call.found.tool.post_processor
        if problems or process is None:
            return outcome, problems
        return call.success(process(outcome.data, call.given)), ()


def invalid(call: CallProgress, problems: Sequence[ArgumentProblem]) -> ToolResult:
    """VALIDATION_ERROR with its fields."""
    fields = _told(call, problems)
    said = "; ".join(f"{field.field or 'arguments'}: {field.message}" for field in fields)
    message = TEXTS["call.invalid"].in_language(call.caller.language).format(tool=call.tool, problems=said)
    return call.failure(ToolCode.VALIDATION_ERROR, message[:1000], fields=fields)


def _told(call: CallProgress, problems: Sequence[ArgumentProblem]) -> list[FieldError]:
    language = call.caller.language
    return [FieldError(field=one.field, message=in_language(one.message, language)) for one in problems]
