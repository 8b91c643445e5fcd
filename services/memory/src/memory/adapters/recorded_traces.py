"""Records of a company's turns by age: the turns (in FACTS) and their spans (TRACES)."""

from collections.abc import AsyncIterator
from datetime import datetime

import orjson
from nats.aio.client import Client

from contracts.ids import NOBODY
from contracts.streams import FACTS, TRACES
from memory.adapters.bus_erasure import StreamErasure
from memory.adapters.bus_errors import bus_errors
from memory.errors import BusUnavailableError
from runtime.bus.direct import DirectReader
from runtime.bus.replies import ReplyInbox

PAGE = 1_000
ANSWER = 5.0


class RecordedTraces:
    """Both streams."""

    def __init__(self, client: Client, erasure: StreamErasure) -> None:
        self._client = client
        self._inbox = ReplyInbox.of(client)
        self._erasure = erasure

    async def count(self, company: str, before: datetime, most: int) -> int:
        """Counts the records older than that, up to `most`; raises BusUnavailableError."""
        found = 0
        with bus_errors("count the records of turns"):
            for place in (_turns(company), _spans(company)):
                async for _ in self._older(*place, before):
                    found += 1
                    if found == most:
                        return found
        return found

    async def purge(self, company: str, before: datetime) -> None:
        """Removes older ones; raises BusUnavailableError."""
        with bus_errors("purge the records of turns"):
            # A purge leaves the bytes in the stream's file. Turns hold what was said: each is overwritten.
            async for seq in self._older(*_turns(company), before):
                await self._erasure.remove(FACTS.name, seq)
            stream, subject = _spans(company)
            young = (await DirectReader(self._client, stream).batch_since(subject, before, 1)).facts
            if young and young[0].seq <= 1:
                return
            # The server takes a sequence of 0 for "all".
            body: dict[str, str | int] = {"filter": subject} | ({"seq": young[0].seq} if young else {})
            answer = await self._inbox.request(f"$JS.API.STREAM.PURGE.{stream}", orjson.dumps(body), deadline=ANSWER)
            told = orjson.loads(answer.data)
            if "error" in told:
                raise BusUnavailableError(f"{stream} could not be purged: {told['error'].get('description')}")

    async def _older(self, stream: str, subject: str, before: datetime) -> AsyncIterator[int]:
        """The sequences of a subject's messages that were stored before then, oldest first."""
        reader, position = DirectReader(self._client, stream), 1
        while True:
            batch = await reader.batch(subject, position, PAGE)
            for one in batch.facts:
                if one.time >= before:
                    return
                yield one.seq
            if not batch.more:
                return
            position = batch.facts[-1].seq + 1


def _turns(company: str) -> tuple[str, str]:
    return FACTS.name, f"turns.recorded.v1.{company}.*"


def _spans(company: str) -> tuple[str, str]:
    return TRACES.name, f"traces.recorded.v1.{NOBODY}.{company}.*"
