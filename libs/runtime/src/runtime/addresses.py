"""Checks of server addresses in settings: each function returns the value unchanged, or raises ValueError with a
message that shows the accepted form."""

from __future__ import annotations

import os
import re
from typing import Annotated
from urllib.parse import parse_qsl, urlsplit

from pydantic import AfterValidator

_HOST = r"(\[[^\]]+\]|[^@/,:\[]+)"
_HOSTS = rf"([^@/]*@)?{_HOST}:\d+(,{_HOST}:\d+)*"
_NATS = rf"((nats|tls|wss?)://([^/]*@)?)?{_HOST}(:\d+)?/?"
_FILES = frozenset({"ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "tlscafile", "tlscertificatekeyfile", "tlscrlfile"})


def _check_ports(value: str) -> str:
    hosts = re.split("[/?]", value.split("://", 1)[-1], maxsplit=1)[0].rsplit("@", 1)[-1]
    for port in re.findall(r":(\d+)(?=,|$)", hosts):
        if not 0 < int(port) <= 65535:
            raise ValueError(f"its port {port} is none: a port is a number from 1 to 65535")
    return value


def http_address(value: str) -> str:
    if not re.match(rf"https?://([^@/]*@)?{_HOST}(:\d+)?([/?]|$)", value):
        raise ValueError("write http://HOST:PORT/PATH or https://HOST/PATH")
    return value


HttpAddress = Annotated[str, AfterValidator(http_address)]
"""The address of an HTTP server."""


def nats_address(value: str) -> str:
    """Accepts one server or several, separated by commas."""
    servers = [server.strip() for server in value.split(",") if server.strip()]
    if not servers or not all(re.fullmatch(_NATS, server) for server in servers):
        raise ValueError("write nats://HOST:PORT or tls://HOST:PORT, several by commas")
    for server in servers:
        _check_ports(server)
    return value


def redis_address(value: str) -> str:
    """Accepts a server, the Sentinels of a primary, or a cluster."""
    if not re.match(
        rf"rediss?://([^@/,]*@)?{_HOST}(:\d+)?(/\d*)?(\?|$)|unix://"
        rf"|rediss?\+(sentinel://{_HOSTS}/[^/?]+(/\d*)?(\?|$)|cluster://{_HOSTS}/?0?(\?|$))",
        value,
    ):
        raise ValueError(
            "write redis://HOST:PORT/0, redis+sentinel://HOST:PORT,HOST:PORT/NAME/0, or "
            "redis+cluster://HOST:PORT,HOST:PORT (a cluster has no other database than 0)"
        )
    return _with_readable_files(_check_ports(value))


def mongodb_address(value: str) -> str:
    """Accepts one server or several."""
    if not re.match(rf"mongodb(\+srv)?://([^@/]*@)?{_HOST}(:\d+)?(,{_HOST}(:\d+)?)*([/?]|$)", value):
        raise ValueError(
            "write mongodb://USER:PASSWORD@HOST:PORT,HOST:PORT/?authSource=admin, or mongodb+srv://USER:PASSWORD@NAME"
        )
    return _with_readable_files(_check_ports(value))


def _with_readable_files(value: str) -> str:
    for name, file in parse_qsl(urlsplit(value).query):
        if name.casefold() in _FILES and not os.access(file, os.R_OK):
            raise ValueError(f"its {name} names {file}, which is no file that can be read")
    return value
