"""What memory and the market keep of a user, and what a company used."""

from datetime import date
from typing import Literal

from contracts import erasure_rpc, insight_rpc, market_rpc, memory_rpc, report_rpc
from contracts.ids import uuid7
from contracts.rpc import ConversationRef
from gateway.adapters.service_calls import ask
from gateway.errors import Unavailable, not_found
from runtime.rpc import RpcClient

FORGET_SECONDS = 25.0
"""For a user's deletion, which asks two more services."""
REPORT_SECONDS = 20.0
"""For a report, which may have thousands of conversations to read."""
CORRECT_SECONDS = 6.0
"""For asking once more what became of a correction: the store has 5 s for one command."""


class BusRecords:
    """Memory and the market-adapter behind their RPC methods. Each raises Unavailable without an answer in time."""

    def __init__(self, client: RpcClient) -> None:
        self._client = client

    async def usage(self, company: str, since: date, until: date) -> memory_rpc.UsageReply:
        """Day by day, both ends counted."""
        request = memory_rpc.UsageRequest(company_id=company, since=since, until=until)
        return await ask(self._client, memory_rpc.USAGE, request)

    async def insights(self, company: str, since: date, until: date) -> insight_rpc.InsightsReply:
        """How the company's assistant did on these days, both counted."""
        request = insight_rpc.InsightsRequest(company_id=company, since=since, until=until)
        return await ask(self._client, insight_rpc.INSIGHTS, request)

    async def report(self, request: report_rpc.ReportRequest) -> report_rpc.ReportReply:
        """The figures of the days that it names."""
        return await ask(self._client, report_rpc.REPORT, request, deadline=REPORT_SECONDS)

    async def behind(self, request: report_rpc.ReportOpenRequest) -> report_rpc.ReportOpenReply:
        """The conversations behind a figure."""
        return await ask(self._client, report_rpc.REPORT_OPEN, request, deadline=REPORT_SECONDS)

    async def rating(self, company: str, conversation: str) -> report_rpc.RatingView | None:
        """What the visitor says of the conversation."""
        request = ConversationRef(company_id=company, conversation_id=conversation)
        return (await ask(self._client, report_rpc.RATING, request)).rating

    async def remembered(self, company: str, user: str) -> memory_rpc.LongTermMemory:
        """What is remembered of the user."""
        return (await ask(self._client, memory_rpc.MEMORY_GET, _user(company, user))).memory

    async def correct(self, company: str, user: str, patch: dict[str, object]) -> memory_rpc.LongTermMemory:
        """After a merge patch; raises Refused: BAD_FIELD with fields."""
        # Under the same id it takes effect once: a repeat tells what became of a try that got no answer.
        request = memory_rpc.MemoryPatchRequest(company_id=company, user_id=user, patch=patch, request_id=uuid7())
        try:
            return (await ask(self._client, memory_rpc.MEMORY_PATCH, request)).memory
        except Unavailable:
            return (await ask(self._client, memory_rpc.MEMORY_PATCH, request, deadline=CORRECT_SECONDS)).memory

    async def forget_memory(self, company: str, user: str) -> None:
        """Deletes what is remembered; conversations stay."""
        await ask(self._client, memory_rpc.MEMORY_DELETE, _user(company, user))

    async def export(self, company: str, user: str, cursor: str | None) -> memory_rpc.MemoryExportReply:
        """A page of everything that memory keeps of the user."""
        request = memory_rpc.MemoryExportRequest(company_id=company, user_id=user, cursor=cursor)
        return await ask(self._client, memory_rpc.MEMORY_EXPORT, request)

    async def holdings(self, company: str, user: str) -> market_rpc.Holdings:
        """The user's side of the market."""
        return await ask(self._client, market_rpc.HOLDINGS, memory_rpc.UserRef(company_id=company, user_id=user))

    async def erase(
        self,
        company: str,
        receipt: str,
        kind: Literal["user", "visitor", "conversation"],
        name: str,
        by: erasure_rpc.ErasedBy,
    ) -> erasure_rpc.Receipt:
        """Deletes it everywhere; after an error call again: what is gone already is no error."""
        # Memory tells the other services.
        request = erasure_rpc.EraseRequest(company_id=company, receipt_id=receipt, kind=kind, name=name, by=by)
        return (await ask(self._client, erasure_rpc.ERASE, request, deadline=FORGET_SECONDS)).receipt

    async def receipt(self, company: str, receipt: str) -> erasure_rpc.Receipt:
        """One receipt; raises Refused: NOT_FOUND."""
        request = erasure_rpc.ReceiptRef(company_id=company, receipt_id=receipt)
        found = (await ask(self._client, erasure_rpc.RECEIPT, request)).receipt
        if found is None:
            raise not_found("receipt")
        return found

    async def receipts(self, company: str, limit: int, cursor: str | None) -> erasure_rpc.ReceiptsReply:
        """A page of the company's receipts."""
        request = erasure_rpc.ReceiptsRequest(company_id=company, limit=limit, cursor=cursor)
        return await ask(self._client, erasure_rpc.RECEIPTS, request)

    async def keeping(self, company: str) -> erasure_rpc.Keeping:
        """What the next daily run deletes."""
        return await ask(
            self._client, erasure_rpc.KEEPING, erasure_rpc.KeepingRequest(company_id=company), deadline=REPORT_SECONDS
        )


def _user(company: str, user: str) -> memory_rpc.UserRef:
    return memory_rpc.UserRef(company_id=company, user_id=user)
