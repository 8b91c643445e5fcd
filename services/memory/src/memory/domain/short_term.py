"""A user's last hour: where they write, which symbols they mentioned, which actions wait for them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from contracts.context_rpc import ShortTermMemory
from contracts.events.chat import Action

LIFETIME = timedelta(hours=1)
"""How long it is kept after the last activity."""
MAX_SYMBOLS = 10
MAX_ACTIONS = 20


@dataclass(frozen=True, slots=True)
class UserActivity:
    """Something that the user did, or was asked, at a time. It may arrive late, twice, or out of order.

    `symbols`: newest first. `add`: actions that wait now; a cleared one stays cleared.
    """

    at: datetime
    conversation: str | None = None
    symbols: Sequence[str] = field(default=())
    add: Sequence[Action] = field(default=())
    clear: Sequence[str] = field(default=())


def visible(memory: ShortTermMemory, now: datetime) -> ShortTermMemory:
    """Returns what is still valid at `now`: everything expires after an hour, and an action at its own time."""
    if memory.last_activity is None or now - memory.last_activity >= LIFETIME:
        return ShortTermMemory()
    pending = [action for action in memory.pending_actions if action.expires_at is None or action.expires_at > now]
    return (
        memory
        if len(pending) == len(memory.pending_actions)
        else memory.model_copy(update={"pending_actions": pending})
    )
