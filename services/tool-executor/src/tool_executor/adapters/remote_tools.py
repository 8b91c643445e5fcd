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

_SPARE_SECONDS = 0.25
"""Seconds kept in reserve, so that "nobody serves it" can still be answered within the call's time limit."""
_REFUSED = frozenset({ErrorCode.BAD_FIELD, ToolCode.VALIDATION_ERROR})


class RemoteTools:
    """Calls remote tools. `on_gone` is called with the subject of an announced tool that nobody serves any more."""

    def __init__(self, client: RpcClient, on_gone: Callable[[str], None]) -> None:
        self._client = client
        self._on_gone = on_gone

    async def call(
        self, tool: str, subject: str | None, arguments: Arguments, context: CallContext, *, may_repeat: bool
    ) -> Data:
        """Calls the tool and returns its data. `may_repeat`: our own service is asked a second time if it has not
        answered after half of the time, because the first instance may have died.

        Raises ToolFailedError, ToolRefusedError, ToolUnavailableError or TimeoutError.
        """
        seconds = max(context.seconds_left - _SPARE_SECONDS, 0.05)
        request = _request(tool, arguments, context)
        # The server chooses the queue group; a name here only means that there is one.
        method = tool_service(tool, queue="tool", safe=may_repeat)
        if subject is not None:
            # Without a queue name the client waits for no server to return: an announced tool ends with its owner.
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
        """Returns the outcome that the tool's service reports; None if nothing happened. Raises TimeoutError if the
        outcome is unknown."""
        method = TOOL_OUTCOME if subject is None else tool_outcome(subject, queue=None)
        seconds = max(context.seconds_left - _SPARE_SECONDS, 0.05)
        try:
            reply = await self._client.call(method, _request(tool, arguments, context), deadline=seconds)
        except RpcError as error:
            raise TimeoutError(error.message) from error
        if reply.state == "unknown":
            raise TimeoutError(f"the outcome of {context.call_id} is unknown")
        return (reply.result or {}) if reply.state == "done" else None


def _request(tool: str, arguments: Arguments, context: CallContext) -> ToolServiceRequest:
    return ToolServiceRequest(
        call_id=context.call_id,
        tool=tool,
        arguments=dict(arguments),
        caller=_wire_caller(context.caller),
    )


def _as_tool_error(error: RpcError) -> Exception:
    # Not recorded: the same call id may be requested again, and its service knows what it has done for it.
    if error.code == ErrorCode.UNAVAILABLE:
        return ToolUnavailableError(error.message, was_received=True)
    if error.code == ErrorCode.TIMEOUT:
        return TimeoutError(error.message)
    if error.reason is not None:
        return ToolFailedError(error.reason, error.message)
    if error.code == ErrorCode.INTERNAL:
        # The message is for developers: it goes to the log, and the caller only reads that the call failed.
        return error
    if error.code in _REFUSED:
        return ToolRefusedError(
            *[ArgumentProblem(fault.field, fault.message) for fault in error.fields]
            or [ArgumentProblem("", error.message)]
        )
    return ToolFailedError(error.code.lower(), error.message)


def _wire_caller(caller: VerifiedCaller) -> WireCaller:
    return WireCaller(
        company_id=caller.company,
        user_id=caller.user if is_id(caller.user) else None,
        role=caller.role,
        plan=caller.plan.word,
        language=caller.language,
        conversation_id=caller.conversation,
        prompt=caller.prompt,
        said=None if caller.user_texts is None else list(caller.user_texts),
    )
