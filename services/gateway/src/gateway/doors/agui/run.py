"""One run of AG-UI: turns the events of a message into the protocol's."""

from collections.abc import Collection, Sequence
from itertools import count

import orjson

from contracts import ws
from contracts.conversation_rpc import MessageView
from contracts.events import turn
from contracts.events.chat import Owner, OwnerKind, Role
from gateway.chat.exchange import Ended, Event, ExchangeEnd
from gateway.doors.agui import events
from gateway.doors.agui.events import Json
from gateway.doors.client_text import ClientText

SUCCESS: Json = {"type": "success"}
CANCELLED: Json = {"type": "cancelled"}


class AguiRun:
    """What the client is told. It keeps track of what the client has: a text that was begun cannot be taken back, but a
    MESSAGES_SNAPSHOT replaces all messages.

    `messages`: those that the client sent with the run, unchanged; `given`: handed calls whose results are in them.
    """

    def __init__(self, thread: str, run: str, messages: Sequence[Json], given: Collection[str] = ()) -> None:
        self.ended = False
        self.left_to_person = False
        self._thread = thread
        self._run = run
        self._messages: list[Json] = list(messages)
        self._texts: dict[str, ClientText] = {}
        self._calls: set[str] = set()
        self._pending: list[str] = []
        """Calls that this run has handed to the client."""
        self._given = frozenset(given)
        self._held: dict[str, Json] = {}
        """What the client holds of a message's text. Behind a handed call it has another id than the message, whose id
        the text before the call has."""
        self._wrong = False

    def begin(self) -> list[Json]:
        """The run's first event."""
        return [events.run_started(self._thread, self._run)]

    def show(self, messages: Sequence[MessageView]) -> list[Json]:
        """The conversation as it stands, in place of what the client holds."""
        self._messages = [_shown(message) for message in messages]
        return [events.messages_snapshot(self._messages)]

    def finish(self, outcome: Json = SUCCESS, result: object = None) -> list[Json]:
        """The run's last events."""
        self.ended = True
        told = self._give_up_texts()
        if self._wrong or outcome["type"] == "interrupt":
            told.append(events.messages_snapshot(self._messages))
        return [*told, events.run_finished(self._thread, self._run, outcome, result)]

    def fail(self, code: str, message: str, retry_after: int | None = None) -> list[Json]:
        """The run ends without what it was for."""
        self.ended = True
        return [*self._give_up_texts(), events.run_error(code, message, retry_after)]

    def hear(self, event: Event) -> list[Json]:
        """The protocol's events for an event of the conversation."""
        match event:
            case turn.RunStarted():
                if event.message_id in self._texts:
                    self._texts[event.message_id].restart()
                return []
            case turn.MessageDelta():
                return self._delta(event.message_id, event.delta)
            case turn.ToolStarted():
                return self._tool_started(event)
            case turn.ToolFinished():
                return self._tool_finished(event)
            case ws.OwnerFrame():
                self.left_to_person = event.owner.kind is not OwnerKind.AI
                return [_owner(event.owner)]
            case ws.MessageFrame():
                return [] if event.message.role.gets_answers else self._whole(event.message)
            case Ended():
                return self._end(event)
            case _:
                return []

    def _end(self, event: Ended) -> list[Json]:
        message = event.message
        if event.outcome is ExchangeEnd.NOTICE and message is not None:
            return self.fail(str(message.code), message.text)
        if event.outcome is ExchangeEnd.CANCELLED:
            return self.finish(CANCELLED)
        told = [] if message is None else self._whole(message)
        return [*told, *self.finish(SUCCESS if message is None else outcome_of(message))]

    def _whole(self, message: MessageView) -> list[Json]:
        """The final text: the part that the client does not have yet."""
        told: list[Json] = []
        if message.id not in self._texts:
            told += self._begin(message.id, "system" if message.role is Role.SYSTEM else "assistant", message.name)
        rest = self._texts.pop(message.id).whole(message.text)
        held = self._held[message.id]
        held["content"], shown = message.text, held["id"]
        if rest is None:
            self._wrong = True
        elif rest:
            told.append(events.text_content(shown, rest))
        return [*told, events.text_end(shown, _beside(message))]

    def _delta(self, message: str, text: str) -> list[Json]:
        told = [] if message in self._texts else self._begin(message)
        rest, held = self._texts[message].more(text), self._held[message]
        if rest:
            held["content"] += rest
            told.append(events.text_content(held["id"], rest))
        return told

    def _begin(self, message: str, role: str = "assistant", name: str | None = None) -> list[Json]:
        named = {} if name is None else {"name": name}
        shown, before = self._behind(message) if self._given else (message, "")
        self._texts[message], held = ClientText(before), {"id": shown, "role": role, "content": "", **named}
        self._messages = [one for one in self._messages if one.get("id") != shown]
        self._messages.append(held)
        self._held[message] = held
        return [events.text_start(shown, role, name)]

    def _behind(self, message: str) -> tuple[str, str]:
        """An id for the text after a handed call, and the text that came before it."""
        held, name, before = {one.get("id"): one for one in self._messages}, message, ""
        for number in count(2):
            if name not in held:
                return name, before
            name, before = f"{message}-{number}", str(held[name].get("content") or "")
        raise AssertionError("unreachable")

    def _give_up_texts(self) -> list[Json]:
        """Ends texts that never became a message, since the conversation does not contain them."""
        if self._texts:
            self._wrong = True
        begun = [self._held[message]["id"] for message in self._texts]
        self._messages = [one for one in self._messages if one.get("id") not in begun]
        self._texts.clear()
        return [events.text_end(message) for message in begun]

    def _handed(self, event: turn.ToolStarted, arguments: Json) -> list[Json]:
        """A handed call. The last one ends the run: its result comes with the next."""
        call, told = event.call_id, list[Json]()
        if call in self._given:
            return []
        if not any(one.get("id") == call for one in self._messages):
            told = [events.text_end(self._held[message]["id"]) for message in self._texts]
            self._texts.clear()
            function = {"name": event.tool, "arguments": orjson.dumps(arguments).decode()}
            calls = [{"id": call, "type": "function", "function": function}]
            self._messages.append({"id": call, "role": "assistant", "toolCalls": calls})
            told += [events.tool_start(call, event.tool), events.tool_args(call, function["arguments"])]
            told.append(events.tool_end(call))
            self._pending.append(call)
        if event.left:
            return told
        pending = {"pendingToolCallIds": self._pending} if self._pending else {}
        return [*told, *self.finish({**SUCCESS, **pending})]

    def _tool_started(self, event: turn.ToolStarted) -> list[Json]:
        call = event.call_id
        if event.arguments is not None:
            return self._handed(event, event.arguments)
        if any(one.get("id") == call for one in self._messages):
            # The turn is driven again, or the client has it from an earlier run.
            return []
        self._calls.add(call)
        function = {"name": event.tool, "arguments": ""}
        calls = [{"id": call, "type": "function", "function": function}]
        self._messages.append({"id": call, "role": "assistant", "toolCalls": calls})
        return [events.tool_start(call, event.tool), events.tool_end(call)]

    def _tool_finished(self, event: turn.ToolFinished) -> list[Json]:
        if event.call_id not in self._calls:
            return []
        self._calls.discard(event.call_id)
        # The data itself went to the model.
        content = orjson.dumps({"success": event.success}).decode()
        result = events.tool_result(event.call_id, content)
        self._messages.append(
            {"id": result["messageId"], "role": "tool", "toolCallId": event.call_id, "content": content}
        )
        return [result]


def _shown(message: MessageView) -> Json:
    """A message of the conversation in the protocol's form."""
    match message.role:
        case Role.VISITOR | Role.USER:
            return {"id": message.client_message_id or message.id, "role": "user", "content": message.text}
        case Role.SYSTEM:
            return {"id": message.id, "role": "system", "content": message.text}
        case _:
            named = {} if message.name is None else {"name": message.name}
            return {"id": message.id, "role": "assistant", "content": message.text, **named}


def outcome_of(message: MessageView) -> Json:
    """Returns how a run with this last message ends: with a question, if the message proposes an action."""
    if not message.waiting:
        return SUCCESS
    return {"type": "interrupt", "interrupts": [events.interrupt(action.to_wire()) for action in message.waiting]}


def _beside(message: MessageView) -> Json:
    """Returns the parts of a message besides its text."""
    if not (message.citations or message.charts or message.actions):
        return {}
    told = message.to_wire()
    return {name: told[name] for name in ("citations", "charts", "actions") if told.get(name)}


def _owner(owner: Owner) -> Json:
    return events.owner_activity(owner.to_wire())
