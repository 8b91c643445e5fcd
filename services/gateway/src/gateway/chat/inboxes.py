"""Human agents' sockets that follow their company's inbox: told which conversations have changed, not how.

What changed is gathered for a moment: a busy company costs each socket a few frames a second, however much is written.
"""

import asyncio
from typing import Protocol

from gateway.domain import server_frames
from gateway.ports import TokenCaller

GATHER_SECONDS = 0.3
"""For which changes are gathered before operators are told."""
MOST_NAMED = 200
"""Conversations named in one frame; beyond that the client reads its list anew in any case."""


class AgentListener(Protocol):
    """A human agent's socket."""

    def push(self, frame: bytes) -> None:
        """Sends a frame."""
        ...


class Inboxes:
    """Who follows which company's inbox."""

    def __init__(self) -> None:
        self._watching: dict[str, set[AgentListener]] = {}
        self._changed: dict[str, dict[str, None]] = {}

    def watch(self, caller: TokenCaller, socket: AgentListener) -> None:
        """The socket hears of its company's conversations from now on; what changed before, its list has to tell."""
        self._watching.setdefault(caller.company, set()).add(socket)
        socket.push(server_frames.inbox_changed([]))

    def leave(self, caller: TokenCaller, socket: AgentListener) -> None:
        """The socket is gone."""
        sockets = self._watching.get(caller.company)
        if sockets is not None:
            sockets.discard(socket)
            if not sockets:
                del self._watching[caller.company]

    def changed(self, company: str, conversation: str) -> None:
        """A durable fact of the conversation has come."""
        if company not in self._watching:
            return
        if company not in self._changed:
            self._changed[company] = {}
            asyncio.get_running_loop().call_later(GATHER_SECONDS, self._tell, company)
        self._changed[company][conversation] = None

    def all_changed(self) -> None:
        """The bus was away: nobody knows what has changed."""
        frame = server_frames.inbox_changed([])
        for sockets in list(self._watching.values()):
            for socket in list(sockets):
                socket.push(frame)

    def _tell(self, company: str) -> None:
        changed = list(self._changed.pop(company))[:MOST_NAMED]
        frame = server_frames.inbox_changed(changed)
        for socket in list(self._watching.get(company, ())):
            socket.push(frame)
