"""Journals in the stream TURNS: one value per conversation, compare-and-set on its sequence.

What a newer release has written into a turn's journal stays there while this one drives that turn (decision 0041).
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
KEPT = 4_096
"""Journals of one's own that are remembered."""


class JournalStore:
    """Reads by direct get, writes with the expected last sequence of the subject."""

    def __init__(
        self,
        turns: DirectReader,
        publisher: Publisher,
        instance: str,
        ended_by: Callable[[ConversationKey], str | None],
    ) -> None:
        """`ended_by`: the turn that ended last in a conversation, as long as nobody can have driven another one
        since."""
        self._ended_by = ended_by
        self._kept = Recent[ConversationKey, tuple[Journal, int]](KEPT)
        self._turns = turns
        self._publisher = publisher
        self._instance = instance
        self._count = 0
        self._unknown = UnknownFields()

    async def read(self, key: ConversationKey) -> tuple[Journal | None, int]:
        """The value and its revision. An unreadable value, or one that no agent wrote, counts as absent, so that it
        is replaced. This agent's own last journal is not read again after its turn has ended, unless another agent
        may have written one. Raises UnreachableError."""
        kept = self._kept.get(key)
        if kept is not None and self._ended_by(key) == kept[0].turn_id:
            return kept
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
            self._unknown.found(journal.turn_id, stored.seq, data, _plain(journal))
            return journal, stored.seq
        except (KeyError, TypeError, ValueError):
            return None, stored.seq

    async def save(self, key: ConversationKey, journal: Journal, revision: int) -> int | None:
        """The new revision; None: refused, or not known to be stored."""
        subject = channels.journal(*key)
        self._count += 1
        written = _plain(journal) if self._unknown.knows(journal.turn_id, revision) else None
        data = journal_to_wire(journal)
        if written is not None:
            data = self._unknown.with_them(journal.turn_id, revision, written)
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
            self._kept.drop(key)
            return None
        self._kept.keep(key, (journal, stored.seq))
        if written is not None:
            self._unknown.found(journal.turn_id, stored.seq, data, written)
        return stored.seq


def _plain(journal: Journal) -> dict[str, object]:
    """The data with nothing in it that is JSON already."""
    return orjson.loads(orjson.dumps(journal_to_wire(journal)))
