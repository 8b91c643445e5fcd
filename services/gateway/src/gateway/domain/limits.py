"""Exact rate limits in sliding windows: one timestamp for each admitted event, none for a refused one."""

import ipaddress
from collections import OrderedDict, deque
from dataclasses import dataclass
from functools import lru_cache

from gateway.domain.forwarded import parse_address

MAX_KEYS = 200_000
"""Keys that one window remembers; with more, the one idle longest is forgotten. Expired keys are forgotten at once."""


@dataclass(frozen=True, slots=True)
class RateLimit:
    """At most `count` events in any `seconds`."""

    count: int
    seconds: float


class SlidingLog:
    """Counts the recent events of each key. Times are monotonic seconds."""

    def __init__(self, limit: RateLimit) -> None:
        self._limit = limit
        self._events: OrderedDict[str, deque[float]] = OrderedDict()

    def retry_after(self, key: str, now: float) -> float:
        """Seconds until one more event is allowed; 0 if it is allowed now."""
        events = self._events.get(key)
        if events is None:
            return 0.0
        window_start = now - self._limit.seconds
        while events and events[0] <= window_start:
            events.popleft()
        if len(events) < self._limit.count:
            return 0.0
        return events[0] + self._limit.seconds - now

    def add(self, key: str, now: float) -> None:
        events = self._events.get(key)
        if events is None:
            events = self._events[key] = deque(maxlen=self._limit.count)
        self._events.move_to_end(key)
        events.append(now)
        while len(self._events) > MAX_KEYS or self._is_over(next(iter(self._events.values())), now):
            self._events.popitem(last=False)

    def __len__(self) -> int:
        return len(self._events)

    def _is_over(self, events: deque[float], now: float) -> bool:
        return not events or events[-1] <= now - self._limit.seconds


def admit(now: float, *windows: tuple[SlidingLog, str]) -> float:
    """Counts one event in every window and returns 0 if all allow it; otherwise counts nothing and returns the seconds
    until they do."""
    wait = max((log.retry_after(key, now) for log, key in windows), default=0.0)
    if wait == 0.0:
        for log, key in windows:
            log.add(key, now)
    return wait


@lru_cache(4096)
def address_key(address: str) -> str:
    """The key by which an address is limited: an IPv4 address itself, or the /64 network of an IPv6 subscriber."""
    parsed = parse_address(address)
    if parsed is None:
        return address
    return str(parsed if parsed.version == 4 else ipaddress.ip_network((parsed, 64), strict=False))
