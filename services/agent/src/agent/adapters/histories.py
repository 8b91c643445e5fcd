"""Reads the messages of a conversation: from this agent's own window and newer facts of the log, otherwise from
memory, otherwise from the log."""

import asyncio

import structlog

from agent.adapters.followed import FollowedConversations
from agent.adapters.history_cache import MESSAGES, NOTHING, HistoryWindow, answered, recent_windows
from agent.errors import UnreachableError
from agent.ports import ConversationKey, PromptHistory
from contracts.conversation_rpc import HISTORY, HistoryRequest
from runtime.calls.rpc import RpcClient
from runtime.conversation import ConversationLog, facts_of
from runtime.errors import ReadFailedError, RpcError

log = structlog.get_logger(__name__)

DEADLINE = 2.0
"""Seconds for memory's answer; then the log is read."""
TAIL = 20_000
"""The log is read at most this far behind the stream's end; farther back, the server would scan and slow everybody
down."""
LAGGING = (0.01, 0.1, 0.5, 1.0)
"""Seconds between reads of a log whose replicas lag."""
GAP_DEADLINE = 1.0
"""Seconds to read what has come since a window; then memory is asked."""


class HistoryClient:
    """The last messages up to a sequence, none missing."""

    def __init__(self, rpc: RpcClient, chat: ConversationLog, followed: FollowedConversations | None = None) -> None:
        self._followed = followed or FollowedConversations()
        self._rpc = rpc
        self._chat = chat
        self._windows = recent_windows()

    def drop(self, key: ConversationKey) -> None:
        """Holds nothing of a conversation any longer."""
        self._windows.drop(key)

    def may_begin_with(self, key: ConversationKey, seq: int) -> bool:
        """Whether the message at `seq` may be the first one of its conversation. The log has been read then, so
        memory need not be asked."""
        return self._followed.may_begin_with(key, seq)

    async def up_to(self, key: ConversationKey, seq: int) -> PromptHistory:
        """The newest messages with sequence ≤ seq, which must be one of the conversation's facts.

        Raises:
            UnreachableError: neither memory nor the log answers.
        """
        window = await self._extended(key, seq)
        if window is not None:
            self._windows.keep(key, window)
            return window.history
        request = HistoryRequest(
            company_id=key.company, conversation_id=key.conversation, up_to_seq=seq, limit=MESSAGES
        )
        try:
            reply = await self._rpc.call(HISTORY, request, deadline=DEADLINE)
        except RpcError as error:
            log.warning("history.from_log", conversation=key.conversation, reason=error.code)
            return await self._from_log(key, seq)
        window = answered(reply, seq)
        self._windows.keep(key, window)
        return window.history

    async def _extended(self, key: ConversationKey, seq: int) -> HistoryWindow | None:
        """The window up to `seq`; None if there is no window, or if the newer facts cannot all be read."""
        held = self._windows.get(key)
        if held is None:
            heard = self._followed.facts(key, 0, seq)
            return NOTHING.extended(heard, seq) if heard and heard[-1].seq == seq else None
        if not held.up_to <= seq <= held.up_to + TAIL:
            return None
        if held.up_to == seq:
            return held
        try:
            heard = self._followed.facts(key, held.up_to, seq)
            if heard and heard[-1].seq == seq:
                return held.extended(heard, seq)
            stored = await self._chat.read(*key, held.up_to, seq, deadline=GAP_DEADLINE)
        except ReadFailedError:
            return None
        # A replica that lags does not say so: only the fact that was named shows that none is missing.
        return held.extended(facts_of(stored), seq) if stored and stored[-1].seq == seq else None

    async def _from_log(self, key: ConversationKey, seq: int) -> PromptHistory:
        """Reads until the fact at `seq` is there, because a replica that lags does not say so."""
        for pause in LAGGING:
            try:
                facts = await self._chat.read(*key, max(seq - TAIL, 0), seq)
            except ReadFailedError as error:
                raise UnreachableError(f"neither memory nor the log tells what was said: {error}") from error
            if facts and facts[-1].seq == seq:
                return NOTHING.extended(facts_of(facts), seq).history
            await asyncio.sleep(pause)
        raise UnreachableError(f"memory does not tell what was said, and the log was read without {seq}")
