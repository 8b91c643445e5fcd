"""Forgets what was learned from conversations that are being deleted, since facts must not outlive their source."""

from contracts.events.chat import VisitorMessage
from memory.adapters.mongo_facts import MongoFacts
from memory.application.memories import Memories
from memory.domain.deleted_words import without_statements
from memory.domain.erasure import Erasure
from memory.domain.keys import MAX_SEQ, LogPosition
from memory.domain.remembered import Remembered
from runtime.clock import Clock

MAX_FACTS = 20_000
"""Facts examined in one conversation, at most."""
_START, _END = LogPosition(0, 0), LogPosition(10**13 - 1, MAX_SEQ)


class DeletedWords:
    """For each author, forgets the facts that were learned from their messages in a deleted conversation."""

    def __init__(self, memories: Memories, facts: MongoFacts, clock: Clock) -> None:
        self._memories = memories
        self._facts = facts
        self._clock = clock

    async def forget(self, job: Erasure) -> int:
        """Forgets the facts and returns their number; raises StoreUnavailableError."""
        texts: list[str] = []
        for conversation in job.conversations:
            facts = await self._facts.after(job.company, conversation, _START, _END, MAX_FACTS)
            texts += [fact.data.text for fact in facts if isinstance(fact.data, VisitorMessage)]
        count = 0
        for person in job.people if texts else ():

            def without(state: Remembered) -> Remembered:
                return without_statements(state, texts, self._clock.now())[0]

            before, after = await self._memories.change(job.company, person, without)
            count += without_statements(before, texts, self._clock.now())[1] if after is not before else 0
        return count
