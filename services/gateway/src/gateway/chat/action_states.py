"""The current state of actions in a history. A message contains them as they were when it was written: pending.

Somebody who opens a conversation later, or on another device, must not be offered a decision that has been made.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import structlog
from pydantic import TypeAdapter, ValidationError

from contracts.conversation import Fact
from contracts.conversation_rpc import ConversationView, MessageView
from contracts.events.chat import Action, ActionState
from gateway.adapters.actions import BusActions
from gateway.adapters.memory import BusMemory
from gateway.errors import GatewayError

log = structlog.get_logger(__name__)

_ACTIONS = TypeAdapter(list[Action])
MAX_LOOKED_UP = 100
"""Newest actions whose state is looked up; older ones expired long ago."""


class ActionStates:
    """Reads the states from the market, and a conversation's customer from memory, only if an action is pending."""

    def __init__(self, actions: BusActions, memory: BusMemory) -> None:
        self._actions = actions
        self._memory = memory

    async def with_current_states(
        self, company: str, conversation: str, messages: Sequence[MessageView], customer: str | None = None
    ) -> list[MessageView]:
        """The messages with their actions' current states; unchanged if the states cannot be read in time. `customer`:
        the conversation's customer, if known."""
        actions = [action for message in messages for action in message.actions]
        states = await self._current_states(company, actions, customer, conversation)
        return [_with_current_actions(message, states) for message in messages]

    async def views_with_current_states(
        self, company: str, views: Sequence[ConversationView]
    ) -> list[ConversationView]:
        """The conversations with the current states of their last messages' actions; each customer is looked up once,
        all at the same time."""
        actions_by_customer: dict[str, list[Action]] = {}
        for view in views:
            if view.last_message is not None:
                actions_by_customer.setdefault(view.visitor.id, []).extend(view.last_message.actions)
        found = await asyncio.gather(
            *(self._current_states(company, actions, customer) for customer, actions in actions_by_customer.items())
        )
        states = {action: state for known in found for action, state in known.items()}
        if not states:
            return list(views)
        return [
            view.model_copy(update={"last_message": _with_current_actions(view.last_message, states)})
            if view.last_message is not None
            else view
            for view in views
        ]

    async def facts_with_current_states(
        self, company: str, conversation: str, facts: Sequence[Fact], customer: str | None
    ) -> list[Fact]:
        """The same for facts of the log: the client may have been away when an action was requested and decided."""
        actions_by_seq = {fact.seq: actions for fact in facts if (actions := _actions_of(fact))}
        actions = [action for actions in actions_by_seq.values() for action in actions]
        states = await self._current_states(company, actions, customer, conversation)
        if not states:
            return list(facts)
        return [
            _fact_with_actions(fact, actions_by_seq[fact.seq], states) if fact.seq in actions_by_seq else fact
            for fact in facts
        ]

    async def _current_states(
        self, company: str, actions: Sequence[Action], customer: str | None, conversation: str = ""
    ) -> dict[str, Action]:
        """The current state, by id, of the pending actions that the market knows. `conversation`: whose customer it is,
        if that is not known."""
        pending = [action.id for action in actions if action.state is ActionState.PENDING]
        if not pending:
            return {}
        try:
            if customer is None:
                view = await self._memory.conversation(company, conversation)
                if view is None:
                    return {}
                customer = view.visitor.id
            return {
                action.id: action for action in await self._actions.states(company, customer, pending[-MAX_LOOKED_UP:])
            }
        except GatewayError as error:
            log.info("chat.actions_unknown", error=error.message)
            return {}


def _with_current_actions(message: MessageView, states: dict[str, Action]) -> MessageView:
    if not any(action.id in states for action in message.actions):
        return message
    return message.model_copy(
        update={"actions": [_merged_action(action, states.get(action.id)) for action in message.actions]}
    )


def _merged_action(shown: Action, current: Action | None) -> Action:
    # The message has the estimate that the person saw, which the order itself does not keep.
    if current is None:
        return shown
    details = shown.details | current.details
    if details.get("contentHash") != shown.details.get("contentHash"):
        details.pop("estimate", None)  # the order was edited when it was confirmed: the estimate is of the old one
    return current.model_copy(update={"details": details})


def _actions_of(fact: Fact) -> list[Action]:
    """The fact's actions; none if they are malformed."""
    try:
        return _ACTIONS.validate_python(fact.data.get("actions") or [])
    except ValidationError:
        return []


def _fact_with_actions(fact: Fact, shown: Sequence[Action], states: dict[str, Action]) -> Fact:
    actions = [_merged_action(action, states.get(action.id)).to_wire() for action in shown]
    return replace(fact, event={**fact.event, "data": {**fact.data, "actions": actions}})
