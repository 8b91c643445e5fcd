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

LONGEST_PART = 512
LONGEST_URL = 8192


@dataclass(frozen=True, slots=True)
class OwnRequest:
    """`url` is encoded as it is sent; `body`: the JSON, None with a GET."""

    method: str
    url: str
    body: bytes | None


def request_of(tool: HttpTool, arguments: Arguments) -> OwnRequest:
    """The tool's request with these arguments, each in its place. Raises ToolRefusedError."""
    url, named = tool.url, set(address_arguments(tool.url))
    for name in named:
        url = url.replace("{" + name + "}", _part(name, arguments.get(name)))
    rest = {name: value for name, value in arguments.items() if name not in named}
    if tool.method != "GET":
        return OwnRequest(tool.method, _bounded(url), json.dumps(rest, ensure_ascii=False).encode())
    if rest:
        url += ("&" if "?" in url else "?") + urlencode(_pairs(rest))
    return OwnRequest("GET", _bounded(url), None)


def _part(name: str, value: object) -> str:
    """One argument as a piece of an address, which it cannot leave: neither a slash nor dots alone get through."""
    text = _text(value)
    if text is None or not 0 < len(text) <= LONGEST_PART or not text.strip("."):
        raise ToolRefusedError(ArgumentProblem(name, TEXTS["arguments.not_in_an_address"]))
    return quote(text, safe="")


def _pairs(rest: Mapping[str, object]) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for name, value in rest.items():
        for one in cast("list[object]", value) if isinstance(value, list) else [value]:
            pairs.append((name, _text(one) or json.dumps(one, ensure_ascii=False)))
    return pairs


def _text(value: object) -> str | None:
    match value:
        case bool():
            return "true" if value else "false"
        case str() | int() | float():
            return str(value)
        case _:
            return None


def _bounded(url: str) -> str:
    if len(url) > LONGEST_URL:
        raise ToolRefusedError(ArgumentProblem("", TEXTS["arguments.not_in_an_address"]))
    return url
