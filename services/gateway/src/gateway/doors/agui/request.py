"""AG-UI's request (RunAgentInput of protocol 1.0), as far as this door reads it."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from contracts.events.chat import MAX_CLIENT_TOOLS
from contracts.json_values import is_list, is_object, object_of
from gateway.chat.sent_messages import SentMessage
from gateway.doors.agui.events import Json
from gateway.doors.client_tools import call_result, json_or_text
from gateway.doors.messages import Part, file_from_base64, first_new_index, new_messages, unreadable_part
from gateway.errors import bad_field

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
ROLES = ("user", "assistant", "tool", "system", "developer", "activity", "reasoning")
_MEDIA = ("image", "audio", "video", "document")


class _AguiModel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class ResumeEntry(_AguiModel):
    """The answer to one interrupt."""

    interrupt_id: Name
    status: Literal["resolved", "cancelled"]
    payload: Any = None

    @property
    def approved(self) -> bool:
        """Whether the answer is yes. Closing the question is not a yes.

        Raises:
            RefusedError: BAD_FIELD, the payload says neither yes nor no, or has other fields.
        """
        if self.status == "cancelled":
            return False
        payload = object_of(self.payload)
        approved = payload.get("approved")
        if (
            not isinstance(approved, bool)
            or payload.keys() - {"approved", "editedArgs"}
            or (self.edits and not approved)
        ):
            reason = 'must be {"approved": true}, with what its responseSchema has beside it, or {"approved": false}'
            raise bad_field("resume.payload", reason)
        return approved

    @property
    def edits(self) -> Json | None:
        """The new values sent with a yes; raises RefusedError BAD_FIELD."""
        edits = object_of(self.payload).get("editedArgs")
        if edits is not None and not is_object(edits):
            raise bad_field("resume.payload.editedArgs", "must be an object")
        return edits


class RunAgentInput(_AguiModel):
    """A run. Of `messages` only the user's newest are read, and the results of handed calls before them; the
    conversation has the others. `tools`: the client's own. `state`, `context` and `forwardedProps` have no effect:
    the prompt is the company's."""

    thread_id: Name
    run_id: Name
    messages: list[Json] = Field(max_length=10_000)
    tools: list[Json] | None = Field(default=None, max_length=MAX_CLIENT_TOOLS)
    resume: list[ResumeEntry] | None = Field(default=None, max_length=100)

    def new_messages(self) -> list[SentMessage]:
        """The user's messages at the end, after the last message of anybody else; raises RefusedError."""
        if self.messages and self.messages[-1].get("role") not in ROLES:
            raise bad_field(f"messages[{len(self.messages) - 1}].role", f"one of {', '.join(ROLES)}")
        return new_messages(self.messages, _parts)

    def results(self) -> dict[str, Json]:
        """The client's results of handed calls, by call id.

        Raises:
            RefusedError: BAD_FIELD.
        """
        results: dict[str, Json] = {}
        for index in range(first_new_index(self.messages) - 1, -1, -1):
            message, field = self.messages[index], f"messages[{index}]"
            call = message.get("toolCallId")
            if message.get("role") != "tool" or message.get("id") == f"{call}-r":  # a result that we sent, of our tool
                break
            if not isinstance(call, str):
                raise bad_field(f"{field}.toolCallId", "which call is this the result of?")
            error = message.get("error")
            content = _text(message, field)
            results[call] = call_result(
                json_or_text(content), error if isinstance(error, str) else None, f"{field}.content"
            )
        return results


def _parts(message: Json, field: str) -> Iterator[Part]:
    content = message.get("content")
    if isinstance(content, str):
        yield content
        return
    if not is_list(content):
        raise bad_field(f"{field}.content", "must be a text, or a list of parts")
    for index, part in enumerate(content):
        yield _part(object_of(part), f"{field}.content[{index}]")


def _part(part: Json, field: str) -> Part:
    if part.get("type") == "text" and isinstance(part.get("text"), str):
        return part["text"]
    source = part.get("source")
    if part.get("type") not in _MEDIA or not is_object(source):
        raise unreadable_part(field, f"a part of type {str(part.get('type'))[:40]!r}")
    if source.get("type") != "data":
        raise unreadable_part(f"{field}.source", f"a source of type {str(source.get('type'))[:40]!r}")
    return file_from_base64(source.get("value"), source.get("mimeType"), None, field)


def _text(message: Json, field: str) -> str:
    parts = list(_parts(message, field))
    if not all(isinstance(part, str) for part in parts):
        raise unreadable_part(f"{field}.content", "a file as a result")
    return "\n".join(map(str, parts))
