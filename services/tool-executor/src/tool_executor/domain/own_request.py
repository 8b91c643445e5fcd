"""Builds the HTTP request for a call of a company's own tool. A pure function."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast
from urllib.parse import quote, urlencode

from contracts.own_tools import HttpTool, address_arguments
from tool_executor.domain.declaration import ArgumentProblem, ToolRefusedError
from tool_executor.domain.plans import Arguments
from tool_executor.texts import TEXTS

MAX_PART_CHARS = 512
MAX_URL_CHARS = 8192


@dataclass(frozen=True, slots=True)
class OwnRequest:
    """The request. `url`: encoded as it is sent. `body`: JSON; None for a GET."""

    method: str
    url: str
    body: bytes | None


def request_of(tool: HttpTool, arguments: Arguments) -> OwnRequest:
    """Returns the tool's request with these arguments. Raises ToolRefusedError."""
    url, address_names = tool.url, set(address_arguments(tool.url))
    for name in address_names:
        url = url.replace("{" + name + "}", _address_part(name, arguments.get(name)))
    other_arguments = {name: value for name, value in arguments.items() if name not in address_names}
    if tool.method != "GET":
        return OwnRequest(tool.method, _checked_length(url), json.dumps(other_arguments, ensure_ascii=False).encode())
    if other_arguments:
        url += ("&" if "?" in url else "?") + urlencode(_pairs(other_arguments))
    return OwnRequest("GET", _checked_length(url), None)


def _address_part(name: str, value: object) -> str:
    """Returns an argument as a segment of an address; it cannot escape the segment by slashes or dots."""
    text = _text(value)
    if text is None or not 0 < len(text) <= MAX_PART_CHARS or not text.strip("."):
        raise ToolRefusedError(ArgumentProblem(name, TEXTS["arguments.not_in_an_address"]))
    return quote(text, safe="")


def _pairs(arguments: Mapping[str, object]) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for name, value in arguments.items():
        for item in cast("list[object]", value) if isinstance(value, list) else [value]:
            pairs.append((name, _text(item) or json.dumps(item, ensure_ascii=False)))
    return pairs


def _text(value: object) -> str | None:
    match value:
        case bool():
            return "true" if value else "false"
        case str() | int() | float():
            return str(value)
        case _:
            return None


def _checked_length(url: str) -> str:
    if len(url) > MAX_URL_CHARS:
        raise ToolRefusedError(ArgumentProblem("", TEXTS["arguments.not_in_an_address"]))
    return url
