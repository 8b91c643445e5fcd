"""Publishes desk changes in FACTS."""

from contracts.channels import fact
from contracts.envelope import CloudEvent, Wire
from contracts.events.desk import ConversationUpdated, NoteAdded
from contracts.ids import NOBODY
from contracts.streams import FACTS
from memory.adapters.chat_log import SOURCE
from memory.domain.desk import Update
from memory.domain.keys import LogPosition, milliseconds
from memory.errors import BusUnavailableError
from runtime.bus.direct import DirectReader, StoredFact
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

    async def publish_update(self, update_id: str, data: ConversationUpdated, after: str) -> Update:
        """Publishes conversation.updated.v1 as the one that follows the update `after` of its conversation. Returns the
        one that follows it: another one if that was faster, and then this one is not stored."""
        # The bus stores one event under one id.
        follower_id = f"{data.conversation_id}.{after}"
        stored, position = await self._publish(UPDATED_EVENT, data.company_id, update_id, data, follower_id)
        event = CloudEvent[ConversationUpdated].model_validate_json(stored.event)
        return Update(event.id, position, event.data)

    async def publish_note(self, data: NoteAdded) -> LogPosition:
        """Publishes note.added.v1; returns its position."""
        return (await self._publish(NOTE_EVENT, data.company_id, data.note_id, data, data.note_id))[1]

    async def _publish(
        self, kind: str, company: str, fact_id: str, data: Wire, once: str
    ) -> tuple[StoredFact, LogPosition]:
        """Publishes a fact, unless there is one of the same kind and `once`; returns what is stored and where."""
        event = CloudEvent(id=fact_id, source=SOURCE, type=kind, subject=f"{company}/{NOBODY}", data=data)
        try:
            stored = await self._publisher.append(
                fact(kind, company, None),
                event,
                stream=FACTS.name,
                msg_id=f"{company}.{kind}.{once}",
                deadline=PUBLISH_TIMEOUT_SECONDS,
            )
            stored_fact = await self._facts.at(stored.seq)
        except RuntimeLibraryError as error:
            raise BusUnavailableError("it could not be stored now: try again") from error
        if stored_fact is None:
            raise BusUnavailableError("it was stored and cannot be read: try again")
        return stored_fact, LogPosition(milliseconds(stored_fact.time), stored.seq)
