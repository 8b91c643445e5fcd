"""`nexus doctor --live`: finds what is wrong with a running stack or cluster, within ten seconds."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from nats.aio.client import Client
from nats.errors import Error as NatsError

from contracts.streams import CHAT
from nexus_cli.doctor import bus, certificates, clocks, services, stores
from nexus_cli.doctor.diagnosis import STANDS_STILL, Diagnosis, fine, wrong
from nexus_cli.stack.errors import ServerUnreachableError
from nexus_cli.target import Addresses
from nexus_cli.target import bus as connected
from runtime.bus.jetstream_api import StreamInfo, ask
from runtime.bus.replies import ReplyInbox
from runtime.observability.logging import masked_text
from runtime.tls import remedy

CHECK_SECONDS, MIN_CHECK_SECONDS = 9.2, 7.0
"""Seconds from the start of the command until all checks end, of the ten that are promised; and what is left of them at
least, on a machine so busy that the start takes long."""
CLOSE_SECONDS = 0.5
"""Seconds of them for closing the connection to the bus."""


async def examine(addresses: Addresses, company: str, seconds: float = CHECK_SECONDS) -> list[Diagnosis]:
    """Runs all checks at the same time, for `seconds`. A check that does not end in time is reported as late."""
    end = asyncio.get_running_loop().time() + seconds
    clock_offsets: dict[str, float] = {}
    # In the order in which one causes another: what a store lacks waits on the bus, and services need both.
    checks: dict[str, Coroutine[Any, Any, list[Diagnosis]]] = {"certificate": certificates.look(addresses.urls)}
    if addresses.redis:
        checks["redis"] = stores.redis(addresses.redis, clock_offsets.__setitem__)
    if addresses.mongodb:
        checks["mongodb"] = stores.mongodb(addresses.mongodb, addresses.database, clock_offsets.__setitem__)
    checks["nats"] = _bus(addresses, company, clock_offsets, end)
    checks["services"] = services.ready(addresses.services, clock_offsets.__setitem__)
    groups = await asyncio.gather(*(_in_time(name, check, end) for name, check in checks.items()))
    return _each_once([*(finding for group in groups for finding in group), *clocks.compare(clock_offsets)])


async def _in_time(name: str, check: Coroutine[Any, Any, list[Diagnosis]], end: float) -> list[Diagnosis]:
    """Awaits a check until `end` by the loop's clock."""
    begin = asyncio.get_running_loop().time()
    try:
        async with asyncio.timeout_at(end):
            return await check
    except TimeoutError:
        advice = "it stands still, or the network drops what is sent"
        return [wrong(name, f"no answer within {end - begin:.1f} s", advice)]


async def _bus(addresses: Addresses, company: str, clock_offsets: dict[str, float], end: float) -> list[Diagnosis]:
    """Asks everything over the bus at once. What answers counts, however late the rest is."""
    end -= CLOSE_SECONDS
    try:
        async with connected(addresses.nats, deadline=3.0) as client:
            streams, present, model, pending, _ = await asyncio.gather(
                _in_time("nats", bus.look(client), end),
                services.present(client),
                _in_time("model", services.model(client, company), end),
                services.pending(client),
                _clock(client, clock_offsets),
            )
    except ServerUnreachableError as error:
        return [_unreachable(str(error))]
    if any(finding.subject == "agent" and finding.state == "wrong" for finding in present):
        return [*streams, *present, *pending]
    return [*streams, *present, *model, *pending]


def _unreachable(error_text: str) -> Diagnosis:
    text = masked_text(error_text)
    if "uthorization" in text or "permissions" in text.lower():
        advice = "set NEXUS_NATS_USER and NEXUS_NATS_PASSWORD (or NEXUS_NATS_CREDENTIALS) as nats.conf has them"
        return wrong("nats", f"it refuses the user: {text}", advice)
    if advice := remedy("NATS", text):
        return wrong("nats", f"a certificate is refused: {text.replace(f': {advice}', '', 1)}", advice)
    advice = STANDS_STILL if TimeoutError.__name__ in text else "start nats-server, or point NEXUS_NATS_URL at one"
    return wrong("nats", text, advice)


async def _clock(client: Client, clock_offsets: dict[str, float]) -> None:
    with suppress(TimeoutError, NatsError, KeyError, ValueError):
        start = time.time()
        inbox = ReplyInbox.of(client)
        info = await ask(inbox, StreamInfo, f"STREAM.INFO.{CHAT.name}", deadline=bus.ANSWER_SECONDS)
        server_time = datetime.fromisoformat(info["ts"]).timestamp()
        clock_offsets["nats"] = server_time - (start + time.time()) / 2


def _each_once(findings: Sequence[Diagnosis]) -> list[Diagnosis]:
    """The findings, problems first and the last hour's dead letters behind what is wrong now, each service once: it is
    checked both on the bus and over HTTP."""
    absent = {finding.subject for finding in findings if services.NOT_ON_BUS in finding.text}
    problems = [
        finding
        for finding in findings
        if finding.state != "ok" and not (finding.subject in absent and services.NO_ANSWER in finding.text)
    ]
    problems.sort(key=lambda finding: finding.subject == bus.DEAD_LETTERS)
    reported = {finding.subject for finding in problems}
    healthy = {
        finding.subject: finding for finding in findings if finding.state == "ok" and finding.subject not in reported
    }
    return [*problems, *healthy.values()] or [fine("stack", "nothing was found")]
