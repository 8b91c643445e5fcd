"""A person's conversations, as the search reads them from the stores."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory.domain.keys import LogPosition
from memory.domain.recall.index import IndexedMessage


@dataclass(frozen=True, slots=True)
class PastConversation:
    """A person's conversation, and the position of its newest fact."""

    conversation: str
    latest: LogPosition


@dataclass(frozen=True, slots=True)
class ConversationPage:
    """One page of a conversation. `up_to`: the position of its last message; None: there are no more pages."""

    passages: Sequence[IndexedMessage]
    up_to: LogPosition | None
