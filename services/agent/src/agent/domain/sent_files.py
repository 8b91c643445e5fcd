"""The files of a conversation in a prompt. Their texts are data between fences. Unreadable files are named as such,
so that no model invents their content."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.domain.context.compression import PromptMessage
from agent.domain.pictures import Picture
from agent.domain.text_features import within_fence
from agent.texts import TEXTS
from contracts.files import FileRef
from contracts.languages import Language

MAX_FILES = 3
"""Files that a prompt holds: the newest."""
MAX_FILE_CHARACTERS = 4_000
"""The most characters of one file's text."""
MAX_MESSAGES_BACK = 8
"""Messages from the end in which they are looked for."""


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file, with its text; without one `problem` says why, or nobody has answered. `picture`: what a model that sees
    is shown of it.
    """

    file: FileRef
    text: str = ""
    truncated: bool = False
    problem: str | None = None
    picture: Picture | None = None


def files_of(messages: Sequence[PromptMessage]) -> list[FileRef]:
    """The newest files that the last messages name, oldest first."""
    found = {file.id: file for message in messages[-MAX_MESSAGES_BACK:] for file in message.files}
    return list(found.values())[-MAX_FILES:]


def only_files(messages: Sequence[PromptMessage]) -> bool:
    """Whether they say nothing beside the files that they name: then their text is the files' names."""
    return bool(messages) and all(
        one.files and one.text == ", ".join(file.name for file in one.files) for one in messages
    )


def is_picture(file: FileRef) -> bool:
    """Whether there is nothing in it to be read."""
    return file.type.startswith("image/")


def files_section(files: Iterable[ReadFile], language: Language) -> str:
    """The prompt's section; empty without files."""
    parts = [_file_text(one, language) for one in files]
    return "\n".join([TEXTS["prompt.files"].in_language(language), *parts]) if parts else ""


def _file_text(one: ReadFile, language: Language) -> str:
    head = f"- {one.file.name} ({one.file.type}, {one.file.size} bytes)"
    if is_picture(one.file):
        key = "unseen_picture" if one.picture is None else "shown_picture"
        return f"{head}: {TEXTS[f'file.{key}'].in_language(language)}"
    if not one.text:
        return f"{head}: {one.problem or TEXTS['file.unreadable'].in_language(language)}"
    return f"{head}\n<file_data>\n{within_fence(one.text, 'file_data')}\n</file_data>" + (
        f" {TEXTS['file.cut_off'].in_language(language)}" if one.truncated else ""
    )
