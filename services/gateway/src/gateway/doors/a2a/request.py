"""The parameters of A2A's methods, as far as this agent reads them. Unknown fields are ignored."""

import re
from collections.abc import Mapping
from typing import Any, Literal, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from contracts.json_values import JsonObject, is_object
from contracts.wrong_fields import message_of
from gateway.chat.sent_messages import SentMessage
from gateway.doors.a2a.rpc import A2AError, Json, invalid_param
from gateway.doors.a2a.task import STATES
from gateway.doors.messages import Part, file_from_base64, sent_message, unreadable_part
from gateway.errors import RefusedError
from gateway.web.moments import Moment

ModelT = TypeVar("ModelT", bound=BaseModel)
MAX_PAGE_SIZE = 100
_PAGE_TOKEN = re.compile(r"([0-9]{1,17})-([0-9]{1,15})")
_YES = frozenset({"yes", "confirm", "approve", "sí", "si", "confirmar", "confirmo"})
_NO = frozenset({"no", "reject", "cancel", "rechazar", "rechazo", "cancelar"})
_SUPPORTED_MODES = ("text/plain", "text/*", "*/*", "application/json")


class _Camel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class Message(_Camel):
    message_id: str = Field(min_length=1, max_length=200)
    context_id: str | None = None
    task_id: str | None = None
    role: Literal["ROLE_USER"]
    parts: list[Json] = Field(min_length=1, max_length=100)

    def text(self) -> str:
        """The text of the message; empty if it is an answer with data only."""
        return "\n".join(cast("str", part["text"]) for part in self.parts if _kind(part) == "text")

    def to_sent_message(self) -> SentMessage:
        """The message for the conversation; raises A2AError if a part is of an unsupported kind, and RefusedError."""
        return sent_message(self.message_id, (_part(part) for part in self.parts), "message.parts")

    def answer(self) -> bool | None:
        """Whether the message says yes or no, as data or as its only word; None if it says neither. Raises A2AError."""
        for data in self._data():
            approved = data.get("approved")
            if not isinstance(approved, bool | None):
                raise invalid_param("message.parts", "approved is true or false")
            return approved
        word = self.text().strip().lower().rstrip(".!")
        return True if word in _YES else False if word in _NO else None

    def edits(self) -> Json | None:
        """The new values in the data of a yes. Raises A2AError if they are invalid, or sent with a no."""
        edits = next((data["edits"] for data in self._data() if "edits" in data), None)
        if edits is None:
            return None
        if not is_object(edits) or not self.answer():
            raise invalid_param("message.parts", 'edits is an object beside "approved": true')
        return edits

    def _data(self) -> list[JsonObject]:
        return [part["data"] for part in self.parts if _kind(part) == "data" and is_object(part["data"])]


class Configuration(_Camel):
    accepted_output_modes: list[str] = Field(default_factory=list[str], max_length=50)
    task_push_notification_config: Json | None = None
    history_length: int | None = Field(default=None, ge=0)
    return_immediately: bool = False


class SendMessage(_Camel):
    message: Message
    configuration: Configuration = Field(default_factory=Configuration)

    def check(self) -> None:
        """Raises A2AError if the request asks for something unsupported."""
        modes = self.configuration.accepted_output_modes
        if modes and not any(mode.partition(";")[0].strip() in _SUPPORTED_MODES for mode in modes):
            raise A2AError(-32005, "CONTENT_TYPE_NOT_SUPPORTED", "acceptedOutputModes: this agent answers text/plain")
        if self.configuration.task_push_notification_config is not None:
            raise refuse_push_notifications()


class TaskRef(_Camel):
    id: str = Field(min_length=1, max_length=200)
    history_length: int | None = Field(default=None, ge=0)


class ListTasks(_Camel):
    context_id: str | None = None
    status: str | None = None
    page_size: int = Field(default=50, ge=1, le=MAX_PAGE_SIZE)
    page_token: str = ""
    history_length: int | None = Field(default=None, ge=0)
    status_timestamp_after: Moment | None = None
    include_artifacts: bool = False

    @property
    def page_start(self) -> tuple[int, int] | None:
        """The `Task.sort_key` of the last task on the previous page; None for the first page. Raises A2AError."""
        if self.status not in {None, "", "TASK_STATE_UNSPECIFIED", *STATES}:
            raise invalid_param("status", "there is no such state")
        if not self.page_token:
            return None
        if not (match := _PAGE_TOKEN.fullmatch(self.page_token)):
            raise invalid_param("pageToken", "not one of this agent's")
        return int(match[1]), int(match[2])


def parse_params(model: type[ModelT], params: Mapping[str, Any]) -> ModelT:
    """The parameters; raises A2AError (-32602) with every wrong field."""
    try:
        return model.model_validate(params)
    except ValidationError as error:
        faults = [(".".join(map(str, fault["loc"])) or "params", message_of(fault)) for fault in error.errors()]
        text = "; ".join(f"{field}: {message}" for field, message in faults[:5])
        raise A2AError(-32602, "INVALID_PARAMS", text, faults) from error


def refuse_push_notifications() -> A2AError:
    """The error for push notifications, which are not supported: a client that is not connected polls its task."""
    return A2AError(-32003, "PUSH_NOTIFICATION_NOT_SUPPORTED", "this agent pushes nothing: subscribe, or get the task")


def _kind(part: Json) -> str:
    if isinstance(part.get("text"), str):
        return "text"
    if part.get("data") is not None:
        return "data"
    return "file"


def _part(part: Json) -> Part:
    if _kind(part) == "text":
        return part["text"]
    try:
        if "raw" not in part:
            description = "an address" if "url" in part else "a part without text or raw"
            raise unreadable_part("message.parts", description)
        return file_from_base64(part["raw"], part.get("mediaType"), part.get("filename"), "message.parts")
    except RefusedError as error:
        raise A2AError(-32005, "CONTENT_TYPE_NOT_SUPPORTED", error.message) from error
