"""Counts and purges old records of a company's turns: the turns (in FACTS) and their spans (in TRACES)."""

from collections.abc import AsyncIterator
from datetime import datetime

from nats.aio.client import Client

from contracts.ids import NOBODY
from contracts.streams import FACTS, TRACES
from memory.adapters.bus_erasure import StreamErasure
from memory.adapters.bus_errors import bus_errors
from memory.errors import BusUnavailableError
from runtime.bus.direct import DirectReader
from runtime.bus.jetstream_api import Purged, ask, error_text
from runtime.bus.replies import ReplyInbox

PAGE_SIZE = 1_000
REPLY_TIMEOUT_SECONDS = 5.0
"""Deadline of a purge."""


class RecordedTraces:
    """The records in both streams."""

    def __init__(self, client: Client, erasure: StreamErasure) -> None:
        self._client = client
        self._inbox = ReplyInbox.of(client)
        self._erasure = erasure

    async def count(self, company: str, before: datetime, limit: int) -> int:
        """Counts the records that were stored before then, up to `limit`; raises BusUnavailableError."""
        count = 0
        with bus_errors("count the records of turns"):
            for source in (_turns(company), _spans(company)):
                async for _ in self._older(*source, before):
                    count += 1
                    if count == limit:
                        return count
        return count

    async def purge(self, company: str, before: datetime) -> None:
        """Removes the records that were stored before then; raises BusUnavailableError."""
        with bus_errors("purge the records of turns"):
            # A purge leaves the bytes in the stream's file. Turns contain what was said, so each is overwritten.
            async for seq in self._older(*_turns(company), before):
                await self._erasure.remove(FACTS.name, seq)
            stream, subject = _spans(company)
            newer = (await DirectReader(self._client, stream).batch_since(subject, before, 1)).facts
            if newer and newer[0].seq <= 1:
                return
            # The server treats sequence 0 as "all".
            body: dict[str, str | int] = {"filter": subject} | ({"seq": newer[0].seq} if newer else {})
            method = f"STREAM.PURGE.{stream}"
            reply = await ask(self._inbox, Purged, method, body, deadline=REPLY_TIMEOUT_SECONDS)
            if "error" in reply:
                raise BusUnavailableError(f"{stream} could not be purged: {error_text(reply)}")

    async def _older(self, stream: str, subject: str, before: datetime) -> AsyncIterator[int]:
        """The sequences of a subject's messages that were stored before then, oldest first."""
        async for record in DirectReader(self._client, stream).all(subject, size=PAGE_SIZE):
            if record.time >= before:
                return
            yield record.seq


def _turns(company: str) -> tuple[str, str]:
    return FACTS.name, f"turns.recorded.v1.{company}.*"


def _spans(company: str) -> tuple[str, str]:
    return TRACES.name, f"traces.recorded.v1.{NOBODY}.{company}.*"
