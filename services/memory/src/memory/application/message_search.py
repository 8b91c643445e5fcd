"""search_memory: searches what a person and the assistant said in all of the person's conversations.

The replica that answers has an index of the person's messages in its process, and updates it before each search: only
conversations with new activity are read, from the position up to which the last update was complete.
"""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from contracts.memory_rpc import Superseded
from memory.adapters.mongo_past_conversations import MongoPastConversations, PastConversation
from memory.adapters.projection_floor import ProjectionFloor
from memory.application.inbox import Inbox
from memory.application.memories import Memories
from memory.domain.forgotten import Forgotten, is_forgotten
from memory.domain.keys import BEGINNING, LogPosition
from memory.domain.outdated import outdated
from memory.domain.recall.index import IndexedMessage, RankedMessage, RecallIndex
from memory.domain.remembered import Remembered
from memory.embeddings.embeddings import Embeddings
from memory.embeddings.fusion import fused_messages
from memory.embeddings.neighbours import MAX_NEAREST, Nearness, Neighbours
from memory.errors import MemoryServiceError, StoreUnavailableError
from runtime.background import start_early
from runtime.calls.deadlines import detached_context
from runtime.clock import Clock

UPDATE_TIMEOUT_SECONDS = 3.5
"""How long a search waits for the update; after that it uses what has been read, and reports itself incomplete."""
MAX_MESSAGES = 50_000
"""Messages of one person that are searched at most, from their newest conversations."""
MAX_MESSAGES_IN_PROCESS = 100_000
"""Messages indexed in one process, about 1 KB each; beyond that the least recently searched person is dropped."""
MAX_CONVERSATIONS = 5_000
PAGE_SIZE = 500
DEFAULT_PROMPT_MESSAGES = 5
"""The newest messages of the current conversation that are left out if the caller does not say which ones the prompt
contains: every prompt contains these."""
ASSISTANT = "assistant"
CONFIRMATION_TIME = timedelta(minutes=5)
"""How long after something was forgotten the assistant's messages about it are left out too."""
EXTRA_HITS_FORGOTTEN = 40
"""Further hits if facts were forgotten, since messages about them are left out."""
EXTRA_HITS = 10
"""Further hits beyond the limit, since outdated ones rank lower."""
OUTDATED_WEIGHT = 0.8
"""The factor for the score of a message that something newer has replaced."""
MIN_SCORE_SHARE = 0.15
"""Messages with less than this share of the best score are left out."""


@dataclass(frozen=True, slots=True)
class RecalledMessage:
    """A recalled `message`, the messages before and after it, and what has replaced it since (`past`)."""

    message: RankedMessage
    before: IndexedMessage | None
    after: IndexedMessage | None
    past: Superseded | None


@dataclass(frozen=True, slots=True)
class Recollection:
    """The messages that were found, best first. `searched` is the number of messages searched; `complete` means that
    none of the person's messages was left out."""

    passages: Sequence[RecalledMessage]
    searched: int
    complete: bool
    as_of: datetime


@dataclass(slots=True)
class _PersonIndex:
    """This process's index of one person. For each conversation, `read` is the position up to which everything is
    indexed, and `latest` its newest fact when it was last read completely. `gone`: the index was dropped meanwhile."""

    index: RecallIndex = field(default_factory=RecallIndex)
    near: Neighbours[str] = field(default_factory=Neighbours[str])
    read: dict[str, LogPosition] = field(default_factory=dict[str, LogPosition])
    latest: dict[str, LogPosition] = field(default_factory=dict[str, LogPosition])
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    update: asyncio.Task[bool] | None = None
    gone: bool = False

    def ranked(
        self, by_words: Sequence[RankedMessage], by_meaning: Nearness[str] | None, without: Collection[str]
    ) -> list[RankedMessage]:
        """The hits ranked by words and by meaning together."""
        if by_meaning is None:
            return list(by_words)
        fused = fused_messages(
            [(hit.passage.id, hit.score) for hit in by_words], by_meaning, without, self.index.nearby
        )
        return [RankedMessage(self.index.passage(passage_id), score) for passage_id, score in fused]


@dataclass(slots=True, kw_only=True)
class MessageSearch:
    """Searches people's conversations."""

    past: MongoPastConversations
    memories: Memories
    inbox: Inbox
    floor: ProjectionFloor
    clock: Clock
    embeddings: Embeddings
    _indexes: OrderedDict[tuple[str, str], _PersonIndex] = field(init=False, default_factory=OrderedDict)

    async def search(
        self,
        company: str,
        user: str,
        query: str,
        limit: int,
        conversation: str | None,
        prompt: tuple[int, int] | None = None,
    ) -> Recollection:
        """The best messages of the person's conversations. `conversation`: the current one; `prompt`: the first and the
        last sequence of its messages in the prompt, which are left out.

        Raises:
            StoreUnavailableError: the index could not be updated.
        """
        while True:
            entry = self._index_of(company, user)
            embedding = asyncio.create_task(self.embeddings.question(query))
            complete = await self._update(company, user, entry)
            memory = await self.memories.held(company, user)
            vector = await embedding
            async with entry.lock:
                now = self.clock.now()
                excluded = self._in_prompt(entry.index, conversation, prompt)
                extra = EXTRA_HITS + (EXTRA_HITS_FORGOTTEN if memory.forgotten_facts else 0)
                max_hits = limit + extra if vector is None else max(limit + extra, MAX_NEAREST)
                hits = await asyncio.to_thread(entry.index.search, query, max_hits, now, excluded)
                if vector is not None:
                    by_meaning = self.embeddings.nearness(entry.near, vector)
                    hits = entry.ranked(hits, by_meaning, excluded)[: limit + extra]
                recalled = [
                    self._recalled(entry, hit, memory)
                    for hit in hits
                    if not _is_forgotten(hit.passage, memory.forgotten_facts)
                ]
            if not entry.gone:
                recalled.sort(key=lambda passage: -passage.message.score)
                passages = [
                    passage
                    for passage in recalled[:limit]
                    if passage.message.score >= MIN_SCORE_SHARE * recalled[0].message.score
                ]
                return Recollection(passages, len(entry.index), complete, now)

    def drop(self, company: str, conversations: Sequence[str]) -> None:
        """Drops the indexes of the people who wrote in these conversations."""
        dropped = frozenset(conversations)
        for key, entry in list(self._indexes.items()):
            if key[0] == company and not dropped.isdisjoint(entry.read):
                self._evict(key)

    async def stop(self) -> None:
        tasks = [entry.update for entry in self._indexes.values() if entry.update is not None]
        for task in tasks:
            task.cancel()
        for task in tasks:
            with contextlib.suppress(asyncio.CancelledError, MemoryServiceError):
                await task

    def _in_prompt(
        self, index: RecallIndex, conversation: str | None, prompt: tuple[int, int] | None
    ) -> frozenset[str]:
        if conversation is None:
            return frozenset()
        if prompt is None:
            return index.newest(conversation, DEFAULT_PROMPT_MESSAGES)
        era = self.floor.position.era
        return index.between(conversation, LogPosition(era, prompt[0]), LogPosition(era, prompt[1]))

    def _index_of(self, company: str, user: str) -> _PersonIndex:
        entry = self._indexes.setdefault((company, user), _PersonIndex())
        self._indexes.move_to_end((company, user))
        while (
            len(self._indexes) > 1
            and sum(len(cached.index) for cached in self._indexes.values()) > MAX_MESSAGES_IN_PROCESS
        ):
            self._evict(next(iter(self._indexes)))
        return entry

    def _evict(self, key: tuple[str, str]) -> None:
        entry = self._indexes.pop(key)
        entry.gone = entry.near.closed = True

    async def _update(self, company: str, user: str, entry: _PersonIndex) -> bool:
        """Updates the index; returns whether everything is in it. Concurrent searches wait for the same update, which
        goes on if they stop waiting."""
        if entry.update is None or entry.update.done():
            await self.inbox.fresh()
            if entry.update is None or entry.update.done():
                entry.update = start_early(
                    self._read_new(company, user, entry), name="reading for search_memory", context=detached_context()
                )
        done, _ = await asyncio.wait({entry.update}, timeout=UPDATE_TIMEOUT_SECONDS)
        if not done:
            return False
        try:
            return entry.update.result()
        except asyncio.CancelledError:
            raise StoreUnavailableError("memory is stopping: try again") from None

    async def _read_new(self, company: str, user: str, entry: _PersonIndex) -> bool:
        floor = self.floor.position
        conversations = await self.past.newest(company, user, MAX_CONVERSATIONS)
        if len(conversations) < MAX_CONVERSATIONS and not entry.read.keys() <= {
            conversation.conversation for conversation in conversations
        }:
            # A conversation was deleted and this process missed it: none of its messages may be returned any more.
            async with entry.lock:
                entry.near.closed = True
                entry.index, entry.near = RecallIndex(), Neighbours[str]()
                entry.read.clear()
                entry.latest.clear()
        for conversation in conversations:
            if entry.latest.get(conversation.conversation) == conversation.latest:
                continue
            if not await self._read_conversation(company, conversation, entry, floor):
                return False
        return len(conversations) < MAX_CONVERSATIONS

    async def _read_conversation(
        self, company: str, past: PastConversation, entry: _PersonIndex, floor: LogPosition
    ) -> bool:
        """Indexes what is new in one conversation; returns False if the limit is reached."""
        position = entry.read.setdefault(past.conversation, BEGINNING)
        while True:
            if entry.gone or len(entry.index) >= MAX_MESSAGES:
                return False
            page = await self.past.messages_since(company, past.conversation, position, PAGE_SIZE)
            async with entry.lock:
                new = await asyncio.to_thread(_add_new, entry, page.passages)
                if self.embeddings.enabled:
                    for passage in new:
                        entry.near.put(passage.id, passage.text)
                    self.embeddings.fill(entry.near)
            if page.up_to is None:
                break
            position = page.up_to
            # Above the floor a message may yet be stored before one that was read: the next update starts at the floor.
            entry.read[past.conversation] = max(entry.read[past.conversation], min(position, floor))
        if past.latest <= floor:
            entry.latest[past.conversation] = past.latest
        return True

    def _recalled(self, entry: _PersonIndex, hit: RankedMessage, memory: Remembered) -> RecalledMessage:
        replacement = outdated(hit.passage, memory.memory)
        if replacement and replacement.by and is_forgotten(replacement.by, memory.forgotten_facts):
            replacement = replacement.model_copy(update={"by": None})
        before, after = (
            None if neighbour is None or _is_forgotten(neighbour, memory.forgotten_facts) else neighbour
            for neighbour in entry.index.around(hit.passage)
        )
        weighted = RankedMessage(hit.passage, hit.score * OUTDATED_WEIGHT) if replacement else hit
        return RecalledMessage(weighted, before, after, replacement)


def _add_new(entry: _PersonIndex, passages: Sequence[IndexedMessage]) -> list[IndexedMessage]:
    new = [passage for passage in passages if passage.id not in entry.index]
    entry.index.add(new)
    return new


def _is_forgotten(passage: IndexedMessage, forgotten: Sequence[Forgotten]) -> bool:
    # When the assistant confirms that it has forgotten something, it repeats what that was.
    time = passage.at - CONFIRMATION_TIME if passage.speaker == ASSISTANT else passage.at
    return is_forgotten(passage.text, forgotten, time)
