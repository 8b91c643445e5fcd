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
from nexus_cli.target import Addresses, ServerUnreachableError
from nexus_cli.target import bus as connected
from runtime.bus.jetstream_api import StreamInfo, ask
from runtime.bus.replies import ReplyInbox
from runtime.observability.logging import masked_text
from runtime.tls import remedy

WITHIN = 8.5
"""Seconds for everything: of the ten that are promised the rest is for the start and the end of the command."""


async def examine(addresses: Addresses, company: str) -> list[Diagnosis]:
    """Runs all checks at once. A check that does not end in time is reported as late."""
    ahead: dict[str, float] = {}
    looks: dict[str, Coroutine[Any, Any, list[Diagnosis]]] = {
        "certificate": certificates.look(addresses.urls),
        "nats": _bus(addresses, company, ahead),
    }
    if addresses.redis:
        looks["redis"] = stores.redis(addresses.redis, ahead.__setitem__)
    if addresses.mongodb:
        looks["mongodb"] = stores.mongodb(addresses.mongodb, addresses.database, ahead.__setitem__)
    # Last: what they lack has been named by then.
    looks["services"] = services.ready(addresses.services, ahead.__setitem__)
    found = await asyncio.gather(*(_in_time(name, look) for name, look in looks.items()))
    return _each_once([*(one for group in found for one in group), *clocks.compare(ahead)])


async def _in_time(name: str, look: Coroutine[Any, Any, list[Diagnosis]]) -> list[Diagnosis]:
    try:
        async with asyncio.timeout(WITHIN):
            return await look
    except TimeoutError:
        return [wrong(name, f"no answer within {WITHIN:g} s", "it stands still, or the network drops what is sent")]


async def _bus(addresses: Addresses, company: str, ahead: dict[str, float]) -> list[Diagnosis]:
    try:
        async with connected(addresses.nats, deadline=3.0) as client:
            await _clock(client, ahead)
            streams, served = await asyncio.gather(bus.look(client), _services(client, company))
    except ServerUnreachableError as error:
        return [_unreachable(str(error))]
    return [*streams, *served]


async def _services(client: Client, company: str) -> list[Diagnosis]:
    present = await services.present(client)
    if any(one.subject == "agent" and one.state == "wrong" for one in present):
        return present
    model, pending = await asyncio.gather(services.model(client, company), services.pending(client))
    return [*present, *model, *pending]


def _unreachable(said: str) -> Diagnosis:
    text = masked_text(said)
    if "uthorization" in text or "permissions" in text.lower():
        advice = "set NEXUS_NATS_USER and NEXUS_NATS_PASSWORD (or NEXUS_NATS_CREDENTIALS) as nats.conf has them"
        return wrong("nats", f"it refuses the user: {text}", advice)
    if advice := remedy("NATS", text):
        return wrong("nats", f"a certificate is refused: {text.replace(f': {advice}', '', 1)}", advice)
    advice = STANDS_STILL if TimeoutError.__name__ in text else "start nats-server, or point NEXUS_NATS_URL at one"
    return wrong("nats", text, advice)


async def _clock(client: Client, ahead: dict[str, float]) -> None:
    with suppress(TimeoutError, NatsError, KeyError, ValueError):
        before = time.time()
        inbox = ReplyInbox.of(client)
        info = await ask(inbox, StreamInfo, f"STREAM.INFO.{CHAT.name}", deadline=bus.ANSWER)
        said = datetime.fromisoformat(info["ts"]).timestamp()
        ahead["nats"] = said - (before + time.time()) / 2


def _each_once(found: Sequence[Diagnosis]) -> list[Diagnosis]:
    """Findings without repeats: a service may be found on the bus and over HTTP. Problems come first."""
    away = {one.subject for one in found if services.NOBODY in one.text}
    bad = [one for one in found if one.state != "ok" and not (one.subject in away and services.NO_ANSWER in one.text)]
    told = {one.subject for one in bad}
    good = {one.subject: one for one in found if one.state == "ok" and one.subject not in told}
    return [*bad, *good.values()] or [fine("stack", "nothing was found")]
