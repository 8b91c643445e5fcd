"""What is kept of users and companies, as the routes ask for it."""

from datetime import date
from typing import Any, Protocol

from contracts.insight_rpc import InsightsReply
from contracts.market_rpc import Holdings
from contracts.memory_rpc import LongTermMemory, MemoryExportReply, UsageReply


class Records(Protocol):
    """What is kept of one user, and what a company used. Every method raises Unavailable without an answer in time."""

    async def usage(self, company: str, since: date, until: date) -> UsageReply:
        """Day by day, both ends counted."""
        ...

    async def insights(self, company: str, since: date, until: date) -> InsightsReply:
        """How the company's assistant did on these days, both counted."""
        ...

    async def remembered(self, company: str, user: str) -> LongTermMemory:
        """What is remembered of the user."""
        ...

    async def correct(self, company: str, user: str, patch: dict[str, Any]) -> LongTermMemory:
        """After a merge patch; raises Refused: BAD_FIELD with fields."""
        ...

    async def forget_memory(self, company: str, user: str) -> None:
        """Deletes what is remembered; conversations stay."""
        ...

    async def export(self, company: str, user: str, cursor: str | None) -> MemoryExportReply:
        """A page of everything that memory keeps of the user."""
        ...

    async def holdings(self, company: str, user: str) -> Holdings:
        """The user's side of the market."""
        ...

    async def forget_user(self, company: str, user: str) -> None:
        """Deletes the user everywhere; after an error call again: what is gone already is no error."""
        ...
