"""Decisions on what waits for a person's yes, handed to the market-adapter (ports.Actions)."""

from typing import Literal

from contracts.events.chat import Action
from contracts.market_rpc import ACTION_DECIDE, ActionDecideRequest
from gateway.adapters.asking import ask
from runtime.rpc import RpcClient

DECIDE_SECONDS = 10.0


class BusActions:
    """The market-adapter decides whose an action is; here it is only told who speaks."""

    def __init__(self, client: RpcClient) -> None:
        self._client = client

    async def decide(self, company: str, user: str, action: str, decision: Literal["confirm", "reject"]) -> Action:
        request = ActionDecideRequest(company_id=company, user_id=user, action_id=action, decision=decision)
        return (await ask(self._client, ACTION_DECIDE, request, deadline=DECIDE_SECONDS)).action
