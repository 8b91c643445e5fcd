"""The current state of actions in a history. A message holds them as they were when it was written: pending.

Somebody who opens a conversation later, or on another device, must not be offered a decision that has been made.
"""

from collections.abc import Sequence
from dataclasses import replace

import structlog
from pydantic import TypeAdapter, ValidationError

from contracts.conversation import Fact
from contracts.conversation_rpc import MessageView
from contracts.events.chat import Action, ActionState
from gateway.adapters.actions import BusActions
from gateway.adapters.memory import BusMemory
from gateway.errors import GatewayError

log = structlog.get_logger(__name__)

_ACTIONS = TypeAdapter(list[Action])
MOST = 100
"""The newest actions whose state is looked up; older ones expired long ago."""


class ActionStates:
    """Asks the market, and memory for the conversation's customer; only if something is pending."""

    def __init__(self, actions: BusActions, memory: BusMemory) -> None:
        self._actions = actions
        self._memory = memory

    async def now(
        self, company: str, conversation: str, messages: Sequence[MessageView], customer: str | None = None
    ) -> list[MessageView]:
        """The messages with their actions' current states; unchanged if nobody answers in time. `customer`: the
        conversation's, if known."""
        told = [action for message in messages for action in message.actions]
        known = await self._known(company, conversation, told, customer)
        return [_brought_up(message, known) for message in messages]

    async def facts_now(
        self, company: str, conversation: str, facts: Sequence[Fact], customer: str | None
    ) -> list[Fact]:
        """The same for facts of the log, for a client that was away when an action was requested and decided."""
        told = {fact.seq: actions for fact in facts if (actions := _actions(fact))}
        actions = [action for actions in told.values() for action in actions]
        known = await self._known(company, conversation, actions, customer)
        if not known:
            return list(facts)
        return [_with_actions(fact, told[fact.seq], known) if fact.seq in told else fact for fact in facts]

    async def _known(
        self, company: str, conversation: str, told: Sequence[Action], customer: str | None
    ) -> dict[str, Action]:
        """The current states of those pending actions that the market knows."""
        pending = [action.id for action in told if action.state is ActionState.PENDING]
        if not pending:
            return {}
        try:
            if customer is None:
                view = await self._memory.conversation(company, conversation)
                if view is None:
                    return {}
                customer = view.visitor.id
            return {one.id: one for one in await self._actions.states(company, customer, pending[-MOST:])}
        except GatewayError as error:
            log.info("chat.actions_unknown", error=error.message)
            return {}


def _brought_up(message: MessageView, known: dict[str, Action]) -> MessageView:
    if not any(action.id in known for action in message.actions):
        return message
    return message.model_copy(update={"actions": [_merged(one, known.get(one.id)) for one in message.actions]})


def _merged(told: Action, now: Action | None) -> Action:
    # What was told has the estimate that the person saw, which the order itself does not keep.
    if now is None:
        return told
    details = told.details | now.details
    if details.get("contentHash") != told.details.get("contentHash"):
        details.pop("estimate", None)  # it was of what had been asked for, which the yes has changed
    return now.model_copy(update={"details": details})


def _actions(fact: Fact) -> list[Action]:
    """None if they are malformed; then they are left as they are."""
    try:
        return _ACTIONS.validate_python(fact.data.get("actions") or [])
    except ValidationError:
        return []


def _with_actions(fact: Fact, told: Sequence[Action], known: dict[str, Action]) -> Fact:
    actions = [_merged(one, known.get(one.id)).to_wire() for one in told]
    return replace(fact, event={**fact.event, "data": {**fact.data, "actions": actions}})
