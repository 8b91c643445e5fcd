"""Pending actions of a conversation, for doors whose clients send decisions along with messages."""

from collections.abc import Collection, Sequence

from contracts.conversation_rpc import MessageView
from contracts.events.chat import Action
from contracts.languages import DEFAULT_LANGUAGE, detected_language
from gateway.chat.commands import ConversationPlace
from gateway.errors import UnavailableError
from gateway.texts import TEXTS
from gateway.web.deps import Api

MAX_MESSAGES = 50
"""Last messages of a conversation that are searched for actions."""
_QUESTIONS = tuple(TEXTS["order.question"].by_language.values())


async def newest_messages(
    api: Api, place: ConversationPlace, required_actions: Collection[str] = ()
) -> list[MessageView]:
    """The conversation's last messages with their actions' current states: from the log's end, or from memory if that
    does not have them all.

    Args:
        required_actions: if memory is unavailable, messages with these actions are enough.

    Raises:
        UnavailableError: the messages cannot be read now.
    """
    caller, conversation = place.caller, place.conversation
    messages, is_complete, newest_seq = await api.threads.last_messages(caller, conversation, MAX_MESSAGES)
    if not is_complete:
        try:
            reply = await api.memory.snapshot(place.company, conversation, newest_seq, MAX_MESSAGES, events=False)
            messages = reply.messages
        except UnavailableError:
            if not required_actions or not actions_in(messages).keys() >= set(required_actions):
                raise
    return await api.action_states.with_current_states(place.company, conversation, messages, caller.subject)


def question_text(actions: Sequence[Action]) -> str:
    """The question whether to do what waits, in the language of its summaries."""
    summaries = "\n".join(action.summary for action in actions)
    question = TEXTS["order.question"].in_language(detected_language(summaries) or DEFAULT_LANGUAGE)
    return f"{summaries}\n{question}"


def ends_with_question(text: str) -> bool:
    """Whether the text ends with that question, in any language."""
    return text.endswith(_QUESTIONS)


def action_state_text(action: Action, language: str) -> str:
    """A text that says what became of an action."""
    return f"{action.summary}: {TEXTS[f'order.states.{action.state}'].in_language(language)}"


def actions_in(messages: Sequence[MessageView]) -> dict[str, Action]:
    """The messages' actions, by id."""
    return {action.id: action for message in messages for action in message.actions}
