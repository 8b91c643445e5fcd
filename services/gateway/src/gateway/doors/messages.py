"""Reads people's messages from clients' requests and applies the limits of every message."""

from base64 import b64decode
from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from typing import Any

from contracts.errors import ErrorCode
from contracts.events.chat import MAX_TEXT
from contracts.files import MAX_FILES
from contracts.ids import is_id
from contracts.plain_text import is_blank
from gateway.chat.sent_messages import SentFile, SentMessage, client_message_id
from gateway.domain.file_kinds import FileRefusedError, detect_kind, may_be_declared
from gateway.errors import RefusedError, bad_field

Json = dict[str, Any]
Part = str | SentFile
MAX_NEW_MESSAGES = 20
"""New messages allowed in one request."""


def sent_message(identity: str, parts: Iterable[Part], field: str) -> SentMessage:
    """The message made of these parts; raises RefusedError: TEXT_TOO_LONG, EMPTY_TEXT, BAD_FIELD, naming the field."""
    message_parts = list(parts)
    files = tuple([part for part in message_parts if isinstance(part, SentFile)])
    text = "\n".join([part for part in message_parts if isinstance(part, str)])
    if len(files) > MAX_FILES:
        raise bad_field(field, f"at most {MAX_FILES} files in a message")
    if files and is_blank(text):
        text = ", ".join(file.name for file in files)
    if len(text) > MAX_TEXT:
        raise bad_field(field, f"at most {MAX_TEXT} characters, this has {len(text)}", ErrorCode.TEXT_TOO_LONG)
    if is_blank(text):
        raise bad_field(field, "write something", ErrorCode.EMPTY_TEXT)
    return SentMessage(message_key(identity), text, files)


def new_messages(messages: Sequence[Json], parts_of: Callable[[Json, str], Iterable[Part]]) -> list[SentMessage]:
    """The user's messages at the end of the client's conversation, after the last message of anybody else.

    Raises:
        RefusedError: BAD_FIELD, TEXT_TOO_LONG, EMPTY_TEXT.
    """
    first = first_new_index(messages)
    if len(messages) - first > MAX_NEW_MESSAGES:
        raise RefusedError(ErrorCode.BAD_FIELD, f"messages: at most {MAX_NEW_MESSAGES} new ones at a time")
    sent_messages: list[SentMessage] = []
    for index in range(first, len(messages)):
        identity, field = messages[index].get("id"), f"messages[{index}]"
        if not isinstance(identity, str) or not identity:
            reason = "a message needs an id, which makes it one when it comes again"
            raise bad_field(f"{field}.id", reason)
        sent_messages.append(sent_message(identity, parts_of(messages[index], field), field))
    return sent_messages


def first_new_index(messages: Sequence[Json]) -> int:
    """The index of the first of the user's messages at the end; the number of messages if there are none."""
    first = len(messages)
    while first > 0 and messages[first - 1].get("role") == "user":
        first -= 1
    return first


def file_from_url(url: object, name: object, field: str) -> SentFile:
    """The file in a data: URL; raises RefusedError BAD_FIELD, also for an http address, which is not fetched."""
    head, _, content = url.partition(",") if isinstance(url, str) else ("", "", "")
    if not head.startswith("data:") or not head.endswith(";base64"):
        reason = "send the file itself, as data:image/png;base64,…: addresses are not fetched here"
        raise bad_field(field, reason)
    return file_from_base64(content, head[5:].partition(";")[0], name, field)


def file_from_base64(content: object, media: object, name: object, field: str) -> SentFile:
    """The file in a base64 text; raises RefusedError BAD_FIELD if it is invalid or of an unsupported kind. `media`: its
    declared type, if any; the actual type is determined from the content."""
    file_name = name if isinstance(name, str) and name else "file"
    try:
        decoded = b64decode(content if isinstance(content, str) else "", validate=True)
        kind = detect_kind(BytesIO(decoded), file_name)
    except (ValueError, FileRefusedError) as error:
        reason = str(error) if isinstance(error, FileRefusedError) else "this is no base64"
        raise bad_field(field, reason) from None
    if not decoded:
        raise bad_field(field, "the file is empty")
    if isinstance(media, str) and not may_be_declared(kind.type, media):
        raise bad_field(field, f"{media[:80]} is not taken, or not what it is ({kind.type})")
    return SentFile(kind.name, decoded)


def unreadable_part(field: str, description: str) -> RefusedError:
    """The error for a part of a message that is neither text nor a file."""
    return bad_field(field, f"{description} cannot be read here: send text, or a file in the message")


def message_key(identity: str) -> str:
    """The log's id for a client's message id: unchanged if it is a valid id."""
    return identity if is_id(identity) else client_message_id(identity)
