"""Human agents' sockets that follow their company's inbox: they learn which conversations have changed (not how), and
who types or reads there.

Changes are gathered for a moment, so that a busy company costs each socket only a few frames a second.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field

from contracts.channels import PresenceKind
from contracts.json_values import JsonObject
from gateway.domain import server_frames
from gateway.errors import GatewayError
from gateway.ports import ClientSocket, Present, TokenCaller, Unsubscribe

GATHER_SECONDS = 0.3
"""Seconds for which changes are gathered before they are sent to sockets."""
MOST_NAMED = 200
"""Conversations named in one frame, and signs sent at once; with more, clients read their list again."""


@dataclass(slots=True)
class _Gathered:
    """The next report to one company's sockets: changed conversations, and the newest sign of each kind and person."""

    changed: dict[str, None] = field(default_factory=dict[str, None])
    signs: dict[tuple[str, str], tuple[str, bytes]] = field(default_factory=dict[tuple[str, str], tuple[str, bytes]])


class Inboxes:
    """Keeps which sockets follow which company's inbox."""

    def __init__(self) -> None:
        self._watching: dict[str, set[ClientSocket]] = {}
        self._hearing: dict[str, asyncio.Task[Unsubscribe]] = {}
        self._gathered: dict[str, _Gathered] = {}
        self._present: Present | None = None

    def connect(self, present: Present) -> None:
        """Sets the source of companies' presence signals; before the first `watch`."""
        self._present = present

    async def watch(self, caller: TokenCaller, socket: ClientSocket) -> None:
        """Tells the socket of changes from now on; earlier ones are in its list.

        Raises:
            UnavailableError: presence signals cannot be subscribed to now.
        """
        company = caller.company
        self._watching.setdefault(company, set()).add(socket)
        socket.push(server_frames.inbox_changed([]))
        if self._present is None:
            raise RuntimeError("the inboxes are not connected to the bus")
        if company not in self._hearing:
            self._hearing[company] = asyncio.get_running_loop().create_task(self._present(company))
        try:
            # Shielded: a client that leaves meanwhile must not take the others' subscription with it.
            await asyncio.shield(self._hearing[company])
        except GatewayError:
            self._hearing.pop(company, None)
            raise

    async def leave(self, caller: TokenCaller, socket: ClientSocket) -> None:
        sockets = self._watching.get(caller.company)
        if sockets is None or socket not in sockets:
            return
        sockets.discard(socket)
        if not sockets:
            del self._watching[caller.company]
            if (hearing := self._hearing.pop(caller.company, None)) is not None:
                with suppress(GatewayError):  # then there is nothing to end
                    await (await hearing)()

    def changed(self, company: str, conversation: str) -> None:
        """A durable fact of the conversation has come."""
        if (gathered := self._gather(company)) is not None:
            gathered.changed[conversation] = None

    def present(self, company: str, conversation: str, kind: PresenceKind, data: JsonObject) -> None:
        """Somebody types, or a human agent has read. What visitors have read does not matter to a list."""
        actor = str(data.get("actor"))
        if kind is PresenceKind.RECEIPT and actor != "operator":
            return
        if (gathered := self._gather(company)) is not None and len(gathered.signs) < MOST_NAMED:
            sign = server_frames.of_presence(conversation, kind, data)
            gathered.signs[conversation, f"{kind} {actor} {data.get('name')}"] = conversation, sign

    def all_changed(self) -> None:
        """The bus was away, so any conversation may have changed."""
        frame = server_frames.inbox_changed([])
        for sockets in list(self._watching.values()):
            for socket in list(sockets):
                socket.push(frame)

    def _gather(self, company: str) -> _Gathered | None:
        if company not in self._watching:
            return None
        if company not in self._gathered:
            self._gathered[company] = _Gathered()
            asyncio.get_running_loop().call_later(GATHER_SECONDS, self._tell, company)
        return self._gathered[company]

    def _tell(self, company: str) -> None:
        told = self._gathered.pop(company)
        changed = list(told.changed)[:MOST_NAMED]
        frame = server_frames.inbox_changed(changed) if changed else None
        for socket in list(self._watching.get(company, ())):
            for conversation, sign in told.signs.values():
                if not socket.follows(conversation):
                    socket.push(sign)
            if frame is not None:
                socket.push(frame)
