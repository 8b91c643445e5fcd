"""From the log into the store: facts first, then what they make of their conversations. Only then they are done."""

from collections import defaultdict
from collections.abc import Sequence

from contracts.events.chat import VisitorMessage
from memory.domain.conversation import Conversation, Person, fold
from memory.domain.facts import Fact
from memory.errors import StoreUnavailable
from memory.ports import ConversationStore, FactStore, Floor, Principals

ATTEMPTS = 10
"""Tries to store a conversation that other replicas are changing too."""


class Projection:
    """Projects batches of facts; the same fact again, or two replicas at once, change nothing more."""

    def __init__(
        self, *, facts: FactStore, conversations: ConversationStore, floor: Floor, principals: Principals
    ) -> None:
        self._facts = facts
        self._conversations = conversations
        self._floor = floor
        self._principals = principals

    async def project(self, facts: Sequence[Fact]) -> None:
        """Returns when everything is stored.

        Raises:
            StoreUnavailable: nothing is certain; project the same facts again.
        """
        copies = await self._facts.add(facts)
        by_conversation: defaultdict[tuple[str, str], list[Fact]] = defaultdict(list)
        for fact in facts:
            if fact.position not in copies:
                by_conversation[fact.company, fact.conversation].append(fact)
        verified = self._verified(facts)
        waiting = set(by_conversation)
        for _ in range(ATTEMPTS):
            if not waiting:
                return
            states = await self._conversations.load(sorted(waiting))
            changed: list[Conversation] = []
            for key in sorted(waiting):
                before = states.get(key) or Conversation(*key)
                after = fold(before, by_conversation[key], self._floor.position, verified)
                if after.taken - before.taken:
                    changed.append(after)
            refused = await self._conversations.save(changed)
            waiting = {(state.company, state.conversation) for state in refused}
        raise StoreUnavailable(f"{len(waiting)} conversations kept changing while they were stored: it is tried again")

    def _verified(self, facts: Sequence[Fact]) -> dict[str, Person]:
        found: dict[str, Person] = {}
        for fact in facts:
            if isinstance(fact.data, VisitorMessage) and fact.data.principal:
                person = self._principals.person(fact.data.principal, fact.company, fact.conversation)
                if person is not None:
                    found[fact.event_id] = person
        return found
