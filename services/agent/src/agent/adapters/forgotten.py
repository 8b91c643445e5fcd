"""Drops everything that the agent has cached of a deleted conversation, and stops its running turns."""

from collections.abc import Callable, Sequence

from agent.adapters.followed import FollowedConversations
from agent.adapters.histories import HistoryClient
from agent.ports import ConversationKey


def drop_forgotten(
    histories: HistoryClient,
    followed: FollowedConversations,
    stop: Callable[[ConversationKey], None],
    company: str,
    conversations: Sequence[str],
) -> None:
    """Drops deleted conversations (see runtime.deletions). `stop`: stops a conversation's running turns."""
    for conversation in conversations:
        key = ConversationKey(company, conversation)
        histories.drop(key)
        followed.drop(key)
        stop(key)
