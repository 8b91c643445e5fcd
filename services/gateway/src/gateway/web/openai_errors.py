"""Errors of the OpenAI-compatible API, in the form that its clients expect.

https://platform.openai.com/docs/guides/error-codes: {"error": {message, type, param, code}}. The official clients
choose their exception by the status, and retry 408, 409, 429 and 5xx unless `x-should-retry` is false.
"""

from collections.abc import Mapping, Sequence

from fastapi.responses import JSONResponse
from pydantic import BaseModel

PREFIX = "/v1/"
MAX_RETRY_SECONDS = 60.0
"""Seconds of Retry-After above which clients are told not to retry automatically."""
_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error", 503: "server_error"}
_CODES = {
    "UNAUTHORIZED": "invalid_api_key",
    "BAD_FIELD": "invalid_value",
    "TEXT_TOO_LONG": "context_length_exceeded",
    "RATE_LIMITED": "rate_limit_exceeded",
}
_DESCRIPTIONS = {
    400: "A parameter is not as it must be",
    401: "No valid token",
    403: "Not for this role",
    404: "No such model, or response",
    405: "That is not done with it",
    413: "Too much",
    429: "Too many at once, or a budget is spent",
    503: "No model answers now",
    504: "No answer in time",
}


class OpenAIErrorBody(BaseModel):
    """What went wrong."""

    message: str
    type: str
    param: str | None = None
    code: str | None = None


class OpenAIError(BaseModel):
    """An error in the form of that API."""

    error: OpenAIErrorBody


def described(*statuses: int) -> dict[int | str, dict[str, object]]:
    """The errors of a route for OpenAPI."""
    return {
        status: {"model": OpenAIError, "description": _DESCRIPTIONS[status]}
        for status in sorted({401, 403, 503, *statuses})
    }


def error_body(status: int, code: str, message: str, param: str | None = None, *, spent: bool = False) -> OpenAIError:
    """The body of an error. `spent`: a budget is spent."""
    if spent:
        return OpenAIError(error=OpenAIErrorBody(message=message, type="insufficient_quota", code="insufficient_quota"))
    kind = _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    error_code = "model_not_found" if (status, param) == (404, "model") else _CODES.get(code, code.lower())
    return OpenAIError(error=OpenAIErrorBody(message=message, type=kind, param=param, code=error_code))


def error_response(
    status: int, code: str, message: str, *, fields: Sequence[str], headers: Mapping[str, str] | None, spent: bool
) -> JSONResponse:
    """The response of an error. What is 422 elsewhere is 400 here."""
    status = 400 if status == 422 else status
    all_headers = dict(headers or {})
    if spent or float(all_headers.get("Retry-After", "0")) > MAX_RETRY_SECONDS:
        all_headers["x-should-retry"] = "false"
    body = error_body(status, code, message, fields[0] if fields else None, spent=spent)
    return JSONResponse(body.model_dump(), status, headers=all_headers)
