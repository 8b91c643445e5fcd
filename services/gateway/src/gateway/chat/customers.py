"""Customers' sockets at this gateway, and the market's news for them: pending actions, decisions, alerts, orders.

Each gateway sends an alert or an order to its own sockets, and then marks it as told. An open chat therefore sees an
alert and a state of an order once, however often its fact arrives, and a chat opened later sees what was never told.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import structlog

from contracts.events.chat import Action
from contracts.events.market import TriggeredAlert
from gateway.adapters.actions import BusActions
from gateway.domain import server_frames
from gateway.errors import GatewayError
from gateway.ports import ClientSocket, TokenCaller
from runtime.calls.deadlines import detached_context
from runtime.recent import Bounded

log = structlog.get_logger(__name__)

MAX_SEEN = 256
"""Alerts and actions remembered as seen for each socket; a customer can have 100 active alerts."""
CATCH_UP_CONCURRENCY = 16
"""Customers who catch up at the same time after the bus was unavailable."""

SeenNews = Bounded[str, dict[str, Any]]
"""The alerts and the latest states of actions that a socket was told, by their ids."""
Push = Callable[[bytes], None]
"""Receives a frame about a decision."""


class Customers:
    """Sends news to customers at once if they are connected, otherwise when they connect again."""

    def __init__(self, actions: BusActions) -> None:
        self.actions = actions
        self._sockets: dict[tuple[str, str], dict[ClientSocket, SeenNews]] = {}
        self._watching: dict[tuple[str, str], set[Push]] = {}
        self._unmarked: dict[tuple[str, str], tuple[list[str], list[str]]] = {}
        """By customer: ids of alerts and of actions that were told but not yet marked as told."""
        self._marking: asyncio.Task[None] | None = None

    async def pending(self, caller: TokenCaller) -> list[Action]:
        """The caller's pending actions; none if the market is unavailable, since a chat must not wait for it."""
        if not has_account(caller):
            return []
        try:
            return await self.actions.pending(caller.company, caller.subject)
        except GatewayError as error:
            log.info("chat.actions_unknown", error=error.message)
            return []

    def enter(self, caller: TokenCaller, socket: ClientSocket) -> None:
        if has_account(caller):
            self._sockets.setdefault((caller.company, caller.subject), {})[socket] = SeenNews(MAX_SEEN)

    def watch(self, company: str, conversation: str, push: Push) -> None:
        """Subscribes a socket that is not the customer's own to decisions in this conversation."""
        self._watching.setdefault((company, conversation), set()).add(push)

    def unwatch(self, company: str, conversation: str, push: Push) -> None:
        pushes = self._watching.get((company, conversation), set())
        pushes.discard(push)
        if not pushes:
            self._watching.pop((company, conversation), None)

    def leave(self, caller: TokenCaller, socket: ClientSocket) -> None:
        sockets = self._sockets.get((caller.company, caller.subject))
        if sockets is not None and socket in sockets:
            del sockets[socket]
            if not sockets:
                del self._sockets[caller.company, caller.subject]

    async def decide(
        self,
        caller: TokenCaller,
        socket: ClientSocket,
        action: str,
        decision: Literal["confirm", "reject"],
        edits: Mapping[str, object] | None,
    ) -> None:
        """Decides an action for a socket, and tells it the state: also if the action was decided before, so that there
        is no new fact; not if the fact has arrived first."""
        seen = self._sockets.get((caller.company, caller.subject), {}).get(socket, SeenNews(1))
        seen.pop(action, None)
        decided = await self.actions.decide(caller, action, decision, socket.locale, edits)
        if action not in seen:
            seen[action] = decided.to_wire()
            socket.push(server_frames.action_updated(socket.home, seen[action]))

    async def catch_up(self, company: str, user: str) -> None:
        """Sends the alerts and orders that happened while the customer was not connected. Sending them twice is better
        than not at all."""
        known = {socket: dict(seen) for socket, seen in self._sockets.get((company, user), {}).items()}
        try:
            untold = await self.actions.untold(company, user)
        except GatewayError as error:
            log.info("chat.alerts_unknown", error=error.message)
            return
        self.send_alerts(company, user, untold.alerts)
        for action in untold.actions:
            self.action_changed(company, user, None, action, by_market=True, known=known)

    async def catch_up_all(self) -> None:
        """Catches up all connected customers after the bus was unavailable."""
        slots = asyncio.Semaphore(CATCH_UP_CONCURRENCY)

        async def catch_up_customer(company: str, user: str) -> None:
            async with slots:
                await self.catch_up(company, user)

        await asyncio.gather(*(catch_up_customer(*customer) for customer in list(self._sockets)))

    def action_changed(
        self,
        company: str,
        user: str,
        conversation: str | None,
        action: Action,
        *,
        by_market: bool,
        known: Mapping[ClientSocket, Mapping[str, Any]] | None = None,
    ) -> None:
        """Sends the new state of a customer's action. `conversation`: where the action was requested.

        Args:
            by_market: the market changed it, and keeps it as untold for a customer who connects later.
            known: what the sockets had been told when the state was asked for. One that was told another state
                meanwhile is not told this one, which may be older.
        """
        wire, sockets = action.to_wire(), self._sockets.get((company, user), {})
        if known is not None:
            sockets = {
                socket: seen
                for socket, seen in sockets.items()
                if seen.get(action.id) is known.get(socket, {}).get(action.id)
            }
        for socket in _mark_unaware(sockets, action.id, wire):
            socket.push(server_frames.action_updated(socket.home, wire))
        if conversation is not None:
            for push in list(self._watching.get((company, conversation), ())):
                push(server_frames.action_updated(conversation, wire))
        if sockets and by_market:
            self._mark_soon(company, user, actions=[action.id])

    def send_alerts(self, company: str, user: str, alerts: Sequence[TriggeredAlert]) -> None:
        """Sends fired alerts to the customer's sockets, if they have any here."""
        sockets = self._sockets.get((company, user))
        if not alerts or not sockets:
            return
        for alert in alerts:
            wire = alert.to_wire()
            for socket in _mark_unaware(sockets, alert.id, wire):
                socket.push(server_frames.alert_triggered(socket.home, wire))
        self._mark_soon(company, user, alerts=[alert.id for alert in alerts])

    def _mark_soon(self, company: str, user: str, *, alerts: Sequence[str] = (), actions: Sequence[str] = ()) -> None:
        """Marks them as told in the background, so that the feed's next fact does not wait for the market."""
        unmarked = self._unmarked.setdefault((company, user), ([], []))
        unmarked[0].extend(alerts)
        unmarked[1].extend(actions)
        if self._marking is None or self._marking.done():
            self._marking = asyncio.get_running_loop().create_task(self._mark(), context=detached_context())

    async def _mark(self) -> None:
        while self._unmarked:
            customer = next(iter(self._unmarked))
            alerts, actions = self._unmarked.pop(customer)
            try:
                await self.actions.mark_told(*customer, alerts, actions)
            except GatewayError as error:
                log.info("chat.alert_not_marked", error=error.message)


def _mark_unaware(sockets: dict[ClientSocket, SeenNews], news: str, wire: dict[str, Any]) -> list[ClientSocket]:
    """The sockets that were not told this of the alert or action; they count as told from now on."""
    unaware: list[ClientSocket] = []
    for socket, seen in sockets.items():
        if seen.get(news) != wire:
            unaware.append(socket)
            seen[news] = wire
    return unaware


def has_account(caller: TokenCaller) -> bool:
    """Whether the caller may own orders and alerts: visitors have none, human agents are not concerned."""
    return caller.role == "user"
