"""Parses frames from clients into models of contracts.ws."""

import json

import orjson
from pydantic import ValidationError

from contracts import ws
from contracts.errors import ErrorCode
from contracts.events.chat import MAX_TEXT
from contracts.plain_text import is_blank
from contracts.wrong_fields import message_of

MAX_FRAME_BYTES = 128 * 1024
"""The largest text frame in bytes; a larger one closes the socket (close code 4501)."""

_REFERENCE_FIELDS = ("clientMessageId", "turnId", "actionId", "messageId")


class NotJsonError(ValueError):
    """The frame is not the text of a JSON object: the socket is closed (close code 4501)."""


class FrameError(ValueError):
    """The frame is invalid; the socket stays open. `ref`: the client's id of what the frame is about, if any."""

    def __init__(self, code: ErrorCode, message: str, ref: str | None = None, *, in_hello: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.ref = ref
        self.in_hello = in_hello


def parse_frame(text: str | bytes) -> ws.ClientFrame:
    """The frame in `text`.

    Raises:
        NotJsonError: the text is not JSON, or not an object.
        FrameError: UNKNOWN_TYPE, BAD_FIELD, TEXT_TOO_LONG or EMPTY_TEXT.
    """
    try:
        raw: object = _parse_json(text)
    except ValueError as error:
        raise NotJsonError("the frame is not JSON text") from error
    if not isinstance(raw, dict):
        raise NotJsonError('send an object such as {"v":1,"type":"ping"}')
    fields: dict[str, object] = raw  # pyright: ignore[reportUnknownVariableType] - JSON objects have string keys
    ref = _reference(fields)
    kind = fields.get("type")
    model = ws.CLIENT_FRAMES.get(kind) if isinstance(kind, str) else None
    if model is None:
        message = "a frame says its type" if kind is None else f"there is no frame of type {str(kind)[:64]!r}"
        raise FrameError(ErrorCode.UNKNOWN_TYPE, message, ref)
    in_hello = model is ws.Hello
    version: object = fields.get("v", ws.PROTOCOL_VERSION)
    if version != ws.PROTOCOL_VERSION:
        raise FrameError(
            ErrorCode.BAD_FIELD, f"v: this server speaks version {ws.PROTOCOL_VERSION}", ref, in_hello=in_hello
        )
    if model is ws.MessageSend:
        _check_text(fields.get("text"), ref)
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        path = ".".join(str(part) for part in fault["loc"])
        raise FrameError(ErrorCode.BAD_FIELD, f"{path}: {message_of(fault)}", ref, in_hello=in_hello) from error


def _parse_json(text: str | bytes) -> object:
    """The JSON value. Half a surrogate pair, which a browser writes for an emoji cut in two, becomes U+FFFD: orjson
    refuses it, and a client should not be cut off because of one character."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        if not _has_surrogate(text):
            raise
        try:
            repaired = json.dumps(json.loads(text), ensure_ascii=False)
        except RecursionError as error:
            raise ValueError("nested too deep") from error
        return orjson.loads(repaired.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def _has_surrogate(text: str | bytes) -> bool:
    return b"\\ud" in text.lower() if isinstance(text, bytes) else "\\ud" in text.lower()


def reference(frame: ws.ClientFrame) -> str | None:
    """The client's id of what the frame is about, by which an error refers to it."""
    return _reference(frame.to_wire())


def _check_text(text: object, ref: str | None) -> None:
    if not isinstance(text, str):
        return
    if len(text) > MAX_TEXT:
        raise FrameError(ErrorCode.TEXT_TOO_LONG, f"text: at most {MAX_TEXT} characters, this has {len(text)}", ref)
    if is_blank(text):
        raise FrameError(ErrorCode.EMPTY_TEXT, "text: write something", ref)


def _reference(fields: dict[str, object]) -> str | None:
    for name in _REFERENCE_FIELDS:
        value = fields.get(name)
        if isinstance(value, str):
            return value[:64]
    return None
