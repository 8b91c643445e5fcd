"""Passes new facts of a conversation from the agent's one subscription to the turns that run in it."""

from collections.abc import Callable

from agent.domain.turn.effects import CallModel, Interrupted
from agent.domain.turn.policy import AnswerPolicy, stop_reason
from agent.ports import ConversationKey
from contracts.conversation import Fact

MAX_FACTS = 256
"""Facts that a watch keeps. A turn's two minutes hardly bring more, and the fence does not depend on them."""


class Watch:
    """Watches one conversation for one turn. Facts that arrive before `listener` is set are kept."""

    def __init__(self, watches: "Watches", key: ConversationKey) -> None:
        self._watches = watches
        self._key = key
        self._facts: list[Fact] = []
        self.listener: Callable[[Fact], None] | None = None

    def first_stop(self, call: CallModel, policy: AnswerPolicy) -> Interrupted | None:
        """Returns an interruption for the first fact after the call's view that stops it; None if no fact does."""
        for fact in self._facts:
            reason = stop_reason(fact, basis=call.journal.basis, forced=call.journal.forced, policy=policy)
            if fact.seq > call.view.seq and reason is not None:
                return Interrupted(reason, fact.seq)
        return None

    def notify(self, fact: Fact) -> None:
        if len(self._facts) < MAX_FACTS:
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

    def is_watched(self, key: tuple[str, str]) -> bool:
        """Whether a turn watches the conversation; facts of other conversations need not be parsed."""
        return key in self._by_key

    def notify(self, key: tuple[str, str], fact: Fact) -> None:
        for watch in tuple(self._by_key.get(key, ())):
            watch.notify(fact)

    def forget(self, key: ConversationKey, watch: Watch) -> None:
        """Removes the watch; called by Watch.close."""
        watches = self._by_key.get(key)
        if watches is not None and watch in watches:
            watches.remove(watch)
            if not watches:
                del self._by_key[key]
