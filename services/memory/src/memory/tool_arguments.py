"""Parses the arguments of tools that memory serves."""

from typing import TypeVar

from pydantic import ValidationError

from contracts.envelope import Snake
from contracts.errors import ToolCode
from contracts.tools_rpc import ToolServiceRequest
from runtime.calls.refusals import field_faults, wrong_fields
from runtime.errors import RpcError

ArgumentsT = TypeVar("ArgumentsT", bound=Snake)


def arguments(model: type[ArgumentsT], request: ToolServiceRequest) -> ArgumentsT:
    """Parses a call's arguments with the tool's model.

    Raises:
        RpcError: VALIDATION_ERROR, with the wrong fields.
    """
    try:
        return model.model_validate(request.arguments)
    except ValidationError as error:
        message = f"{request.tool}: {wrong_fields(error)}"
        raise RpcError(ToolCode.VALIDATION_ERROR, message, fields=field_faults(error)) from error
