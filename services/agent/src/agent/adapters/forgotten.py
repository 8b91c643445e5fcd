"""Drops everything that the agent has cached of a deleted conversation, and stops its running turns."""

from collections.abc import Callable, Sequence

from agent.adapters.followed import FollowedConversations
from agent.adapters.histories import HistoryClient
from agent.ports import ConversationKey


class ForgottenConversations:
    """Drops deleted conversations (see runtime.deletions). `stop`: stops a conversation's running turns."""

    def __init__(
        self, histories: HistoryClient, followed: FollowedConversations, stop: Callable[[ConversationKey], None]
    ) -> None:
        self._histories = histories
        self._followed = followed
        self._stop = stop

    def drop(self, company: str, conversations: Sequence[str]) -> None:
        for key in (ConversationKey(company, conversation) for conversation in conversations):
            self._histories.drop(key)
            self._followed.drop(key)
            self._stop(key)
