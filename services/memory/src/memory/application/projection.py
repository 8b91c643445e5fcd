"""Projects the log into the store: first the facts, then the state of their conversations."""

import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Sequence

from contracts.events.chat import AssistantMessage, VisitorMessage
from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.mongo_facts import MongoFacts
from memory.adapters.signed_principals import PrincipalCheck
from memory.domain.conversation import CUSTOMER, InboxConversation, Person, fold
from memory.domain.facts import LogFact
from memory.domain.keys import BEGINNING, LogPosition
from memory.errors import StoreUnavailableError
from runtime.recent import Recent

ATTEMPTS = 10
"""How often storing a conversation is tried while other replicas change it too."""
MAX_LISTED = 16
"""Facts above the floor that a state lists one by one; with more, the floor is read from the store."""
MAX_CACHED = 5_000
"""Conversations whose state is cached between batches, so that most batches read nothing."""


class Projection:
    """Projects batches of facts. A repeated fact, or another replica with the same facts, changes nothing more."""

    def __init__(
        self,
        *,
        facts: MongoFacts,
        conversations: MongoConversations,
        settled: Callable[[], Awaitable[LogPosition]],
        principals: PrincipalCheck,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._facts = facts
        self._conversations = conversations
        self._settled = settled
        self._principals = principals
        self._cache = Recent[tuple[str, str], InboxConversation](MAX_CACHED, clock=clock)

    async def project(self, facts: Sequence[LogFact]) -> None:
        """Projects facts; returns when everything is stored.

        Raises:
            StoreUnavailableError: nothing is certain; project the same facts again.
        """
        duplicates = await self._facts.add(facts)
        by_conversation: defaultdict[tuple[str, str], list[LogFact]] = defaultdict(list)
        for fact in facts:
            if fact.position not in duplicates:
                by_conversation[fact.company, fact.conversation].append(fact)
        verified = self._verified_people(facts)
        pending = set(by_conversation)
        for _ in range(ATTEMPTS):
            if not pending:
                return
            states = await self._states(pending)
            # Read after the states, and from the store itself: if the store is put back to an earlier state between the
            # two reads, its progress is not overestimated, and what it lost is counted when it is processed again.
            is_any_full = any(len(state.taken) >= MAX_LISTED for state in states.values())
            floor = await self._settled() if is_any_full else BEGINNING
            changed: list[InboxConversation] = []
            for key, before in states.items():
                after = fold(before, by_conversation[key], floor, verified)
                if after.taken - before.taken:
                    changed.append(after)
            pending = await self._save(changed)
        raise StoreUnavailableError(
            f"{len(pending)} conversations kept changing while they were stored: it is tried again"
        )

    async def are_stored(self, facts: Sequence[LogFact]) -> bool:
        """Whether all of them are stored; raises StoreUnavailableError."""
        return await self._facts.are_stored(facts)

    async def _states(self, keys: Collection[tuple[str, str]]) -> dict[tuple[str, str], InboxConversation]:
        """The states, cached or from the store. If another replica has changed a cached one, saving it is refused."""
        uncached = [key for key in sorted(keys) if self._cache.get(key) is None]
        stored = await self._conversations.load(uncached) if uncached else {}
        return {key: self._cache.get(key) or stored.get(key) or InboxConversation(*key) for key in sorted(keys)}

    async def _save(self, states: Sequence[InboxConversation]) -> set[tuple[str, str]]:
        """Saves states; returns the keys of the refused ones, and drops them from the cache."""
        saved = {(state.company, state.conversation): state for state in await self._conversations.save(states)}
        keys = {(state.company, state.conversation) for state in states}
        for key in keys - saved.keys():
            self._cache.drop(key)
        for key, state in saved.items():
            self._cache.keep(key, state)
        return keys - saved.keys()

    def may_teach(self, fact: LogFact) -> bool:
        """Whether a stored fact may end a customer's turn, from which memory learns; a visitor's teaches nothing."""
        if not isinstance(fact.data, AssistantMessage):
            return False
        state = self._cache.get((fact.company, fact.conversation))
        if state is None or state.person_position is None:
            return True
        return state.person is not None and state.person.role == CUSTOMER

    def needs_sweep(self, facts: Sequence[LogFact]) -> bool:
        """Whether a sweep has something to do, now or later, in a conversation of these stored facts."""
        states = (self._cache.get((fact.company, fact.conversation)) for fact in facts)
        return any(state is None or state.is_swept for state in states)

    def drop(self, company: str, conversations: Sequence[str]) -> None:
        """Drops these conversations' states from the cache."""
        for conversation in conversations:
            self._cache.drop((company, conversation))

    def forget(self) -> None:
        """Empties the cache, because the store has been put back or replaced."""
        self._cache.clear()

    def _verified_people(self, facts: Sequence[LogFact]) -> dict[str, Person]:
        people: dict[str, Person] = {}
        for fact in facts:
            if isinstance(fact.data, VisitorMessage) and fact.data.principal:
                person = self._principals.person(fact.data.principal, fact.company, fact.conversation)
                if person is not None:
                    people[fact.event_id] = person
        return people
