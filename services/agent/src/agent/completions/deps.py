"""The dependencies of completions."""

from collections.abc import Callable
from dataclasses import dataclass, field

from agent.adapters.encodings import Encodings
from agent.llm.paid_calls import Spending
from agent.ports import Catalogue, Companies, Live, Models, Requester, ToolCalls

Prove = Callable[[str, str], Requester | None]
"""(principal, company) → who asks; None when it proves nothing."""


@dataclass(frozen=True)
class CompletionPorts:
    """The outside services that a completion uses; `live` goes nowhere, since no conversation is open."""

    companies: Companies
    catalogue: Catalogue
    tools: ToolCalls
    models: Models
    spending: Spending
    encoders: Encodings
    prove: Prove
    live: Live = field(default_factory=lambda: SilentEvents())


class SilentEvents:
    """Live events that are sent to nobody."""

    def emit(self, key: object, kind: str, data: object) -> None:
        """Nothing."""
