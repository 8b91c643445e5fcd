"""Reads the sequence of a conversation's newest fact."""

from agent.errors import UnreachableError
from agent.ports import ConversationKey
from runtime.conversation import ConversationLog
from runtime.errors import ReadFailedError


class NewestFacts:
    def __init__(self, chat: ConversationLog) -> None:
        self._chat = chat

    async def seq(self, key: ConversationKey) -> int:
        """Returns the sequence of the conversation's newest fact. If the log no longer contains the conversation,
        returns the sequence from which the log is complete; memory has everything before."""
        try:
            snapshot = await self._chat.snapshot(*key)
            return snapshot.seq or (await self._chat.bounds()).whole_from
        except ReadFailedError as error:
            raise UnreachableError(str(error)) from error
