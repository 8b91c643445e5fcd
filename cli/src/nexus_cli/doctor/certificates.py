"""Checks the certificates of all servers that use TLS: expired or about to expire."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from urllib.parse import urlsplit

from cryptography import x509

from nexus_cli.doctor.diagnosis import Diagnosis, note, wrong

ANSWER_SECONDS = 3.0
NOTICE_DAYS = 14
"""Days before its expiry from which a certificate is reported."""
_PORTS = {"tls": 4222, "rediss": 6379, "mongodb": 27017, "https": 443}


async def look(urls: Mapping[str, str]) -> list[Diagnosis]:
    """Checks the certificates of the servers. `urls`: addresses by name, each of one server or several; those without
    TLS are skipped."""
    findings = await asyncio.gather(
        *(_look(name, address) for name, url in urls.items() if _speaks_tls(url) for address in _addresses(url))
    )
    return [finding for finding in findings if finding is not None]


def _speaks_tls(url: str) -> bool:
    return url.startswith(("tls://", "rediss://", "rediss+", "https://")) or (
        url.startswith("mongodb://") and any(word in url for word in ("tls=true", "ssl=true"))
    )


def _addresses(url: str) -> list[str]:
    """The addresses of all servers in the URL, each with the URL's scheme."""
    scheme = url.partition("://")[0]
    hosts = (part.strip().rpartition("//")[2].rpartition("@")[2] for part in url.partition("?")[0].split(","))
    return [f"{scheme}://{host.partition('/')[0]}" for host in hosts if host]


async def _look(name: str, url: str) -> Diagnosis | None:
    address = urlsplit(url)
    host, port = address.hostname or "localhost", address.port or _PORTS[address.scheme.partition("+")[0]]
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            expiry = await _expiry(host, port, sends_greeting=address.scheme == "tls")
    except (OSError, TimeoutError, ValueError, EOFError):
        return None  # the check of the server itself reports that it does not answer
    remaining_days = (expiry - datetime.now(UTC)).days
    if remaining_days < 0:
        text = f"that of {name} ({host}:{port}) expired on {expiry:%Y-%m-%d}"
        return wrong("certificate", text, "renew it, and let the server load it: clients refuse it")
    if remaining_days < NOTICE_DAYS:
        return note("certificate", f"that of {name} ends on {expiry:%Y-%m-%d}", "renew it")
    return None


async def _expiry(host: str, port: int, *, sends_greeting: bool) -> datetime:
    """Expiry of the certificate that a server presents, whatever else is wrong with it."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if sends_greeting:
        # NATS first sends a greeting in plain text.
        reader, writer = await asyncio.open_connection(host, port)
        await reader.readline()
        await writer.start_tls(context, server_hostname=host)
    else:
        reader, writer = await asyncio.open_connection(host, port, ssl=context, server_hostname=host)
    try:
        tls: ssl.SSLObject = writer.get_extra_info("ssl_object")
        return x509.load_der_x509_certificate(tls.getpeercert(binary_form=True) or b"").not_valid_after_utc
    finally:
        with suppress(OSError):
            writer.close()
