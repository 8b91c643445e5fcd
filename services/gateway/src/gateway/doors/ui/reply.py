"""One message of the AI SDK: turns the events of an exchange into chunks of a UI message stream."""

from collections.abc import Collection
from typing import Any

from contracts import ws
from contracts.conversation_rpc import MessageView
from contracts.events import turn
from contracts.events.chat import Action, ActionState, OwnerKind, Role
from gateway.chat.exchange import Ended, Event, ExchangeEnd
from gateway.doors.client_text import ClientText

Json = dict[str, Any]


class UiReply:
    """What the client is told. It is all one step, so that `reset-step` can take back a text that turned out
    different; the new text is then sent whole."""

    def __init__(self, identity: str, given: Collection[str] = (), before: str = "") -> None:
        """`given`: handed calls with results from the client; `before`: the text before them."""
        self.ended = False
        self.left_to_person = False
        self._id = identity
        self._text = ClientText(before)
        self._parts = 0
        """Text parts begun; the last one is open if `_open`."""
        self._open = False
        self._calls: dict[str, list[Json]] = {}
        """What was told of each of the assistant's tool calls."""
        self._given = frozenset(given)

    def begin(self) -> list[Json]:
        """The message's first chunks."""
        return [{"type": "start", "messageId": self._id}, {"type": "start-step"}]

    def hear(self, event: Event) -> list[Json]:
        """The chunks for an event of the conversation."""
        match event:
            case turn.RunStarted():
                self._text.restart()
                return []
            case turn.MessageDelta():
                return self._say(self._text.more(event.delta))
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
                return [{"type": "data-message", "id": event.message.id, "data": _words(event.message)}]
            case Ended():
                return self._end(event)
            case _:
                return []

    def finish(self, reason: str = "stop") -> list[Json]:
        """The message's last chunks."""
        self.ended = True
        return [*self._close(), {"type": "finish-step"}, {"type": "finish", "finishReason": reason}]

    def fail(self, code: str, message: str, retry_after: int | None = None) -> list[Json]:
        """There is no answer. `error` is plain text, so the code comes before it as data."""
        self.ended = True
        notice: Json = {"code": code}
        if retry_after is not None:
            notice["retryAfter"] = retry_after
        told = {"type": "data-notice", "data": notice, "transient": True}
        return [*self._close(), told, {"type": "error", "errorText": message}]

    def _end(self, event: Ended) -> list[Json]:
        message = event.message
        if event.outcome is ExchangeEnd.CANCELLED:
            self.ended = True
            return [*self._close(), {"type": "abort", "reason": "cancelled"}]
        if message is None:
            return self.finish()
        if event.outcome is ExchangeEnd.NOTICE:
            return self.fail(str(message.code), message.text)
        told = self._whole(message.text)
        if event.outcome is ExchangeEnd.PERSON_REPLIED:
            told.append({"type": "message-metadata", "messageMetadata": _words(message)})
        return [*told, *_beside(message), *self.finish("tool-calls" if message.waiting else "stop")]

    def _whole(self, text: str) -> list[Json]:
        """The final text: the part that the client does not have yet."""
        rest = self._text.whole(text)
        if rest is not None:
            return self._say(rest)
        self._text, self._open = ClientText(), False
        said = [chunk for call in self._calls.values() for chunk in call]
        return [{"type": "reset-step"}, *said, *self._say(self._text.more(text))]

    def _say(self, text: str) -> list[Json]:
        if not text:
            return []
        told: list[Json] = []
        if not self._open:
            self._open = True
            self._parts += 1
            told.append({"type": "text-start", "id": self._part})
        return [*told, {"type": "text-delta", "id": self._part, "delta": text}]

    @property
    def _part(self) -> str:
        return f"{self._id}-{self._parts}"

    def _close(self) -> list[Json]:
        if not self._open:
            return []
        self._open = False
        return [{"type": "text-end", "id": self._part}]

    def _handed(self, event: turn.ToolStarted, arguments: Json) -> list[Json]:
        """A handed call. The last one ends the message for now: its result comes with the next request."""
        if event.call_id in self._given:
            return []
        begun = {"type": "tool-input-available", "toolCallId": event.call_id, "toolName": event.tool}
        told = [] if event.call_id in self._calls else [*self._close(), {**begun, "input": arguments, "dynamic": True}]
        self._calls.setdefault(event.call_id, told[-1:])
        return told if event.left else [*told, *self.finish("tool-calls")]

    def _tool_started(self, event: turn.ToolStarted) -> list[Json]:
        if event.arguments is not None:
            return self._handed(event, event.arguments)
        if event.call_id in self._calls:
            # The turn is driven again.
            return []
        # Arguments and data stay behind the door.
        begun = tool_call(event.call_id, event.tool, {}, event.label)
        self._calls[event.call_id] = [begun]
        return [*self._close(), begun]

    def _tool_finished(self, event: turn.ToolFinished) -> list[Json]:
        said = self._calls.get(event.call_id)
        if said is None or len(said) > 1:
            return []
        if event.success:
            ended = tool_output(event.call_id, {"success": True})
        else:
            ended = tool_error(event.call_id, "the tool has failed")
        said.append(ended)
        return [ended]


def tool_call(call: str, tool: str, given: Json, title: str | None = None) -> Json:
    """A call of the assistant's own tool, which the client does not run."""
    told = {"type": "tool-input-available", "toolCallId": call, "toolName": tool, "input": given}
    return {**told, "providerExecuted": True, "dynamic": True} | ({"title": title} if title else {})


def tool_output(call: str, output: Json) -> Json:
    return {
        "type": "tool-output-available", "toolCallId": call, "output": output, "providerExecuted": True, "dynamic": True
    }  # fmt: skip


def tool_error(call: str, message: str) -> Json:
    return {
        "type": "tool-output-error", "toolCallId": call, "errorText": message, "providerExecuted": True, "dynamic": True
    }  # fmt: skip


def shown_action(action: Action) -> list[Json]:
    """An action as a call that needs approval; with its state, if known."""
    asked = [
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
        return asked
    approved = action.state is not ActionState.REJECTED
    return [*asked, {"type": "tool-approval-response", "approvalId": action.id, "approved": approved}, decided(action)]


def decided(action: Action) -> Json:
    """Returns the part of the stream that says what became of a yes or no."""
    match action.state:
        case ActionState.REJECTED:
            return {"type": "tool-output-denied", "toolCallId": action.id}
        case ActionState.EXPIRED | ActionState.FAILED:
            return tool_error(action.id, str(action.details.get("reason") or action.state.value))
        case _:
            return tool_output(action.id, action.to_wire())


def _beside(message: MessageView) -> list[Json]:
    """Returns the parts of a message besides its text."""
    told: list[Json] = [
        {"type": "source-url", "sourceId": f"{message.id}-s{number}", "url": one.url, "title": one.title}
        for number, one in enumerate(message.citations)
    ]
    told += [
        {"type": "data-chart", "id": f"{message.id}-c{number}", "data": chart.to_wire()}
        for number, chart in enumerate(message.charts)
    ]
    return told + [chunk for action in message.actions for chunk in shown_action(action)]


def _words(message: MessageView) -> Json:
    """The role of a message's author."""
    told: Json = {"role": message.role.value}
    if message.name is not None:
        told["name"] = message.name
    return told if message.role is Role.OPERATOR else {**told, "text": message.text}
