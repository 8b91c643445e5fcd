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

PUBLISH_TIMEOUT_SECONDS = 8.0
"""Deadline for storing a change; the caller waits for ten seconds."""
UPDATED_EVENT, NOTE_EVENT = "conversation.updated.v1", "note.added.v1"


class BusDeskFacts:
    """Publishes a change as a fact, and reads the time at which the stream stored it."""

    def __init__(self, publisher: Publisher, facts: DirectReader) -> None:
        self._publisher = publisher
        self._facts = facts

    async def publish_update(self, update_id: str, data: ConversationUpdated) -> LogPosition:
        """Publishes conversation.updated.v1; returns its position."""
        return await self._publish(UPDATED_EVENT, data.company_id, update_id, data)

    async def publish_note(self, data: NoteAdded) -> LogPosition:
        """Publishes note.added.v1; returns its position."""
        return await self._publish(NOTE_EVENT, data.company_id, data.note_id, data)

    async def _publish(self, kind: str, company: str, fact_id: str, data: Wire) -> LogPosition:
        event = CloudEvent(id=fact_id, source=SOURCE, type=kind, subject=f"{company}/{NOBODY}", data=data)
        try:
            stored = await self._publisher.append(
                fact(kind, company, None),
                event,
                stream=FACTS.name,
                msg_id=f"{company}.{kind}.{fact_id}",
                deadline=PUBLISH_TIMEOUT_SECONDS,
            )
            stored_fact = await self._facts.at(stored.seq)
        except RuntimeLibraryError as error:
            raise BusUnavailableError("it could not be stored now: try again") from error
        if stored_fact is None:
            raise BusUnavailableError("it was stored and cannot be read: try again")
        return LogPosition(milliseconds(stored_fact.time), stored.seq)
