"""Permissions that the bus refuses this service: with fewer than deploy/nats grants it would work only partly.

A refused subscription is silent, and a refused request looks like a server that does not answer. So a start ends at the
first refusal, and a later refusal makes the service not ready until it reconnects.
"""

from __future__ import annotations

import asyncio
import re

from contracts.streams import STREAMS
from runtime.errors import NotReadyError

_REFUSAL = re.compile(r"permissions violation for (publish|subscription) to \"([^\"]+)\"", re.IGNORECASE)
_OWN_TREES = frozenset(subject.partition(".")[0] for stream in STREAMS for subject in stream.subjects) | {
    *("live", "rpc", "$js")  # nats-py tells errors in small letters
}
_SAID = 3


class Permissions:
    """The refusals of one connection. Attached to its hooks: `refused` on errors, `forget` on disconnects."""

    def __init__(self, user: str | None) -> None:
        self._user = user or "this service's user"
        self._refused: dict[str, None] = {}
        self._first = asyncio.Event()

    async def refused(self, error: Exception) -> None:
        """Records a refusal by the server. Replies do not count: a caller may no longer wait, or want its reply
        elsewhere."""
        found = _REFUSAL.search(str(error))
        if found is None:
            return
        what, subject = found[1].lower(), found[2]
        if what == "publish" and subject.partition(".")[0] not in _OWN_TREES:
            return
        self._refused[f"{'publish' if what == 'publish' else 'subscribe'} to {subject}"] = None
        self._first.set()

    async def forget(self) -> None:
        """The connection is gone; the next one starts over."""
        self._refused.clear()

    async def check(self) -> None:
        """Raises NotReadyError if something was refused on this connection."""
        if self._refused:
            raise NotReadyError(self._told())

    async def missing(self) -> None:
        """Waits for the first refusal. Always raises NotReadyError."""
        await self._first.wait()
        await asyncio.sleep(0)
        raise NotReadyError(self._told())

    def _told(self) -> str:
        said = ", ".join(list(self._refused)[:_SAID])
        more = f" and {len(self._refused) - _SAID} more" if len(self._refused) > _SAID else ""
        return (
            f"NATS does not let {self._user} {said}{more}: give it the permissions that deploy/nats/nats.conf of this "
            "release has for this service (nats-server --signal reload), and set NEXUS_NATS_USER to its own user"
        )
