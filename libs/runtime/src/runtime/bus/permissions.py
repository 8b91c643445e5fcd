"""Detects permissions that the bus refuses: with fewer than deploy/nats grants, a service would work only partly.

A refused subscription is silent, and a refused request looks like a server that does not answer. So the first refusal
ends a start, and a later one makes the service not ready until it reconnects.
"""

from __future__ import annotations

import asyncio
import re

from contracts.streams import STREAMS
from runtime.errors import NotReadyError

_REFUSAL = re.compile(r"permissions violation for (publish|subscription) to \"([^\"]+)\"", re.IGNORECASE)
_OWN_ROOTS = frozenset(subject.partition(".")[0] for stream in STREAMS for subject in stream.subjects) | {
    *("live", "rpc", "$js")  # nats-py reports errors in lower case
}
_MAX_NAMED = 3


class Permissions:
    """The refusals of one connection. Its hooks are `refused` for errors and `forget` for disconnects."""

    def __init__(self, user: str | None) -> None:
        self._user = user or "this service's user"
        self._refused: dict[str, None] = {}
        self._first = asyncio.Event()

    async def refused(self, error: Exception) -> None:
        """Records a refusal by the server. Refused replies do not count: a caller may no longer wait, or may have asked
        for the reply on another subject."""
        match = _REFUSAL.search(str(error))
        if match is None:
            return
        operation, subject = match[1].lower(), match[2]
        if operation == "publish" and subject.partition(".")[0] not in _OWN_ROOTS:
            return
        self._refused[f"{'publish' if operation == 'publish' else 'subscribe'} to {subject}"] = None
        self._first.set()

    async def forget(self) -> None:
        """Forgets the refusals of a connection that is gone."""
        self._refused.clear()

    async def check(self) -> None:
        """Raises NotReadyError if something was refused on this connection."""
        if self._refused:
            raise NotReadyError(self._message())

    async def await_refusal(self) -> None:
        """Waits for the first refusal, then raises NotReadyError."""
        await self._first.wait()
        await asyncio.sleep(0)
        raise NotReadyError(self._message())

    def _message(self) -> str:
        names = ", ".join(list(self._refused)[:_MAX_NAMED])
        more = f" and {len(self._refused) - _MAX_NAMED} more" if len(self._refused) > _MAX_NAMED else ""
        return (
            f"NATS does not let {self._user} {names}{more}: give it the permissions that deploy/nats/nats.conf of this "
            "release has for this service (nats-server --signal reload), and set NEXUS_NATS_USER to its own user"
        )
