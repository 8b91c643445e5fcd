"""AG-UI's request (RunAgentInput of protocol 1.0): what this door reads of it."""

from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from contracts.errors import ErrorCode
from gateway.doors.agui.events import Json
from gateway.doors.client_tools import parsed, result_of
from gateway.doors.texts import checked, message_key, unreadable
from gateway.errors import Refused

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
MOST_AT_ONCE = 20
"""New messages of one run."""


class _AguiModel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class ResumeEntry(_AguiModel):
    """The answer to one interrupt."""

    interrupt_id: Name
    status: Literal["resolved", "cancelled"]
    payload: Any = None

    @property
    def approved(self) -> bool:
        """Whether it is a yes. Who closed the question has not said yes.

        Raises:
            Refused: BAD_FIELD, the payload says neither yes nor no, or says more than was asked for.
        """
        if self.status == "cancelled":
            return False
        payload: dict[str, Any] = cast("dict[str, Any]", self.payload) if isinstance(self.payload, dict) else {}
        approved = payload.get("approved")
        if (
            not isinstance(approved, bool)
            or payload.keys() - {"approved", "editedArgs"}
            or (self.edits and not approved)
        ):
            raise Refused(
                ErrorCode.BAD_FIELD,
                'resume: the payload must be {"approved": true}, with what its responseSchema has beside it, '
                'or {"approved": false}',
            )
        return approved

    @property
    def edits(self) -> Json | None:
        """The other values that a yes is meant with; raises Refused: BAD_FIELD."""
        given = cast("Json", self.payload).get("editedArgs") if isinstance(self.payload, dict) else None
        if given is not None and not isinstance(given, dict):
            raise Refused(ErrorCode.BAD_FIELD, "resume: editedArgs is an object")
        return cast("Json | None", given)


class RunAgentInput(_AguiModel):
    """A run. Of `messages` the user's newest ones are read, and in front of them the results of calls that the client
    was handed; the conversation itself has the others. `tools`: the client's own. `state`, `context` and
    `forwardedProps` change nothing: the prompt is the company's.
    """

    thread_id: Name
    run_id: Name
    messages: list[Json] = Field(max_length=10_000)
    tools: list[Json] = Field(default_factory=list[Json], max_length=1_000)
    resume: list[ResumeEntry] = Field(default_factory=list[ResumeEntry], max_length=100)

    def new_messages(self) -> list[tuple[str, str]]:
        """Id and text of the user's messages at the end, behind which nobody has spoken.

        Raises:
            Refused: BAD_FIELD, TEXT_TOO_LONG, EMPTY_TEXT.
        """
        first = self._first_new()
        if len(self.messages) - first > MOST_AT_ONCE:
            raise Refused(ErrorCode.BAD_FIELD, f"messages: at most {MOST_AT_ONCE} new ones at a time")
        return [_read(self.messages[index], f"messages[{index}]") for index in range(first, len(self.messages))]

    def results(self) -> dict[str, Json]:
        """What the client gives back for calls that it was handed, by call.

        Raises:
            Refused: BAD_FIELD.
        """
        found: dict[str, Json] = {}
        for index in range(self._first_new() - 1, -1, -1):
            message, field = self.messages[index], f"messages[{index}]"
            call = message.get("toolCallId")
            if message.get("role") != "tool" or message.get("id") == f"{call}-r":  # what was told of a tool of ours
                break
            if not isinstance(call, str):
                raise Refused(ErrorCode.BAD_FIELD, f"{field}.toolCallId: which call is this the result of?")
            error = message.get("error")
            content = _text(message.get("content"), f"{field}.content")
            found[call] = result_of(parsed(content), error if isinstance(error, str) else None, f"{field}.content")
        return found

    def _first_new(self) -> int:
        first = len(self.messages)
        while first > 0 and self.messages[first - 1].get("role") == "user":
            first -= 1
        return first


def _read(message: Json, field: str) -> tuple[str, str]:
    identity = message.get("id")
    if not isinstance(identity, str) or not identity:
        raise Refused(ErrorCode.BAD_FIELD, f"{field}.id: a message needs an id, which makes it one when it comes again")
    return message_key(identity), checked(_text(message.get("content"), f"{field}.content"), f"{field}.content")


def _text(content: Any, field: str) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise Refused(ErrorCode.BAD_FIELD, f"{field}: a text, or a list of parts")
    texts: list[str] = []
    for index, part in enumerate(cast("list[Any]", content)):
        fields = cast("dict[str, Any]", part) if isinstance(part, dict) else {}
        text = fields.get("text")
        if fields.get("type") != "text" or not isinstance(text, str):
            raise unreadable(f"{field}[{index}]", f"a part of type {str(fields.get('type'))[:40]!r}")
        texts.append(text)
    return "\n".join(texts)
