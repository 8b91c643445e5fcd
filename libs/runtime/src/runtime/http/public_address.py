"""Decides which IP addresses are public: all but those that a registry sets aside.

Sources: IANA's IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890 and updates), and the metadata services of
cloud providers that sit on public addresses. IPv6 forms that carry an IPv4 address (mapped, compatible, NAT64, 6to4,
Teredo, ISATAP) are refused entirely: no site needs them, and each is a way around an IPv4 rule.
"""

import ipaddress

_REFUSED_4 = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "168.63.129.16/32",  # Azure's host agent
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
_PUBLIC_6 = ipaddress.IPv6Network("2000::/3")
"""IANA's range for global unicast; loopback, mapped, NAT64, local, link-local and multicast addresses are outside."""
_REFUSED_6 = tuple(
    ipaddress.IPv6Network(network)
    for network in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
)
_ISATAP = (0x00005EFE, 0x02005EFE)


def is_public(address: str) -> bool:
    """Whether an IP address, as a resolver or a socket writes it, belongs to the public Internet."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv4Address):
        return not any(ip in network for network in _REFUSED_4)
    if ip.scope_id is not None or ip not in _PUBLIC_6 or any(ip in network for network in _REFUSED_6):
        return False
    return (int(ip) >> 32) & 0xFFFFFFFF not in _ISATAP
