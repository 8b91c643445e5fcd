"""Translates the errors of this service into those of the contract."""

from agent.completions.speech import BrokenOffError
from agent.errors import BudgetSpentError, HelpRefusedError, ModelError, UnreachableError
from contracts.errors import ErrorCode
from runtime.errors import RpcError


def rpc_error(error: Exception) -> RpcError | None:
    """Returns the reply to an error of this service; None if the service does not raise it on purpose."""
    match error:
        case HelpRefusedError():
            return RpcError(error.code, str(error), reason=error.reason)
        case BudgetSpentError():
            return RpcError(ErrorCode.RATE_LIMITED, str(error), reason=error.until)
        case ModelError():
            return RpcError(ErrorCode.UNAVAILABLE, f"no model answered: {error}", retryable=error.retryable)
        case UnreachableError() | BrokenOffError():
            return RpcError(ErrorCode.UNAVAILABLE, str(error), retryable=True)
        case _:
            return None
