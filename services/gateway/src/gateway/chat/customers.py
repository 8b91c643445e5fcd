"""Customers' sockets here, by who they are, and what the market tells them: actions to decide, decisions, alerts."""

from collections.abc import Sequence
from typing import Any, Protocol

import structlog

from contracts.events.chat import Action
from contracts.events.market import TriggeredAlert
from gateway.domain import server_frames
from gateway.errors import GatewayError
from gateway.ports import Actions, Alerts, Caller

log = structlog.get_logger(__name__)


class Listener(Protocol):
    """A customer's socket; `home` is the conversation that it has open."""

    home: str | None

    def push(self, frame: bytes) -> None:
        """Sends a frame."""
        ...


class Customers:
    """Whoever comes back is told what they missed; whoever is here hears it at once."""

    def __init__(self, actions: Actions, alerts: Alerts) -> None:
        self.actions = actions
        self._alerts = alerts
        self._here: dict[tuple[str, str], list[Listener]] = {}

    async def pending(self, caller: Caller) -> list[Action]:
        """What waits for the caller's yes; nothing while the market is away: a chat must not wait for it."""
        if not has_account(caller):
            return []
        try:
            return await self.actions.pending(caller.company, caller.subject)
        except GatewayError as error:
            log.info("chat.actions_unknown", error=error.message)
            return []

    def enter(self, caller: Caller, socket: Listener) -> None:
        """The socket hears of its customer from now on."""
        if has_account(caller):
            self._here.setdefault((caller.company, caller.subject), []).append(socket)

    def leave(self, caller: Caller, socket: Listener) -> None:
        """The socket is gone."""
        sockets = self._here.get((caller.company, caller.subject))
        if sockets is not None and socket in sockets:
            sockets.remove(socket)
            if not sockets:
                del self._here[caller.company, caller.subject]

    async def catch_up(self, caller: Caller, socket: Listener) -> None:
        """Tells the alerts that fired while nobody was there. Told twice is better than not at all."""
        try:
            alerts = await self._alerts.untold(caller.company, caller.subject)
            await self._tell(caller.company, caller.subject, [socket], alerts)
        except GatewayError as error:
            log.info("chat.alerts_unknown", error=error.message)

    def decided(self, company: str, user: str, action: dict[str, Any]) -> None:
        """An action of this customer has its answer, or its time has run out."""
        for socket in self._here.get((company, user), []):
            socket.push(server_frames.action_updated(socket.home, action))

    def is_here(self, company: str, user: str) -> bool:
        """Whether a socket of this customer is open here."""
        return (company, user) in self._here

    async def fired(self, company: str, user: str, alert: TriggeredAlert) -> None:
        """An alert of this customer fired."""
        try:
            await self._tell(company, user, list(self._here.get((company, user), [])), [alert])
        except GatewayError as error:
            log.info("chat.alert_not_marked", error=error.message)

    async def _tell(
        self, company: str, user: str, sockets: Sequence[Listener], alerts: Sequence[TriggeredAlert]
    ) -> None:
        if not alerts or not sockets:
            return
        for alert in alerts:
            for socket in sockets:
                socket.push(server_frames.alert_triggered(socket.home, alert.to_wire()))
        await self._alerts.told(company, user, [alert.id for alert in alerts])


def has_account(caller: Caller) -> bool:
    """Whether the caller may own orders and alerts: visitors have none, human agents have no part in them."""
    return caller.role == "user"
