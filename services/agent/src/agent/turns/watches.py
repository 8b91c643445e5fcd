"""Tells running turns about new facts of their conversations, from the agent's one standing subscription."""

from collections.abc import Callable

from agent.domain.turn.effects import CallModel, Interrupted
from agent.domain.turn.policy import AnswerPolicy, stop_reason
from agent.ports import ConversationKey
from contracts.conversation import Fact

MAX_KEPT = 256
"""Facts that a watch remembers; in a turn's two minutes there are hardly more, and the fence does not need them."""


class Watch:
    """Watches one conversation for one turn. Facts that arrive before `listener` is set are kept."""

    def __init__(self, watches: "Watches", key: ConversationKey) -> None:
        self._watches = watches
        self._key = key
        self._facts: list[Fact] = []
        self.listener: Callable[[Fact], None] | None = None

    def first_stop(self, ask: CallModel, policy: AnswerPolicy) -> Interrupted | None:
        """Returns the first fact since the view that already stops the call."""
        for fact in self._facts:
            reason = stop_reason(fact, basis=ask.journal.basis, forced=ask.journal.forced, policy=policy)
            if fact.seq > ask.view.seq and reason is not None:
                return Interrupted(reason, fact.seq)
        return None

    def tell(self, fact: Fact) -> None:
        if len(self._facts) < MAX_KEPT:
            self._facts.append(fact)
        if self.listener is not None:
            self.listener(fact)

    def close(self) -> None:
        self.listener = None
        self._watches.forget(self._key, self)


class Watches:
    """All watches of this agent."""

    def __init__(self) -> None:
        self._by_key: dict[tuple[str, str], list[Watch]] = {}

    def watch(self, key: ConversationKey) -> Watch:
        """Starts watching a conversation; close the watch when the turn ends."""
        watch = Watch(self, key)
        self._by_key.setdefault(key, []).append(watch)
        return watch

    def wanted(self, key: tuple[str, str]) -> bool:
        """Whether anybody watches the conversation: facts of others need not be read at all."""
        return key in self._by_key

    def tell(self, key: tuple[str, str], fact: Fact) -> None:
        for watch in tuple(self._by_key.get(key, ())):
            watch.tell(fact)

    def forget(self, key: ConversationKey, watch: Watch) -> None:
        """Done by Watch.close."""
        watches = self._by_key.get(key)
        if watches is not None and watch in watches:
            watches.remove(watch)
            if not watches:
                del self._by_key[key]
