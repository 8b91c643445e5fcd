"""Limits for each user and tool: sliding windows, and the decision about a call."""

from dataclasses import dataclass

WINDOW_SECONDS = {"minute": 60, "hour": 3_600, "day": 86_400}


@dataclass(frozen=True, slots=True)
class CallWindow:
    """At most `limit` calls in any `seconds` seconds."""

    name: str
    seconds: int
    limit: int


Limits = tuple[CallWindow, ...]
"""Shortest window first."""


def limits_of(per_minute: int, per_hour: int | None = None, per_day: int | None = None) -> Limits:
    """Returns the windows of a declaration, the shortest first."""
    limits = {"minute": per_minute, "hour": per_hour, "day": per_day}
    return tuple(CallWindow(name, WINDOW_SECONDS[name], limit) for name, limit in limits.items() if limit is not None)


@dataclass(frozen=True, slots=True)
class Quota:
    """The calls left in one window; `reset_at`: when the oldest entry leaves the window, in ms since the epoch."""

    window: CallWindow
    remaining: int
    reset_at: int


@dataclass(frozen=True, slots=True)
class LimitDecision:
    """Whether the call is admitted. `blocking`: the spent window that resets last; None if admitted."""

    quotas: tuple[Quota, ...]
    blocking: Quota | None = None
