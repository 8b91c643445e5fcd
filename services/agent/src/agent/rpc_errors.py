"""The errors of this service as the contract's, for methods whose callers bring their own request."""

from agent.completions.speech import BrokenOffError
from agent.errors import BudgetSpentError, HelpRefusedError, ModelError, UnreachableError
from contracts.errors import ErrorCode
from runtime.errors import RpcError

TOLD = (HelpRefusedError, BudgetSpentError, ModelError, UnreachableError, BrokenOffError)
"""What a method may end in beside its answer."""


def told(error: Exception) -> RpcError:
    """The error that is answered for one of `TOLD`."""
    match error:
        case HelpRefusedError():
            return RpcError(error.code, str(error), reason=error.reason)
        case BudgetSpentError():
            return RpcError(ErrorCode.RATE_LIMITED, str(error), reason=error.until)
        case ModelError():
            return RpcError(ErrorCode.UNAVAILABLE, f"no model answered: {error}", retryable=error.retryable)
        case _:
            return RpcError(ErrorCode.UNAVAILABLE, str(error), retryable=True)
