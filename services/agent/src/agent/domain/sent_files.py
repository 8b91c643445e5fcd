"""The files of a conversation in a prompt.

Their texts are data between fences. Unreadable files are named as such, so that no model invents their content.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.domain.context.compression import PromptMessage
from agent.domain.pictures import Picture
from agent.domain.text_features import within_fence
from agent.texts import TEXTS
from contracts.files import FileRef
from contracts.languages import Language

MAX_FILES = 3
"""Files in a prompt; the newest are used."""
MAX_FILE_CHARACTERS = 4_000
"""Characters of one file's text."""
MAX_MESSAGES_BACK = 8
"""Newest messages in which files are looked for."""


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file with its text. Without a text, `problem` is the reason, or None if nobody answered. `picture`: for models
    that accept pictures.
    """

    file: FileRef
    text: str = ""
    truncated: bool = False
    problem: str | None = None
    picture: Picture | None = None


def files_of(messages: Sequence[PromptMessage]) -> list[FileRef]:
    """The newest files that the last messages name, oldest first."""
    by_id = {file.id: file for message in messages[-MAX_MESSAGES_BACK:] for file in message.files}
    return list(by_id.values())[-MAX_FILES:]


def only_files(messages: Sequence[PromptMessage]) -> bool:
    """Whether the messages only consist of files: then their text is the files' names."""
    return bool(messages) and all(
        message.files and message.text == ", ".join(file.name for file in message.files) for message in messages
    )


def is_picture(file: FileRef) -> bool:
    """Whether the file is an image, which has no text."""
    return file.type.startswith("image/")


def files_section(files: Iterable[ReadFile], language: Language) -> str:
    """The prompt's section; empty without files."""
    lines = [_file_text(file, language) for file in files]
    return "\n".join([TEXTS["prompt.files"].in_language(language), *lines]) if lines else ""


def _file_text(read: ReadFile, language: Language) -> str:
    head = f"- {read.file.name} ({read.file.type}, {read.file.size} bytes)"
    if is_picture(read.file):
        key = "unseen_picture" if read.picture is None else "shown_picture"
        return f"{head}: {TEXTS[f'file.{key}'].in_language(language)}"
    if not read.text:
        return f"{head}: {read.problem or TEXTS['file.unreadable'].in_language(language)}"
    return f"{head}\n<file_data>\n{within_fence(read.text, 'file_data')}\n</file_data>" + (
        f" {TEXTS['file.cut_off'].in_language(language)}" if read.truncated else ""
    )
