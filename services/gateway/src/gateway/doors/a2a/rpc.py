"""JSON-RPC 2.0 as A2A 1.0 uses it: requests, results and the errors of both protocols."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from contracts.errors import ErrorCode
from contracts.json_values import is_object, object_of
from gateway.errors import GatewayError

Json = dict[str, Any]
Identity = str | int | None
PROTOCOL = "1.0"
_INFO = "type.googleapis.com/google.rpc.ErrorInfo"
_FIELDS = "type.googleapis.com/google.rpc.BadRequest"
OWN_ERROR_CODE = -32000
"""The code of errors for which neither protocol has a code; `reason` names them."""


class A2AError(Exception):
    """An error of the protocol. `reason`: its name in ErrorInfo; `fields`: wrong fields, each with a message."""

    def __init__(self, code: int, reason: str, message: str, fields: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.fields = tuple(fields)


def invalid_param(field: str, message: str) -> A2AError:
    """The error for an invalid parameter."""
    return A2AError(-32602, "INVALID_PARAMS", f"{field}: {message}", [(field, message)])


def task_not_found() -> A2AError:
    """The error for tasks that do not exist or are somebody else's."""
    return A2AError(-32001, "TASK_NOT_FOUND", "there is no such task")


def unsupported(message: str) -> A2AError:
    """The error for something that this agent does not support, or not in the task's state."""
    return A2AError(-32004, "UNSUPPORTED_OPERATION", message)


def from_gateway_error(error: GatewayError) -> A2AError:
    """The protocol's error for an error of the gateway."""
    fields = [(fault.field, fault.message) for fault in error.fields]
    if error.code in {ErrorCode.BAD_FIELD, ErrorCode.TEXT_TOO_LONG, ErrorCode.EMPTY_TEXT}:
        return A2AError(-32602, str(error.code), error.message, fields)
    if error.code in {ErrorCode.INTERNAL, ErrorCode.UNAVAILABLE, ErrorCode.TIMEOUT}:
        return A2AError(-32603, str(error.code), error.message)
    return A2AError(OWN_ERROR_CODE, str(error.code), error.message, fields)


def error_body(identity: Identity, error: A2AError, retry_after: int | None = None) -> Json:
    """The response with an error. `retry_after`: in seconds."""
    metadata = {} if retry_after is None else {"retryAfter": str(retry_after)}
    domain = "nexus" if error.code == OWN_ERROR_CODE else "a2a-protocol.org"
    data: list[Json] = [{"@type": _INFO, "reason": error.reason, "domain": domain, "metadata": metadata}]
    if error.fields:
        violations = [{"field": field, "description": message} for field, message in error.fields]
        data.append({"@type": _FIELDS, "fieldViolations": violations})
    return {
        "jsonrpc": "2.0",
        "id": identity,
        "error": {"code": error.code, "message": error.message, "data": data},
    }


def result_body(identity: Identity, result: Json) -> Json:
    """The response with a result."""
    return {"jsonrpc": "2.0", "id": identity, "result": result}


@dataclass(frozen=True, slots=True)
class RpcRequest:
    """A valid request."""

    identity: Identity
    method: str
    params: Mapping[str, Any]


def request_id(raw: object) -> Identity:
    """The request's id for the response, even if the rest of the request is invalid; None if it has no valid id."""
    identity = object_of(raw).get("id")
    return identity if isinstance(identity, str | int) and not isinstance(identity, bool) else None


def parse_json(body: bytes) -> object:
    """The body's JSON value; raises A2AError (-32700)."""
    try:
        return orjson.loads(body)
    except ValueError as error:
        raise A2AError(-32700, "PARSE_ERROR", "the body is not JSON") from error


def check_media(content_type: str | None) -> None:
    """Raises A2AError (-32005) if the body's declared type is not JSON."""
    media = (content_type or "application/json").partition(";")[0].strip().lower()
    if media != "application/json" and not (media.startswith("application/") and media.endswith("+json")):
        raise A2AError(-32005, "CONTENT_TYPE_NOT_SUPPORTED", "send application/json")


def parse_request(raw: object) -> RpcRequest:
    """The request; raises A2AError (-32600, -32602)."""
    if not is_object(raw):
        raise A2AError(-32600, "INVALID_REQUEST", "send one JSON-RPC request object: batches are not answered")
    method, params = raw.get("method"), raw.get("params", {})
    if raw.get("jsonrpc") != "2.0" or not isinstance(method, str):
        raise A2AError(-32600, "INVALID_REQUEST", 'a request has "jsonrpc": "2.0" and a method')
    if "id" not in raw or (raw["id"] is not None and request_id(raw) is None):
        raise A2AError(-32600, "INVALID_REQUEST", "id: a text or a whole number")
    if not is_object(params):
        raise invalid_param("params", "must be an object")
    return RpcRequest(request_id(raw), method, params)


def check_version(version: str | None) -> None:
    """Raises A2AError (-32009) unless the version is supported: "Agents MUST interpret empty value as 0.3 version"; a
    patch number is not considered."""
    if (version or "0.3").split(".")[:2] != PROTOCOL.split("."):
        raise A2AError(-32009, "VERSION_NOT_SUPPORTED", f"send A2A-Version: {PROTOCOL}, which is what is spoken here")
