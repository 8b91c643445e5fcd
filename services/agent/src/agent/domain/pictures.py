"""Pictures in a prompt: added to a user's message for models that accept them, otherwise mentioned in its text.

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
"""Bytes of all pictures of a prompt. In base64 they stay below the 4 MB that Groq accepts in one request, the lowest
limit of all providers (https://console.groq.com/docs/vision)."""
PICTURE_TOKENS = 1_600
"""Roughly the most tokens that a picture counts as, if it is not scaled up. The provider reports the real count."""

Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Picture:
    """`type`: as in image/png; `content` in base64."""

    name: str
    type: str
    content: str


@dataclass(frozen=True, slots=True)
class PictureSupport:
    """Which models accept pictures: a company's own model by its settings, others by their row. `unlisted`: whether
    models without a row do."""

    own: OwnModel | None = None
    unlisted: bool = False

    def of(self, provider: str, model: str) -> bool:
        """Whether this model of this provider accepts pictures."""
        row, own_model = listed(model), self.own
        if own_model is not None and (own_model.provider, own_model.model) == (provider, model):
            return own_model.sees if own_model.sees is not None else row is not None and row.sees
        return self.unlisted if row is None else row.sees


LISTED_SUPPORT = PictureSupport()
"""Support by the models' rows only."""


def fitting_pictures(files: Sequence[FileRef]) -> list[FileRef]:
    """The pictures among the files that fit into a prompt, newest first."""
    fitting: list[FileRef] = []
    room = MAX_PICTURE_BYTES
    for file in reversed(files):
        if file.type.startswith("image/") and file.size <= room:
            room -= file.size
            fitting.append(file)
    return fitting


def is_whole(file: FileRef, content: str) -> bool:
    """Whether content that was joined from pieces is complete."""
    try:
        return hashlib.sha256(b64decode(content, validate=True)).hexdigest() == file.hash
    except ValueError:  # a piece that was cut short ends in the middle
        return False


def with_pictures(messages: Sequence[Message], pictures: Sequence[Picture]) -> Sequence[Message]:
    """The messages with the pictures in the user's newest one."""
    if not pictures:
        return messages
    newest = max((index for index, message in enumerate(messages) if message["role"] == "user"), default=None)
    if newest is None:
        return messages
    return [*messages[:newest], {**messages[newest], PICTURES: tuple(pictures)}, *messages[newest + 1 :]]


def without_pictures(messages: Sequence[Message], language: Language) -> Sequence[Message]:
    """The messages for a model that accepts no pictures, with a note instead of them."""
    return [_with_note(message, language) if message.get(PICTURES) else message for message in messages]


def pictures_of(message: Message) -> Sequence[Picture]:
    return message.get(PICTURES) or ()


def picture_tokens(messages: Sequence[Message]) -> int:
    """Roughly the tokens of all pictures."""
    return PICTURE_TOKENS * sum(len(pictures_of(message)) for message in messages if PICTURES in message)


def _with_note(message: Message, language: Language) -> Message:
    note = (
        TEXTS["file.unseen"]
        .in_language(language)
        .format(names=", ".join(picture.name for picture in pictures_of(message)))
    )
    fields = {name: value for name, value in message.items() if name != PICTURES}
    return {**fields, "content": f"{message['content']}\n{note}"}
