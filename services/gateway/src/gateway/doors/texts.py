"""What a door takes for a person's message, with the limits that every message has."""

from contracts.errors import ErrorCode, FieldFault
from contracts.events.chat import MAX_TEXT
from contracts.ids import is_id
from gateway.chat.threads import client_message_id
from gateway.domain.blank import is_blank
from gateway.errors import Refused


def checked(text: str, field: str) -> str:
    """The text itself; raises Refused: TEXT_TOO_LONG, EMPTY_TEXT, with the field that it came in."""
    if len(text) > MAX_TEXT:
        raise _refused(ErrorCode.TEXT_TOO_LONG, field, f"at most {MAX_TEXT} characters, this has {len(text)}")
    if is_blank(text):
        raise _refused(ErrorCode.EMPTY_TEXT, field, "write something")
    return text


def unreadable(field: str, what: str) -> Refused:
    """The answer to a part of a message that is no text."""
    return _refused(ErrorCode.BAD_FIELD, field, f"{what} cannot be read here: send text")


def message_key(identity: str) -> str:
    """A client's own id of its message, as the log keeps it: itself wherever it can be one."""
    return identity if is_id(identity) else client_message_id(identity)


def _refused(code: ErrorCode, field: str, message: str) -> Refused:
    return Refused(code, f"{field}: {message}", [FieldFault(field=field, message=message)])
