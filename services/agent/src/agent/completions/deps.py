"""What completions need from outside."""

from collections.abc import Callable
from dataclasses import dataclass, field

from agent.adapters.encodings import Encodings
from agent.llm.paid_calls import Spending
from agent.ports import Asker, Catalogue, Companies, Live, Models, ToolCalls

Prove = Callable[[str, str], Asker | None]
"""(principal, company) → who asks; None when it proves nothing."""


@dataclass(frozen=True)
class CompletionPorts:
    """Everything that a completion needs from outside; `live` goes nowhere, since no conversation is open."""

    companies: Companies
    catalogue: Catalogue
    tools: ToolCalls
    models: Models
    spending: Spending
    encoders: Encodings
    prove: Prove
    live: Live = field(default_factory=lambda: SilentEvents())


class SilentEvents:
    """Live events that nobody hears."""

    def emit(self, key: object, kind: str, data: object) -> None:
        """Nothing."""
