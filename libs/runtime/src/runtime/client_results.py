"""What clients give back for calls that they were handed: one value each in TURNS, of which the first stands."""

import asyncio
from contextlib import suppress
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from contracts import channels
from contracts.envelope import CloudEvent
from contracts.events.turn import ClientResult
from contracts.ids import uuid7
from runtime.connection import subscribe
from runtime.direct import DirectReader, StoredFact
from runtime.errors import FenceRefused
from runtime.publisher import Fence, Publisher

TYPE = "turn.client_result.v1"
LOOK_AGAIN = 2.0
"""Seconds after which who waits reads by itself: signs may be lost."""
STALE = 0.05
"""Seconds before the look after a sign that showed nothing: a replica may be behind."""

_Event = CloudEvent[ClientResult]


class ClientResults:
    """Those of everybody. `source`: who writes, e.g. /nexus/gateway."""

    def __init__(self, client: Client, source: str) -> None:
        self._client = client
        self._source = source
        self._reader = DirectReader(client, "TURNS")
        self._publisher = Publisher(client)

    async def give(self, company: str, conversation: str, call: str, result: dict[str, Any]) -> None:
        """Stores it; where one is there already, that stands. Raises PublishFailed, ReadFailed."""
        subject = channels.client_result(company, conversation, call)
        data = ClientResult(call_id=call, result=result)
        event = _Event(source=self._source, type=TYPE, subject=f"{company}/{conversation}", data=data).to_json()
        over = 0
        while True:
            try:
                await self._publisher.append(
                    subject, event, stream="TURNS", msg_id=f"client_result.{uuid7()}", fence=Fence(over, subject)
                )
                return
            except FenceRefused:
                # What nobody with the key has written counts as none: it is written over.
                there = await self._reader.last(subject)
                if there is None or there.genuine or there.seq == over:
                    return
                over = there.seq

    async def awaited(self, company: str, conversation: str, call: str, seconds: float) -> dict[str, Any] | None:
        """The result as soon as it is there; None: it is not, within so many seconds. Raises ReadFailed."""
        subject = channels.client_result(company, conversation, call)
        given = asyncio.Event()

        async def tell(_: Msg) -> None:
            given.set()

        clock = asyncio.get_running_loop().time
        end = clock() + seconds
        subscription = await subscribe(self._client, subject, tell)
        try:
            while True:
                signed = given.is_set()
                given.clear()
                found = _result(await self._reader.last(subject))
                left = end - clock()
                if found is not None or left <= 0:
                    return found
                with suppress(TimeoutError):
                    async with asyncio.timeout(min(left, STALE if signed else LOOK_AGAIN)):
                        await given.wait()
        finally:
            with suppress(NatsError):
                await subscription.unsubscribe()


def _result(stored: StoredFact | None) -> dict[str, Any] | None:
    return _Event.parse(stored.event).data.result if stored is not None and stored.genuine else None
