"""The projection of the log into the store: first the facts, then the state of their conversations; only then are
they done."""

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
"""Tries to store a conversation that other replicas change too."""
MOST_TAKEN = 16
"""Facts above the floor that a state lists singly; with more, the store is asked for its progress."""
KNOWN = 5_000
"""Conversations whose state is cached between batches, so that most batches read nothing."""


class Projection:
    """Projects batches of facts; repeating a fact, or two replicas at once, changes nothing more."""

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
        self._known = Recent[tuple[str, str], InboxConversation](KNOWN, clock=clock)

    async def project(self, facts: Sequence[LogFact]) -> None:
        """Returns when everything is stored.

        Raises:
            StoreUnavailableError: nothing is certain; project the same facts again.
        """
        copies = await self._facts.add(facts)
        by_conversation: defaultdict[tuple[str, str], list[LogFact]] = defaultdict(list)
        for fact in facts:
            if fact.position not in copies:
                by_conversation[fact.company, fact.conversation].append(fact)
        verified = self._verified(facts)
        waiting = set(by_conversation)
        for _ in range(ATTEMPTS):
            if not waiting:
                return
            states = await self._states(waiting)
            # Asked for behind the states, and in the store itself: one that is put back to an earlier state between the
            # two is then not taken for further than it is, and what it lost is counted when it comes again.
            full = any(len(state.taken) >= MOST_TAKEN for state in states.values())
            floor = await self._settled() if full else BEGINNING
            changed: list[InboxConversation] = []
            for key, before in states.items():
                after = fold(before, by_conversation[key], floor, verified)
                if after.taken - before.taken:
                    changed.append(after)
            waiting = await self._save(changed)
        raise StoreUnavailableError(
            f"{len(waiting)} conversations kept changing while they were stored: it is tried again"
        )

    async def are_stored(self, facts: Sequence[LogFact]) -> bool:
        """Whether all of them are stored; raises StoreUnavailableError."""
        return await self._facts.are_stored(facts)

    async def _states(self, keys: Collection[tuple[str, str]]) -> dict[tuple[str, str], InboxConversation]:
        """The states as last seen here, or from the store; if another replica has changed one, saving it is refused."""
        unknown = [key for key in sorted(keys) if self._known.get(key) is None]
        stored = await self._conversations.load(unknown) if unknown else {}
        return {key: self._known.get(key) or stored.get(key) or InboxConversation(*key) for key in sorted(keys)}

    async def _save(self, states: Sequence[InboxConversation]) -> set[tuple[str, str]]:
        """Saves; returns the refused ones, and drops them from the cache."""
        saved = {(state.company, state.conversation): state for state in await self._conversations.save(states)}
        keys = {(state.company, state.conversation) for state in states}
        for key in keys - saved.keys():
            self._known.drop(key)
        for key, state in saved.items():
            self._known.keep(key, state)
        return keys - saved.keys()

    def may_teach(self, fact: LogFact) -> bool:
        """Whether a stored fact may end a customer's turn (a visitor's teaches nothing)."""
        if not isinstance(fact.data, AssistantMessage):
            return False
        state = self._known.get((fact.company, fact.conversation))
        if state is None or state.person_position is None:
            return True
        return state.person is not None and state.person.role == CUSTOMER

    def needs_sweep(self, facts: Sequence[LogFact]) -> bool:
        """Whether a sweep has something to do or wait for in a conversation of these stored facts."""
        states = (self._known.get((fact.company, fact.conversation)) for fact in facts)
        return any(state is None or state.is_swept for state in states)

    def drop(self, company: str, conversations: Sequence[str]) -> None:
        """Drops these conversations' states from the cache."""
        for name in conversations:
            self._known.drop((company, name))

    def forget(self) -> None:
        """Empties the cache: the store is another one."""
        self._known.clear()

    def _verified(self, facts: Sequence[LogFact]) -> dict[str, Person]:
        found: dict[str, Person] = {}
        for fact in facts:
            if isinstance(fact.data, VisitorMessage) and fact.data.principal:
                person = self._principals.person(fact.data.principal, fact.company, fact.conversation)
                if person is not None:
                    found[fact.event_id] = person
        return found
