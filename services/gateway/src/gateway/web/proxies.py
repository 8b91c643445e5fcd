"""Replaces the address and scheme of a trusted proxy by those of its client, for HTTP and websockets."""

from collections.abc import Callable, Sequence
from typing import Literal

from starlette.types import Scope

from gateway.domain.forwarded import (
    UNKNOWN_ADDRESS,
    Network,
    client_address,
    forwarded,
    forwarded_for,
    is_in,
    parse_address,
)

Header = Literal["x-forwarded-for", "forwarded"]
_HOPS: dict[Header, Callable[[str], list[str]]] = {"x-forwarded-for": forwarded_for, "forwarded": forwarded}
_SECURE = {"http": "https", "ws": "wss"}


class Proxies:
    """The trusted proxies, and the one header to read. The other one is not read, since a proxy passes it on unchanged
    from the client."""

    def __init__(self, trusted: Sequence[Network] = (), header: Header = "x-forwarded-for") -> None:
        self._trusted = tuple(trusted)
        self._name = header.encode()
        self._hops = _HOPS[header]

    def name_client(self, scope: Scope) -> None:
        """Writes the address of the client behind the proxy into the scope, if the peer is a trusted proxy."""
        client = scope.get("client")
        peer = parse_address(client[0]) if client else None
        if peer is None or not is_in(peer, self._trusted):
            return
        address = client_address(str(peer), self._hops(_joined(scope, self._name)), self._trusted)
        scope["client"] = None if address == UNKNOWN_ADDRESS else (address, 0)
        if _joined(scope, b"x-forwarded-proto").lower() in {"https", "wss"}:
            scope["scheme"] = _SECURE.get(scope["scheme"], scope["scheme"])


def _joined(scope: Scope, name: bytes) -> str:
    return ",".join(value.decode("latin-1") for key, value in scope["headers"] if key == name)
