"""One message of the AI SDK: translates the events of an exchange into chunks of a UI message stream."""

from collections.abc import Collection
from typing import Any

from contracts import ws
from contracts.conversation_rpc import MessageView
from contracts.events import turn
from contracts.events.chat import Action, ActionState, OwnerKind, Role
from gateway.chat.exchange import Ended, Event, ExchangeEnd
from gateway.doors.client_text import ClientText

Json = dict[str, Any]
_OF_THE_ASSISTANT: Json = {"providerExecuted": True, "dynamic": True}
"""The fields of a call of the assistant's own tool."""


class UiReply:
    """The chunks for the client. They are all one step, so that `reset-step` can take back a text that turned out
    different; the new text is then sent from its beginning."""

    def __init__(self, message_id: str, answered_calls: Collection[str] = (), previous_text: str = "") -> None:
        """`answered_calls`: handed calls with results from the client; `previous_text`: the text before them."""
        self.has_ended = False
        self.left_to_person = False
        self._id = message_id
        self._text = ClientText(previous_text)
        self._text_parts = 0
        """Number of text parts started; the last one is open if `_is_text_open`."""
        self._is_text_open = False
        self._calls: dict[str, list[Json]] = {}
        """The chunks sent for each of the assistant's tool calls."""
        self._answered_calls = frozenset(answered_calls)

    def start(self) -> list[Json]:
        """The message's first chunks."""
        return [{"type": "start", "messageId": self._id}, {"type": "start-step"}]

    def events_for(self, event: Event) -> list[Json]:
        """The chunks for an event of the exchange."""
        match event:
            case turn.RunStarted():
                self._text.restart()
                return []
            case turn.MessageDelta():
                return self._text_chunks(self._text.add(event.delta))
            case turn.ToolStarted():
                return self._tool_started(event)
            case turn.ToolFinished():
                return self._tool_finished(event)
            case ws.OwnerFrame():
                self.left_to_person = event.owner.kind is not OwnerKind.AI
                return [{"type": "data-owner", "id": "owner", "data": event.owner.to_wire()}]
            case ws.MessageFrame():
                if event.message.role.gets_answers:
                    return []
                return [{"type": "data-message", "id": event.message.id, "data": _author(event.message)}]
            case Ended():
                return self._end_chunks(event)
            case _:
                return []

    def finish(self, reason: str = "stop") -> list[Json]:
        """The message's last chunks."""
        self.has_ended = True
        return [*self._close_text(), {"type": "finish-step"}, {"type": "finish", "finishReason": reason}]

    def fail(self, code: str, message: str, retry_after: int | None = None) -> list[Json]:
        """The last chunks of a message without an answer. `error` is plain text, so the code precedes it as data.
        `retry_after`: in seconds."""
        self.has_ended = True
        notice: Json = {"code": code}
        if retry_after is not None:
            notice["retryAfter"] = retry_after
        notice_chunk = {"type": "data-notice", "data": notice, "transient": True}
        return [*self._close_text(), notice_chunk, {"type": "error", "errorText": message}]

    def _end_chunks(self, event: Ended) -> list[Json]:
        message = event.message
        if event.outcome is ExchangeEnd.CANCELLED:
            self.has_ended = True
            return [*self._close_text(), {"type": "abort", "reason": "cancelled"}]
        if message is None:
            return self.finish()
        if event.outcome is ExchangeEnd.NOTICE:
            return self.fail(str(message.code), message.text)
        text_chunks = self._final_text(message.text)
        if event.outcome is ExchangeEnd.PERSON_REPLIED:
            text_chunks.append({"type": "message-metadata", "messageMetadata": _author(message)})
        return [*text_chunks, *_attachment_chunks(message), *self.finish("tool-calls" if message.waiting else "stop")]

    def _final_text(self, text: str) -> list[Json]:
        """The chunks that complete the text: the part that the client does not have yet."""
        remaining = self._text.complete(text)
        if remaining is not None:
            return self._text_chunks(remaining)
        self._text, self._is_text_open = ClientText(), False
        call_chunks = [chunk for call in self._calls.values() for chunk in call]
        return [{"type": "reset-step"}, *call_chunks, *self._text_chunks(self._text.add(text))]

    def _text_chunks(self, text: str) -> list[Json]:
        if not text:
            return []
        chunks: list[Json] = []
        if not self._is_text_open:
            self._is_text_open = True
            self._text_parts += 1
            chunks.append({"type": "text-start", "id": self._part})
        return [*chunks, {"type": "text-delta", "id": self._part, "delta": text}]

    @property
    def _part(self) -> str:
        return f"{self._id}-{self._text_parts}"

    def _close_text(self) -> list[Json]:
        if not self._is_text_open:
            return []
        self._is_text_open = False
        return [{"type": "text-end", "id": self._part}]

    def _handed_call(self, event: turn.ToolStarted, arguments: Json) -> list[Json]:
        """The chunks of a handed call. The last call ends the message for now: its result comes with the next
        request."""
        if event.call_id in self._answered_calls:
            return []
        call_chunk = {"type": "tool-input-available", "toolCallId": event.call_id, "toolName": event.tool}
        chunks = (
            []
            if event.call_id in self._calls
            else [*self._close_text(), {**call_chunk, "input": arguments, "dynamic": True}]
        )
        self._calls.setdefault(event.call_id, chunks[-1:])
        return chunks if event.left else [*chunks, *self.finish("tool-calls")]

    def _tool_started(self, event: turn.ToolStarted) -> list[Json]:
        if event.arguments is not None:
            return self._handed_call(event, event.arguments)
        if event.call_id in self._calls:
            # The turn is driven again.
            return []
        # The client does not get a tool's arguments and data.
        call_chunk = tool_call(event.call_id, event.tool, {}, event.label)
        self._calls[event.call_id] = [call_chunk]
        return [*self._close_text(), call_chunk]

    def _tool_finished(self, event: turn.ToolFinished) -> list[Json]:
        call_chunks = self._calls.get(event.call_id)
        if call_chunks is None or len(call_chunks) > 1:
            return []
        if event.success:
            result_chunk = tool_output(event.call_id, {"success": True})
        else:
            result_chunk = tool_error(event.call_id, "the tool has failed")
        call_chunks.append(result_chunk)
        return [result_chunk]


def tool_call(call: str, tool: str, arguments: Json, title: str | None = None) -> Json:
    """The chunk for a call of the assistant's own tool, which the client does not run."""
    chunk = {"type": "tool-input-available", "toolCallId": call, "toolName": tool, "input": arguments}
    return {**chunk, **_OF_THE_ASSISTANT} | ({"title": title} if title else {})


def tool_output(call: str, output: Json) -> Json:
    return {"type": "tool-output-available", "toolCallId": call, "output": output, **_OF_THE_ASSISTANT}


def tool_error(call: str, message: str) -> Json:
    return {"type": "tool-output-error", "toolCallId": call, "errorText": message, **_OF_THE_ASSISTANT}


def action_chunks(action: Action) -> list[Json]:
    """The chunks for an action: a call that needs approval, with the decision if there is one."""
    request_chunks = [
        tool_call(action.id, action.kind, dict(action.details), action.summary),
        {
            "type": "tool-approval-request",
            "approvalId": action.id,
            "toolCallId": action.id,
            "reason": action.summary,
            **({"approvalDescriptor": {"editable": action.editable}} if action.editable else {}),
        },
    ]
    if action.state is ActionState.PENDING:
        return request_chunks
    is_approved = action.state is not ActionState.REJECTED
    return [
        *request_chunks,
        {"type": "tool-approval-response", "approvalId": action.id, "approved": is_approved},
        decision_chunk(action),
    ]


def decision_chunk(action: Action) -> Json:
    """The chunk that says what became of a decision."""
    match action.state:
        case ActionState.REJECTED:
            return {"type": "tool-output-denied", "toolCallId": action.id}
        case ActionState.EXPIRED | ActionState.FAILED:
            return tool_error(action.id, str(action.details.get("reason") or action.state.value))
        case _:
            return tool_output(action.id, action.to_wire())


def _attachment_chunks(message: MessageView) -> list[Json]:
    """The chunks for the parts of a message besides its text."""
    chunks: list[Json] = [
        {"type": "source-url", "sourceId": f"{message.id}-s{number}", "url": citation.url, "title": citation.title}
        for number, citation in enumerate(message.citations)
    ]
    chunks += [
        {"type": "data-chart", "id": f"{message.id}-c{number}", "data": chart.to_wire()}
        for number, chart in enumerate(message.charts)
    ]
    return chunks + [chunk for action in message.actions for chunk in action_chunks(action)]


def _author(message: MessageView) -> Json:
    """The role and name of a message's author, with the text unless the author is a human agent."""
    author: Json = {"role": message.role.value}
    if message.name is not None:
        author["name"] = message.name
    return author if message.role is Role.OPERATOR else {**author, "text": message.text}
