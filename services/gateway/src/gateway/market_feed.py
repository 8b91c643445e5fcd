"""Passes news of actions and alerts, from the market and own tools, to customers connected here."""

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

_ALERT_TRIGGERED = "alert.triggered.v1"
# Built once: pydantic forgets a parametrised model to which there is no reference.
_ACTION_FACTS: dict[str, type[CloudEvent[Any]]] = {
    "action.decided.v1": CloudEvent[ActionDecided],
    "order.filled.v1": CloudEvent[OrderFilled],
    "order.closed.v1": CloudEvent[OrderClosed],
}
"""The events that change an action's state: a decision, or its outcome in the market."""
_AlertEvent = CloudEvent[AlertTriggered]


class MarketFacts:
    """Passes the facts to customers connected here. What they miss while the bus is unavailable is sent when they are
    caught up."""

    def __init__(self, client: Client, customers: Customers) -> None:
        self._client = client
        self._customers = customers

    async def start(self) -> None:
        for kind, event in _ACTION_FACTS.items():
            await subscribe(self._client, f"{kind}.>", partial(self._on_action, kind, event))
        await subscribe(self._client, f"{_ALERT_TRIGGERED}.>", self._on_alert)

    async def _on_action(self, kind: str, event: type[CloudEvent[Any]], message: Msg) -> None:
        try:
            fact: ActionDecided | OrderFilled | OrderClosed = event.model_validate_json(message.data).data
        except ValidationError:
            log.warning("market.malformed_fact", subject=message.subject)
            return
        if fact.action is not None:
            by_market = not isinstance(fact, ActionDecided)
            self._customers.action_changed(
                *_customer(message, kind), fact.conversation_id, fact.action, by_market=by_market
            )

    async def _on_alert(self, message: Msg) -> None:
        customer = _customer(message, _ALERT_TRIGGERED)
        if self._customers.is_connected(*customer):
            try:
                alert = _AlertEvent.model_validate_json(message.data).data.alert
            except ValidationError:
                log.warning("market.malformed_fact", subject=message.subject)
                return
            self._customers.alert_fired(*customer, alert)


def _customer(message: Msg, kind: str) -> tuple[str, str]:
    """The company and user in the subject, which only services with a permission for it can publish."""
    company, _, user = message.subject.removeprefix(f"{kind}.").partition(".")
    return company, user
