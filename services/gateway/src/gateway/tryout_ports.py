"""Settings tried before they are saved, turns explained, and turns that failed, as the routes ask for them."""

from datetime import datetime
from typing import Protocol

from contracts.company import CompanyConfig, ToolConfig
from contracts.failed_rpc import FailedTurnsReply
from contracts.trying_rpc import ExplainedTurn, Language, PromptReply, SiteCheckReply, TryReply
from gateway.ports import Caller


class Tryouts(Protocol):
    """Every method raises Unavailable when nobody answers in time, Refused and Limited with the service's own code."""

    async def prompt(self, caller: Caller, config: CompanyConfig, language: Language) -> PromptReply:
        """The prompt that these settings make."""
        ...

    async def answer(self, caller: Caller, config: CompanyConfig, question: str, language: Language) -> TryReply:
        """An answer with these settings."""
        ...

    async def site(self, tools: ToolConfig, address: str, language: Language) -> SiteCheckReply:
        """Whether fetch_page may read the address."""
        ...

    async def explain(
        self, company: str, conversation: str, turn: str, user: str | None, answered_at: datetime
    ) -> ExplainedTurn | None:
        """The turn of this visitor or customer that was answered then; None: it is not on record."""
        ...


class Failures(Protocol):
    """Turns that ended in an error."""

    async def failed(self, company: str, limit: int, before: int | None) -> FailedTurnsReply:
        """A page of the company's, newest first; raises Unavailable."""
        ...
