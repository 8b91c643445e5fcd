"""Servers outside the stack, whose addresses are in the environment."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

from nexus_cli.stack import handshakes
from nexus_cli.stack.errors import ServerUnreachableError
from runtime.addresses import mongodb_address, nats_address, redis_address

FORMS = {"nats": nats_address, "redis": redis_address, "mongodb": mongodb_address}
DEFAULT_PORTS = {"nats": 4222, "redis": 6379, "mongodb": 27017}
DNS_SECONDS = 5.0


async def require_answer(name: str, url: str) -> None:
    """Checks that one host accepts a connection at an address such as nats://one:4222,nats://two:4222 or
    mongodb://user:password@one,two/db.

    Raises:
        ServerUnreachableError: it is no such address, or no host does. The message contains hosts and
            ports, but never the password.
    """
    variable = f"NEXUS_{name.upper()}_URL"
    try:
        FORMS[name](url)
    except ValueError as error:
        raise ServerUnreachableError(f"{variable} is no address of such a server: {error}") from None
    hosts = url.split("://", 1)[-1].rsplit("@", 1)[-1].split("/", 1)[0] if name == "mongodb" else url
    if url.startswith("mongodb+srv://"):
        hosts = await _hosts_of_record(hosts.partition("?")[0])
    failures: list[str] = []
    for entry in hosts.split(","):
        address = urlsplit(entry if "://" in entry else f"//{entry}")
        host, port = address.hostname or "localhost", address.port or DEFAULT_PORTS[name]
        try:
            await handshakes.reach(host, port)
        except OSError as error:
            failures.append(f"{host}:{port} ({error.strerror or type(error).__name__})")
        else:
            return
    raise ServerUnreachableError(
        f"{variable} is set, but nothing answers at {', '.join(failures)}: start that server, or unset "
        "the variable to use the embedded one"
    )


async def _hosts_of_record(domain: str) -> str:
    """The servers that the DNS names for a mongodb+srv address."""
    from pymongo.asynchronous.uri_parser import parse_uri  # half a second to import
    from pymongo.errors import PyMongoError

    try:
        async with asyncio.timeout(DNS_SECONDS):
            record = await parse_uri(f"mongodb+srv://{domain}")
    except (PyMongoError, TimeoutError) as error:
        problem = str(error) or f"no answer of the DNS within {DNS_SECONDS:g} s"
        raise ServerUnreachableError(
            f"NEXUS_MONGODB_URL is set, but the DNS names no servers for {domain}: {problem}"
        ) from None
    return ",".join(f"{host}:{port}" for host, port in record["nodelist"])
