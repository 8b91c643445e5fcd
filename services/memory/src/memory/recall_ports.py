"""What finding earlier messages needs from outside, as Protocols."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memory.domain.keys import Position
from memory.domain.recall.index import Passage


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation of a person, and where its newest fact stands."""

    conversation: str
    latest: Position


@dataclass(frozen=True, slots=True)
class Said:
    """One page of a conversation. `up_to`: where its last message stands; None: there is no further one."""

    passages: Sequence[Passage]
    up_to: Position | None


class TalkStore(Protocol):
    """A person's conversations and what was said in them."""

    async def talks(self, company: str, user: str, limit: int) -> list[Talk]:
        """The person's conversations, latest activity first."""
        ...

    async def said(self, company: str, conversation: str, since: Position, limit: int) -> Said:
        """The messages of people and of the assistant after `since`, oldest first."""
        ...
