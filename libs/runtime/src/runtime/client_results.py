"""Results of handed calls: one value each in TURNS; the first one counts."""

from typing import Any

from nats.aio.client import Client

from contracts import channels
from contracts.envelope import CloudEvent
from contracts.events.turn import ClientResult
from contracts.ids import uuid7
from runtime.bus.direct import DirectReader, StoredFact
from runtime.bus.publisher import Fence, Publisher
from runtime.bus.watch import watch
from runtime.errors import FenceRefusedError

TYPE = "turn.client_result.v1"

_Event = CloudEvent[ClientResult]


class ClientResults:
    """Reads and writes results. `source`: the writer, e.g. /nexus/gateway."""

    def __init__(self, client: Client, source: str) -> None:
        self._client = client
        self._source = source
        self._reader = DirectReader(client, "TURNS")
        self._publisher = Publisher(client)

    async def give(self, company: str, conversation: str, call: str, result: dict[str, Any]) -> None:
        """Stores a result, unless there is one already. Raises PublishFailedError, ReadFailedError."""
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
            except FenceRefusedError:
                # What nobody with the key has written counts as none: it is written over.
                there = await self._reader.last(subject)
                if there is None or there.genuine or there.seq == over:
                    return
                over = there.seq

    async def awaited(self, company: str, conversation: str, call: str, seconds: float) -> dict[str, Any] | None:
        """The result as soon as it exists; None: not within this many seconds. Raises ReadFailedError."""
        subject = channels.client_result(company, conversation, call)
        async with watch(self._client, subject, seconds) as changed:
            while True:
                found = _result(await self._reader.last(subject))
                if found is not None or not await changed():
                    return found


def _result(stored: StoredFact | None) -> dict[str, Any] | None:
    return _Event.parse(stored.event).data.result if stored is not None and stored.genuine else None
