"""HTTP to addresses that others supply, limited to the public Internet.

A name is looked up once, every address it resolves to must be accepted, and the connection goes to exactly those:
nothing is looked up between check and connect. The address is checked again right before the socket is created, which
also covers hosts that are addresses themselves. No proxy, no cookies; the caller decides about redirects. Importing
this requires aiohttp.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from runtime.errors import RuntimeLibraryError
from runtime.http.public_address import is_public

Lookup = Callable[[str, int], Awaitable[list[str]]]
"""Returns the IP addresses of a host; raises OSError if it has none."""
Accepts = Callable[[str], bool]
"""Whether connections to an IP address are allowed."""

_AddressInfo = tuple[int, int, int, str, tuple[object, ...]]


class AddressNotAllowedError(RuntimeLibraryError):
    """The name resolves to an address that must not be reached from here."""


async def system_lookup(host: str, port: int) -> list[str]:
    """Looks a host up with the system's resolver."""
    addresses = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[4][0]) for address in addresses]


def is_loopback(address: str) -> bool:
    """Whether an IP address is this machine's own."""
    return address in {"127.0.0.1", "::1"}


def guarded_session(
    accepts: Accepts,
    *,
    seconds: float,
    headers: Mapping[str, str],
    lookup: Lookup = system_lookup,
    connections: int = 64,
    connections_per_host: int = 16,
) -> aiohttp.ClientSession:
    """Returns a session that connects only to accepted addresses, with `seconds` for a whole request. Bodies are not
    decompressed.

    Its requests raise AddressNotAllowedError if the address is not accepted.
    """

    def checked_socket(info: _AddressInfo) -> socket.socket:
        family, kind, protocol, _, address = info
        if not accepts(str(address[0])):
            raise _not_allowed()
        return socket.socket(family=family, type=kind, proto=protocol)

    connector = aiohttp.TCPConnector(
        resolver=_PinningResolver(lookup, accepts),
        use_dns_cache=False,
        socket_factory=checked_socket,
        limit=connections,
        limit_per_host=connections_per_host,
    )
    return aiohttp.ClientSession(
        connector=connector,
        headers=headers,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=seconds, sock_connect=4.0, sock_read=seconds),
        auto_decompress=False,
        trust_env=False,
    )


class GuardedSessions:
    """A session for the public Internet and, if `loopback`, a separate one for addresses that name this machine, so
    that no other name that resolves to this machine can be used."""

    def __init__(
        self, *, loopback: bool, seconds: float, headers: Mapping[str, str], lookup: Lookup = system_lookup
    ) -> None:
        self._public = guarded_session(is_public, seconds=seconds, headers=headers, lookup=lookup)
        self._loopback = (
            guarded_session(is_loopback, seconds=seconds, headers=headers, lookup=lookup) if loopback else None
        )

    async def close(self) -> None:
        for session in (self._public, self._loopback):
            if session is not None:
                await session.close()

    def to(self, *, local: bool) -> aiohttp.ClientSession:
        """Returns the session for an address; `local`: the address names this machine."""
        return self._loopback if local and self._loopback is not None else self._public


class _PinningResolver(AbstractResolver):
    """Looks a name up once and returns only what passed the check; one bad address refuses them all."""

    def __init__(self, lookup: Lookup, accepts: Accepts) -> None:
        self._lookup = lookup
        self._accepts = accepts

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        addresses = list(dict.fromkeys(await self._lookup(host, port)))
        if not addresses:
            raise OSError("the name has no address")
        if not all(self._accepts(address) for address in addresses):
            raise _not_allowed()
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for address in addresses
        ]

    async def close(self) -> None:
        """Does nothing: there is nothing to release."""


def _not_allowed() -> AddressNotAllowedError:
    return AddressNotAllowedError("the name leads to an address that is not on the public Internet")
