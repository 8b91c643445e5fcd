"""search_memory: searches what a person and the assistant said in all of the person's conversations.

The replica that is asked indexes the person's passages in its process, and updates the index before each search: only
conversations with new activity are read, from where the last reading was complete.
"""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from memory.adapters.mongo_past_conversations import MongoPastConversations, PastConversation
from memory.adapters.projection_floor import ProjectionFloor
from memory.application.inbox import Inbox
from memory.application.inbox_search import ignore_failure
from memory.application.memories import Memories
from memory.domain.forgotten import Forgotten, is_forgotten
from memory.domain.keys import BEGINNING, LogPosition
from memory.domain.outdated import OutdatedSince, outdated
from memory.domain.recall.index import IndexedMessage, RankedMessage, RecallIndex
from memory.domain.remembered import Remembered
from memory.embeddings.embeddings import Embeddings
from memory.embeddings.fusion import fused_messages
from memory.embeddings.neighbours import MAX_NEAREST, Nearness, Neighbours
from memory.errors import MemoryServiceError, StoreUnavailableError
from runtime.calls.deadlines import detached_context
from runtime.clock import Clock

READING = 3.5
"""Seconds that a search waits for the update; after that it uses what has been read, and says so."""
MOST = 50_000
"""Messages of one person that are searched, of the newest conversations."""
MOST_IN_PROCESS = 100_000
"""Messages indexed in a process, about 1 KB each; the least recently searched person is dropped."""
CONVERSATIONS = 5_000
PAGE = 500
IN_SIGHT = 5
"""The newest messages of the current conversation that count as known, if the caller does not say which the prompt
holds: every prompt holds these."""
ASSISTANT = "assistant"
CONFIRMED = timedelta(minutes=5)
"""How long the assistant's own words about forgotten facts are left out too."""
FORGOTTEN_SPARE = 40
"""Further passages found if facts were forgotten, since passages about them are left out."""
SPARE = 10
"""Further passages found, since outdated ones rank lower."""
OUTDATED = 0.8
"""The weight of a passage that something newer has replaced."""
WORTH = 0.15
"""The share of the best score below which a passage is only filler."""


@dataclass(frozen=True, slots=True)
class RecalledMessage:
    """A passage with what was said before and after it, and what has replaced it since."""

    found: RankedMessage
    before: IndexedMessage | None
    after: IndexedMessage | None
    past: OutdatedSince | None


@dataclass(frozen=True, slots=True)
class Recollection:
    """The messages that were found, best first. `searched` is the number of messages searched; `complete` means that
    none of the person's messages was left out."""

    passages: Sequence[RecalledMessage]
    searched: int
    complete: bool
    as_of: datetime


@dataclass(slots=True)
class _HeldMessages:
    """This process's index of a person. `read`: by conversation, the position up to which everything is indexed;
    `latest`: its newest fact when it was fully read; `gone`: it was deleted meanwhile."""

    index: RecallIndex = field(default_factory=RecallIndex)
    near: Neighbours[str] = field(default_factory=Neighbours[str])
    read: dict[str, LogPosition] = field(default_factory=dict[str, LogPosition])
    latest: dict[str, LogPosition] = field(default_factory=dict[str, LogPosition])
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    reading: asyncio.Task[bool] | None = None
    gone: bool = False

    def ranked(
        self, found: Sequence[RankedMessage], near: Nearness[str] | None, without: Collection[str]
    ) -> list[RankedMessage]:
        """The ranking by words and by meaning together."""
        if near is None:
            return list(found)
        both = fused_messages([(one.passage.id, one.score) for one in found], near, without, self.index.nearby)
        return [RankedMessage(self.index.passage(name), score) for name, score in both]


class MessageSearch:
    """Searches of people's conversations."""

    def __init__(
        self,
        *,
        past: MongoPastConversations,
        memories: Memories,
        inbox: Inbox,
        floor: ProjectionFloor,
        clock: Clock,
        embeddings: Embeddings,
    ) -> None:
        self._embeddings = embeddings
        self._past = past
        self._memories = memories
        self._inbox = inbox
        self._floor = floor
        self._clock = clock
        self._held: OrderedDict[tuple[str, str], _HeldMessages] = OrderedDict()

    async def search(
        self,
        company: str,
        user: str,
        query: str,
        limit: int,
        conversation: str | None,
        prompt: tuple[int, int] | None = None,
    ) -> Recollection:
        """The best passages of the person's conversations. `conversation`: the current one; `prompt`: the first and
        last sequence of its messages that the prompt holds, which are left out.

        Raises:
            StoreUnavailableError: nothing could be read.
        """
        while True:
            held = self._held_of(company, user)
            asking = asyncio.create_task(self._embeddings.question(query))
            complete = await self._up_to_date(company, user, held)
            known = await self._memories.held(company, user)
            vector = await asking
            async with held.lock:
                now = self._clock.now()
                without = self._in_sight(held.index, conversation, prompt)
                spare = SPARE + (FORGOTTEN_SPARE if known.forgotten_facts else 0)
                most = limit + spare if vector is None else max(limit + spare, MAX_NEAREST)
                found = await asyncio.to_thread(held.index.search, query, most, now, without)
                if vector is not None:
                    near = held.near.to(vector, self._embeddings.usual)
                    found = held.ranked(found, near, without)[: limit + spare]
                recalled = [
                    self._recalled(held, one, known)
                    for one in found
                    if not _is_gone(one.passage, known.forgotten_facts)
                ]
            if not held.gone:
                recalled.sort(key=lambda one: -one.found.score)
                worth = [one for one in recalled[:limit] if one.found.score >= WORTH * recalled[0].found.score]
                return Recollection(worth, len(held.index), complete, now)

    def drop(self, company: str, conversations: Sequence[str]) -> None:
        """Drops the indexes of the people in these conversations."""
        every = frozenset(conversations)
        for key, held in list(self._held.items()):
            if key[0] == company and not every.isdisjoint(held.read):
                self._let_go(key)

    async def stop(self) -> None:
        tasks = [held.reading for held in self._held.values() if held.reading is not None]
        for task in tasks:
            task.cancel()
        for task in tasks:
            with contextlib.suppress(asyncio.CancelledError, MemoryServiceError):
                await task

    def _in_sight(self, index: RecallIndex, conversation: str | None, prompt: tuple[int, int] | None) -> frozenset[str]:
        if conversation is None:
            return frozenset()
        if prompt is None:
            return index.newest(conversation, IN_SIGHT)
        era = self._floor.position.era
        return index.between(conversation, LogPosition(era, prompt[0]), LogPosition(era, prompt[1]))

    def _held_of(self, company: str, user: str) -> _HeldMessages:
        held = self._held.setdefault((company, user), _HeldMessages())
        self._held.move_to_end((company, user))
        while len(self._held) > 1 and sum(len(one.index) for one in self._held.values()) > MOST_IN_PROCESS:
            self._let_go(next(iter(self._held)))
        return held

    def _let_go(self, key: tuple[str, str]) -> None:
        held = self._held.pop(key)
        held.gone = held.near.closed = True

    async def _up_to_date(self, company: str, user: str, held: _HeldMessages) -> bool:
        """Whether everything is indexed. Concurrent searches wait for the same update, which continues when the wait
        is over."""
        if held.reading is None or held.reading.done():
            await self._inbox.fresh()
            if held.reading is None or held.reading.done():
                held.reading = asyncio.create_task(
                    self._read(company, user, held), name="reading for search_memory", context=detached_context()
                )
                held.reading.add_done_callback(ignore_failure)
        done, _ = await asyncio.wait({held.reading}, timeout=READING)
        if not done:
            return False
        try:
            return held.reading.result()
        except asyncio.CancelledError:
            raise StoreUnavailableError("memory is stopping: try again") from None

    async def _read(self, company: str, user: str, held: _HeldMessages) -> bool:
        floor = self._floor.position
        past = await self._past.newest(company, user, CONVERSATIONS)
        if len(past) < CONVERSATIONS and not held.read.keys() <= {one.conversation for one in past}:
            # A conversation is gone and its deletion was missed: nothing of it may be returned any more.
            async with held.lock:
                held.near.closed = True
                held.index, held.near = RecallIndex(), Neighbours[str]()
                held.read.clear()
                held.latest.clear()
        for one in past:
            if held.latest.get(one.conversation) == one.latest:
                continue
            if not await self._read_conversation(company, one, held, floor):
                return False
        return len(past) < CONVERSATIONS

    async def _read_conversation(
        self, company: str, one: PastConversation, held: _HeldMessages, floor: LogPosition
    ) -> bool:
        """Reads what is new in one conversation; False: the limit is reached."""
        since = held.read.setdefault(one.conversation, BEGINNING)
        while True:
            if held.gone or len(held.index) >= MOST:
                return False
            said = await self._past.messages_since(company, one.conversation, since, PAGE)
            async with held.lock:
                new = await asyncio.to_thread(_take, held, said.passages)
                if self._embeddings.on:
                    for passage in new:
                        held.near.put(passage.id, passage.text)
                    self._embeddings.fill(held.near)
            if said.up_to is None:
                break
            since = said.up_to
            # Above the floor a message may still be stored before one that was read: reading begins there again.
            held.read[one.conversation] = max(held.read[one.conversation], min(since, floor))
        if one.latest <= floor:
            held.latest[one.conversation] = one.latest
        return True

    def _recalled(self, held: _HeldMessages, found: RankedMessage, known: Remembered) -> RecalledMessage:
        past = outdated(found.passage, known.memory)
        if past and past.by and is_forgotten(past.by, known.forgotten_facts):
            past = OutdatedSince(past.until, None)
        before, after = (
            None if one is None or _is_gone(one, known.forgotten_facts) else one
            for one in held.index.around(found.passage)
        )
        counted = RankedMessage(found.passage, found.score * OUTDATED) if past else found
        return RecalledMessage(counted, before, after, past)


def _take(held: _HeldMessages, passages: Sequence[IndexedMessage]) -> list[IndexedMessage]:
    new = [passage for passage in passages if passage.id not in held.index]
    held.index.add(new)
    return new


def _is_gone(passage: IndexedMessage, gone: Sequence[Forgotten]) -> bool:
    # When the assistant confirms that it has forgotten something, it says what.
    at = passage.at - CONFIRMED if passage.speaker == ASSISTANT else passage.at
    return is_forgotten(passage.text, gone, at)
