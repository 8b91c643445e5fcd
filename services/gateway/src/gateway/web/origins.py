"""Decides from which sites a browser may call with a company's tokens."""

import re

from starlette.requests import HTTPConnection

from contracts.company import CompanySettings
from gateway.domain.origins import is_allowed_origin

_LOOPBACK = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?", re.IGNORECASE)


def origin_allowed(origin: str, settings: CompanySettings, request: HTTPConnection, *, dev: bool) -> bool:
    """Whether the Origin is one of the company's: allowedOrigins, or its own site if there are none."""
    config = settings.config
    if is_allowed_origin(origin, config.allowed_origins or config.tool_config.allowed_domains):
        return True
    # In development the demo site is reached by any of the loopback's names.
    own = f"{request.url.scheme}://{request.headers.get('host', '')}"
    return dev and origin == own and names_loopback(request)


def names_loopback(request: HTTPConnection) -> bool:
    """Whether the Host names this machine exactly: for an unreadable Host the framework reports the server's own
    address."""
    return _LOOPBACK.fullmatch(request.headers.get("host", "")) is not None
