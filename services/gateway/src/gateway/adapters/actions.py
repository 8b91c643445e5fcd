"""Actions that wait for a customer's confirmation, and fired alerts; from the market-adapter and the tool-executor."""

import asyncio
from collections.abc import Awaitable, Mapping
from typing import Literal

from contracts import market_rpc
from contracts.events.chat import Action
from contracts.memory_rpc import UserRef
from contracts.own_tools import ACTION_PREFIX
from contracts.tools_rpc import OWN_ACTION_DECIDE, OWN_ACTIONS_GET, OWN_ACTIONS_PENDING
from gateway.adapters.companies import BusCompanies
from gateway.adapters.service_calls import ask
from gateway.errors import not_found
from gateway.ports import TokenCaller
from runtime.calls.rpc import RpcClient

DECIDE_SECONDS = 10.0
"""Deadline of a decision; the market-adapter books it before it answers."""
OWN_DECIDE_SECONDS = 35.0
"""Deadline of a decision on a call of a company's own tool, which is made before the answer and may take 30 s."""
HELLO_SECONDS = 0.5
"""Deadline for a welcome or a history, which go out without actions if the market is away."""
MOST_TOLD = 100


class BusActions:
    """Actions over the bus. The market-adapter checks whose an order is, the tool-executor whose a call of an own
    tool; this class only passes on who speaks. A company without trading has no waiting orders, whatever was asked
    for before."""

    def __init__(self, client: RpcClient, companies: BusCompanies) -> None:
        self._client = client
        self._companies = companies

    async def decide(
        self,
        caller: TokenCaller,
        action: str,
        decision: Literal["confirm", "reject"],
        language: str | None = None,
        edits: Mapping[str, object] | None = None,
    ) -> Action:
        """Decides an action of the caller's and returns it as it is now; the first decision counts. `edits`, with a
        yes: new values of editable fields. `language`: of an error message.

        Raises:
            RefusedError: NOT_FOUND; BAD_FIELD for the edits, and nothing is decided.
            UnavailableError: its service does not answer.
        """
        own = action.startswith(ACTION_PREFIX)
        if not own and not await self._trades(caller.company):
            raise not_found("action waiting for a decision")
        request = market_rpc.ActionDecideRequest(
            company_id=caller.company,
            user_id=caller.subject,
            action_id=action,
            decision=decision,
            language=await self._companies.language_for(caller.company, language),
            edits=None if edits is None else dict(edits),
        )
        if own:
            return (await ask(self._client, OWN_ACTION_DECIDE, request, deadline=OWN_DECIDE_SECONDS)).action
        return (await ask(self._client, market_rpc.ACTION_DECIDE, request, deadline=DECIDE_SECONDS)).action

    async def pending(self, company: str, user: str) -> list[Action]:
        """This user's waiting actions, oldest first; raises UnavailableError soon."""
        settings = await self._companies.get(company)
        who = UserRef(company_id=company, user_id=user)
        asked = [market_rpc.ACTIONS_PENDING] if settings is None or settings.config.trades else []
        if settings is not None and settings.config.own_tools.names:
            asked.append(OWN_ACTIONS_PENDING)
        return await self._of_both(*(ask(self._client, method, who, deadline=HELLO_SECONDS) for method in asked))

    async def _trades(self, company: str) -> bool:
        settings = await self._companies.get(company)
        return settings is None or settings.config.trades

    async def states(self, company: str, user: str, actions: list[str]) -> list[Action]:
        """The current state of the user's own among these actions (at most 100); raises UnavailableError soon."""
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
        """The answers of market and executor; if one is away, the other's. Raises UnavailableError if both are."""
        said = await asyncio.gather(*replies, return_exceptions=True)
        faults = [one for one in said if isinstance(one, BaseException)]
        if faults and len(faults) == len(said):
            raise faults[0]
        return [action for one in said if not isinstance(one, BaseException) for action in one.actions]

    async def untold(self, company: str, user: str) -> market_rpc.UntoldAlertsReply:
        """Fired alerts and filled or ended orders that the user has not been told of, oldest first. Raises
        UnavailableError."""
        who = UserRef(company_id=company, user_id=user)
        return await ask(self._client, market_rpc.ALERTS_UNTOLD, who)

    async def mark_told(self, company: str, user: str, alerts: list[str], actions: list[str]) -> None:
        """Marks these as told; raises UnavailableError."""
        for start in range(0, max(len(alerts), len(actions)), MOST_TOLD):
            part = slice(start, start + MOST_TOLD)
            request = market_rpc.AlertsToldRequest(
                company_id=company, user_id=user, alert_ids=alerts[part], action_ids=actions[part]
            )
            await ask(self._client, market_rpc.ALERTS_TOLD, request)
