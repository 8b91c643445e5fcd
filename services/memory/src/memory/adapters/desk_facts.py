"""Publishes desk changes in FACTS."""

from contracts.channels import fact
from contracts.envelope import CloudEvent, Wire
from contracts.events.desk import ConversationUpdated, NoteAdded
from contracts.ids import NOBODY
from contracts.streams import FACTS
from memory.adapters.chat_log import SOURCE
from memory.domain.keys import LogPosition, milliseconds
from memory.errors import BusUnavailableError
from runtime.bus.direct import DirectReader
from runtime.bus.publisher import Publisher
from runtime.errors import RuntimeLibraryError

DEADLINE = 8.0
"""Seconds for storing one; the caller waits for ten."""
UPDATED, NOTED = "conversation.updated.v1", "note.added.v1"


class BusDeskFacts:
    """Publishes a fact, and reads the time at which the stream stored it."""

    def __init__(self, publisher: Publisher, facts: DirectReader) -> None:
        self._publisher = publisher
        self._facts = facts

    async def updated(self, update_id: str, data: ConversationUpdated) -> LogPosition:
        """Publishes conversation.updated.v1; returns its position."""
        return await self._publish(UPDATED, data.company_id, update_id, data)

    async def noted(self, data: NoteAdded) -> LogPosition:
        """Publishes note.added.v1; returns its position."""
        return await self._publish(NOTED, data.company_id, data.note_id, data)

    async def _publish(self, kind: str, company: str, name: str, data: Wire) -> LogPosition:
        event = CloudEvent(id=name, source=SOURCE, type=kind, subject=f"{company}/{NOBODY}", data=data)
        try:
            stored = await self._publisher.append(
                fact(kind, company, None),
                event,
                stream=FACTS.name,
                msg_id=f"{company}.{kind}.{name}",
                deadline=DEADLINE,
            )
            found = await self._facts.at(stored.seq)
        except RuntimeLibraryError as error:
            raise BusUnavailableError("it could not be stored now: try again") from error
        if found is None:
            raise BusUnavailableError("it was stored and cannot be read: try again")
        return LogPosition(milliseconds(found.time), stored.seq)
