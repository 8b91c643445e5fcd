"""The conversation in a context: the messages after its summary, the summary, and its topics."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from contracts.context_rpc import ContextConversation, ContextRequest, Summary, SummarySaved, SummarySaveRequest
from contracts.conversation_rpc import MessageView
from contracts.events.chat import Role
from contracts.ids import derive_id
from memory.adapters.chat_log import StreamLog
from memory.adapters.market import MarketClient
from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.mongo_executions import MongoExecutions, PastToolCall
from memory.adapters.mongo_summaries import MongoSummaries, StoredSummary
from memory.application.history import HistoryReader, RecentPage
from memory.application.parts import Parts
from memory.domain.conversation import InboxConversation
from memory.domain.keys import LogPosition
from memory.domain.recent import WINDOW_SIZE
from memory.domain.reply_size import history_messages, newest_that_fit
from memory.domain.topics import MAX_SYMBOLS, MAX_TOPICS, newest_names, subjects
from runtime.clock import Clock

RECENT_CALLS = 20
"""The newest tool calls of a conversation, in which topics are looked for."""
MAX_CHECKED_SYMBOLS = 20
"""The most recently named symbols that the market is asked about."""
USER_ROLES = (Role.VISITOR, Role.USER)
"""Authors whose messages count for topics and symbols; what an answer lists does not count."""

Mentions = tuple[datetime, Sequence[tuple[str, bool]]]
"""Names mentioned at a time, and whether each is a symbol."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastConversations:
    """Reads conversations for contexts, and stores their summaries."""

    histories: HistoryReader
    conversations: MongoConversations
    summaries: MongoSummaries
    uses: MongoExecutions
    market: MarketClient
    log: StreamLog
    clock: Clock

    async def read(
        self, request: ContextRequest, tools: "asyncio.Task[Mapping[str, str] | None]", parts: Parts
    ) -> ContextConversation:
        """Returns the conversation's part of a context; what is missing in it is named in `parts`.

        Raises:
            ProjectionBehindError, UnknownSequenceError, StoreUnavailableError: the messages are not available.
        """
        company, conversation = request.company_id, request.conversation_id
        summary_part = parts.start("conversation.summary", self.summaries.load(company, conversation))
        state_part = parts.start("conversation.messageCount", self.conversations.get(company, conversation))
        calls_part = parts.start("conversation.recentTopics", self.uses.newest(company, conversation, RECENT_CALLS))
        window = (
            await self.histories.newest(company, conversation, request.up_to_seq, WINDOW_SIZE, exact=True)
        ).messages
        mentions = [(message.created_at, subjects(message.text)) for message in window if message.role in USER_ROLES]
        symbols_part = parts.start("conversation.mentionedSymbols", self._known_symbols(mentions))
        await asyncio.wait((summary_part,))
        summary = summary_part.result()
        covered = summary.up_to.seq if summary and summary.up_to.era == self.log.era else 0
        after = max(request.after_seq, covered)
        page = await self.histories.since(company, conversation, after, request.up_to_seq, request.limit)
        messages = newest_that_fit(page.messages, request.max_bytes)
        await asyncio.wait((state_part, calls_part, symbols_part, tools))
        inbox_state, calls = state_part.result(), calls_part.result() or []
        mentions_and_calls = _all_mentions(mentions, symbols_part.result() or frozenset(), calls)
        symbols = [
            (at, [conversation for conversation, is_symbol in names if is_symbol]) for at, names in mentions_and_calls
        ]
        categories = tools.result() or {}
        topics = [(at, [conversation for conversation, _ in names]) for at, names in mentions_and_calls]
        topics += [(use.at, [categories[use.tool]]) for use in calls if use.tool in categories]
        count = _message_count(inbox_state, window)
        return ContextConversation(
            id=conversation,
            started_at=inbox_state.started_at if inbox_state else window[0].created_at if window else None,
            message_count=count,
            recent_messages=history_messages(messages, with_files=False),
            omitted=_omitted_count(page, messages, count, summary),
            up_to_seq=request.up_to_seq,
            summary=None if summary is None else summary_view(summary, covered),
            recent_topics=newest_names(topics, MAX_TOPICS),
            mentioned_symbols=newest_names(symbols, MAX_SYMBOLS),
            visitor=page.traits.profile,
        )

    async def save(self, request: SummarySaveRequest) -> SummarySaved:
        """Stores a summary. Returns whether it was stored, and what is stored now; raises StoreUnavailableError."""
        company, conversation = request.company_id, request.conversation_id
        up_to = LogPosition(self.log.era, request.up_to_seq)
        version = derive_id(company, conversation, str(up_to), request.text)
        summary = StoredSummary(request.text, up_to, request.messages, version, self.clock.now())
        stored = await self.summaries.load(company, conversation)
        if stored is not None and stored.version == summary.version:
            return SummarySaved(saved=True, summary=self._view(stored))
        # A summary of a conversation that has been deleted must not bring back what was said in it.
        is_deleted = await self.conversations.get(company, conversation) is None
        if (
            is_deleted
            or (stored is not None and stored.up_to >= up_to)
            or request.over != (stored.version if stored else None)
        ):
            return SummarySaved(saved=False, summary=self._view(stored))
        if await self.summaries.save(company, conversation, summary, request.over):
            return SummarySaved(saved=True, summary=self._view(summary))
        stored = await self.summaries.load(company, conversation)
        is_saved = stored is not None and stored.version == summary.version
        return SummarySaved(saved=is_saved, summary=self._view(stored))

    def _view(self, summary: StoredSummary | None) -> Summary | None:
        if summary is None:
            return None
        return summary_view(summary, summary.up_to.seq if summary.up_to.era == self.log.era else 0)

    async def _known_symbols(self, mentions: Sequence[Mentions]) -> frozenset[str]:
        """The symbols that a provider knows, among the most recently mentioned ones."""
        symbols: dict[str, None] = {}
        for _, names in reversed(mentions):
            symbols.update((name, None) for name, is_symbol in names if is_symbol)
        newest_symbols = list(symbols)[:MAX_CHECKED_SYMBOLS]
        return await self.market.known_symbols(newest_symbols) if newest_symbols else frozenset()


def summary_view(summary: StoredSummary, covered: int) -> Summary:
    """The summary as it is sent. `covered`: the sequence in the current log up to which it covers everything."""
    return Summary(
        text=summary.text, up_to_seq=covered, messages=summary.messages, version=summary.version, updated_at=summary.at
    )


def _all_mentions(
    mentions: Sequence[Mentions], known_symbols: Collection[str], calls: Sequence[PastToolCall]
) -> list[Mentions]:
    """Symbols in tool calls, and names in the user's messages: topics, and symbols that a provider knows."""
    mentions_and_calls: list[Mentions] = [
        (use.at, [(name, True) for name in use.symbols]) for use in calls if use.symbols
    ]
    for at, names in mentions:
        if confirmed := [(name, is_symbol) for name, is_symbol in names if not is_symbol or name in known_symbols]:
            mentions_and_calls.append((at, confirmed))
    return mentions_and_calls


def _message_count(inbox_state: InboxConversation | None, window: Sequence[MessageView]) -> int:
    """Counts all messages: the projected ones, and newer ones in the window."""
    if inbox_state is None:
        return len(window)
    return inbox_state.message_count + sum(1 for message in window if message.seq > inbox_state.last_position.seq)


def _omitted_count(page: RecentPage, messages: Sequence[MessageView], count: int, summary: StoredSummary | None) -> int:
    dropped = len(page.messages) - len(messages)
    if page.complete:
        return dropped
    return max(count - (summary.messages if summary else 0) - len(messages), dropped + 1)
