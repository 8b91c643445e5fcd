"""What `nexus doctor` makes of the gateway's figures."""

from __future__ import annotations

import asyncio

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from gateway.chat.limits import ClientLimits
from gateway.errors import RateLimitedError
from gateway.metrics import ADDRESSES, VISITORS
from gateway.settings import GatewaySettings
from nexus_cli.diagnosis import visitors_addresses
from nexus_cli.stack import handshakes
from runtime.clock import SystemClock

KNOWN, UNKNOWN = 'nexus_gateway_visitors_total{address="known"}', 'nexus_gateway_visitors_total{address="unknown"}'
COUNT = "nexus_gateway_visitor_addresses"


@pytest.mark.parametrize(
    ("figures", "advice"),
    [
        ({KNOWN: 40, COUNT: 1}, "NEXUS_GATEWAY_TRUSTED_PROXIES"),
        ({KNOWN: 3, UNKNOWN: 40, COUNT: 3}, "X-Forwarded-For"),
        ({KNOWN: 40, COUNT: 2}, None),
        ({KNOWN: 3, COUNT: 1}, None),
        ({}, None),
    ],
)
def test_visitors_who_all_look_like_one_address_are_told_of(figures: dict[str, float], advice: str | None) -> None:
    found = visitors_addresses(figures)
    if advice is None:
        assert found == []
    else:
        assert [(one.subject, one.state) for one in found] == [("visitors", "note")]
        assert advice in (found[0].advice or "")


async def test_the_figures_are_those_that_the_gateway_exports() -> None:
    registry = CollectorRegistry()
    registry.register(VISITORS)
    registry.register(ADDRESSES)
    limits = ClientLimits(GatewaySettings(tokens_per_address=2), SystemClock())
    limits.count_token("192.0.2.1")
    limits.count_token("")
    limits.count_token("192.0.2.1")
    with pytest.raises(RateLimitedError):
        limits.count_token("192.0.2.1")

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + generate_latest(registry))
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        figures = await handshakes.metrics(server.sockets[0].getsockname()[1])
    assert (figures[KNOWN] >= 2, figures[UNKNOWN] >= 1, figures[COUNT]) == (True, True, 1)
