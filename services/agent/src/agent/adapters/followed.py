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

CONVERSATIONS = 4_096
BYTES = 32 * 1024 * 1024
FACTS = 64
"""The latest of a conversation that are kept."""
LATE = 0.02
"""Seconds that the live copy of a message may come after its delivery; then the log is read."""
NEW = 120.0
"""Seconds after its id was made for which a conversation may be new: what it holds is all in the log."""
_ENDINGS = (ChatKind.ASSISTANT, ChatKind.SYSTEM)


@dataclass(slots=True)
class _Conversation:
    """`recent`: every message from `since` on, with the fact that it is (None: it fits no contract). `whole`: there was
    none before. `last` and `n`: the snapshot, once it is known. `first`: the basis by which it was read, the message
    that waited first then, and when that was stored."""

    since: int
    used: float
    recent: list[tuple[StoredFact, Fact | None]] = field(default_factory=list[tuple[StoredFact, Fact | None]])
    size: int = 0
    n: int = 0
    whole: bool = False
    last: dict[ChatKind, Fact] | None = None
    first: tuple[int, int, float | None] = (0, 0, None)

    def visitors(self, after: int) -> list[Fact]:
        return [
            fact for _, fact in self.recent if fact is not None and fact.kind is ChatKind.VISITOR and fact.seq > after
        ]


class FollowedConversations:
    """Bounded in number, bytes and time; those used last stay."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[ConversationKey, _Conversation] = OrderedDict()
        self._size = 0
        self._heard = 0
        self._waiting: set[asyncio.Future[None]] = set()

    def clear(self) -> None:
        """Forgets everything: something may have been missed."""
        self._kept.clear()
        self._size = self._heard = 0

    def drop(self, key: ConversationKey) -> None:
        """Forgets a conversation, because a decision from its state was refused."""
        gone = self._kept.pop(key, None)
        if gone is not None:
            self._size -= gone.size

    def heard(self, seq: int) -> None:
        """The log's next fact has come, of whatever conversation; call it before `take`."""
        if self._heard and seq != self._heard + 1:
            self.clear()
        self._heard = seq

    def follows(self, key: ConversationKey, kind: ChatKind) -> bool:
        """Whether the fact that was just heard is to be taken."""
        return kind is ChatKind.VISITOR or key in self._kept

    def take(self, key: ConversationKey, stored: StoredFact, fact: Fact | None) -> None:
        """Takes a fact of a conversation, which is followed from now on; `fact` None: it is not a valid fact."""
        kept = self._kept.get(key)
        if kept is None:
            kept = self._kept[key] = _Conversation(stored.seq, self._clock())
        kept.recent.append((stored, fact))
        self._grow(kept, len(stored.event))
        if len(kept.recent) > FACTS:
            gone, _ = kept.recent.pop(0)
            kept.since, kept.whole = gone.seq + 1, False
            self._grow(kept, -len(gone.event))
        if kept.last is not None:
            _apply(kept, stored.seq, fact)
        while self._kept and (len(self._kept) > CONVERSATIONS or self._size > BYTES or self._first_is_old()):
            self.drop(next(iter(self._kept)))
        self._wake()

    def read(self, key: ConversationKey, view: Snapshot) -> None:
        """The log has been read: followed from here on, if all that came since is known."""
        kept = self._kept.get(key)
        if kept is None or view.seq < kept.since:
            return
        kept.last, kept.n = dict(view.last), view.seq
        kept.first = (view.basis, view.first_unanswered, view.first_unanswered_at)
        alone = set(view.last) == {ChatKind.VISITOR} and view.seq == view.newest_visitor
        kept.whole = kept.whole or (
            alone and view.first_unanswered == kept.since and _is_new(key, view.newest_visitor_at)
        )
        for stored, fact in kept.recent:
            _apply(kept, stored.seq, fact)

    async def snapshot(self, key: ConversationKey, at_least: int) -> Snapshot | None:
        """The conversation as the log tells it, no older than `at_least`, with the first message that waits; None: read
        it."""
        kept = self._kept.get(key)
        if kept is None or kept.last is None or not await self._reach(at_least):
            return None
        kept = self._kept.get(key)
        if kept is None or kept.last is None or self._clock() - kept.used > DEFAULT_TTL_SECONDS:
            self.drop(key)
            return None
        kept.used = self._clock()
        self._kept.move_to_end(key)
        view = snapshot_of(kept.last.values(), kept.n)
        if not view.unanswered:
            return view
        if view.basis + 1 >= kept.since:
            first = next(iter(kept.visitors(view.basis)), kept.last[ChatKind.VISITOR])
            return replace(view, first_unanswered=first.seq, first_unanswered_at=first.at)
        known_by, seq, at = kept.first
        return replace(view, first_unanswered=seq, first_unanswered_at=at) if known_by == view.basis and seq else None

    def may_begin_with(self, key: ConversationKey, seq: int) -> bool:
        """Whether the message at `seq` may be its conversation's first one: reading the log tells."""
        kept = self._kept.get(key)
        if kept is None or kept.last is not None or kept.since != seq:
            return False
        fact = kept.recent[0][1]
        return fact is not None and _is_new(key, fact.at)

    def facts(self, key: ConversationKey, after: int, up_to: int) -> list[Fact] | None:
        """The facts with after < seq ≤ up_to, in order; None: not all of them are known."""
        kept = self._kept.get(key)
        if kept is None or (after + 1 < kept.since and not kept.whole) or up_to > self._heard:
            return None
        return [fact for stored, fact in kept.recent if after < stored.seq <= up_to and fact is not None]

    def knows(self, key: ConversationKey, seq: int, event: bytes) -> bool:
        """Whether this very event was heard as the fact at `seq`, and held against its contract."""
        kept = self._kept.get(key)
        return kept is not None and any(
            stored.seq == seq and fact is not None and stored.event == event for stored, fact in reversed(kept.recent)
        )

    def ended_by(self, key: ConversationKey) -> str | None:
        """The turn that ended last, where since then one visitor message at most has come: nobody else has driven a
        turn here. None: that is not known."""
        kept = self._kept.get(key)
        if kept is None or kept.last is None:
            return None
        endings = [fact for kind in _ENDINGS if (fact := kept.last.get(kind)) is not None]
        ending = max(endings, key=_seq, default=None)
        if ending is None or ending.seq + 1 < kept.since or len(kept.visitors(ending.seq)) > 1:
            return None
        turn = ending.data.get("turnId")
        return turn if isinstance(turn, str) else None

    async def _reach(self, seq: int) -> bool:
        if self._heard >= seq:
            return True
        end = asyncio.get_running_loop().time() + LATE
        with suppress(TimeoutError):
            async with asyncio.timeout_at(end):
                while self._heard < seq:
                    waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                    self._waiting.add(waiting)
                    try:
                        await waiting
                    finally:
                        self._waiting.discard(waiting)
        return self._heard >= seq

    def _first_is_old(self) -> bool:
        return self._clock() - next(iter(self._kept.values())).used > DEFAULT_TTL_SECONDS

    def _wake(self) -> None:
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)

    def _grow(self, kept: _Conversation, size: int) -> None:
        kept.size += size
        self._size += size


def _is_new(key: ConversationKey, at: float) -> bool:
    begun = conversation_start(key.conversation)
    return begun is not None and abs(at - begun) < NEW


def _apply(kept: _Conversation, seq: int, fact: Fact | None) -> None:
    if seq <= kept.n:
        return  # the log was read before its live copy came
    kept.n = seq
    if fact is not None and kept.last is not None:
        kept.last[fact.kind] = fact


def _seq(fact: Fact) -> int:
    return fact.seq
