"""Passes the market's and own tools' news of actions and alerts to customers connected here."""

from functools import partial
from typing import Any

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from pydantic import ValidationError

from contracts.envelope import CloudEvent
from contracts.events.market import ActionDecided, AlertTriggered, OrderClosed, OrderFilled
from gateway.chat.customers import Customers
from runtime.bus.connection import subscribe

log = structlog.get_logger(__name__)

_FIRED = "alert.triggered.v1"
# Named once: pydantic forgets a parametrised model that nobody holds.
_ACTION_FACTS: dict[str, type[CloudEvent[Any]]] = {
    "action.decided.v1": CloudEvent[ActionDecided],
    "order.filled.v1": CloudEvent[OrderFilled],
    "order.closed.v1": CloudEvent[OrderClosed],
}
"""The events that change an action's state: a decision, and the market's outcome."""
_FiredEvent = CloudEvent[AlertTriggered]


class MarketFacts:
    """Passes these facts to customers connected here. What is missed while the bus is away comes with a welcome."""

    def __init__(self, client: Client, customers: Customers) -> None:
        self._client = client
        self._customers = customers

    async def start(self) -> None:
        for kind, event in _ACTION_FACTS.items():
            await subscribe(self._client, f"{kind}.>", partial(self._on_action, kind, event))
        await subscribe(self._client, f"{_FIRED}.>", self._on_fired)

    async def _on_action(self, kind: str, event: type[CloudEvent[Any]], message: Msg) -> None:
        try:
            fact: ActionDecided | OrderFilled | OrderClosed = event.model_validate_json(message.data).data
        except ValidationError:
            log.warning("market.malformed_fact", subject=message.subject)
            return
        if fact.action is not None:
            by_market = not isinstance(fact, ActionDecided)
            self._customers.action_changed(
                *_owner(message, kind), fact.conversation_id, fact.action, by_market=by_market
            )

    async def _on_fired(self, message: Msg) -> None:
        owner = _owner(message, _FIRED)
        if self._customers.is_connected(*owner):
            try:
                alert = _FiredEvent.model_validate_json(message.data).data.alert
            except ValidationError:
                log.warning("market.malformed_fact", subject=message.subject)
                return
            self._customers.alert_fired(*owner, alert)


def _owner(message: Msg, kind: str) -> tuple[str, str]:
    """Company and user of the subject (who may publish it has a permission for it)."""
    company, _, user = message.subject.removeprefix(f"{kind}.").partition(".")
    return company, user
