"""The request of the AI SDK's DefaultChatTransport: what this door reads of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from contracts.errors import ErrorCode
from contracts.events.chat import MAX_CLIENT_TOOLS, Action, ActionState
from gateway.chat.sent_messages import SentMessage
from gateway.doors.client_tools import result_of
from gateway.doors.messages import Part, file_of_url, new_messages, unreadable
from gateway.errors import RefusedError

Json = dict[str, Any]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
_RESULTS = ("output-available", "output-error")


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
    def held(self) -> list[Json]:
        """The messages that were sent."""
        return self.messages or ([self.message] if self.message is not None else [])

    def new_messages(self) -> list[SentMessage]:
        """The user's messages at the end, after the last one of anybody else; raises RefusedError."""
        return new_messages(self.held, _said)

    def answered(self) -> tuple[str, list[Json]]:
        """The assistant's newest message: its id, and its parts that hold the user's decisions."""
        for message in reversed(self.held):
            if message.get("role") == "assistant":
                parts = [part for part in _parts(message) if part.get("state") == "approval-responded"]
                return str(message.get("id", "")), parts
        return "", []

    def results(self) -> dict[str, Json]:
        """The client's results of handed calls, by call, if its newest message is the assistant's.

        Raises:
            RefusedError: BAD_FIELD.
        """
        held = self.held
        if not held or held[-1].get("role") != "assistant":
            return {}
        field = f"messages[{len(held) - 1}].parts"
        found: dict[str, Json] = {}
        for part in _parts(held[-1]):
            call, state = part.get("toolCallId"), part.get("state")
            if isinstance(call, str) and state in _RESULTS and not part.get("providerExecuted"):
                error = str(part.get("errorText") or "the tool has failed") if state == "output-error" else None
                found[call] = result_of(part.get("output"), error, field)
        return found

    def last_text(self) -> str:
        """The text of the newest message's last step."""
        text = ""
        for part in _parts(self.held[-1]) if self.held else []:
            if part.get("type") == "step-start":
                text = ""
            elif part.get("type") == "text":
                text += str(part.get("text") or "")
        return text


@dataclass(frozen=True, slots=True)
class Approval:
    """The answer to an approval request. `given`: the approved arguments, as the client shows them."""

    approval: str
    approved: bool
    given: Json

    def edits(self, action: Action) -> Json | None:
        """The arguments that differ from those requested: an approval is meant for what is shown."""
        if not self.approved or action.state is not ActionState.PENDING:
            return None
        asked = action.details
        return {name: value for name, value in self.given.items() if name in asked and value != asked[name]} or None


def approval_in(part: Json) -> Approval:
    """The decision in a part; raises RefusedError: BAD_FIELD."""
    told = part.get("approval")
    approval = cast("Json", told) if isinstance(told, dict) else {}
    identity, approved = approval.get("id"), approval.get("approved")
    if not isinstance(identity, str) or not isinstance(approved, bool):
        raise RefusedError(
            ErrorCode.BAD_FIELD, "approval: an answer has the approval's id, and approved: true or false"
        )
    given = part.get("input")
    return Approval(identity, approved, cast("Json", given) if isinstance(given, dict) else {})


def _said(message: Json, field: str) -> Iterator[Part]:
    for index, part in enumerate(_parts(message)):
        at, kind = f"{field}.parts[{index}]", part.get("type")
        if kind == "text" and isinstance(part.get("text"), str):
            yield part["text"]
        elif kind == "file":
            yield file_of_url(part.get("url"), part.get("filename"), at)
        else:
            raise unreadable(at, f"a part of type {str(kind)[:40]!r}")


def _parts(message: Json) -> list[Json]:
    parts = message.get("parts")
    found = cast("list[Any]", parts) if isinstance(parts, list) else []
    return [cast("Json", part) for part in found if isinstance(part, dict)]
