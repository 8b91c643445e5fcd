"""Analyses on the bus: one value each in TURNS (contracts.events.analysis), begun, read, replaced and followed.

To begin an analysis, its value is stored and then the request published in FACTS: the requester can read the value at
once, and an agent takes the request as soon as one is free. The same id always means the same analysis.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import UTC, datetime

from nats.aio.client import Client

from contracts import channels
from contracts.envelope import CloudEvent
from contracts.events.analysis import AnalysisProblem, AnalysisRecord, AnalysisRequested
from contracts.ids import uuid7
from runtime.bus.direct import DirectReader
from runtime.bus.publisher import Fence, Publisher
from runtime.bus.watch import STALE, watch
from runtime.errors import FenceRefusedError, NotStoredError, PublishTimeoutError

REQUESTED = "analysis.requested.v1"
RECORD = "turn.analysis.v1"
CANCELLED = "CANCELLED"
"""The error code of an analysis that its user cancelled."""
CANCEL_TRIES = 5
"""Tries, since its driver may save a step in between."""

# Named once: building a parametrised model anew takes milliseconds.
_RecordEvent = CloudEvent[AnalysisRecord]
_RequestEvent = CloudEvent[AnalysisRequested]


@dataclass(frozen=True, slots=True)
class KeptAnalysis:
    """The value and its revision, which the next value must follow."""

    record: AnalysisRecord
    revision: int
    saved_at: datetime


class Analyses:
    """Reads and writes analyses. `source`: the writer, e.g. /nexus/gateway. Ids are checked before any read."""

    def __init__(self, client: Client, source: str) -> None:
        self._client = client
        self._source = source
        self._reader = DirectReader(client, "TURNS")
        self._publisher = Publisher(client)

    async def read(self, company: str, user: str, analysis_id: str, *, sure: bool = False) -> KeptAnalysis | None:
        """The current value; None: there is none. `sure`: read twice before saying so.

        Raises:
            ReadFailedError: no answer in time.
        """
        subject = channels.analysis(company, user, analysis_id)
        stored = await self._reader.last(subject)
        if stored is None and sure:
            await asyncio.sleep(STALE)
            stored = await self._reader.last(subject)
        if stored is None or not stored.genuine:
            return None
        event = _RecordEvent.parse(stored.event)
        return KeptAnalysis(event.data, stored.seq, event.time)

    async def save(self, record: AnalysisRecord, revision: int) -> int | None:
        """The new revision; None: another value was stored first, or it is unknown whether this one is stored.
        Raises ReadFailedError."""
        request = record.request
        subject = channels.analysis(request.company_id, request.user_id, request.analysis_id)
        event = _RecordEvent(
            source=self._source, type=RECORD, subject=f"{request.company_id}/{request.user_id}", data=record
        )
        try:
            stored = await self._publisher.append(
                subject, event, stream="TURNS", msg_id=f"analysis.{uuid7()}", fence=Fence(revision, subject)
            )
        except FenceRefusedError:
            # A value that is not ours counts as none: it is written over.
            there = None if revision else await self._reader.last(subject)
            return None if there is None or there.genuine else await self.save(record, there.seq)
        except (PublishTimeoutError, NotStoredError):
            return None
        return stored.seq

    async def begin(self, request: AnalysisRequested) -> AnalysisRecord:
        """Begins the analysis of this id, or returns the existing one. While it is unfinished the request is published
        again.

        Raises:
            ReadFailedError, PublishFailedError: the bus does not answer; repeating the call is safe.
        """
        where = (request.company_id, request.user_id, request.analysis_id)
        kept = await self.read(*where)
        if kept is None:
            record = AnalysisRecord(request=request, asked_at=datetime.now(UTC))
            revision = await self.save(record, 0)
            kept = (
                await self.read(*where, sure=True)
                if revision is None
                else KeptAnalysis(record, revision, record.asked_at)
            )
        if kept is None:
            raise NotStoredError("the analysis could not be started: the bus did not accept it in time")
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

    async def cancel(self, company: str, user: str, analysis_id: str) -> AnalysisRecord | None:
        """Ends it as failed, if it runs: its driver cannot save the next step. None: there is none.

        Raises:
            ReadFailedError: the bus does not answer.
            NotStoredError: its driver saved first each time; repeating the call is safe.
        """
        for _ in range(CANCEL_TRIES):
            kept = await self.read(company, user, analysis_id, sure=True)
            if kept is None or kept.record.status != "running":
                return None if kept is None else kept.record
            error = AnalysisProblem(code=CANCELLED, message="the person who asked for it cancelled it")
            ended = kept.record.model_copy(update={"status": "failed", "stage": "finished", "error": error})
            if await self.save(ended, kept.revision) is not None:
                return ended
        raise NotStoredError("the analysis could not be cancelled: try again")

    async def follow(
        self, company: str, user: str, analysis_id: str, seconds: float
    ) -> AsyncGenerator[AnalysisRecord, None]:
        """The value now and after each change, up to the finished one, for at most `seconds`.

        Raises:
            ReadFailedError: the bus does not answer.
        """
        last = 0
        async with watch(self._client, channels.analysis(company, user, analysis_id), seconds) as changed:
            while True:
                kept = await self.read(company, user, analysis_id)
                if kept is not None and kept.revision != last:
                    last = kept.revision
                    yield kept.record
                    if kept.record.status != "running":
                        return
                if not await changed():
                    return

    async def finished(self, company: str, user: str, analysis_id: str, seconds: float) -> AnalysisRecord | None:
        """The finished value; None if it has not finished within `seconds`. Raises ReadFailedError."""
        async for record in self.follow(company, user, analysis_id, seconds):
            if record.status != "running":
                return record
        return None


def request_of(body: bytes) -> AnalysisRequested:
    """The request in an analysis.requested.v1 event; raises ValueError if it is invalid."""
    return _RequestEvent.parse(body).data
