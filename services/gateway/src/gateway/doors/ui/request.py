"""The request of the AI SDK's DefaultChatTransport, as far as this door reads it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from contracts.errors import ErrorCode
from contracts.events.chat import MAX_CLIENT_TOOLS, Action, ActionState
from contracts.json_values import object_of, objects_of
from gateway.chat.sent_messages import SentMessage
from gateway.doors.client_tools import call_result
from gateway.doors.messages import Part, file_from_url, new_messages, unreadable_part
from gateway.errors import RefusedError

Json = dict[str, Any]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
_RESULT_STATES = ("output-available", "output-error")


class ChatRequest(BaseModel):
    """`messages`: the whole chat as the client has it, or `message`: only the newest. Only the user's messages at
    the end are read, and decisions; the conversation has the others."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    id: Name
    messages: list[Json] = Field(default_factory=list[Json], max_length=10_000)
    message: Json | None = None
    trigger: Literal["submit-message", "regenerate-message"] = "submit-message"
    message_id: str | None = Field(default=None, max_length=200)
    tools: list[Json] = Field(default_factory=list[Json], max_length=MAX_CLIENT_TOOLS)
    """The client's own tools: {name, description, inputSchema}."""

    @property
    def sent_messages(self) -> list[Json]:
        """The messages in the request."""
        return self.messages or ([self.message] if self.message is not None else [])

    def new_messages(self) -> list[SentMessage]:
        """The user's messages at the end, after the last message of anybody else; raises RefusedError."""
        return new_messages(self.sent_messages, _message_parts)

    def decision_parts(self) -> tuple[str, list[Json]]:
        """The id of the assistant's newest message, and its parts with the user's decisions."""
        for message in reversed(self.sent_messages):
            if message.get("role") == "assistant":
                parts = [part for part in _parts(message) if part.get("state") == "approval-responded"]
                return str(message.get("id", "")), parts
        return "", []

    def results(self) -> dict[str, Json]:
        """The client's results of handed calls, by call id, if the newest message is the assistant's.

        Raises:
            RefusedError: BAD_FIELD.
        """
        messages = self.sent_messages
        if not messages or messages[-1].get("role") != "assistant":
            return {}
        field = f"messages[{len(messages) - 1}].parts"
        results: dict[str, Json] = {}
        for part in _parts(messages[-1]):
            call, state = part.get("toolCallId"), part.get("state")
            if isinstance(call, str) and state in _RESULT_STATES and not part.get("providerExecuted"):
                error = str(part.get("errorText") or "the tool has failed") if state == "output-error" else None
                results[call] = call_result(part.get("output"), error, field)
        return results

    def last_text(self) -> str:
        """The text of the newest message's last step."""
        text = ""
        for part in _parts(self.sent_messages[-1]) if self.sent_messages else []:
            if part.get("type") == "step-start":
                text = ""
            elif part.get("type") == "text":
                text += str(part.get("text") or "")
        return text


@dataclass(frozen=True, slots=True)
class Approval:
    """The answer to an approval request. `id`: the action's; `arguments`: the arguments as the client shows them."""

    id: str
    approved: bool
    arguments: Json

    def edits(self, action: Action) -> Json | None:
        """The arguments that differ from the requested ones, since an approval is for what the client shows."""
        if not self.approved or action.state is not ActionState.PENDING:
            return None
        requested = action.details
        return {name: value for name, value in self.arguments.items() if value != requested.get(name)} or None


def approval_in(part: Json) -> Approval:
    """The decision in a part; raises RefusedError BAD_FIELD."""
    approval = object_of(part.get("approval"))
    identity, approved = approval.get("id"), approval.get("approved")
    if not isinstance(identity, str) or not isinstance(approved, bool):
        raise RefusedError(
            ErrorCode.BAD_FIELD, "approval: an answer has the approval's id, and approved: true or false"
        )
    return Approval(identity, approved, object_of(part.get("input")))


def _message_parts(message: Json, field: str) -> Iterator[Part]:
    for index, part in enumerate(_parts(message)):
        part_field, kind = f"{field}.parts[{index}]", part.get("type")
        if kind == "text" and isinstance(part.get("text"), str):
            yield part["text"]
        elif kind == "file":
            yield file_from_url(part.get("url"), part.get("filename"), part_field)
        else:
            raise unreadable_part(part_field, f"a part of type {str(kind)[:40]!r}")


def _parts(message: Json) -> list[Json]:
    return objects_of(message.get("parts"))
