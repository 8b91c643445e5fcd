"""A user's last hour: where they write, which symbols they named, which actions wait for them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from contracts.context_rpc import ShortTermMemory
from contracts.events.chat import Action

KEPT = timedelta(hours=1)
"""How long it is kept after the last activity."""
SYMBOLS = 10
ACTIONS = 20


@dataclass(frozen=True, slots=True)
class UserActivity:
    """Something that the user did, or was asked, at a time. It may come late, twice, or out of order.

    `symbols`: newest first. `add`: actions that wait now; a cleared one stays cleared.
    """

    at: datetime
    conversation: str | None = None
    symbols: Sequence[str] = field(default=())
    add: Sequence[Action] = field(default=())
    clear: Sequence[str] = field(default=())


def visible(held: ShortTermMemory, now: datetime) -> ShortTermMemory:
    """The part that is still valid at `now`: everything expires after an hour, and an action at its own time."""
    if held.last_activity is None or now - held.last_activity >= KEPT:
        return ShortTermMemory()
    waiting = [one for one in held.pending_actions if one.expires_at is None or one.expires_at > now]
    return held if len(waiting) == len(held.pending_actions) else held.model_copy(update={"pending_actions": waiting})
