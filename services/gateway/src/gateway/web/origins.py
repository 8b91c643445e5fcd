"""Decides from which sites browsers may call with a company's tokens."""

import re

from starlette.requests import HTTPConnection

from contracts.company import CompanySettings
from gateway.domain.origins import is_allowed_origin

_LOOPBACK = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?", re.IGNORECASE)


def origin_allowed(origin: str, settings: CompanySettings, request: HTTPConnection, *, dev: bool) -> bool:
    """Whether the Origin belongs to the company: it is in allowedOrigins, or without these, its own site."""
    config = settings.config
    if is_allowed_origin(origin, config.allowed_origins or config.tool_config.allowed_domains):
        return True
    # In development the demo site may be opened by any name of this machine.
    own_origin = f"{request.url.scheme}://{request.headers.get('host', '')}"
    return dev and origin == own_origin and names_loopback(request)


def names_loopback(request: HTTPConnection) -> bool:
    """Whether the Host header names this machine. It is read directly, since for an invalid Host the framework reports
    the server's own address."""
    return _LOOPBACK.fullmatch(request.headers.get("host", "")) is not None
