"""Results of handed calls: each is one value in TURNS, and the first one counts."""

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

    async def store(self, company: str, conversation: str, call: str, result: dict[str, Any]) -> None:
        """Stores a result, unless there is one already. Raises PublishFailedError, ReadFailedError."""
        subject = channels.client_result(company, conversation, call)
        data = ClientResult(call_id=call, result=result)
        event = _Event(source=self._source, type=TYPE, subject=f"{company}/{conversation}", data=data).to_json()
        revision = 0
        while True:
            try:
                await self._publisher.append(
                    subject, event, stream="TURNS", msg_id=f"client_result.{uuid7()}", fence=Fence(revision, subject)
                )
                return
            except FenceRefusedError:
                # A value that no holder of the mark key wrote counts as missing: it is overwritten.
                stored = await self._reader.last(subject)
                if stored is None or stored.genuine or stored.seq == revision:
                    return
                revision = stored.seq

    async def wait(self, company: str, conversation: str, call: str, seconds: float) -> dict[str, Any] | None:
        """Waits for the result; returns None if there is none within `seconds`. Raises ReadFailedError."""
        subject = channels.client_result(company, conversation, call)
        async with watch(self._client, subject, seconds) as changed:
            while True:
                result = _result(await self._reader.last(subject))
                if result is not None or not await changed():
                    return result


def _result(stored: StoredFact | None) -> dict[str, Any] | None:
    return _Event.parse(stored.event).data.result if stored is not None and stored.genuine else None
