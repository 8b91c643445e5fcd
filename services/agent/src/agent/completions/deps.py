"""The dependencies of completions."""

from collections.abc import Callable
from dataclasses import dataclass

from agent.adapters.encodings import Encodings
from agent.llm.paid_calls import Spending
from agent.ports import Catalogue, Companies, Models, Requester, ToolCalls

Prove = Callable[[str, str], Requester | None]
"""(principal, company) → who asks; None when it proves nothing."""


@dataclass(frozen=True)
class CompletionPorts:
    """The outside services that a completion uses."""

    companies: Companies
    catalogue: Catalogue
    tools: ToolCalls
    models: Models
    spending: Spending
    encoders: Encodings
    prove: Prove


class SilentEvents:
    """Live events that are sent to nobody, since no conversation is open."""

    def emit(self, key: object, kind: str, data: object) -> None:
        """Nothing."""
