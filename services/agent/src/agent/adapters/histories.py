"""Reads the messages of a conversation: from this agent's cached window plus newer facts of the log, otherwise from
memory, otherwise from the log."""

import asyncio

import structlog

from agent.adapters.followed import FollowedConversations
from agent.adapters.history_cache import EMPTY_WINDOW, PROMPT_MESSAGES, HistoryWindow, recent_windows, window_of
from agent.errors import UnreachableError
from agent.ports import ConversationKey, PromptHistory
from contracts.conversation_rpc import HISTORY, HistoryRequest
from runtime.calls.rpc import RpcClient
from runtime.conversation import ConversationLog, facts_of
from runtime.errors import ReadFailedError, RpcError

log = structlog.get_logger(__name__)

DEADLINE = 2.0
"""Seconds for memory's answer; then the log is read."""
MAX_LOG_SEQUENCES = 20_000
"""Sequences of the log that are read at most; for more the server would scan the stream and slow everybody down."""
LAG_PAUSES = (0.01, 0.1, 0.5, 1.0)
"""Seconds between the reads of a log whose replica lags."""
GAP_DEADLINE = 1.0
"""Seconds to read the facts since a window; then memory is asked."""


class HistoryClient:
    """Reads the newest messages up to a sequence, without gaps."""

    def __init__(self, rpc: RpcClient, chat: ConversationLog, followed: FollowedConversations | None = None) -> None:
        self._followed = followed or FollowedConversations()
        self._rpc = rpc
        self._chat = chat
        self._windows = recent_windows()

    def drop(self, key: ConversationKey) -> None:
        """Drops the conversation's cached window."""
        self._windows.drop(key)

    def may_begin_with(self, key: ConversationKey, seq: int) -> bool:
        """Whether the message at `seq` may be the first one of its conversation. Then the log is read anyway, and
        memory need not be asked."""
        return self._followed.may_begin_with(key, seq)

    async def up_to(self, key: ConversationKey, seq: int) -> PromptHistory:
        """Returns the newest messages with sequence ≤ seq, which must be the sequence of one of the conversation's
        facts.

        Raises:
            UnreachableError: neither memory nor the log answers.
        """
        window = await self._extended(key, seq)
        if window is not None:
            self._windows.keep(key, window)
            return window.history
        request = HistoryRequest(
            company_id=key.company, conversation_id=key.conversation, up_to_seq=seq, limit=PROMPT_MESSAGES
        )
        try:
            reply = await self._rpc.call(HISTORY, request, deadline=DEADLINE)
        except RpcError as error:
            log.warning("history.from_log", conversation=key.conversation, reason=error.code)
            return await self._from_log(key, seq)
        window = window_of(reply, seq)
        self._windows.keep(key, window)
        return window.history

    async def _extended(self, key: ConversationKey, seq: int) -> HistoryWindow | None:
        """Returns the window up to `seq`; None if there is no window, or if not all newer facts can be read."""
        window = self._windows.get(key)
        if window is None:
            facts = self._followed.facts(key, 0, seq)
            return EMPTY_WINDOW.extended(facts, seq) if facts and facts[-1].seq == seq else None
        if not window.up_to <= seq <= window.up_to + MAX_LOG_SEQUENCES:
            return None
        if window.up_to == seq:
            return window
        try:
            facts = self._followed.facts(key, window.up_to, seq)
            if facts and facts[-1].seq == seq:
                return window.extended(facts, seq)
            stored = await self._chat.read(*key, window.up_to, seq, deadline=GAP_DEADLINE)
        except ReadFailedError:
            return None
        # A lagging replica does not say so: only the presence of the fact at `seq` proves that none is missing.
        return window.extended(facts_of(stored), seq) if stored and stored[-1].seq == seq else None

    async def _from_log(self, key: ConversationKey, seq: int) -> PromptHistory:
        """Reads the log until the fact at `seq` is there, because a lagging replica does not say that it lags."""
        for pause in LAG_PAUSES:
            try:
                facts = await self._chat.read(*key, max(seq - MAX_LOG_SEQUENCES, 0), seq)
            except ReadFailedError as error:
                raise UnreachableError(f"neither memory nor the log can be read: {error}") from error
            if facts and facts[-1].seq == seq:
                return EMPTY_WINDOW.extended(facts_of(facts), seq).history
            await asyncio.sleep(pause)
        raise UnreachableError(f"memory cannot be read, and the log was read without {seq}")
