"""Human agents' sockets that follow their company's inbox: they learn which conversations have changed (not how), and
who types or reads there.

Changes are collected for a moment, so that a busy company costs each socket only a few frames a second.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field

from contracts.channels import PresenceKind
from contracts.json_values import JsonObject
from gateway.domain import server_frames
from gateway.errors import GatewayError
from gateway.ports import ClientSocket, FollowPresence, TokenCaller, Unsubscribe

GATHER_SECONDS = 0.3
"""Seconds for which changes are collected before they are sent to sockets."""
MAX_NAMED = 200
"""Conversations named in one frame, and presence signals sent at once."""


@dataclass(slots=True)
class _InboxReport:
    """The next report to one company's sockets: changed conversations, and the newest signal of each kind and person,
    with its conversation."""

    changed: dict[str, None] = field(default_factory=dict[str, None])
    signs: dict[tuple[str, str], tuple[str, bytes]] = field(default_factory=dict[tuple[str, str], tuple[str, bytes]])


class Inboxes:
    """Knows which sockets follow which company's inbox. `follow_presence`: subscribes to a company's presence."""

    def __init__(self, follow_presence: FollowPresence) -> None:
        self._follow_presence = follow_presence
        self._watching: dict[str, set[ClientSocket]] = {}
        self._subscriptions: dict[str, asyncio.Task[Unsubscribe]] = {}
        self._pending: dict[str, _InboxReport] = {}

    async def watch(self, caller: TokenCaller, socket: ClientSocket) -> None:
        """Reports changes to the socket from now on; earlier ones are in the list that it reads.

        Raises:
            UnavailableError: presence signals cannot be subscribed to now.
        """
        company = caller.company
        self._watching.setdefault(company, set()).add(socket)
        socket.push(server_frames.inbox_changed([]))
        if company not in self._subscriptions:
            self._subscriptions[company] = asyncio.get_running_loop().create_task(self._follow_presence(company))
        try:
            # Shielded: a client that leaves meanwhile must not take the others' subscription with it.
            await asyncio.shield(self._subscriptions[company])
        except GatewayError:
            self._subscriptions.pop(company, None)
            raise

    async def leave(self, caller: TokenCaller, socket: ClientSocket) -> None:
        sockets = self._watching.get(caller.company)
        if sockets is None or socket not in sockets:
            return
        sockets.discard(socket)
        if not sockets:
            del self._watching[caller.company]
            if (subscription := self._subscriptions.pop(caller.company, None)) is not None:
                with suppress(GatewayError):  # then there is no subscription to end
                    await (await subscription)()

    def changed(self, company: str, conversation: str) -> None:
        """Reports that the conversation has a new durable fact."""
        if (report := self._pending_report(company)) is not None:
            report.changed[conversation] = None

    def presence(self, company: str, conversation: str, kind: PresenceKind, data: JsonObject) -> None:
        """Reports that somebody types, or that a human agent has read. What visitors have read is not reported."""
        actor = str(data.get("actor"))
        if kind is PresenceKind.RECEIPT and actor != "operator":
            return
        if (report := self._pending_report(company)) is not None and len(report.signs) < MAX_NAMED:
            sign = server_frames.presence_frame(conversation, kind, data)
            report.signs[conversation, f"{kind} {actor} {data.get('name')}"] = conversation, sign

    def all_changed(self) -> None:
        """Reports that any conversation may have changed, because the bus was unavailable."""
        frame = server_frames.inbox_changed([])
        for sockets in list(self._watching.values()):
            for socket in list(sockets):
                socket.push(frame)

    def _pending_report(self, company: str) -> _InboxReport | None:
        if company not in self._watching:
            return None
        if company not in self._pending:
            self._pending[company] = _InboxReport()
            asyncio.get_running_loop().call_later(GATHER_SECONDS, self._send, company)
        return self._pending[company]

    def _send(self, company: str) -> None:
        report = self._pending.pop(company)
        # With none named the list is read again, and so is the open conversation.
        named = list(report.changed) if len(report.changed) <= MAX_NAMED else []
        frame = server_frames.inbox_changed(named) if report.changed else None
        for socket in list(self._watching.get(company, ())):
            for conversation, sign in report.signs.values():
                if not socket.follows(conversation):
                    socket.push(sign)
            if frame is not None:
                socket.push(frame)
