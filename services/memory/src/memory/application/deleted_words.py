"""Forgets what was learned from conversations that are being deleted, since its source must not remain."""

from contracts.events.chat import VisitorMessage
from memory.adapters.mongo_facts import MongoFacts
from memory.application.memories import Memories
from memory.domain.deleted_words import without_statements
from memory.domain.erasure import Erasure
from memory.domain.keys import MAX_SEQ, LogPosition
from memory.domain.remembered import Remembered
from runtime.clock import Clock

MOST = 20_000
"""Facts of a conversation that are examined."""
_START, _END = LogPosition(0, 0), LogPosition(10**13 - 1, MAX_SEQ)


class DeletedWords:
    """Forgets, of each author, the facts that were learned from the words of a deleted conversation."""

    def __init__(self, memories: Memories, facts: MongoFacts, clock: Clock) -> None:
        self._memories = memories
        self._facts = facts
        self._clock = clock

    async def forget(self, job: Erasure) -> int:
        """Forgets them; returns how many facts. Raises StoreUnavailableError."""
        texts: list[str] = []
        for name in job.conversations:
            facts = await self._facts.after(job.company, name, _START, _END, MOST)
            texts += [fact.data.text for fact in facts if isinstance(fact.data, VisitorMessage)]
        gone = 0
        for person in job.people if texts else ():

            def without(state: Remembered) -> Remembered:
                return without_statements(state, texts, self._clock.now())[0]

            before, after = await self._memories.change(job.company, person, without)
            gone += without_statements(before, texts, self._clock.now())[1] if after is not before else 0
        return gone
