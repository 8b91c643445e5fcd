"""The last hour of a user: where they write, which symbols they named, what waits for their yes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from contracts.context_rpc import ShortTermMemory
from contracts.events.chat import Action

KEPT = timedelta(hours=1)
"""After the last activity everything is gone."""
SYMBOLS = 10
ACTIONS = 20


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that the user did, or that was asked of them, at a time. It may come late, twice, or out of order.

    `symbols`: newest first. `add`: actions that wait now; one that has been cleared stays cleared.
    """

    at: datetime
    conversation: str | None = None
    symbols: Sequence[str] = field(default=())
    add: Sequence[Action] = field(default=())
    clear: Sequence[str] = field(default=())


def visible(held: ShortTermMemory, now: datetime) -> ShortTermMemory:
    """What still counts at `now`: nothing after an hour, no action whose own time is over."""
    if held.last_activity is None or now - held.last_activity >= KEPT:
        return ShortTermMemory()
    waiting = [one for one in held.pending_actions if one.expires_at is None or one.expires_at > now]
    return held if len(waiting) == len(held.pending_actions) else held.model_copy(update={"pending_actions": waiting})
