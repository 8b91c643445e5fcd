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

# Built once: pydantic forgets a parametrised model to which there is no reference.
_FACTS: dict[str, type[CloudEvent[Any]]] = {
    "action.decided.v1": CloudEvent[ActionDecided],
    "order.filled.v1": CloudEvent[OrderFilled],
    "order.closed.v1": CloudEvent[OrderClosed],
    "alert.triggered.v1": CloudEvent[AlertTriggered],
}
"""The events that change an action's state, by a decision or its outcome in the market, and alerts."""


class MarketFacts:
    """Passes the facts to customers connected here. What they miss while the bus is unavailable is sent when they are
    caught up."""

    def __init__(self, client: Client, customers: Customers) -> None:
        self._client = client
        self._customers = customers

    async def start(self) -> None:
        for kind, event in _FACTS.items():
            await subscribe(self._client, f"{kind}.>", partial(self._on_fact, kind, event))

    async def _on_fact(self, kind: str, event: type[CloudEvent[Any]], message: Msg) -> None:
        # The company and user are those of the subject, which only services with a permission for it can publish.
        company, _, user = message.subject.removeprefix(f"{kind}.").partition(".")
        try:
            fact: ActionDecided | OrderFilled | OrderClosed | AlertTriggered
            fact = event.model_validate_json(message.data).data
        except ValidationError:
            log.warning("market.malformed_fact", subject=message.subject)
            return
        if isinstance(fact, AlertTriggered):
            self._customers.send_alerts(company, user, [fact.alert])
        elif fact.action is not None:
            by_market = not isinstance(fact, ActionDecided)
            self._customers.action_changed(company, user, fact.conversation_id, fact.action, by_market=by_market)
