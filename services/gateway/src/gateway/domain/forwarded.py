"""Whose address a request comes from, when trusted proxies stand in between.

Each proxy adds on the right of its header whom it was reached by, so that the header is read from there: as long as
the one who wrote a hop is trusted, the hop is believed. What a client wrote itself stands to the left of that.
"""

import ipaddress
import re
from collections.abc import Iterable, Sequence

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

NOBODY = ""
"""The address of a client that the trusted proxy in front of it does not name: any number of people may share it."""
_FOR = re.compile(r'(?:^|;)\s*for\s*=\s*("[^"]*"|[^;\s]*)', re.IGNORECASE)


def client_address(peer: str, hops: Sequence[str], trusted: Sequence[Network]) -> str:
    """The client's address: the first from the right that is not a trusted proxy's, else the leftmost.

    Args:
        peer: who is connected to this process.
        hops: what the header names, as they stand there.
        trusted: whose word is believed. Of anybody else the header changes nothing.
    """
    address = parse_address(peer)
    if address is None or not is_in(address, trusted):
        return peer
    if not hops:
        return NOBODY
    for hop in reversed(hops):
        address = parse_address(hop)
        if address is None:
            return NOBODY
        if not is_in(address, trusted):
            break
    return str(address)


def forwarded_for(header: str) -> list[str]:
    """The hops of X-Forwarded-For."""
    return [hop.strip() for hop in header.split(",") if hop.strip()]


def forwarded(header: str) -> list[str]:
    """The hops of Forwarded (RFC 7239). Split at every comma: a quotation mark that a client leaves open to the left
    must not swallow what the proxy added.
    """
    found = (_FOR.search(element) for element in header.split(",") if element.strip())
    return [match[1].strip('"') if match else "unknown" for match in found]


def parse_address(text: str) -> Address | None:
    """The address alone, of `1.2.3.4`, `1.2.3.4:80`, `2001:db8::1` or `[2001:db8::1]:80`; None: no address."""
    host = text.strip()
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def is_in(address: Address, networks: Iterable[Network]) -> bool:
    return any(address in network for network in networks)
