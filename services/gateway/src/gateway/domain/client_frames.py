"""Frames that clients send, as the protocol's version 1 has them (docs/architecture/chat.md).

A frame becomes one of the models below, or a FrameError with the documented code. Unknown fields are ignored, so that
an older gateway understands a newer client.
"""

import json
import re
from typing import Annotated, Any, Literal, cast

import orjson
from pydantic import BeforeValidator, Field, StringConstraints, ValidationError

from contracts.envelope import Wire
from contracts.errors import ErrorCode
from contracts.events.chat import MAX_TEXT, MAX_TITLE, Page
from contracts.ids import Id

PROTOCOL_VERSION = 1
MAX_FRAME_BYTES = 128 * 1024
"""Bytes of one text frame; a bigger one closes the socket (4501)."""

Uuid = Annotated[
    str, StringConstraints(pattern=r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$")
]
LOCALE = re.compile(r"^[A-Za-z0-9-]*$")
_REFERENCES = ("clientMessageId", "turnId", "actionId", "messageId")


class NotJsonError(ValueError):
    """The frame is no JSON object in text: the socket is closed (4501)."""


class FrameError(ValueError):
    """A frame that cannot be understood; the socket stays open. `ref` names what the frame was about, if it says."""

    def __init__(self, code: ErrorCode, message: str, ref: str | None = None, *, in_hello: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.ref = ref
        self.in_hello = in_hello


class Frame(Wire):
    """What every client frame may carry: the conversation, for a socket that follows several."""

    conversation_id: Id | None = None


def _cut(page: Any) -> Any:
    """A long title is the page's, not the visitor's fault: nobody is kept out of the chat for it."""
    if not isinstance(page, dict):
        return page
    fields = cast("dict[str, Any]", page)
    title = fields.get("title")
    return {**fields, "title": title[:MAX_TITLE]} if isinstance(title, str) else fields


VisitedPage = Annotated[Page, BeforeValidator(_cut)]
"""The page that a visitor is on, as a site tells it."""


class Cursor(Wire):
    """The last durable fact that a client has: the log's incarnation and the sequence in it."""

    epoch: str = Field(max_length=64)
    seq: int = Field(ge=0)


class Hello(Frame):
    """The first frame. `since`: resume after that fact."""

    token: str = Field(default="", max_length=8192)
    since: Cursor | None = None
    page: VisitedPage | None = None
    locale: str | None = Field(default=None, max_length=35, pattern=LOCALE.pattern)


class MessageSend(Frame):
    """A person's message; `retry` from the second try on, with the same id."""

    client_message_id: Uuid
    text: str = Field(min_length=1, max_length=MAX_TEXT)
    retry: bool = False


class Typing(Frame):
    """Somebody is writing."""


class Receipt(Frame):
    """Everything up to the sequence has been read."""

    up_to_seq: int = Field(ge=0)


class Ping(Frame):
    """A sign of life."""


class RunCancel(Frame):
    """Stop the running answer."""

    turn_id: Id


class ActionConfirm(Frame):
    """Yes to what waits for a person's yes."""

    action_id: Id


class ActionReject(Frame):
    """No to what waits for a person's yes."""

    action_id: Id


class Feedback(Frame):
    """An answer was good or bad."""

    message_id: Id
    rating: Literal["up", "down"]
    reason: str | None = Field(default=None, max_length=1000)


class HandoffRequest(Frame):
    """Asks for a person."""


class ConversationWatch(Frame):
    """A human agent follows a conversation; `since` as in hello."""

    since: Cursor | None = None


class InboxWatch(Frame):
    """A human agent wants to know which of the company's conversations change."""


class OwnerTake(Frame):
    """A human agent takes the conversation over."""


class OwnerRelease(Frame):
    """A human agent gives the conversation back to the AI."""


ClientFrame = (
    Hello
    | MessageSend
    | Typing
    | Receipt
    | Ping
    | RunCancel
    | ActionConfirm
    | ActionReject
    | Feedback
    | HandoffRequest
    | ConversationWatch
    | InboxWatch
    | OwnerTake
    | OwnerRelease
)
FRAMES: dict[str, type[ClientFrame]] = {
    "hello": Hello,
    "message.send": MessageSend,
    "typing": Typing,
    "receipt": Receipt,
    "ping": Ping,
    "run.cancel": RunCancel,
    "action.confirm": ActionConfirm,
    "action.reject": ActionReject,
    "feedback": Feedback,
    "handoff.request": HandoffRequest,
    "conversation.watch": ConversationWatch,
    "inbox.watch": InboxWatch,
    "owner.take": OwnerTake,
    "owner.release": OwnerRelease,
}


def parse_frame(text: str | bytes) -> ClientFrame:
    """The frame that `text` holds.

    Raises:
        NotJsonError: no JSON text, or no object.
        FrameError: UNKNOWN_TYPE, BAD_FIELD, TEXT_TOO_LONG or EMPTY_TEXT.
    """
    try:
        raw: Any = _loaded(text)
    except ValueError as error:
        raise NotJsonError("the frame is not JSON text") from error
    if not isinstance(raw, dict):
        raise NotJsonError('send an object such as {"v":1,"type":"ping"}')
    fields: dict[str, Any] = raw  # pyright: ignore[reportUnknownVariableType] - JSON objects have string keys
    ref = _reference(fields)
    kind = fields.get("type")
    model = FRAMES.get(kind) if isinstance(kind, str) else None
    if model is None:
        raise FrameError(ErrorCode.UNKNOWN_TYPE, f"there is no frame of type {str(kind)[:64]!r}", ref)
    in_hello = model is Hello
    version: Any = fields.get("v", PROTOCOL_VERSION)
    if version != PROTOCOL_VERSION:
        raise FrameError(
            ErrorCode.BAD_FIELD, f"v: this server speaks version {PROTOCOL_VERSION}", ref, in_hello=in_hello
        )
    if model is MessageSend:
        _check_text(fields.get("text"), ref)
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise FrameError(ErrorCode.BAD_FIELD, f"{where}: {first['msg']}", ref, in_hello=in_hello) from error


def _loaded(text: str | bytes) -> Any:
    """The JSON value. Half a surrogate pair, which a browser writes for an emoji that was cut in two, becomes U+FFFD;
    orjson refuses it, and a client that closes for good over one character would lose its conversation.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        if not _has_surrogate(text):
            raise
        try:
            whole = json.dumps(json.loads(text), ensure_ascii=False)
        except RecursionError as error:
            raise ValueError("nested too deep") from error
        return orjson.loads(whole.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def _has_surrogate(text: str | bytes) -> bool:
    return b"\\ud" in text.lower() if isinstance(text, bytes) else "\\ud" in text.lower()


def reference(frame: ClientFrame) -> str | None:
    """What an error about this frame refers to: the id that the client knows it by."""
    match frame:
        case MessageSend():
            return frame.client_message_id
        case RunCancel():
            return frame.turn_id
        case ActionConfirm() | ActionReject():
            return frame.action_id
        case Feedback():
            return frame.message_id
        case _:
            return None


def _check_text(text: Any, ref: str | None) -> None:
    if not isinstance(text, str):
        return
    if len(text) > MAX_TEXT:
        raise FrameError(ErrorCode.TEXT_TOO_LONG, f"text: at most {MAX_TEXT} characters, this has {len(text)}", ref)
    if not text.strip():
        raise FrameError(ErrorCode.EMPTY_TEXT, "text: write something", ref)


def _reference(fields: dict[str, Any]) -> str | None:
    for name in _REFERENCES:
        value = fields.get(name)
        if isinstance(value, str):
            return value[:64]
    return None
