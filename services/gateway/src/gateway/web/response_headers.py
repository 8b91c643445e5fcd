"""OpenAPI descriptions of the response headers that clients use, and of errors."""

from typing import Any

from contracts.json_values import JsonObject

_MEANINGS = {
    "ETag": "the version, for If-Match and If-None-Match",
    "Location": "where it can be read",
    "Retry-After": "seconds after which to try again",
    "WWW-Authenticate": 'Bearer; if a token was sent: Bearer error="invalid_token"',
}
_OF_ERRORS = {"401": "WWW-Authenticate", "429": "Retry-After", "503": "Retry-After", "504": "Retry-After"}


def described_headers(*names: str) -> JsonObject:
    """The part of a response's description that lists its headers."""
    return {"headers": {name: {"$ref": f"#/components/headers/{name}"} for name in names}}


def describe_errors(document: dict[str, Any]) -> None:
    """Adds descriptions of headers to an OpenAPI document, and to each operation the headers of its errors and the
    error of a body that does not arrive in time. Each error is in the document once; operations refer to it."""
    shared = dict[str, JsonObject]()
    document["components"] |= {
        "headers": {
            name: {"description": meaning, "schema": {"type": "string"}} for name, meaning in _MEANINGS.items()
        },
        "responses": shared,
    }
    for operations in document["paths"].values():
        for operation in operations.values():
            responses = operation["responses"]
            if "requestBody" in operation and "413" in responses:
                responses["408"] = responses["413"] | {"description": "Request Timeout"}
            for status in responses:
                if status >= "4":
                    responses[status] = _shared(status, responses[status], shared)


def _shared(status: str, response: dict[str, Any], shared: dict[str, JsonObject]) -> JsonObject:
    """A reference to the shared response, whose name consists of its schemas and the status."""
    if status in _OF_ERRORS:
        response |= described_headers(_OF_ERRORS[status])
    schemas = (str(content["schema"].get("$ref", "Error")) for content in response["content"].values())
    name = "".join(schema.rpartition("/")[2] for schema in schemas) + status
    return {"$ref": f"#/components/responses/{name}"} if shared.setdefault(name, response) == response else response
