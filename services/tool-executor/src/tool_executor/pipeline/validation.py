"""Step 4: defaults, input schema, the tool's own validator, canonical form.
Step 7: the output schema."""

from collections.abc import Sequence

from contracts.errors import ToolCode
from contracts.events.tool import FieldError, ToolResult
from tool_executor.domain.declaration import ArgumentProblem
from tool_executor.domain.defaults import with_defaults
from tool_executor.domain.numbers import numbers_out_of_range
from tool_executor.pipeline.call import CallProgress, NextSteps, Outcome, Postponed
from tool_executor.texts import TEXTS, in_language


async def validate(call: CallProgress, next_steps: NextSteps) -> Outcome:
    """Step 4."""
    tool = call.tool_entry.tool
    arguments = with_defaults(call.arguments, tool.input_schema)
    problems = numbers_out_of_range(arguments) or call.tool_entry.input.problems(arguments)
    if not problems and tool.validator is not None:
        problems = tool.validator(arguments)
    if problems:
        return invalid(call, problems)
    call.checked_arguments = tool.normaliser(arguments) if tool.normaliser is not None else arguments
    return await next_steps()


async def check_output(call: CallProgress, next_steps: NextSteps) -> Outcome:
    """Step 7. A tool without side effects gets a second attempt."""
    tool = call.tool_entry.tool
    problems: Sequence[ArgumentProblem] = ()
    for _ in range(1 if tool.side_effects else 2):
        outcome = await next_steps()
        if isinstance(outcome, Postponed) or outcome.data is None:
            return outcome
        problems = call.tool_entry.output.problems(outcome.data)
        if not problems:
            return (
                outcome
                if tool.post_processor is None
                else call.success(tool.post_processor(outcome.data, call.checked_arguments))
            )
    message = TEXTS["call.invalid_output"].format(tool=call.tool)
    return call.failure(ToolCode.INVALID_OUTPUT, message, fields=_field_errors(call, problems))


def invalid(call: CallProgress, problems: Sequence[ArgumentProblem]) -> ToolResult:
    """Returns a VALIDATION_ERROR with its fields."""
    fields = _field_errors(call, problems)
    problem_texts = "; ".join(f"{field.field or 'arguments'}: {field.message}" for field in fields)
    message = TEXTS["call.invalid"].in_language(call.caller.language).format(tool=call.tool, problems=problem_texts)
    return call.failure(ToolCode.VALIDATION_ERROR, message[:1000], fields=fields)


def _field_errors(call: CallProgress, problems: Sequence[ArgumentProblem]) -> list[FieldError]:
    language = call.caller.language
    return [FieldError(field=problem.field, message=in_language(problem.message, language)) for problem in problems]
