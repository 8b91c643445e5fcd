"""The diagnostic tools of 2026-07-28 that need something of the client: calls in rounds, no request of our own."""

from typing import Any

import mcp_types as types

from gateway.doors.mcp.offer import Context
from tests.support.mcp_suite.tools import TEXT, Diagnostic, Outcome, Params, Run, arguments, said


def question(message: str, **properties: dict[str, Any]) -> types.ElicitRequest:
    """A form for the client's user."""
    schema = arguments(**properties)
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def sample(prompt: str, max_tokens: int) -> types.CreateMessageRequest:
    """A question to the client's model."""
    message = types.SamplingMessage(role="user", content=types.TextContent(text=prompt))
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[message], max_tokens=max_tokens)
    )


NAME: types.InputRequests = {"user_name": question("What is your name?", name=TEXT)}
CAPITAL: types.InputRequests = {"capital_question": sample("What is the capital of France?", 100)}
ROOTS: types.InputRequests = {"client_roots": types.ListRootsRequest()}
OK: types.InputRequests = {"confirm": question("Please confirm", ok={"type": "boolean"})}


def asking(requests: types.InputRequests, state: str | None = None) -> Run:
    """Asks until all is answered, then says what came."""

    async def run(context: Context, params: Params) -> Outcome:
        del context
        answers = params.input_responses or {}
        answered = all(isinstance(answers.get(key), _ANSWERS[request.method]) for key, request in requests.items())
        if not answered or params.request_state != state:
            return types.InputRequiredResult(input_requests=requests, request_state=state)
        words = {key: answers[key].model_dump(mode="json", exclude_none=True) for key in requests}
        return said(f"{'state-ok ' if state else ''}{words}")

    return run


_ANSWERS: dict[str, type[types.ElicitResult | types.CreateMessageResult | types.ListRootsResult]] = {
    "elicitation/create": types.ElicitResult,
    "sampling/createMessage": types.CreateMessageResult,
    "roots/list": types.ListRootsResult,
}


async def multi_round(context: Context, params: Params) -> Outcome:
    """Two questions, one after the other."""
    del context
    answers = params.input_responses or {}
    if params.request_state == "2" and "step2" in answers:
        return said("All rounds done")
    if params.request_state == "1" and "step1" in answers:
        second = question("Step 2: What is your favorite color?", color=TEXT)
        return types.InputRequiredResult(input_requests={"step2": second}, request_state="2")
    first = question("Step 1: What is your name?", name=TEXT)
    return types.InputRequiredResult(input_requests={"step1": first}, request_state="1")


async def capabilities(context: Context, params: Params) -> Outcome:
    """Asks for what the client has said that it can do, and nothing else."""
    able = context.session.client_capabilities
    requests: types.InputRequests = {}
    if able is not None and able.elicitation is not None:
        requests |= NAME
    if able is not None and able.sampling is not None:
        requests |= CAPITAL
    return await asking(requests)(context, params)


ROUNDS: tuple[Diagnostic, ...] = (
    Diagnostic("test_input_required_result_elicitation", asking(NAME)),
    Diagnostic("test_streaming_elicitation", asking(NAME)),
    Diagnostic("test_input_required_result_sampling", asking(CAPITAL)),
    Diagnostic("test_input_required_result_list_roots", asking(ROOTS)),
    Diagnostic("test_input_required_result_request_state", asking(OK, "asked")),
    Diagnostic("test_input_required_result_tampered_state", asking(OK, "asked")),
    Diagnostic(
        "test_input_required_result_multiple_inputs",
        asking(NAME | {"greeting": sample("Generate a greeting", 50)} | ROOTS, "asked"),
    ),
    Diagnostic("test_input_required_result_multi_round", multi_round),
    Diagnostic("test_input_required_result_capabilities", capabilities),
)
