"""A customer's context and their conversation's summary, from memory (ports.Contexts)."""

from importlib.metadata import version

import structlog

from agent.ports import ConversationKey, Requester
from contracts.company import CompanyConfig
from contracts.context_rpc import CONTEXT, SUMMARY_SAVE, ContextRequest, FullContext, Summary, SummarySaveRequest
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError

log = structlog.get_logger(__name__)

DEADLINE = 2.0
"""Seconds for memory's answer; memory leaves out slow parts long before."""
SAVE_DEADLINE = 5.0
"""Seconds for memory to store a summary."""
MAX_TEXT_CHARS = 8_000
AGENT_VERSION = version("nexus-agent")


class ContextClient:
    """Requests the context of each turn from memory, in one request. If that fails, the turn continues with what the
    principal says."""

    def __init__(self, rpc: RpcClient) -> None:
        self._rpc = rpc

    async def full(
        self, key: ConversationKey, requester: Requester, text: str, seq: int, company: CompanyConfig, messages: int = 1
    ) -> FullContext | None:
        """Returns the context for a turn on `text`, with at most `messages` messages; None if memory fails, or for a
        visitor."""
        if requester.user is None:
            return None
        request = ContextRequest(
            company_id=key.company,
            conversation_id=key.conversation,
            user_id=requester.user,
            role=requester.role,
            plan=requester.plan,
            language=requester.language,
            text=text[:MAX_TEXT_CHARS],
            up_to_seq=seq,
            limit=messages,
            agent_version=AGENT_VERSION,
            time_zone=company.time_zone,
            market=None if company.trades else False,
        )
        try:
            return await self._rpc.call(CONTEXT, request, deadline=DEADLINE)
        except RpcError as error:
            log.warning("context.unavailable", conversation=key.conversation, reason=error.code)
            return None

    async def save(
        self, key: ConversationKey, summary: str, up_to: int, messages: int, replaced: Summary | None
    ) -> None:
        """Stores a summary in place of `replaced`. If another agent was faster, that agent's summary stays."""
        request = SummarySaveRequest(
            company_id=key.company,
            conversation_id=key.conversation,
            text=summary,
            up_to_seq=up_to,
            messages=messages,
            over=replaced.version if replaced else None,
        )
        try:
            await self._rpc.call(SUMMARY_SAVE, request, deadline=SAVE_DEADLINE)
        except RpcError as error:
            log.warning("summary.not_kept", conversation=key.conversation, reason=error.code)
