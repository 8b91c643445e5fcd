"""What a client of another protocol sends as one message: its words, and files that are taken in with it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from contracts.ids import derive_id


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file that came in the message itself; its content is of a kind that is taken."""

    name: str
    content: bytes

    async def body(self) -> AsyncIterator[bytes]:
        """The content, as whoever takes files in reads it."""
        yield self.content


@dataclass(frozen=True, slots=True)
class SentMessage:
    """One message. The same `identity` again is the same message."""

    identity: str
    text: str
    files: tuple[SentFile, ...] = ()


def client_message_id(*parts: str) -> str:
    """The id of a message from what its protocol repeats when it is sent again."""
    return derive_id("door", *parts)
