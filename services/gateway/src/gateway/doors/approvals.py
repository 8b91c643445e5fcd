"""What waits for a yes in a conversation, for doors whose clients hand their answers back beside messages."""

from collections.abc import Collection, Sequence

from contracts.events.chat import Action
from contracts.rpc import MessageView
from gateway.chat.commands import ConversationPlace
from gateway.errors import Unavailable
from gateway.web.deps import Api

SHOWN = 50
"""Messages of a conversation that are looked through."""


async def newest_messages(api: Api, place: ConversationPlace, wanted: Collection[str] = ()) -> list[MessageView]:
    """The conversation's last messages, with their actions as they stand: out of the log, and out of memory where the
    log's end does not hold them all.

    Args:
        wanted: actions whose messages are enough while memory is away.

    Raises:
        Unavailable: they cannot be read now.
    """
    caller, conversation = place.caller, place.conversation
    messages, whole, newest = await api.threads.last_messages(caller, conversation, SHOWN)
    if not whole:
        try:
            reply = await api.memory.snapshot(place.company, conversation, newest, SHOWN, events=False)
            messages = reply.messages
        except Unavailable:
            if not wanted or not actions_in(messages).keys() >= set(wanted):
                raise
    return await api.standing.now(place.company, conversation, messages, caller.subject)


def actions_in(messages: Sequence[MessageView]) -> dict[str, Action]:
    """Their actions, by id."""
    return {action.id: action for message in messages for action in message.actions}
