"""The newest messages of a conversation, complete up to a sequence that the reader names.

Everything up to the projection's floor is in the store; what is newer is read from the log. Usually neither is needed:
a cached window plus one or two newer facts is enough.
"""

import asyncio
from dataclasses import dataclass

from contracts.conversation_rpc import MessageView
from memory.adapters.chat_log import StreamLog
from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.mongo_facts import MongoFacts
from memory.adapters.projection_floor import ProjectionFloor
from memory.domain.facts import LogFact
from memory.domain.keys import LogPosition
from memory.domain.recent import WINDOW_SIZE, RecentMessages, VisitorTraits, stored_window
from memory.errors import ProjectionBehindError, StoreUnavailableError
from memory.ports import RecentWindows

MAX_GAP = 20_000
"""The most sequences read from the log: a longer filtered read scans the stream and slows everybody down."""
PATIENCE = 1.5
"""Seconds that a history waits for the database; after that it comes from the log, or is an error."""


@dataclass(frozen=True, slots=True)
class HistoryRead:
    """Messages, oldest first; `up_to` is at least the requested sequence."""

    messages: tuple[MessageView, ...]
    up_to: int
    seen: VisitorTraits


@dataclass(frozen=True, slots=True)
class RecentPage:
    """Messages after a sequence, oldest first. `complete`: none was left out because of the limit."""

    messages: tuple[MessageView, ...]
    seen: VisitorTraits
    complete: bool


@dataclass(frozen=True, slots=True)
class FactsPage:
    """Facts in order. `complete`: nothing up to the named sequence is missing after the last one; `gone`: the
    requested position is not in this log."""

    facts: list[LogFact]
    complete: bool
    gone: bool = False


class HistoryReader:
    """Reads of a conversation up to a named sequence.

    `patience`: seconds to wait for the database if the log can answer instead.
    """

    def __init__(
        self,
        *,
        facts: MongoFacts,
        conversations: MongoConversations,
        windows: RecentWindows,
        log: StreamLog,
        floor: ProjectionFloor,
        deadline: float,
        patience: float = PATIENCE,
    ) -> None:
        self._facts = facts
        self._conversations = conversations
        self._windows = windows
        self._log = log
        self._floor = floor
        self._deadline = deadline
        self._patience = patience

    async def newest(self, company: str, conversation: str, up_to: int, limit: int, *, exact: bool) -> HistoryRead:
        """The newest `limit` messages: with seq ≤ up_to if `exact`, otherwise as new as is at hand.

        Raises:
            ProjectionBehindError, UnknownSequenceError, StoreUnavailableError: a retry may succeed.
        """
        if not exact and up_to == 0:
            up_to = await self._floor.recent()  # nothing in particular was named: what is stored
        try:
            return await self._newest(company, conversation, up_to, limit, exact=exact)
        except StoreUnavailableError:
            if not self._log_will_do(up_to):
                raise
        window = await self._from_log(company, conversation, up_to, limit)
        return HistoryRead(window.messages[-limit:], up_to, window.seen)

    async def since(self, company: str, conversation: str, after: int, up_to: int, limit: int) -> RecentPage:
        """The newest `limit` messages with after < seq ≤ up_to; those at hand if the rest is not available.

        Raises:
            ProjectionBehindError, UnknownSequenceError, StoreUnavailableError: a retry may succeed.
        """
        near: RecentPage | None = None
        try:
            window = await self._window(company, conversation, up_to)
            held, reaches = window.since(after, up_to), window.reaches(after)
            if reaches or len(held) >= limit:
                return RecentPage(held[-limit:], window.seen, complete=reaches and len(held) <= limit)
            near = RecentPage(held, window.seen, complete=False)
            window = await self._from_store(company, conversation, up_to, limit, after)
        except StoreUnavailableError:
            if not self._log_will_do(up_to):
                if near is None:
                    raise
                return near
            window = await self._from_log(company, conversation, up_to, limit)
        found = window.since(after, up_to)
        return RecentPage(found[-limit:], window.seen, complete=window.whole and len(found) <= limit)

    async def after(self, company: str, conversation: str, since: int, at_least: int, limit: int) -> FactsPage:
        """The durable facts with seq > since, at least up to `at_least`, at most `limit`.

        Raises:
            ProjectionBehindError, UnknownSequenceError, StoreUnavailableError: a retry may succeed.
        """
        end = max(at_least, since)
        async with self._floor.same_server():
            floor = await self._floor_near(end)
            if since > floor and since > await self._log.end():
                return FactsPage([], complete=False, gone=True)
            found = await self._facts.after(company, conversation, self._at(since), self._at(floor), limit + 1)
        if len(found) <= limit and end > floor:
            found += await self._log.read(company, conversation, max(floor, since), end)
        return FactsPage(found[:limit], complete=len(found) <= limit)

    async def _newest(self, company: str, conversation: str, up_to: int, limit: int, *, exact: bool) -> HistoryRead:
        if limit <= WINDOW_SIZE:
            window = await self._window(company, conversation, up_to)
            end = up_to if exact else window.up_to
            messages = window.last(limit, end)
            if messages is not None:
                return HistoryRead(messages, end, window.seen)
        window = await self._from_store(company, conversation, up_to, limit)
        return HistoryRead(window.messages[-limit:], up_to, window.seen)

    async def _window(self, company: str, conversation: str, up_to: int) -> RecentMessages:
        era = self._log.era
        held = await self._windows.get(era, company, conversation)
        if held is not None and held.up_to >= up_to:
            return held
        if held is not None and up_to - held.up_to <= MAX_GAP and self._log.whole_from <= held.up_to + 1:
            window = held.extended(await self._log.read(company, conversation, held.up_to, up_to), up_to)
        else:
            window = await self._from_store(company, conversation, up_to, WINDOW_SIZE)
        self._windows.keep(era, company, conversation, window)
        return window

    async def _from_store(
        self, company: str, conversation: str, up_to: int, limit: int, after: int = 0
    ) -> RecentMessages:
        floor = await self._floor_near(up_to)
        patience = self._patience if self._log_will_do(up_to) else PATIENCE
        try:
            async with asyncio.timeout(patience), self._floor.same_server():
                rows, state = await asyncio.gather(
                    self._facts.newest_messages(
                        company,
                        conversation,
                        self._at(min(floor, up_to)),
                        limit + 1,
                        since=self._at(after) if after else None,
                    ),
                    self._conversations.get(company, conversation),
                )
        except TimeoutError as error:
            raise StoreUnavailableError(f"MongoDB did not answer within {patience:g} s") from error
        stored = stored_window(rows, min(floor, up_to), limit, state.seen if state else None)
        if up_to <= floor:
            return stored
        return stored.extended(await self._log.read(company, conversation, floor, up_to), up_to, limit)

    async def _from_log(self, company: str, conversation: str, up_to: int, limit: int) -> RecentMessages:
        first = max(self._log.first_seq, 1)
        empty = RecentMessages(first - 1, (), whole=True)
        return empty.extended(await self._log.read(company, conversation, first - 1, up_to), up_to, limit)

    def _log_will_do(self, up_to: int) -> bool:
        """Whether the log alone is enough: short enough to read, and not trimmed."""
        first = max(self._log.first_seq, 1)  # an empty stream says 0
        return self._log.whole_from <= first and up_to - first < MAX_GAP

    async def _floor_near(self, seq: int) -> int:
        """The floor, once at most MAX_GAP is missing up to `seq`."""
        if seq - self._floor.seq > MAX_GAP and not await self._floor.reach(seq - MAX_GAP, self._deadline):
            raise ProjectionBehindError(
                f"the projection is at {self._floor.seq} and {seq} was named: it is catching up, try again"
            )
        return self._floor.seq

    def _at(self, seq: int) -> LogPosition:
        return LogPosition(self._log.era, seq)
