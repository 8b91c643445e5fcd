"""What completions need besides the ports of turns."""

from collections.abc import Callable

from agent.ports import Requester

Prove = Callable[[str, str], Requester | None]
"""Returns the requester for a principal and a company; None if the principal is not valid for it."""


class SilentEvents:
    """Drops live events, because no conversation is open."""

    def emit(self, key: object, kind: str, data: object) -> None:
        """Does nothing."""
