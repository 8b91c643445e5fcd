"""Checks on which sites a company's widget may run."""

from collections.abc import Iterable
from urllib.parse import urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}


def is_allowed_origin(origin: str, allowed: Iterable[str]) -> bool:
    """Whether the browser's Origin is one of the allowed ones: scheme, host and port must be equal; `null` never is."""
    parts = _parts(origin)
    return parts is not None and any(parts == _parts(allowed_origin) for allowed_origin in allowed)


def _parts(origin: str) -> tuple[str, str, int] | None:
    try:
        split = urlsplit(origin)
        port = split.port
    except ValueError:
        return None
    if split.scheme not in _DEFAULT_PORTS or not split.hostname or split.username or split.path not in {"", "/"}:
        return None
    return split.scheme, split.hostname.lower(), port or _DEFAULT_PORTS[split.scheme]
