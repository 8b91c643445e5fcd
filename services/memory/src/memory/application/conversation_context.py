"""The conversation in a context: the messages after its summary, the summary, and its topics."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from contracts.context_rpc import ContextConversation, ContextRequest, Summary, SummarySaveRequest
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

USES = 20
"""Tool calls in which topics are looked for."""
CHECKED = 20
"""The most recently named symbols that the market is asked about."""
ASKERS = (Role.VISITOR, Role.USER)
"""Authors whose words name topics and symbols; what an answer lists does not count."""

Named = tuple[datetime, Sequence[tuple[str, bool]]]
"""Names mentioned at a time, and whether each is a symbol."""


class PastConversations:
    """Conversations as contexts need them."""

    def __init__(
        self,
        *,
        histories: HistoryReader,
        conversations: MongoConversations,
        summaries: MongoSummaries,
        uses: MongoExecutions,
        market: MarketClient,
        log: StreamLog,
    ) -> None:
        self._histories = histories
        self._conversations = conversations
        self._summaries = summaries
        self._uses = uses
        self._market = market
        self._log = log

    async def read(
        self, asked: ContextRequest, tools: "asyncio.Task[Mapping[str, str] | None]", parts: Parts
    ) -> ContextConversation:
        """The part; what is missing in it is named in `parts`.

        Raises:
            ProjectionBehindError, UnknownSequenceError, StoreUnavailableError: the messages are not available.
        """
        company, name = asked.company_id, asked.conversation_id
        loading = parts.start("conversation.summary", self._summaries.load(company, name))
        counting = parts.start("conversation.messageCount", self._conversations.get(company, name))
        using = parts.start("conversation.recentTopics", self._uses.newest(company, name, USES))
        window = (await self._histories.newest(company, name, asked.up_to_seq, WINDOW_SIZE, exact=True)).messages
        asked_for = [(one.created_at, subjects(one.text)) for one in window if one.role in ASKERS]
        checking = parts.start("conversation.mentionedSymbols", self._known(asked_for))
        await asyncio.wait((loading,))
        summary = loading.result()
        covered = summary.up_to.seq if summary and summary.up_to.era == self._log.era else 0
        after = max(asked.after_seq, covered)
        found = await self._histories.since(company, name, after, asked.up_to_seq, asked.limit)
        kept = newest_that_fit(found.messages, asked.max_bytes)
        await asyncio.wait((counting, using, checking, tools))
        state, uses = counting.result(), using.result() or []
        named = _named(asked_for, checking.result() or frozenset(), uses)
        symbols = [(at, [name for name, is_symbol in names if is_symbol]) for at, names in named]
        categories = tools.result() or {}
        about = [(at, [name for name, _ in names]) for at, names in named]
        about += [(use.at, [categories[use.tool]]) for use in uses if use.tool in categories]
        count = _count(state, window)
        return ContextConversation(
            id=name,
            started_at=state.started_at if state else window[0].created_at if window else None,
            message_count=count,
            recent_messages=history_messages(kept),
            omitted=_omitted(found, kept, count, summary),
            up_to_seq=asked.up_to_seq,
            summary=None if summary is None else summary_view(summary, covered),
            recent_topics=newest_names(about, MAX_TOPICS),
            mentioned_symbols=newest_names(symbols, MAX_SYMBOLS),
            visitor=found.seen.profile,
        )

    async def save(self, asked: SummarySaveRequest, now: datetime) -> tuple[bool, Summary | None]:
        """Whether it was stored, and what is stored now; raises StoreUnavailableError."""
        company, name = asked.company_id, asked.conversation_id
        up_to = LogPosition(self._log.era, asked.up_to_seq)
        new = StoredSummary(asked.text, up_to, asked.messages, derive_id(company, name, str(up_to), asked.text), now)
        held = await self._summaries.load(company, name)
        if held is not None and held.version == new.version:
            return True, self._seen(held)
        # A summary of a conversation that has been deleted must not bring back what was said in it.
        gone = await self._conversations.get(company, name) is None
        if gone or (held is not None and held.up_to >= up_to) or asked.over != (held.version if held else None):
            return False, self._seen(held)
        if await self._summaries.save(company, name, new, asked.over):
            return True, self._seen(new)
        held = await self._summaries.load(company, name)
        return held is not None and held.version == new.version, self._seen(held)

    def _seen(self, held: StoredSummary | None) -> Summary | None:
        if held is None:
            return None
        return summary_view(held, held.up_to.seq if held.up_to.era == self._log.era else 0)

    async def _known(self, asked_for: Sequence[Named]) -> frozenset[str]:
        """Those of the symbols named, the newest ones, which a provider knows."""
        named: dict[str, None] = {}
        for _, names in reversed(asked_for):
            named.update((name, None) for name, is_symbol in names if is_symbol)
        asked = list(named)[:CHECKED]
        return await self._market.known_symbols(asked) if asked else frozenset()


def summary_view(held: StoredSummary, covered: int) -> Summary:
    """The summary for the wire. `covered`: the sequence in the current log up to which it covers everything."""
    return Summary(text=held.text, up_to_seq=covered, messages=held.messages, version=held.version, updated_at=held.at)


def _named(asked_for: Sequence[Named], known: Collection[str], uses: Sequence[PastToolCall]) -> list[Named]:
    """Names in the user's messages, and symbols in tool calls."""
    found: list[Named] = [(use.at, [(name, True) for name in use.symbols]) for use in uses if use.symbols]
    for at, names in asked_for:
        if real := [one for one in names if not one[1] or one[0] in known]:
            found.append((at, real))
    return found


def _count(state: InboxConversation | None, window: Sequence[MessageView]) -> int:
    """The number of all messages: projected ones, and newer ones."""
    if state is None:
        return len(window)
    return state.message_count + sum(1 for message in window if message.seq > state.last_position.seq)


def _omitted(found: RecentPage, kept: Sequence[MessageView], count: int, summary: StoredSummary | None) -> int:
    dropped = len(found.messages) - len(kept)
    if found.complete:
        return dropped
    return max(count - (summary.messages if summary else 0) - len(kept), dropped + 1)
