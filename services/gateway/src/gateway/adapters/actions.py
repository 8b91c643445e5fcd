"""Actions that a customer must confirm, and fired alerts, from the market-adapter and the tool-executor."""

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
"""Deadline of a decision on a call of a company's own tool; the call is made before the answer and may take 30 s."""
HELLO_SECONDS = 0.5
"""Deadline for a welcome or a history, which are sent without actions if the market is unavailable."""
MAX_MARKED = 100


class BusActions:
    """Actions over the bus. The market-adapter checks who owns an order, the tool-executor who owns a call of an own
    tool; this class only passes on the caller. A company without trading has no pending orders, whatever was requested
    before."""

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
        """Decides one of the caller's actions and returns its current state; the first decision counts. `edits`: new
        values of editable fields, for a confirmation. `language`: of error messages.

        Raises:
            RefusedError: NOT_FOUND; BAD_FIELD if the edits are wrong, and then nothing is decided.
            UnavailableError: the action's service does not answer.
        """
        is_own_tool = action.startswith(ACTION_PREFIX)
        if not is_own_tool and not await self._companies.trades(caller.company):
            raise not_found("action waiting for a decision")
        request = market_rpc.ActionDecideRequest(
            company_id=caller.company,
            user_id=caller.subject,
            action_id=action,
            decision=decision,
            language=await self._companies.language_for(caller.company, language),
            edits=None if edits is None else dict(edits),
        )
        if is_own_tool:
            return (await ask(self._client, OWN_ACTION_DECIDE, request, deadline=OWN_DECIDE_SECONDS)).action
        return (await ask(self._client, market_rpc.ACTION_DECIDE, request, deadline=DECIDE_SECONDS)).action

    async def pending(self, company: str, user: str) -> list[Action]:
        """The user's pending actions, oldest first; raises UnavailableError after HELLO_SECONDS."""
        settings = await self._companies.get(company)
        user_ref = UserRef(company_id=company, user_id=user)
        methods = [market_rpc.ACTIONS_PENDING] if settings is None or settings.config.trades else []
        if settings is not None and settings.config.own_tools.names:
            methods.append(OWN_ACTIONS_PENDING)
        return await self._all_actions(
            *(ask(self._client, method, user_ref, deadline=HELLO_SECONDS) for method in methods)
        )

    async def states(self, company: str, user: str, actions: list[str]) -> list[Action]:
        """The current states of those of these actions (at most 100) that are the user's; raises UnavailableError after
        HELLO_SECONDS."""
        own_tool_calls = [action for action in actions if action.startswith(ACTION_PREFIX)]
        orders = [action for action in actions if action not in own_tool_calls]
        return await self._all_actions(
            *(
                ask(
                    self._client,
                    method,
                    market_rpc.ActionsRequest(company_id=company, user_id=user, action_ids=ids),
                    deadline=HELLO_SECONDS,
                )
                for method, ids in ((market_rpc.ACTIONS_GET, orders), (OWN_ACTIONS_GET, own_tool_calls))
                if ids
            )
        )

    @staticmethod
    async def _all_actions(
        *replies: Awaitable[market_rpc.ActionsReply | market_rpc.PendingActionsReply],
    ) -> list[Action]:
        """The actions in all replies; raises an error only if every call has failed."""
        outcomes = await asyncio.gather(*replies, return_exceptions=True)
        errors = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        if errors and len(errors) == len(outcomes):
            raise errors[0]
        return [action for outcome in outcomes if not isinstance(outcome, BaseException) for action in outcome.actions]

    async def untold(self, company: str, user: str) -> market_rpc.UntoldAlertsReply:
        """Fired alerts and filled or ended orders of which the user has not been told, oldest first; raises
        UnavailableError."""
        user_ref = UserRef(company_id=company, user_id=user)
        return await ask(self._client, market_rpc.ALERTS_UNTOLD, user_ref)

    async def mark_told(self, company: str, user: str, alerts: list[str], actions: list[str]) -> None:
        """Marks these alerts and actions as told; raises UnavailableError."""
        for start in range(0, max(len(alerts), len(actions)), MAX_MARKED):
            batch = slice(start, start + MAX_MARKED)
            request = market_rpc.AlertsToldRequest(
                company_id=company, user_id=user, alert_ids=alerts[batch], action_ids=actions[batch]
            )
            await ask(self._client, market_rpc.ALERTS_TOLD, request)
