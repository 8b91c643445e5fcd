"""What memory knows and stores for turns: a customer's context and summaries, the company's passages, and which
proposals the user's own words prove (ports.Contexts, ports.KnowledgeReader)."""

from importlib.metadata import version

import structlog

from agent.ports import ConversationKey, Requester
from contracts.company import CompanyConfig
from contracts.context_rpc import CONTEXT, SUMMARY_SAVE, ContextRequest, FullContext, Summary, SummarySaveRequest
from contracts.knowledge import KnowledgeFound, KnowledgeQuery
from contracts.knowledge_rpc import SEARCH, KnowledgeSearch
from contracts.proposal_rpc import (
    PROPOSAL_GROUND,
    PROPOSE,
    AnsweredTurn,
    FactProposal,
    ProposalGround,
    ProposalsJudged,
    ProposalsRequest,
)
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError

log = structlog.get_logger(__name__)

CONTEXT_DEADLINE = 2.0
"""Seconds for a context; memory leaves out slow parts long before."""
SUMMARY_DEADLINE = 5.0
"""Seconds for memory to store a summary."""
SEARCH_DEADLINE = 1.0
"""Seconds for passages; then the turn continues without them."""
READING_DEADLINE = 7.5
"""The same, of a search that waits for the first reading of a site: memory waits for 3 s of it."""
PROPOSAL_DEADLINE = 8.0
"""Seconds for memory's answer about proposals, which first learns from the turn by its rules. Nothing waits for it."""
MAX_TEXT_CHARS = 8_000
AGENT_VERSION = version("nexus-agent")


class MemoryClient:
    """Asks memory, in one request for each method. If a context or passages do not come in time, the turn continues
    without them."""

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
            return await self._rpc.call(CONTEXT, request, deadline=CONTEXT_DEADLINE)
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
            await self._rpc.call(SUMMARY_SAVE, request, deadline=SUMMARY_DEADLINE)
        except RpcError as error:
            log.warning("summary.not_kept", conversation=key.conversation, reason=error.code)

    async def search(self, company: str, query: KnowledgeQuery, *, when_read: bool = False) -> KnowledgeFound | None:
        """Returns the best passages of the company's knowledge; None if they did not arrive in time."""
        request = KnowledgeSearch(company_id=company, when_read=when_read, **dict(query))
        try:
            return await self._rpc.call(SEARCH, request, deadline=READING_DEADLINE if when_read else SEARCH_DEADLINE)
        except RpcError as error:
            log.warning("knowledge.unavailable", company=company, reason=error.code)
            return None

    async def ground(self, turn: AnsweredTurn) -> ProposalGround:
        """Returns the messages that proposals may be based on; raises RpcError."""
        return await self._rpc.call(PROPOSAL_GROUND, turn, deadline=PROPOSAL_DEADLINE)

    async def judge(self, turn: AnsweredTurn, proposals: list[FactProposal]) -> ProposalsJudged:
        """Returns the proposals that count; raises RpcError."""
        request = ProposalsRequest(**dict(turn), proposals=proposals)
        return await self._rpc.call(PROPOSE, request, deadline=PROPOSAL_DEADLINE)
