"""Journals in the stream TURNS: one value per conversation, compare-and-set on its sequence.

Fields that a newer release has written into a turn's journal stay there while this release drives the turn (decision
0041).
"""

from collections.abc import Callable

import orjson
import structlog

from agent.domain.turn.journal import Journal
from agent.domain.turn.journal_wire import journal_from_wire, journal_to_wire
from agent.errors import UnreachableError
from agent.ports import ConversationKey
from contracts import channels
from runtime.bus.direct import DirectReader
from runtime.bus.publisher import Fence, Publisher, event_json
from runtime.errors import FenceRefusedError, NotStoredError, PublishTimeoutError, ReadFailedError
from runtime.recent import Recent
from runtime.stores.unknown_fields import UnknownFields

log = structlog.get_logger(__name__)

SOURCE = "/nexus/agent"
MAX_JOURNALS = 4_096
"""Journals written by this agent that are cached."""


class JournalStore:
    """Reads with direct gets; writes with the expected last sequence of the subject."""

    def __init__(
        self,
        turns: DirectReader,
        publisher: Publisher,
        instance: str,
        last_ended_turn: Callable[[ConversationKey], str | None],
    ) -> None:
        """`last_ended_turn` returns the turn that ended last in a conversation, or None if another agent may have
        driven one since."""
        self._last_ended_turn = last_ended_turn
        self._recent = Recent[ConversationKey, tuple[Journal, int]](MAX_JOURNALS)
        self._turns = turns
        self._publisher = publisher
        self._instance = instance
        self._count = 0
        self._unknown = UnknownFields()

    async def read(self, key: ConversationKey) -> tuple[Journal | None, int]:
        """Returns the journal and its revision. An unreadable value, or one that no agent wrote, counts as absent and
        will be replaced. This agent's own last journal is not read again after its turn has ended, unless another
        agent may have written one. Raises UnreachableError."""
        cached = self._recent.get(key)
        if cached is not None and self._last_ended_turn(key) == cached[0].turn_id:
            return cached
        try:
            stored = await self._turns.last(channels.journal(*key))
        except ReadFailedError as error:
            raise UnreachableError(str(error)) from error
        if stored is None:
            return None, 0
        if not stored.genuine:
            log.warning("journal.not_ours", subject=stored.subject, seq=stored.seq)
            return None, stored.seq
        try:
            data = orjson.loads(stored.event)["data"]
            journal = journal_from_wire(data)
            self._unknown.record(journal.turn_id, stored.seq, data, _plain_json(journal))
            return journal, stored.seq
        except (KeyError, TypeError, ValueError):
            return None, stored.seq

    async def save(self, key: ConversationKey, journal: Journal, revision: int) -> int | None:
        """Stores the journal and returns the new revision; None if that was refused or the outcome is unknown."""
        subject = channels.journal(*key)
        self._count += 1
        plain_journal = _plain_json(journal) if self._unknown.has_unknown_content(journal.turn_id, revision) else None
        data = journal_to_wire(journal)
        if plain_journal is not None:
            data = self._unknown.with_them(journal.turn_id, revision, plain_journal)
        event = event_json("turn.journal.v1", SOURCE, data, subject=f"{key.company}/{key.conversation}")
        try:
            stored = await self._publisher.append(
                subject,
                event,
                stream="TURNS",
                msg_id=f"journal.{self._instance}.{self._count}",
                fence=Fence(revision, subject),
                deadline=5.0,
            )
        except (FenceRefusedError, PublishTimeoutError, NotStoredError):
            self._recent.drop(key)
            return None
        self._recent.keep(key, (journal, stored.seq))
        if plain_journal is not None:
            self._unknown.record(journal.turn_id, stored.seq, data, plain_journal)
        return stored.seq


def _plain_json(journal: Journal) -> dict[str, object]:
    """Returns the journal's wire data as plain values, with the embedded JSON fragments parsed."""
    return orjson.loads(orjson.dumps(journal_to_wire(journal)))
