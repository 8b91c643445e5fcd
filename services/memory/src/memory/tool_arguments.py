"""Parses the arguments of tools that memory serves."""

from typing import TypeVar

from pydantic import ValidationError

from contracts.envelope import Snake
from contracts.errors import ToolCode
from contracts.tools_rpc import ToolServiceRequest
from runtime.calls.refusals import field_faults, wrong_fields
from runtime.errors import RpcError

ArgumentsT = TypeVar("ArgumentsT", bound=Snake)


def arguments(kind: type[ArgumentsT], request: ToolServiceRequest) -> ArgumentsT:
    """The arguments as the tool's model.

    Raises:
        RpcError: VALIDATION_ERROR, field by field.
    """
    try:
        return kind.model_validate(request.arguments)
    except ValidationError as error:
        said = f"{request.tool}: {wrong_fields(error)}"
        raise RpcError(ToolCode.VALIDATION_ERROR, said, fields=field_faults(error)) from error
