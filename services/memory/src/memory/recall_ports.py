"""What stores say of a person's conversations, for the search in them."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory.domain.keys import LogPosition
from memory.domain.recall.index import IndexedMessage


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation of a person, and where its newest fact stands."""

    conversation: str
    latest: LogPosition


@dataclass(frozen=True, slots=True)
class ConversationPage:
    """One page of a conversation. `up_to`: where its last message stands; None: there is no further one."""

    passages: Sequence[IndexedMessage]
    up_to: LogPosition | None
