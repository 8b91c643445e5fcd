"""Pictures in a prompt: beside the text of a user's message for models that accept them, otherwise mentioned in words.

A message holds them under PICTURES, so that counting and cutting only concern `content`. Each provider's client
translates them into its own format.
"""

import hashlib
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent.domain.providers import listed
from agent.texts import TEXTS
from contracts.files import FileRef
from contracts.languages import Language
from contracts.own_model import OwnModel

PICTURES = "pictures"
MAX_PICTURE_BYTES = 2_800_000
"""Of all the pictures of a prompt: in base64 they stay below the 4 MB that Groq takes in one request, the least of all
(https://console.groq.com/docs/vision)."""
PICTURE_TOKENS = 1_600
"""About what a picture counts as at most where it is not scaled up; a provider's own count says what it was."""

Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Picture:
    """`type`: as in image/png; `content` in base64."""

    name: str
    type: str
    content: str


@dataclass(frozen=True, slots=True)
class PictureSupport:
    """Which models take pictures: a company's own by its settings, others by their row. `unlisted`: those without."""

    own: OwnModel | None = None
    unlisted: bool = False

    def of(self, provider: str, model: str) -> bool:
        """Whether this model of this provider does."""
        row, own = listed(model), self.own
        if own is not None and (own.provider, own.model) == (provider, model):
            return own.sees if own.sees is not None else row is not None and row.sees
        return self.unlisted if row is None else row.sees


LISTED_SUPPORT = PictureSupport()
"""What the rows alone say."""


def fitting_pictures(files: Sequence[FileRef]) -> list[FileRef]:
    """The pictures among them that a prompt has room for, the newest of them first."""
    found: list[FileRef] = []
    room = MAX_PICTURE_BYTES
    for file in reversed(files):
        if file.type.startswith("image/") and file.size <= room:
            room -= file.size
            found.append(file)
    return found


def is_whole(file: FileRef, content: str) -> bool:
    """Whether the content, which was put together from pieces, is complete."""
    try:
        return hashlib.sha256(b64decode(content, validate=True)).hexdigest() == file.hash
    except ValueError:  # a piece that was cut short ends in the middle
        return False


def with_pictures(messages: Sequence[Message], pictures: Sequence[Picture]) -> Sequence[Message]:
    """The messages with pictures in the newest one of the user's."""
    if not pictures:
        return messages
    newest = max((at for at, one in enumerate(messages) if one["role"] == "user"), default=None)
    if newest is None:
        return messages
    return [*messages[:newest], {**messages[newest], PICTURES: tuple(pictures)}, *messages[newest + 1 :]]


def without_pictures(messages: Sequence[Message], language: Language) -> Sequence[Message]:
    """The messages for a model that accepts no pictures: a note says that there were some."""
    return [_with_note(one, language) if one.get(PICTURES) else one for one in messages]


def pictures_of(message: Message) -> Sequence[Picture]:
    return message.get(PICTURES) or ()


def picture_tokens(messages: Sequence[Message]) -> int:
    """Roughly how many tokens all pictures count as."""
    return PICTURE_TOKENS * sum(len(pictures_of(one)) for one in messages if PICTURES in one)


def _with_note(message: Message, language: Language) -> Message:
    note = TEXTS["file.unseen"].in_language(language).format(names=", ".join(one.name for one in pictures_of(message)))
    kept = {name: value for name, value in message.items() if name != PICTURES}
    return {**kept, "content": f"{message['content']}\n{note}"}
