"""Finds a request's client address behind trusted proxies.

Each proxy appends its peer's address on the right, so the header is read from there: an address is believed if the
proxy that wrote it is trusted. Anything that the client itself wrote is further left.
"""

import ipaddress
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

UNKNOWN_ADDRESS = ""
"""Stands for the address of a client that the trusted proxy does not give; any number of people may share it."""
_FOR = re.compile(r'(?:^|;)\s*for\s*=\s*("[^"]*"|[^;\s]*)', re.IGNORECASE)


def client_address(peer: str, hops: Sequence[str], trusted: Sequence[Network]) -> str:
    """The client's address: the first from the right that is not a trusted proxy's, else the leftmost.

    Args:
        peer: the address that is connected to this process.
        hops: the header's addresses, in order.
        trusted: proxies whose headers are believed; the header of any other peer is ignored.
    """
    address = parse_address(peer)
    if address is None or not is_in(address, trusted):
        return peer
    if not hops:
        return UNKNOWN_ADDRESS
    for hop in reversed(hops):
        address = parse_address(hop)
        if address is None:
            return UNKNOWN_ADDRESS
        if not is_in(address, trusted):
            break
    return str(address)


def forwarded_for(header: str) -> list[str]:
    """The hops of X-Forwarded-For."""
    return [hop.strip() for hop in header.split(",") if hop.strip()]


def forwarded(header: str) -> list[str]:
    """The hops of Forwarded (RFC 7239). Split at every comma: an unclosed quotation mark from the client, on the
    left, must not swallow what the proxy added."""
    matches = (_FOR.search(element) for element in header.split(",") if element.strip())
    return [match[1].strip('"') if match else "unknown" for match in matches]


@lru_cache(4096)
def parse_address(text: str) -> Address | None:
    """The address in `1.2.3.4`, `1.2.3.4:80`, `2001:db8::1` or `[2001:db8::1]:80`; None if there is none."""
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
