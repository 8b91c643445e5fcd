"""Analyses on the bus: one value each in TURNS (contracts.events.analysis), begun, read, replaced and followed here.

Begun means that the value is there and the request is in FACTS, in that order: who asks can read the value from then on
and an agent takes the request whenever there is one. Everybody who begins the same id finds the same analysis.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from contracts import channels
from contracts.envelope import CloudEvent
from contracts.events.analysis import AnalysisRecord, AnalysisRequested
from contracts.ids import uuid7
from runtime.connection import subscribe
from runtime.direct import DirectReader
from runtime.errors import FenceRefused, PublishTimeout, Unavailable
from runtime.publisher import Fence, Publisher

REQUESTED = "analysis.requested.v1"
RECORD = "turn.analysis.v1"
LOOK_AGAIN = 2.0
"""Seconds after which a follower reads the value by itself: signs of it may be lost."""
STALE = 0.05
"""Seconds before the second look at a value that the first one did not find: a replica may be behind."""

# Named once: building a parametrised model anew takes milliseconds.
_RecordEvent = CloudEvent[AnalysisRecord]
_RequestEvent = CloudEvent[AnalysisRequested]


@dataclass(frozen=True, slots=True)
class KeptAnalysis:
    """The value and its revision: the sequence that the next one must come after."""

    record: AnalysisRecord
    revision: int


class Analyses:
    """The analyses of everybody. `source`: who writes, e.g. /nexus/gateway. Ids are checked before any read."""

    def __init__(self, client: Client, source: str) -> None:
        self._client = client
        self._source = source
        self._reader = DirectReader(client, "TURNS")
        self._publisher = Publisher(client)

    async def read(self, company: str, user: str, analysis_id: str, *, sure: bool = False) -> KeptAnalysis | None:
        """The value now; None: there is none. `sure`: look twice before saying so.

        Raises:
            ReadFailed: no answer in time.
        """
        subject = channels.analysis(company, user, analysis_id)
        stored = await self._reader.last(subject)
        if stored is None and sure:
            await asyncio.sleep(STALE)
            stored = await self._reader.last(subject)
        return (
            None
            if stored is None or not stored.genuine
            else KeptAnalysis(_RecordEvent.parse(stored.event).data, stored.seq)
        )

    async def save(self, record: AnalysisRecord, revision: int) -> int | None:
        """The new revision; None: another value was there first, or it is not known whether this one is. Raises
        ReadFailed."""
        request = record.request
        subject = channels.analysis(request.company_id, request.user_id, request.analysis_id)
        event = _RecordEvent(
            source=self._source, type=RECORD, subject=f"{request.company_id}/{request.user_id}", data=record
        )
        try:
            stored = await self._publisher.append(
                subject, event, stream="TURNS", msg_id=f"analysis.{uuid7()}", fence=Fence(revision, subject)
            )
        except FenceRefused:
            # A value that is not ours counts as none: it is written over.
            there = None if revision else await self._reader.last(subject)
            return None if there is None or there.genuine else await self.save(record, there.seq)
        except (PublishTimeout, Unavailable):
            return None
        return stored.seq

    async def begin(self, request: AnalysisRequested) -> AnalysisRecord:
        """The analysis of this id: begun now, or before. The request is asked for again while none has been finished.

        Raises:
            ReadFailed, PublishFailed: the bus does not answer; the same again does no harm.
        """
        where = (request.company_id, request.user_id, request.analysis_id)
        kept = await self.read(*where)
        if kept is None:
            record = AnalysisRecord(request=request, asked_at=datetime.now(UTC))
            revision = await self.save(record, 0)
            kept = KeptAnalysis(record, revision) if revision is not None else await self.read(*where, sure=True)
        if kept is None:
            raise Unavailable("the analysis could not be begun: the bus did not take it in time")
        if kept.record.status == "running":
            event = _RequestEvent(
                source=self._source,
                type=REQUESTED,
                subject=f"{request.company_id}/{request.user_id}",
                data=kept.record.request,
            )
            await self._publisher.append(
                channels.fact(REQUESTED, request.company_id, request.user_id),
                event,
                stream="FACTS",
                msg_id=channels.analysis_msg_id(*where),
            )
        return kept.record

    async def follow(
        self, company: str, user: str, analysis_id: str, seconds: float
    ) -> AsyncGenerator[AnalysisRecord, None]:
        """The value as it is now and each time it has changed, up to the finished one, for at most `seconds`.

        Raises:
            ReadFailed: the bus does not answer.
        """
        changed = asyncio.Event()

        async def tell(_: Msg) -> None:
            changed.set()

        subscription = await subscribe(self._client, channels.analysis(company, user, analysis_id), tell)
        clock = asyncio.get_running_loop().time
        end, last = clock() + seconds, 0
        try:
            while True:
                changed.clear()
                kept = await self.read(company, user, analysis_id)
                if kept is not None and kept.revision != last:
                    last = kept.revision
                    yield kept.record
                    if kept.record.status != "running":
                        return
                left = end - clock()
                if left <= 0:
                    return
                try:
                    async with asyncio.timeout(min(left, LOOK_AGAIN)):
                        await changed.wait()
                except TimeoutError:
                    continue
        finally:
            with suppress(NatsError):
                await subscription.unsubscribe()

    async def finished(self, company: str, user: str, analysis_id: str, seconds: float) -> AnalysisRecord | None:
        """The finished value; None when it is not finished within `seconds`. Raises ReadFailed."""
        async for record in self.follow(company, user, analysis_id, seconds):
            if record.status != "running":
                return record
        return None


def request_of(body: bytes) -> AnalysisRequested:
    """The request in an analysis.requested.v1 event; raises ValueError when it is none."""
    return _RequestEvent.parse(body).data
