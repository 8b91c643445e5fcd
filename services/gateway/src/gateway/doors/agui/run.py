"""One run of AG-UI: translates the events of an exchange into the protocol's."""

from collections.abc import Collection, Sequence
from itertools import count

import orjson

from contracts import ws
from contracts.conversation_rpc import MessageView
from contracts.events import turn
from contracts.events.chat import OwnerKind, Role
from gateway.chat.exchange import Ended, Event, ExchangeEnd
from gateway.doors.agui import events
from gateway.doors.agui.events import Json
from gateway.doors.client_text import ClientText

SUCCESS: Json = {"type": "success"}
CANCELLED: Json = {"type": "cancelled"}


class AguiRun:
    """The events for the client. It keeps track of the messages that the client has: a text that was started cannot be
    taken back, but a MESSAGES_SNAPSHOT replaces all messages.

    `messages`: those that the client sent, unchanged; `answered_calls`: handed calls whose results are among them.
    """

    def __init__(self, thread: str, run: str, messages: Sequence[Json], answered_calls: Collection[str] = ()) -> None:
        self.has_ended = False
        self.left_to_person = False
        self._thread = thread
        self._run = run
        self._messages: list[Json] = list(messages)
        self._texts: dict[str, ClientText] = {}
        self._calls: set[str] = set()
        self._handed_calls: list[str] = []
        """The calls that this run has handed to the client."""
        self._answered_calls = frozenset(answered_calls)
        self._client_messages: dict[str, Json] = {}
        """By message: the client's message with its text so far. After a handed call it has another id than the
        message, whose id belongs to the text before the call."""
        self._needs_snapshot = False

    def start(self) -> list[Json]:
        """The run's first event."""
        return [events.run_started(self._thread, self._run)]

    def show_conversation(self, messages: Sequence[MessageView]) -> list[Json]:
        """The event that replaces the client's messages by the conversation's."""
        self._messages = [_agui_message(message) for message in messages]
        return [events.messages_snapshot(self._messages)]

    def finish(self, outcome: Json = SUCCESS, result: object = None) -> list[Json]:
        """The run's last events."""
        self.has_ended = True
        last_events = self._end_open_texts()
        if self._needs_snapshot or outcome["type"] == "interrupt":
            last_events.append(events.messages_snapshot(self._messages))
        return [*last_events, events.run_finished(self._thread, self._run, outcome, result)]

    def fail(self, code: str, message: str, retry_after: int | None = None) -> list[Json]:
        """The last events of a run that failed. `retry_after`: in seconds."""
        self.has_ended = True
        return [*self._end_open_texts(), events.run_error(code, message, retry_after)]

    def events_for(self, event: Event) -> list[Json]:
        """The protocol's events for an event of the exchange."""
        match event:
            case turn.RunStarted():
                if event.message_id in self._texts:
                    self._texts[event.message_id].restart()
                return []
            case turn.MessageDelta():
                return self._text_events(event.message_id, event.delta)
            case turn.ToolStarted():
                return self._tool_started(event)
            case turn.ToolFinished():
                return self._tool_finished(event)
            case ws.OwnerFrame():
                self.left_to_person = event.owner.kind is not OwnerKind.AI
                return [events.owner_activity(event.owner.to_wire())]
            case ws.MessageFrame():
                return [] if event.message.role.gets_answers else self._final_text(event.message)
            case Ended():
                return self._end_events(event)
            case _:
                return []

    def _end_events(self, event: Ended) -> list[Json]:
        message = event.message
        if event.outcome is ExchangeEnd.NOTICE and message is not None:
            return self.fail(str(message.code), message.text)
        if event.outcome is ExchangeEnd.CANCELLED:
            return self.finish(CANCELLED)
        text_events = [] if message is None else self._final_text(message)
        return [*text_events, *self.finish(SUCCESS if message is None else outcome_of(message))]

    def _final_text(self, message: MessageView) -> list[Json]:
        """The events that complete a message: the part of its text that the client does not have yet."""
        agui_events: list[Json] = []
        if message.id not in self._texts:
            agui_events += self._start_text(
                message.id, "system" if message.role is Role.SYSTEM else "assistant", message.name
            )
        remaining = self._texts.pop(message.id).complete(message.text)
        client_message = self._client_messages[message.id]
        client_message["content"], shown_id = message.text, client_message["id"]
        if remaining is None:
            self._needs_snapshot = True
        elif remaining:
            agui_events.append(events.text_content(shown_id, remaining))
        return [*agui_events, events.text_end(shown_id, _attachments(message))]

    def _text_events(self, message: str, text: str) -> list[Json]:
        agui_events = [] if message in self._texts else self._start_text(message)
        remaining, client_message = self._texts[message].add(text), self._client_messages[message]
        if remaining:
            client_message["content"] += remaining
            agui_events.append(events.text_content(client_message["id"], remaining))
        return agui_events

    def _start_text(self, message: str, role: str = "assistant", name: str | None = None) -> list[Json]:
        name_field = {} if name is None else {"name": name}
        shown_id, previous_text = self._continuation(message) if self._answered_calls else (message, "")
        self._texts[message], client_message = (
            ClientText(previous_text),
            {"id": shown_id, "role": role, "content": "", **name_field},
        )
        self._messages = [other for other in self._messages if other.get("id") != shown_id]
        self._messages.append(client_message)
        self._client_messages[message] = client_message
        return [events.text_start(shown_id, role, name)]

    def _continuation(self, message: str) -> tuple[str, str]:
        """An unused id for the text after a handed call, and the text before it."""
        messages_by_id, message_id, previous_text = (
            {client_message.get("id"): client_message for client_message in self._messages},
            message,
            "",
        )
        for number in count(2):
            if message_id not in messages_by_id:
                return message_id, previous_text
            message_id, previous_text = f"{message}-{number}", str(messages_by_id[message_id].get("content") or "")
        raise AssertionError("unreachable")

    def _end_open_texts(self) -> list[Json]:
        """The events that end texts that never became a message; the conversation does not contain them."""
        if self._texts:
            self._needs_snapshot = True
        open_ids = [self._client_messages[message]["id"] for message in self._texts]
        self._messages = [
            client_message for client_message in self._messages if client_message.get("id") not in open_ids
        ]
        self._texts.clear()
        return [events.text_end(message) for message in open_ids]

    def _handed_call(self, event: turn.ToolStarted, arguments: Json) -> list[Json]:
        """The events of a handed call. The last call ends the run: its result comes with the next run."""
        call, agui_events = event.call_id, list[Json]()
        if call in self._answered_calls:
            return []
        if not self._has_call(call):
            agui_events = [events.text_end(self._client_messages[message]["id"]) for message in self._texts]
            self._texts.clear()
            text = orjson.dumps(arguments).decode()
            self._add_call(event, text)
            agui_events += [events.tool_start(call, event.tool), events.tool_args(call, text), events.tool_end(call)]
            self._handed_calls.append(call)
        if event.left:
            return agui_events
        pending_field = {"pendingToolCallIds": self._handed_calls} if self._handed_calls else {}
        return [*agui_events, *self.finish({**SUCCESS, **pending_field})]

    def _tool_started(self, event: turn.ToolStarted) -> list[Json]:
        call = event.call_id
        if event.arguments is not None:
            return self._handed_call(event, event.arguments)
        if self._has_call(call):
            # The turn is driven again, or the client has the call from an earlier run.
            return []
        self._calls.add(call)
        self._add_call(event, "")
        return [events.tool_start(call, event.tool), events.tool_end(call)]

    def _has_call(self, call: str) -> bool:
        return any(client_message.get("id") == call for client_message in self._messages)

    def _add_call(self, event: turn.ToolStarted, arguments: str) -> None:
        function = {"name": event.tool, "arguments": arguments}
        calls = [{"id": event.call_id, "type": "function", "function": function}]
        self._messages.append({"id": event.call_id, "role": "assistant", "toolCalls": calls})

    def _tool_finished(self, event: turn.ToolFinished) -> list[Json]:
        if event.call_id not in self._calls:
            return []
        self._calls.discard(event.call_id)
        # The data itself is only for the model.
        content = orjson.dumps({"success": event.success}).decode()
        result = events.tool_result(event.call_id, content)
        self._messages.append(
            {"id": result["messageId"], "role": "tool", "toolCallId": event.call_id, "content": content}
        )
        return [result]


def _agui_message(message: MessageView) -> Json:
    """A message of the conversation in the protocol's form."""
    match message.role:
        case Role.VISITOR | Role.USER:
            return {"id": message.client_message_id or message.id, "role": "user", "content": message.text}
        case Role.SYSTEM:
            return {"id": message.id, "role": "system", "content": message.text}
        case _:
            name_field = {} if message.name is None else {"name": message.name}
            return {"id": message.id, "role": "assistant", "content": message.text, **name_field}


def outcome_of(message: MessageView) -> Json:
    """The outcome of a run with this last message: an interrupt if the message proposes an action."""
    if not message.waiting:
        return SUCCESS
    return {"type": "interrupt", "interrupts": [events.interrupt(action.to_wire()) for action in message.waiting]}


def _attachments(message: MessageView) -> Json:
    """The parts of a message besides its text."""
    if not (message.citations or message.charts or message.actions):
        return {}
    wire = message.to_wire()
    return {name: wire[name] for name in ("citations", "charts", "actions") if wire.get(name)}
