"""Records of a company's turns by age: the turns (in FACTS) and their spans (TRACES)."""

from datetime import datetime

import orjson
from nats.aio.client import Client

from contracts.ids import NOBODY
from contracts.streams import FACTS, TRACES
from memory.adapters.bus_errors import bus_does
from memory.errors import BusUnavailableError
from runtime.bus.direct import DirectReader
from runtime.bus.replies import ReplyInbox

PAGE = 1_000
ANSWER = 5.0


class RecordedTraces:
    """Both streams."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._inbox = ReplyInbox.of(client)

    async def count(self, company: str, before: datetime, most: int) -> int:
        """Counts the records older than that, up to `most`; raises BusUnavailableError."""
        found = 0
        with bus_does("count the records of turns"):
            for stream, subject in _places(company):
                reader, position = DirectReader(self._client, stream), 1
                while found < most:
                    batch = await reader.batch(subject, position, PAGE)
                    old = [one for one in batch.facts if one.time < before]
                    found += len(old)
                    if not batch.more or len(old) < len(batch.facts):
                        break
                    position = batch.facts[-1].seq + 1
        return min(found, most)

    async def purge(self, company: str, before: datetime) -> int:
        """Removes older ones; returns how many. Raises BusUnavailableError."""
        purged = 0
        with bus_does("purge the records of turns"):
            for stream, subject in _places(company):
                young = (await DirectReader(self._client, stream).batch_since(subject, before, 1)).facts
                # The server takes a sequence of 0 for "all".
                body: dict[str, str | int] = {"filter": subject} | ({"seq": young[0].seq} if young else {})
                if young and young[0].seq <= 1:
                    continue
                answer = await self._inbox.request(
                    f"$JS.API.STREAM.PURGE.{stream}", orjson.dumps(body), deadline=ANSWER
                )
                told = orjson.loads(answer.data)
                if "error" in told:
                    raise BusUnavailableError(f"{stream} could not be purged: {told['error'].get('description')}")
                purged += int(told["purged"])
        return purged


def _places(company: str) -> tuple[tuple[str, str], ...]:
    spans = f"traces.recorded.v1.{NOBODY}.{company}.*"
    return (FACTS.name, f"turns.recorded.v1.{company}.*"), (TRACES.name, spans)
