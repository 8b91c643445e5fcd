"""The dependencies of completions."""

from collections.abc import Callable
from dataclasses import dataclass

from agent.adapters.encodings import Encodings
from agent.llm.paid_calls import Spending
from agent.ports import Catalogue, Companies, Models, Requester, ToolCalls

Prove = Callable[[str, str], Requester | None]
"""Returns the requester for a principal and a company; None if the principal is not valid for it."""


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
    """Drops live events, because no conversation is open."""

    def emit(self, key: object, kind: str, data: object) -> None:
        """Does nothing."""
