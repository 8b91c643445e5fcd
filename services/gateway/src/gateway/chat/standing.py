"""How the actions in a history stand now: a message tells them as they were when it was written, always pending.

Whoever opens a conversation later, or on another device, must not be offered a decision that has been made.
"""

from collections.abc import Sequence

import structlog

from contracts.events.chat import Action, ActionState
from contracts.rpc import MessageView
from gateway.errors import GatewayError
from gateway.ports import Actions, Memory

log = structlog.get_logger(__name__)

MOST = 100
"""Actions asked for at a time, the newest ones: older ones have long expired."""


class Standing:
    """Asks the market, and memory whose conversation it is; only where something is told as pending."""

    def __init__(self, actions: Actions, memory: Memory) -> None:
        self._actions = actions
        self._memory = memory

    async def now(self, company: str, conversation: str, messages: Sequence[MessageView]) -> list[MessageView]:
        """The messages with their actions as they are; as they were told where nobody says so in time."""
        told = [action.id for message in messages for action in message.actions if action.state is ActionState.PENDING]
        if not told:
            return list(messages)
        try:
            view = await self._memory.conversation(company, conversation)
            if view is None:
                return list(messages)
            known = {one.id: one for one in await self._actions.known(company, view.visitor.id, told[-MOST:])}
        except GatewayError as error:
            log.info("chat.actions_unknown", error=error.message)
            return list(messages)
        return [_brought_up(message, known) for message in messages]


def _brought_up(message: MessageView, known: dict[str, Action]) -> MessageView:
    if not any(action.id in known for action in message.actions):
        return message
    return message.model_copy(update={"actions": [_merged(one, known.get(one.id)) for one in message.actions]})


def _merged(told: Action, now: Action | None) -> Action:
    # What was told has the estimate that the person saw, which the order itself does not keep.
    return told if now is None else now.model_copy(update={"details": told.details | now.details})
