"""Reads the newest messages of a conversation, complete up to a sequence that the caller names.

Everything up to the projection's floor is in the store; newer facts are read from the log. Usually neither is needed:
a cached window and one or two newer facts are enough.
"""

import asyncio
from dataclasses import dataclass

import orjson

from contracts.conversation_rpc import FactsReply, FactView, MessageView
from memory.adapters.chat_log import StreamLog
from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.mongo_facts import MongoFacts
from memory.adapters.projection_floor import ProjectionFloor
from memory.domain.facts import without_principal
from memory.domain.keys import LogPosition
from memory.domain.recent import WINDOW_SIZE, RecentMessages, VisitorTraits, stored_window
from memory.errors import ProjectionBehindError, StoreUnavailableError
from memory.ports import RecentWindows

MAX_GAP = 20_000
"""Sequences read from the log at most: a longer filtered read scans the stream and slows every reader."""
STORE_TIMEOUT_SECONDS = 1.5
"""How long a history waits for the database; after that it is read from the log, or is an error."""


@dataclass(frozen=True, slots=True)
class HistoryRead:
    """Messages, oldest first; `up_to` is at least the requested sequence."""

    messages: tuple[MessageView, ...]
    up_to: int
    traits: VisitorTraits


@dataclass(frozen=True, slots=True)
class RecentPage:
    """Messages after a sequence, oldest first. `complete`: none is missing."""

    messages: tuple[MessageView, ...]
    traits: VisitorTraits
    complete: bool


@dataclass(slots=True, kw_only=True)
class HistoryReader:
    """Reads conversations up to a named sequence.

    `patience`: seconds to wait for the database if the log can answer instead.
    """

    facts: MongoFacts
    conversations: MongoConversations
    windows: RecentWindows
    log: StreamLog
    floor: ProjectionFloor
    deadline: float
    patience: float = STORE_TIMEOUT_SECONDS

    async def newest(self, company: str, conversation: str, up_to: int, limit: int, *, exact: bool) -> HistoryRead:
        """The newest `limit` messages: with seq ≤ up_to if `exact`, otherwise also newer ones that are cached.

        Raises:
            ProjectionBehindError, UnknownSequenceError, StoreUnavailableError: a retry may succeed.
        """
        if not exact and up_to == 0:
            up_to = await self.floor.recent()  # no sequence was named: what is stored
        try:
            return await self._newest(company, conversation, up_to, limit, exact=exact)
        except StoreUnavailableError:
            if not self._is_log_enough(up_to):
                raise
        window = await self._from_log(company, conversation, up_to, limit)
        return HistoryRead(window.messages[-limit:], up_to, window.visitor_traits)

    async def since(self, company: str, conversation: str, after: int, up_to: int, limit: int) -> RecentPage:
        """The newest `limit` messages with after < seq ≤ up_to; the cached ones if the others are unavailable.

        Raises:
            ProjectionBehindError, UnknownSequenceError, StoreUnavailableError: a retry may succeed.
        """
        cached_page: RecentPage | None = None
        try:
            window = await self._window(company, conversation, up_to)
            messages, is_complete = window.since(after, up_to), window.reaches(after)
            if is_complete or len(messages) >= limit:
                return RecentPage(
                    messages[-limit:], window.visitor_traits, complete=is_complete and len(messages) <= limit
                )
            cached_page = RecentPage(messages, window.visitor_traits, complete=False)
            window = await self._from_store(company, conversation, up_to, limit, after)
        except StoreUnavailableError:
            if not self._is_log_enough(up_to):
                if cached_page is None:
                    raise
                return cached_page
            window = await self._from_log(company, conversation, up_to, limit)
        messages_found = window.since(after, up_to)
        return RecentPage(
            messages_found[-limit:], window.visitor_traits, complete=window.is_complete and len(messages_found) <= limit
        )

    async def after(self, company: str, conversation: str, after: int, at_least: int, limit: int) -> FactsReply:
        """At most `limit` durable facts with seq > after, at least up to `at_least`.

        Raises:
            ProjectionBehindError, UnknownSequenceError, StoreUnavailableError: a retry may succeed.
        """
        target = max(at_least, after)
        async with self.floor.same_server():
            floor = await self._wait_for_floor(target)
            if after > floor and after > await self.log.end():
                return FactsReply(facts=[], complete=False, gone=True)
            facts = await self.facts.after(
                company, conversation, self._position(after), self._position(floor), limit + 1
            )
        if len(facts) <= limit and target > floor:
            facts += await self.log.read(company, conversation, max(floor, after), target)
        views = [
            FactView(seq=fact.seq, kind=fact.kind.value, event=orjson.loads(without_principal(fact.raw)))
            for fact in facts[:limit]
        ]
        return FactsReply(facts=views, complete=len(facts) <= limit)

    async def _newest(self, company: str, conversation: str, up_to: int, limit: int, *, exact: bool) -> HistoryRead:
        if limit <= WINDOW_SIZE:
            window = await self._window(company, conversation, up_to)
            end = up_to if exact else window.up_to
            messages = window.last(limit, end)
            if messages is not None:
                return HistoryRead(messages, end, window.visitor_traits)
        window = await self._from_store(company, conversation, up_to, limit)
        return HistoryRead(window.messages[-limit:], up_to, window.visitor_traits)

    async def _window(self, company: str, conversation: str, up_to: int) -> RecentMessages:
        era = self.log.era
        cached = await self.windows.get(era, company, conversation)
        if cached is not None and cached.up_to >= up_to:
            return cached
        if cached is not None and up_to - cached.up_to <= MAX_GAP and self.log.whole_from <= cached.up_to + 1:
            window = cached.extended(await self.log.read(company, conversation, cached.up_to, up_to), up_to)
        else:
            window = await self._from_store(company, conversation, up_to, WINDOW_SIZE)
        self.windows.keep(era, company, conversation, window)
        return window

    async def _from_store(
        self, company: str, conversation: str, up_to: int, limit: int, after: int = 0
    ) -> RecentMessages:
        floor = await self._wait_for_floor(up_to)
        seconds = self.patience if self._is_log_enough(up_to) else STORE_TIMEOUT_SECONDS
        try:
            async with asyncio.timeout(seconds), self.floor.same_server():
                rows, state = await asyncio.gather(
                    self.facts.newest_messages(
                        company,
                        conversation,
                        self._position(min(floor, up_to)),
                        limit + 1,
                        since=self._position(after) if after else None,
                    ),
                    self.conversations.get(company, conversation),
                )
        except TimeoutError as error:
            raise StoreUnavailableError(f"MongoDB did not answer within {seconds:g} s") from error
        stored = stored_window(rows, min(floor, up_to), limit, state.visitor_traits if state else None)
        if up_to <= floor:
            return stored
        return stored.extended(await self.log.read(company, conversation, floor, up_to), up_to, limit)

    async def _from_log(self, company: str, conversation: str, up_to: int, limit: int) -> RecentMessages:
        first = max(self.log.first_seq, 1)
        empty = RecentMessages(first - 1, (), is_complete=True)
        return empty.extended(await self.log.read(company, conversation, first - 1, up_to), up_to, limit)

    def _is_log_enough(self, up_to: int) -> bool:
        """Whether the log alone can answer: it is short enough to read, and not trimmed."""
        first = max(self.log.first_seq, 1)  # an empty stream reports 0
        return self.log.whole_from <= first and up_to - first < MAX_GAP

    async def _wait_for_floor(self, seq: int) -> int:
        """Returns the floor, once it is at most MAX_GAP below `seq`; raises ProjectionBehindError."""
        if seq - self.floor.seq > MAX_GAP and not await self.floor.reach(seq - MAX_GAP, self.deadline):
            raise ProjectionBehindError(
                f"the projection is at {self.floor.seq} and {seq} was named: it is catching up, try again"
            )
        return self.floor.seq

    def _position(self, seq: int) -> LogPosition:
        return LogPosition(self.log.era, seq)
