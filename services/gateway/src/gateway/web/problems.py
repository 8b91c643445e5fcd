"""HTTP errors as problem documents (RFC 9457), with the same codes as the websocket."""

import re
from collections.abc import Collection, Mapping, Sequence
from http import HTTPStatus
from typing import Any, cast

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Route

from contracts.errors import ErrorCode, FieldFault, ToolCode
from contracts.events.tool import FieldError, ToolError, ToolMetadata, ToolResult
from contracts.json_values import JsonObject
from contracts.languages import named_language
from contracts.wrong_fields import message_of
from gateway.domain.error_language import in_language
from gateway.errors import GatewayError, TokenInvalidError
from gateway.web.deps import admission
from gateway.web.free_json import WRONG_FIELDS
from gateway.web.openai_errors import PREFIX as OPENAI
from gateway.web.openai_errors import error_response
from gateway.web.response_headers import describe_errors

log = structlog.get_logger(__name__)

MEDIA_TYPE = "application/problem+json"
STATUS: dict[ErrorCode, int] = {
    ErrorCode.BAD_FIELD: 422,
    ErrorCode.EMPTY_TEXT: 422,
    ErrorCode.TEXT_TOO_LONG: 422,
    ErrorCode.UNKNOWN_TYPE: 422,
    ErrorCode.NOT_FOUND: 404,
    ErrorCode.FORBIDDEN: 403,
    ErrorCode.UNAUTHORIZED: 401,
    ErrorCode.RATE_LIMITED: 429,
    ErrorCode.UNAVAILABLE: 503,
    ErrorCode.TIMEOUT: 504,
    ErrorCode.CONFLICT: 409,
    ErrorCode.PRECONDITION_FAILED: 412,
    ErrorCode.PRECONDITION_REQUIRED: 428,
    ErrorCode.INTERNAL: 500,
}
_TOOL_CALL = re.compile(r"/v2/tools/[^/]+").fullmatch
_FIELD = re.compile(r"(?!(str|int|float|bool|dict)$)[a-z_0-9]+").fullmatch
"""Matches the name of a field, but not of a type (`str`, `list[str]`, `NamedTool`)."""
_CODES = {
    401: "UNAUTHORIZED",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    408: ErrorCode.TIMEOUT,
    413: "TOO_LARGE",
    422: ErrorCode.BAD_FIELD,
}


class FieldProblem(BaseModel):
    """What is wrong with one field."""

    field: str
    message: str


class ProblemDocument(BaseModel):
    """A problem document."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str
    errors: list[FieldProblem] | None = None


def described(*statuses: int) -> dict[int | str, JsonObject]:
    """The errors of a route for OpenAPI: those of every route, and `statuses`."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {
        status: {"description": HTTPStatus(status).phrase, "content": content}
        for status in sorted({401, 403, 413, 422, 503, *statuses})
    }


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    errors: Sequence[FieldProblem] | None = None,
    headers: dict[str, str] | None = None,
) -> JSONResponse:
    """The response with a problem document."""
    document = ProblemDocument(
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        code=code,
        errors=list(errors) if errors else None,
    )
    return JSONResponse(document.model_dump(exclude_none=True), status, headers=headers, media_type=MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Lets the application answer every error with a problem document, and describes these in its OpenAPI document."""
    framework_openapi = app.openapi

    def openapi() -> JsonObject:
        document = framework_openapi()
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        schemas["Problem"] = ProblemDocument.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas.update(schemas["Problem"].pop("$defs"))
        for path, operations in document["paths"].items():
            if path.startswith(OPENAI):
                for operation in operations.values():
                    operation["responses"].pop("422", None)
        describe_errors(document)
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        return document

    app.openapi = openapi
    app.add_exception_handler(GatewayError, _gateway_error)
    app.add_exception_handler(RequestValidationError, _bad_request)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(ClientDisconnect, _client_disconnected)
    app.add_exception_handler(Exception, _unexpected)


def error_answer(
    path: str,
    status: int,
    code: str,
    detail: str,
    *,
    errors: Sequence[FieldFault] = (),
    headers: dict[str, str] | None = None,
    spent: bool = False,
    accept_language: str | None = None,
) -> JSONResponse:
    """The response of an error in the form for callers of this path. `spent`: a budget is spent. `accept_language`: the
    language of the message, except for OpenAI's clients, which are programs and get English."""
    if path.startswith(OPENAI):
        fields = [fault.field for fault in errors]
        return error_response(status, code, detail, fields=fields, headers=headers, spent=spent)
    language = named_language(accept_language)
    translated = [FieldProblem(field=fault.field, message=in_language(fault.message, language)) for fault in errors]
    if status == HTTPStatus.UNPROCESSABLE_ENTITY and _TOOL_CALL(path):
        return _unreadable_call(in_language(detail, language), translated)
    return problem(status, code, in_language(detail, language), errors=translated, headers=headers)


def _unreadable_call(message: str, faults: Sequence[FieldProblem]) -> JSONResponse:
    """The response to a tool call whose body cannot be read: a tool result with an error."""
    fields = [FieldError(field=fault.field, message=fault.message) for fault in faults]
    error = ToolError(code=ToolCode.VALIDATION_ERROR, message=message, fields=fields or None)
    result = ToolResult(success=False, error=error, metadata=ToolMetadata(execution_time=0.0))
    return JSONResponse(result.to_wire(), HTTPStatus.UNPROCESSABLE_ENTITY)


async def _gateway_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, GatewayError)  # noqa: S101 - registered for this class alone
    headers: dict[str, str] = {}
    if error.wait is not None:
        headers["Retry-After"] = str(error.wait)
    elif isinstance(error, TokenInvalidError):
        # RFC 6750, section 3: the error's code is named if a token was sent.
        headers["WWW-Authenticate"] = 'Bearer error="invalid_token"' if "authorization" in request.headers else "Bearer"
    status, code = STATUS[error.code], str(error.code)
    return _answer(request, status, code, error.message, errors=error.fields, headers=headers, spent=error.spent)


async def _bad_request(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for this class alone
    path = request.url.path
    located = [(_field(fault, path), fault) for fault in error.errors()]
    names = {name for name, _ in located}
    fields = [
        FieldFault(field=name, message=message_of(fault))
        for name, fault in located
        if not _is_about_other_type(name, fault, names)
    ]
    detail = WRONG_FIELDS
    if path.startswith(OPENAI):
        # Its clients show only the message.
        detail = "; ".join(f"{field.field}: {field.message}" for field in fields[:5])
    return await _unreadable(request, detail, fields)


async def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class alone
    if error.status_code == HTTPStatus.BAD_REQUEST:
        # The framework's status for a body that is not text; for one that is not JSON it uses 422.
        fields = [FieldFault(field="body", message="must be JSON in UTF-8")]
        return await _unreadable(request, "the body cannot be read: send JSON in UTF-8, not compressed", fields)
    if error.status_code == HTTPStatus.UNPROCESSABLE_ENTITY:
        return await _unreadable(request, str(error.detail), [FieldFault(field="body", message=str(error.detail))])
    code = _CODES.get(error.status_code, "BAD_REQUEST")
    headers, detail = dict(error.headers or {}), str(error.detail)
    if detail == HTTPStatus(error.status_code).phrase and error.status_code in {404, 405}:  # the framework's message
        missing = f"there is no {request.method} {request.url.path[:200]}"
        is_slashed = request.url.path.endswith("/")
        detail = f"{missing}: {'no path ends with a slash' if is_slashed else 'GET /openapi.json lists what there is'}"
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = ", ".join(_allowed_methods(request))
    return _answer(request, error.status_code, code, detail, headers=headers)


def _allowed_methods(request: Request) -> list[str]:
    """The methods of the path. The framework names only those of the first of its routes."""
    routes = [route for route in request.app.routes if isinstance(route, Route)]
    methods = {method for route in routes if route.path_regex.match(request.url.path) for method in route.methods or ()}
    return sorted(methods | {"HEAD"} if "GET" in methods else methods)


async def _client_disconnected(request: Request, error: Exception) -> Response:
    # The client disconnected during its request: nobody gets the response, and it is no error of this server.
    del request, error
    return Response(status_code=400)


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    log.error("http.failed", path=request.url.path, exc_info=error)
    return _answer(request, 500, ErrorCode.INTERNAL, "something went wrong here: try again")


async def _unreadable(request: Request, detail: str, fields: list[FieldFault]) -> JSONResponse:
    """Answers a bad body. Only callers who may use the route get the description, since bodies are read before callers
    are checked."""
    if (only := admission(request.scope.get("route"))) is not None:
        try:
            await only(request)
        except GatewayError as error:
            return await _gateway_error(request, error)
    return _answer(request, 422, ErrorCode.BAD_FIELD, detail, errors=fields)


def _answer(request: Request, status: int, code: str, detail: str, **fields: Any) -> JSONResponse:
    accept_language = request.headers.get("accept-language")
    return error_answer(request.url.path, status, code, detail, accept_language=accept_language, **fields)


def _field(error: Mapping[str, Any], path: str) -> str:
    """The name of the field with the error; `body` for a body that is not JSON, for which the framework gives a
    position."""
    source, *path_parts = cast("Sequence[int | str]", error["loc"])
    if error["type"] == "json_invalid":
        return "body"
    if source != "body" or not path.startswith(OPENAI):
        return ".".join(str(part) for part in path_parts) or "body"
    # In the notation of that API: messages[0].content, without the alternative type that the framework tried.
    name_parts = (part for part in path_parts if isinstance(part, int) or _FIELD(part))
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in name_parts).lstrip(".") or "body"


def _is_about_other_type(name: str, error: Mapping[str, Any], names: Collection[str]) -> bool:
    """Whether the error only says that a field does not have one of its possible types, while another error is about
    the inside of the type that it has."""
    prefixes = (f"{name}.", f"{name}[")
    return str(error["type"]).endswith("_type") and any(other_name.startswith(prefixes) for other_name in names)
