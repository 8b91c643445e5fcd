"""Addresses in a company's settings: origins of its pages, addresses of its sites, and rules for paths."""

import re
from typing import Annotated
from urllib.parse import SplitResult

from pydantic import AfterValidator, Field, ValidationInfo

from contracts.enumerations import is_input
from contracts.own_tools import endpoint, is_local, split_address
from contracts.plain_text import LINE_OF_SETTINGS

_AUTHORITY = re.compile(r"(?:(?:[\w-]+\.)*[\w-]+\.?|\[[0-9a-fA-F:.]+\])(?::[0-9]{1,5})?")
"""A host name, or an IPv6 address in brackets, optionally with a port."""


def _origin(value: str, info: ValidationInfo) -> str:
    parts = split_address(value)
    if not (parts.scheme == "https" or is_local(parts)) or not parts.hostname or parts.username or parts.password:
        raise ValueError("use an https origin such as https://www.example.com")
    if parts.path not in {"", "/"} or parts.query or parts.fragment:
        raise ValueError("use the origin alone, with no path")
    if is_input(info) and not _AUTHORITY.fullmatch(parts.netloc):
        raise ValueError("name one host, with no wildcards, such as https://www.example.com")
    if is_input(info) and not _has_valid_port(parts):
        raise ValueError("use a port from 1 to 65535")
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _has_valid_port(parts: SplitResult) -> bool:
    try:
        return parts.port != 0
    except ValueError:
        return False


Origin = Annotated[str, AfterValidator(_origin)]
SiteAddress = Annotated[str, Field(max_length=2048), AfterValidator(endpoint)]
PathRule = Annotated[str, Field(min_length=1, max_length=512), LINE_OF_SETTINGS]
