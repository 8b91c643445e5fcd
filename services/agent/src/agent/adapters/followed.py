"""Keeps the state of the conversations that this agent works on, updated from the live copy of the log.

The live copy contains every fact of every conversation in the log's order, so its sequence numbers have no gap, and the
log need not be read. After a gap or a lost connection, everything is forgotten. A state that is older than the log does
no harm: as after a read from a slow replica, the fence or the journal's compare-and-set refuses what was decided from
it, and the state is read again.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace

from agent.ports import ConversationKey
from contracts.channels import ChatKind
from contracts.conversation import Fact, Snapshot, snapshot_of
from contracts.ids import conversation_start
from runtime.bus.direct import StoredFact
from runtime.recent import DEFAULT_TTL_SECONDS

MAX_CONVERSATIONS = 4_096
MAX_BYTES = 32 * 1024 * 1024
MAX_FACTS = 64
"""Facts that are kept of a conversation, the newest ones."""
LIVE_COPY_SECONDS = 0.02
"""Seconds to wait for the live copy of a message after its delivery; then the log is read."""
NEW_CONVERSATION_SECONDS = 120.0
"""Seconds after the creation of its id for which a conversation counts as new: all its facts are still in the log."""
_ENDINGS = (ChatKind.ASSISTANT, ChatKind.SYSTEM)


@dataclass(slots=True)
class _Conversation:
    """`recent`: every message from sequence `since` on, with its fact (None for a misfit). `is_complete`: there are no
    earlier messages. `last` and `snapshot_seq`: the snapshot, once it is known. `first`: a basis, the sequence of the
    first unanswered message by that basis, and the time when it was stored."""

    since: int
    last_used: float
    recent: list[tuple[StoredFact, Fact | None]] = field(default_factory=list[tuple[StoredFact, Fact | None]])
    size: int = 0
    snapshot_seq: int = 0
    is_complete: bool = False
    last: dict[ChatKind, Fact] | None = None
    first: tuple[int, int, float | None] = (0, 0, None)

    def visitor_facts(self, after: int) -> list[Fact]:
        return [
            fact for _, fact in self.recent if fact is not None and fact.kind is ChatKind.VISITOR and fact.seq > after
        ]


class FollowedConversations:
    """The followed conversations, limited in number, bytes and time; the most recently used ones stay."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._conversations: OrderedDict[ConversationKey, _Conversation] = OrderedDict()
        self._size = 0
        self._newest_seq = 0
        self._taken = asyncio.Event()

    def clear(self) -> None:
        """Forgets everything, because facts may have been missed."""
        self._conversations.clear()
        self._size = self._newest_seq = 0

    def drop(self, key: ConversationKey) -> None:
        """Forgets a conversation, because a decision from its state was refused."""
        removed = self._conversations.pop(key, None)
        if removed is not None:
            self._size -= removed.size

    def note_sequence(self, seq: int) -> None:
        """Notes the sequence of the log's next fact, of any conversation; call it before `take`. A gap clears
        everything."""
        if self._newest_seq and seq != self._newest_seq + 1:
            self.clear()
        self._newest_seq = seq

    def needs(self, key: ConversationKey, kind: ChatKind) -> bool:
        """Whether a fact of this conversation and kind must be passed to `take`."""
        return kind is ChatKind.VISITOR or key in self._conversations

    def take(self, key: ConversationKey, stored: StoredFact, fact: Fact | None) -> None:
        """Adds a fact; its conversation is followed from now on. `fact`: None for a misfit."""
        conversation = self._conversations.get(key)
        if conversation is None:
            conversation = self._conversations[key] = _Conversation(stored.seq, self._clock())
        conversation.recent.append((stored, fact))
        self._grow(conversation, len(stored.event))
        if len(conversation.recent) > MAX_FACTS:
            oldest, _ = conversation.recent.pop(0)
            conversation.since, conversation.is_complete = oldest.seq + 1, False
            self._grow(conversation, -len(oldest.event))
        if conversation.last is not None:
            _apply(conversation, stored.seq, fact)
        while self._conversations and (
            len(self._conversations) > MAX_CONVERSATIONS or self._size > MAX_BYTES or self._first_is_old()
        ):
            self.drop(next(iter(self._conversations)))
        self._taken.set()  # wakes those who wait; the next ones wait for the next fact
        self._taken.clear()

    def store_snapshot(self, key: ConversationKey, view: Snapshot) -> None:
        """Stores a snapshot that was read from the log, if all facts since then are known."""
        conversation = self._conversations.get(key)
        if conversation is None or view.seq < conversation.since:
            return
        conversation.last, conversation.snapshot_seq = dict(view.last), view.seq
        conversation.first = (view.basis, view.first_unanswered, view.first_unanswered_at)
        has_only_visitors = set(view.last) == {ChatKind.VISITOR} and view.seq == view.newest_visitor
        conversation.is_complete = conversation.is_complete or (
            has_only_visitors and view.first_unanswered == conversation.since and _is_new(key, view.newest_visitor_at)
        )
        for stored, fact in conversation.recent:
            _apply(conversation, stored.seq, fact)

    async def snapshot(self, key: ConversationKey, at_least: int) -> Snapshot | None:
        """Returns the snapshot, at least as new as the sequence `at_least`, with the first unanswered message; None if
        the log must be read."""
        conversation = self._conversations.get(key)
        if conversation is None or conversation.last is None or not await self._reach(at_least):
            return None
        conversation = self._conversations.get(key)
        if (
            conversation is None
            or conversation.last is None
            or self._clock() - conversation.last_used > DEFAULT_TTL_SECONDS
        ):
            self.drop(key)
            return None
        conversation.last_used = self._clock()
        self._conversations.move_to_end(key)
        view = snapshot_of(conversation.last.values(), conversation.snapshot_seq)
        if not view.unanswered:
            return view
        if view.basis + 1 >= conversation.since:
            first = next(iter(conversation.visitor_facts(view.basis)), conversation.last[ChatKind.VISITOR])
            return replace(view, first_unanswered=first.seq, first_unanswered_at=first.at)
        basis, seq, stored_at = conversation.first
        return (
            replace(view, first_unanswered=seq, first_unanswered_at=stored_at) if basis == view.basis and seq else None
        )

    def may_begin_with(self, key: ConversationKey, seq: int) -> bool:
        """Whether the message at `seq` may be its conversation's first one; reading the log will tell."""
        conversation = self._conversations.get(key)
        if conversation is None or conversation.last is not None or conversation.since != seq:
            return False
        fact = conversation.recent[0][1]
        return fact is not None and _is_new(key, fact.at)

    def facts(self, key: ConversationKey, after: int, up_to: int) -> list[Fact] | None:
        """Returns the facts with after < seq ≤ up_to, in order; None if not all of them are known."""
        conversation = self._conversations.get(key)
        if (
            conversation is None
            or (after + 1 < conversation.since and not conversation.is_complete)
            or up_to > self._newest_seq
        ):
            return None
        return [fact for stored, fact in conversation.recent if after < stored.seq <= up_to and fact is not None]

    def has_validated(self, key: ConversationKey, seq: int, event: bytes) -> bool:
        """Whether this very event came as the fact at `seq` and was validated against its contract."""
        conversation = self._conversations.get(key)
        return conversation is not None and any(
            stored.seq == seq and fact is not None and stored.event == event
            for stored, fact in reversed(conversation.recent)
        )

    def last_ended_turn(self, key: ConversationKey) -> str | None:
        """Returns the id of the turn that ended last, if at most one visitor message has come since, so that no other
        agent can have driven a turn; None if that is not known."""
        conversation = self._conversations.get(key)
        if conversation is None or conversation.last is None:
            return None
        endings = [fact for kind in _ENDINGS if (fact := conversation.last.get(kind)) is not None]
        ending = max(endings, key=_seq, default=None)
        if ending is None or ending.seq + 1 < conversation.since or len(conversation.visitor_facts(ending.seq)) > 1:
            return None
        turn_id = ending.data.get("turnId")
        return turn_id if isinstance(turn_id, str) else None

    async def _reach(self, seq: int) -> bool:
        if self._newest_seq >= seq:
            return True
        with suppress(TimeoutError):
            async with asyncio.timeout(LIVE_COPY_SECONDS):
                while self._newest_seq < seq:
                    await self._taken.wait()
        return self._newest_seq >= seq

    def _first_is_old(self) -> bool:
        return self._clock() - next(iter(self._conversations.values())).last_used > DEFAULT_TTL_SECONDS

    def _grow(self, conversation: _Conversation, size: int) -> None:
        conversation.size += size
        self._size += size


def _is_new(key: ConversationKey, time: float) -> bool:
    created_at = conversation_start(key.conversation)
    return created_at is not None and abs(time - created_at) < NEW_CONVERSATION_SECONDS


def _apply(conversation: _Conversation, seq: int, fact: Fact | None) -> None:
    if seq <= conversation.snapshot_seq:
        return  # the snapshot was read from the log after this fact
    conversation.snapshot_seq = seq
    if fact is not None and conversation.last is not None:
        conversation.last[fact.kind] = fact


def _seq(fact: Fact) -> int:
    return fact.seq
