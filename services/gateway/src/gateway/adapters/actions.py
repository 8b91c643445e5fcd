"""What waits for a customer's yes and what has fired for them: asked of the market-adapter (ports.Actions, Alerts), and
told by its facts.
"""

import asyncio
from collections.abc import Awaitable
from functools import partial
from typing import Any, Literal

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from pydantic import ValidationError

from contracts import market_rpc
from contracts.envelope import CloudEvent
from contracts.events.chat import Action
from contracts.events.market import ActionDecided, AlertTriggered, OrderClosed, OrderFilled
from contracts.memory_rpc import UserRef
from contracts.own_tools import ACTION_PREFIX
from contracts.tools_rpc import OWN_ACTION_DECIDE, OWN_ACTIONS_GET, OWN_ACTIONS_PENDING
from gateway.adapters.companies import BusCompanies
from gateway.adapters.service_calls import ask
from gateway.chat.customers import Customers
from gateway.errors import not_found
from runtime.connection import subscribe
from runtime.rpc import RpcClient

log = structlog.get_logger(__name__)

DECIDE_SECONDS = 10.0
"""For a yes or no: the market adapter books it before it answers."""
OWN_DECIDE_SECONDS = 35.0
"""For a yes to a call of a company's own tool: it is made before it is answered, and may take 30 s."""
HELLO_SECONDS = 0.5
"""For what a welcome and a history hold: a chat begins without it when the market is away."""
MOST_TOLD = 100
_FIRED = "alert.triggered.v1"
# Named once: pydantic forgets a parametrised model that nobody holds.
_ACTION_FACTS: dict[str, type[CloudEvent[Any]]] = {
    "action.decided.v1": CloudEvent[ActionDecided],
    "order.filled.v1": CloudEvent[OrderFilled],
    "order.closed.v1": CloudEvent[OrderClosed],
}
"""What tells how an action stands: a decision, and what the market made of it."""
_FiredEvent = CloudEvent[AlertTriggered]


class BusActions:
    """The market-adapter decides whose an order is, and the tool-executor whose a call of an own tool; here they
    are only told who speaks. Where a company trades nothing no order waits, whatever was asked for before."""

    def __init__(self, client: RpcClient, companies: BusCompanies) -> None:
        self._client = client
        self._companies = companies

    async def decide(
        self,
        company: str,
        user: str,
        action: str,
        decision: Literal["confirm", "reject"],
        language: str | None = None,
        edits: dict[str, Any] | None = None,
    ) -> Action:
        own = action.startswith(ACTION_PREFIX)
        if not own and not await self._trades(company):
            raise not_found("action waiting for a decision")
        request = market_rpc.ActionDecideRequest(
            company_id=company,
            user_id=user,
            action_id=action,
            decision=decision,
            language=language,
            edits=edits,
        )
        if own:
            return (await ask(self._client, OWN_ACTION_DECIDE, request, deadline=OWN_DECIDE_SECONDS)).action
        return (await ask(self._client, market_rpc.ACTION_DECIDE, request, deadline=DECIDE_SECONDS)).action

    async def pending(self, company: str, user: str) -> list[Action]:
        settings = await self._companies.get(company)
        who = UserRef(company_id=company, user_id=user)
        asked = [market_rpc.ACTIONS_PENDING] if settings is None or settings.config.trades else []
        if settings is not None and settings.config.own_tools.names:
            asked.append(OWN_ACTIONS_PENDING)
        return await self._of_both(*(ask(self._client, method, who, deadline=HELLO_SECONDS) for method in asked))

    async def _trades(self, company: str) -> bool:
        settings = await self._companies.get(company)
        return settings is None or settings.config.trades

    async def known(self, company: str, user: str, actions: list[str]) -> list[Action]:
        own = [one for one in actions if one.startswith(ACTION_PREFIX)]
        orders = [one for one in actions if one not in own]
        return await self._of_both(
            *(
                ask(
                    self._client,
                    method,
                    market_rpc.ActionsRequest(company_id=company, user_id=user, action_ids=ids),
                    deadline=HELLO_SECONDS,
                )
                for method, ids in ((market_rpc.ACTIONS_GET, orders), (OWN_ACTIONS_GET, own))
                if ids
            )
        )

    @staticmethod
    async def _of_both(*replies: Awaitable[market_rpc.ActionsReply | market_rpc.PendingActionsReply]) -> list[Action]:
        """What the market and the executor say; where one is away, the other's. Raises Unavailable when nobody says."""
        said = await asyncio.gather(*replies, return_exceptions=True)
        faults = [one for one in said if isinstance(one, BaseException)]
        if faults and len(faults) == len(said):
            raise faults[0]
        return [action for one in said if not isinstance(one, BaseException) for action in one.actions]

    async def untold(self, company: str, user: str) -> market_rpc.UntoldAlertsReply:
        who = UserRef(company_id=company, user_id=user)
        return await ask(self._client, market_rpc.ALERTS_UNTOLD, who)

    async def told(self, company: str, user: str, alerts: list[str], actions: list[str]) -> None:
        for start in range(0, max(len(alerts), len(actions)), MOST_TOLD):
            part = slice(start, start + MOST_TOLD)
            request = market_rpc.AlertsToldRequest(
                company_id=company, user_id=user, alert_ids=alerts[part], action_ids=actions[part]
            )
            await ask(self._client, market_rpc.ALERTS_TOLD, request)


class MarketFacts:
    """Hands the facts of customers who are here to them. What is missed while the bus is away, a welcome tells."""

    def __init__(self, client: Client, customers: Customers) -> None:
        self._client = client
        self._customers = customers

    async def start(self) -> None:
        """From now on."""
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
            self._customers.action(*_owner(message, kind), fact.conversation_id, fact.action, by_market=by_market)

    async def _on_fired(self, message: Msg) -> None:
        owner = _owner(message, _FIRED)
        if self._customers.is_here(*owner):
            try:
                alert = _FiredEvent.model_validate_json(message.data).data.alert
            except ValidationError:
                log.warning("market.malformed_fact", subject=message.subject)
                return
            self._customers.fired(*owner, alert)


def _owner(message: Msg, kind: str) -> tuple[str, str]:
    """Company and user of the subject (who may publish it has a permission for it)."""
    company, _, user = message.subject.removeprefix(f"{kind}.").partition(".")
    return company, user
