"""Analyses on the bus: each is one value in TURNS (contracts.events.analysis) that is started, read, replaced and
followed.

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
from runtime.bus.watch import REPLICA_LAG, watch
from runtime.errors import FenceRefusedError, NotStoredError, PublishTimeoutError

REQUESTED = "analysis.requested.v1"
RECORD = "turn.analysis.v1"
CANCELLED = "CANCELLED"
"""The error code of an analysis that its user cancelled."""
CANCEL_ATTEMPTS = 5
"""A driver may save a step between the read and the write, so the cancellation is tried several times."""

# Built once: each parametrised model takes milliseconds to build.
_RecordEvent = CloudEvent[AnalysisRecord]
_RequestEvent = CloudEvent[AnalysisRequested]


@dataclass(frozen=True, slots=True)
class StoredAnalysis:
    """An analysis as stored, and its revision, which the next write must name."""

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

    async def read(self, company: str, user: str, analysis_id: str, *, sure: bool = False) -> StoredAnalysis | None:
        """Returns the current value, or None if there is none. `sure`: reads twice before it returns None.

        Raises:
            ReadFailedError: no answer in time.
        """
        subject = channels.analysis(company, user, analysis_id)
        stored = await self._reader.last(subject)
        if stored is None and sure:
            await asyncio.sleep(REPLICA_LAG)
            stored = await self._reader.last(subject)
        if stored is None or not stored.genuine:
            return None
        event = _RecordEvent.parse(stored.event)
        return StoredAnalysis(event.data, stored.seq, event.time)

    async def save(self, record: AnalysisRecord, revision: int) -> int | None:
        """Stores the value and returns its revision; None if another value was stored first, or if it is unknown
        whether this one is stored. Raises ReadFailedError."""
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
            # A value that none of our services wrote counts as missing: it is overwritten.
            latest = None if revision else await self._reader.last(subject)
            return None if latest is None or latest.genuine else await self.save(record, latest.seq)
        except (PublishTimeoutError, NotStoredError):
            return None
        return stored.seq

    async def begin(self, request: AnalysisRequested) -> AnalysisRecord:
        """Starts the analysis with this id, or returns the existing one. While it is unfinished, the request is
        published again.

        Raises:
            ReadFailedError, PublishFailedError: the bus does not answer; repeating the call is safe.
        """
        ids = (request.company_id, request.user_id, request.analysis_id)
        stored = await self.read(*ids)
        if stored is None:
            record = AnalysisRecord(request=request, asked_at=datetime.now(UTC))
            revision = await self.save(record, 0)
            stored = (
                await self.read(*ids, sure=True)
                if revision is None
                else StoredAnalysis(record, revision, record.asked_at)
            )
        if stored is None:
            raise NotStoredError("the analysis could not be started: the bus did not accept it in time")
        if stored.record.status == "running":
            event = _RequestEvent(
                source=self._source,
                type=REQUESTED,
                subject=f"{request.company_id}/{request.user_id}",
                data=stored.record.request,
            )
            await self._publisher.append(
                channels.fact(REQUESTED, request.company_id, request.user_id),
                event,
                stream="FACTS",
                msg_id=channels.analysis_msg_id(*ids),
            )
        return stored.record

    async def cancel(self, company: str, user: str, analysis_id: str) -> AnalysisRecord | None:
        """Marks a running analysis as failed, so that its driver cannot save the next step. Returns None if there is no
        such analysis.

        Raises:
            ReadFailedError: the bus does not answer.
            NotStoredError: its driver saved first each time; repeating the call is safe.
        """
        for _ in range(CANCEL_ATTEMPTS):
            stored = await self.read(company, user, analysis_id, sure=True)
            if stored is None or stored.record.status != "running":
                return None if stored is None else stored.record
            error = AnalysisProblem(code=CANCELLED, message="the person who asked for it cancelled it")
            cancelled = stored.record.model_copy(update={"status": "failed", "stage": "finished", "error": error})
            if await self.save(cancelled, stored.revision) is not None:
                return cancelled
        raise NotStoredError("the analysis could not be cancelled: try again")

    async def follow(
        self, company: str, user: str, analysis_id: str, seconds: float
    ) -> AsyncGenerator[AnalysisRecord, None]:
        """Yields the value now and after each change until it is finished, for at most `seconds`.

        Raises:
            ReadFailedError: the bus does not answer.
        """
        last = 0
        async with watch(self._client, channels.analysis(company, user, analysis_id), seconds) as changed:
            while True:
                stored = await self.read(company, user, analysis_id)
                if stored is not None and stored.revision != last:
                    last = stored.revision
                    yield stored.record
                    if stored.record.status != "running":
                        return
                if not await changed():
                    return

    async def finished(self, company: str, user: str, analysis_id: str, seconds: float) -> AnalysisRecord | None:
        """Returns the finished value; None if it has not finished within `seconds`. Raises ReadFailedError."""
        async for record in self.follow(company, user, analysis_id, seconds):
            if record.status != "running":
                return record
        return None


def request_of(body: bytes) -> AnalysisRequested:
    """The request in an analysis.requested.v1 event; raises ValueError if it is invalid."""
    return _RequestEvent.parse(body).data
