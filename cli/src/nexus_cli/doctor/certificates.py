"""Checks the certificates of every server that speaks TLS: expired, or soon to expire."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from urllib.parse import urlsplit

from cryptography import x509

from nexus_cli.doctor.diagnosis import Diagnosis, wrong

ANSWER = 3.0
SOON = 14
"""Days before its end from which a certificate is worth a word."""
_PORTS = {"tls": 4222, "rediss": 6379, "mongodb": 27017, "https": 443}


async def look(urls: Mapping[str, str]) -> list[Diagnosis]:
    """`urls`: addresses by the server's name, each of one server or several; those without TLS are skipped."""
    found = await asyncio.gather(
        *(_look(name, one) for name, url in urls.items() if _speaks_tls(url) for one in _each(url))
    )
    return [one for one in found if one is not None]


def _speaks_tls(url: str) -> bool:
    return url.startswith(("tls://", "rediss://", "rediss+", "https://")) or (
        url.startswith("mongodb://") and any(word in url for word in ("tls=true", "ssl=true"))
    )


def _each(url: str) -> list[str]:
    """The address of each server that the URL names, by the first one's scheme."""
    scheme = url.partition("://")[0]
    places = (one.strip().rpartition("//")[2].rpartition("@")[2] for one in url.partition("?")[0].split(","))
    return [f"{scheme}://{place.partition('/')[0]}" for place in places if place]


async def _look(name: str, url: str) -> Diagnosis | None:
    address = urlsplit(url)
    host, port = address.hostname or "localhost", address.port or _PORTS[address.scheme.partition("+")[0]]
    try:
        async with asyncio.timeout(ANSWER):
            ends = await _ends(host, port, first_line=address.scheme == "tls")
    except (OSError, TimeoutError, ValueError, EOFError):
        return None  # whoever looks at the server itself says that it does not answer
    left = (ends - datetime.now(UTC)).days
    if left < 0:
        text = f"that of {name} ({host}:{port}) expired on {ends:%Y-%m-%d}"
        return wrong("certificate", text, "renew it, and let the server load it: clients refuse it")
    if left < SOON:
        return Diagnosis("certificate", "note", f"that of {name} ends on {ends:%Y-%m-%d}", "renew it")
    return None


async def _ends(host: str, port: int, *, first_line: bool) -> datetime:
    """Returns when the certificate shown at an address ends, whatever else is wrong with it."""
    anyone = ssl.create_default_context()
    anyone.check_hostname, anyone.verify_mode = False, ssl.CERT_NONE
    if first_line:
        # NATS tells of itself first, in plain.
        reader, writer = await asyncio.open_connection(host, port)
        await reader.readline()
        await writer.start_tls(anyone, server_hostname=host)
    else:
        reader, writer = await asyncio.open_connection(host, port, ssl=anyone, server_hostname=host)
    try:
        tls: ssl.SSLObject = writer.get_extra_info("ssl_object")
        return x509.load_der_x509_certificate(tls.getpeercert(binary_form=True) or b"").not_valid_after_utc
    finally:
        with suppress(OSError):
            writer.close()
