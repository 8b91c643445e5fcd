"""What waits for a yes in a conversation, for doors whose clients hand their answers back beside messages."""

from collections.abc import Sequence

from contracts.events.chat import Action
from contracts.rpc import MessageView
from gateway.chat.commands import ConversationPlace
from gateway.web.deps import Api

SHOWN = 50
"""Messages of a conversation that are looked through."""


async def newest_messages(api: Api, place: ConversationPlace) -> list[MessageView]:
    """The conversation's last messages, with their actions as they stand."""
    at_least = await api.threads.newest(place.caller, place.conversation)
    reply = await api.memory.snapshot(place.company, place.conversation, at_least, SHOWN, events=False)
    return await api.standing.now(place.company, place.conversation, reply.messages)


def actions_in(messages: Sequence[MessageView]) -> dict[str, Action]:
    """Their actions, by id."""
    return {action.id: action for message in messages for action in message.actions}
