"""A message from a client of another protocol: its text and the files in it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from contracts.ids import derive_id


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file inside the message; the kind of its content is accepted."""

    name: str
    content: bytes

    async def body(self) -> AsyncIterator[bytes]:
        """The content as a stream."""
        yield self.content


@dataclass(frozen=True, slots=True)
class SentMessage:
    """One message. Messages with the same `identity` are the same message."""

    identity: str
    text: str
    files: tuple[SentFile, ...] = ()


def client_message_id(*parts: str) -> str:
    """A message id derived from what the client's protocol repeats when it sends a message again."""
    return derive_id("door", *parts)
