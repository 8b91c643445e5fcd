"""One way to connect to Redis or Valkey: to a server, or to the primary that Sentinels name.

    redis://:PASSWORD@HOST:6379/0
    redis+sentinel://:PASSWORD@ONE:26379,OTHER:26379/NAME/0?sentinel_password=…

With `rediss` all of it goes over TLS; `ssl_ca_certs`, `ssl_certfile` and `ssl_keyfile` in the query name files.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from redis.asyncio import Redis
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError

SENTINEL = "+sentinel"


def redis_client(url: str, deadline: float, *, name: str, **options: Any) -> Redis:
    """A client that gives up a command after `deadline` seconds. Only what a closed connection did not take is tried
    again, once, at once: after a restart of the server, or a fail-over, each connection in the pool is such a one."""
    options |= {
        "socket_timeout": deadline,
        "socket_connect_timeout": deadline,
        "retry": Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,)),
        "client_name": name,
    }
    if SENTINEL not in urlsplit(url).scheme:
        return Redis.from_url(url, **options)  # pyright: ignore[reportUnknownMemberType]
    hosts, primary, given = _parts(url)
    asked = {
        "socket_timeout": deadline,
        "socket_connect_timeout": deadline,
        "password": given.pop("sentinel_password", None),
    }
    asked |= {key: value for key, value in given.items() if key.startswith("ssl")}
    return Sentinel(hosts, sentinel_kwargs=asked).master_for(primary, **given, **options)  # pyright: ignore


def _parts(url: str) -> tuple[list[tuple[str, int]], str, dict[str, Any]]:
    """The Sentinels, the primary's name, and all else as a connection takes it."""
    parts = urlsplit(url)
    login, at, hosts = parts.netloc.rpartition("@")
    primary, _, database = parts.path.strip("/").partition("/")
    alone = parts._replace(
        scheme=parts.scheme.removesuffix(SENTINEL), netloc=f"{login}{at}sentinel", path=f"/{database or 0}"
    )
    given = dict(parse_url(alone.geturl()))
    given.pop("host")
    if given.pop("connection_class", None) is not None:
        given["ssl"] = True
    found = [host.rpartition(":") for host in hosts.split(",")]
    return [(host.strip("[]"), int(port)) for host, _, port in found], primary, given
