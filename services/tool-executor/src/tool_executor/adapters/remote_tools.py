"""Tools that other services serve: a NATS request, answered with data or an error."""

from collections.abc import Callable

from contracts.errors import ErrorCode, ToolCode
from contracts.ids import is_id
from contracts.rpc import Rpc
from contracts.tools_rpc import TOOL_OUTCOME, ToolServiceData, ToolServiceRequest, tool_outcome, tool_service
from contracts.tools_rpc import Caller as WireCaller
from runtime.calls.rpc import RpcClient
from runtime.errors import NobodyServesError, RpcError
from tool_executor.domain.declaration import (
    ArgumentProblem,
    CallContext,
    Data,
    ToolFailedError,
    ToolRefusedError,
    ToolUnavailableError,
)
from tool_executor.domain.plans import Arguments, VerifiedCaller

_SPARE = 0.25
"""Seconds kept back, so that "nobody serves it" can still be said before the call's own time limit."""
_REFUSED = frozenset({ErrorCode.BAD_FIELD, ToolCode.VALIDATION_ERROR})


class RemoteTools:
    """Calls them. `on_gone` is called with the subject of an announced tool that nobody serves any more."""

    def __init__(self, client: RpcClient, on_gone: Callable[[str], None]) -> None:
        self._client = client
        self._on_gone = on_gone

    async def call(
        self, tool: str, subject: str | None, arguments: Arguments, context: CallContext, *, again: bool
    ) -> Data:
        """The data. `again`: our own service is asked once more if it has not answered at half of the time, since who
        was asked may have died.

        Raises ToolFailedError, ToolRefusedError, ToolUnavailableError or TimeoutError.
        """
        seconds = max(context.seconds_left - _SPARE, 0.05)
        request = _request(tool, arguments, context)
        # The queue group is the server's affair; a name here only says that there is one.
        method = tool_service(tool, queue="tool", safe=again)
        if subject is not None:
            # Without a queue's name nobody waits for a server to come back: an announced tool goes with its owner.
            method = Rpc(subject, ToolServiceRequest, ToolServiceData, queue=None, safe=False)
        try:
            reply = await self._client.call(method, request, deadline=seconds)
        except NobodyServesError as error:
            if subject is not None:
                self._on_gone(subject)
            raise ToolUnavailableError(error.message) from error
        except RpcError as error:
            raise _as_tool_error(error) from error
        return reply.result

    async def outcome(self, tool: str, subject: str | None, arguments: Arguments, context: CallContext) -> Data | None:
        """The outcome that the tool's service reports; None: nothing happened. Raises TimeoutError if unknown."""
        method = TOOL_OUTCOME if subject is None else tool_outcome(subject, queue=None)
        seconds = max(context.seconds_left - _SPARE, 0.05)
        try:
            found = await self._client.call(method, _request(tool, arguments, context), deadline=seconds)
        except RpcError as error:
            raise TimeoutError(error.message) from error
        if found.state == "unknown":
            raise TimeoutError(f"the outcome of {context.call_id} is unknown")
        return (found.result or {}) if found.state == "done" else None


def _request(tool: str, arguments: Arguments, context: CallContext) -> ToolServiceRequest:
    return ToolServiceRequest(
        call_id=context.call_id,
        tool=tool,
        arguments=dict(arguments),
        caller=_on_the_wire(context.caller),
    )


def _as_tool_error(error: RpcError) -> Exception:
    # Not recorded: the same call id may be asked again, and its service knows what it has done under it.
    if error.code == ErrorCode.UNAVAILABLE:
        return ToolUnavailableError(error.message, asked=True)
    if error.code == ErrorCode.TIMEOUT:
        return TimeoutError(error.message)
    if error.reason is not None:
        return ToolFailedError(error.reason, error.message)
    if error.code == ErrorCode.INTERNAL:
        # Its words are for whoever mends it: they go to the log, and the caller reads that it has failed.
        return error
    if error.code in _REFUSED:
        return ToolRefusedError(
            *[ArgumentProblem(one.field, one.message) for one in error.fields] or [ArgumentProblem("", error.message)]
        )
    return ToolFailedError(error.code.lower(), error.message)


def _on_the_wire(caller: VerifiedCaller) -> WireCaller:
    return WireCaller(
        company_id=caller.company,
        user_id=caller.user if is_id(caller.user) else None,
        role=caller.role,
        plan=caller.plan.word,
        language=caller.language,
        conversation_id=caller.conversation,
        prompt=caller.prompt,
        said=None if caller.said is None else list(caller.said),
    )
