"""A task of A2A: one message and its outcome, in the protocol's states, artifacts and events. It is read entirely
from the conversation, so that any gateway can tell a task's state at any time."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from contracts import ws
from contracts.conversation_rpc import MessageView
from contracts.events import turn
from contracts.events.chat import Action, ActionState, OwnerKind, Role
from contracts.ids import is_id
from contracts.languages import Language
from gateway.chat.exchange import Ended, Event, ExchangeEnd
from gateway.doors.a2a.rpc import Json
from gateway.doors.approvals import state_in_words
from gateway.doors.client_text import ClientText
from gateway.texts import TEXTS

SUBMITTED = "TASK_STATE_SUBMITTED"
WORKING = "TASK_STATE_WORKING"
COMPLETED = "TASK_STATE_COMPLETED"
FAILED = "TASK_STATE_FAILED"
CANCELED = "TASK_STATE_CANCELED"
INPUT_REQUIRED = "TASK_STATE_INPUT_REQUIRED"
TERMINAL = frozenset({COMPLETED, FAILED, CANCELED})
STATES = frozenset({SUBMITTED, WORKING, INPUT_REQUIRED, *TERMINAL, "TASK_STATE_REJECTED", "TASK_STATE_AUTH_REQUIRED"})
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PLACE = re.compile(r"[1-9][0-9]{0,14}")
_BESIDE = ("citations", "charts")


@dataclass(frozen=True, slots=True)
class TaskName:
    """A task's id: its conversation, and its message's position there."""

    conversation: str
    seq: int

    def __str__(self) -> str:
        return f"{self.conversation}-{self.seq}"

    @classmethod
    def read(cls, text: str) -> "TaskName | None":
        """None if it is no task id."""
        conversation, _, seq = text.rpartition("-")
        if not is_id(conversation) or _PLACE.fullmatch(seq) is None:
            return None
        return cls(conversation, int(seq))


class Task:
    """One task. `hear` returns the updates for an event, without what was already told."""

    def __init__(self, name: TaskName, asked: MessageView, language: Language) -> None:
        self.name = name
        self._place = {"taskId": str(name), "contextId": name.conversation}
        self.state = SUBMITTED
        self.actions: Sequence[Action] = ()
        self.left_to_person = False
        self.changed = asked.created_at
        self._asked = asked
        self._language = language
        self._message: Json | None = None
        self._metadata: Json = {}
        self._artifacts: dict[str, Json] = {}
        self._texts: dict[str, ClientText] = {}

    @property
    def place(self) -> tuple[int, int]:
        """Its last change in microseconds since 1970, and its message's sequence, which is unique; lists begin with
        the greatest."""
        return (self.changed - _EPOCH) // timedelta(microseconds=1), self.name.seq

    # ------------------------------------------------------------------ as the protocol shows it

    def view(self, history: int | None = None, *, artifacts: bool = True) -> Json:
        """The Task object. `history`: the most messages to show; None: all."""
        made = [one for one in self._artifacts.values() if one["parts"][0].get("text") != ""]
        shown = {"artifacts": made} if artifacts and made else {}
        past = {} if history == 0 else {"history": [self._history()]}
        metadata = {"metadata": {"nexus": self._metadata}} if self._metadata else {}
        return (
            {"id": str(self.name), "contextId": self.name.conversation}
            | {"status": self._status()}
            | shown
            | past
            | metadata
        )

    def _history(self) -> Json:
        identity = self._asked.client_message_id or self._asked.id
        part = {"text": self._asked.text}
        return {"messageId": identity, "role": "ROLE_USER", "parts": [part], **self._place}

    def _status(self) -> Json:
        said = {} if self._message is None else {"message": self._message}
        return {"state": self.state, "timestamp": stamp(self.changed), **said}

    # ------------------------------------------------------------------ what happens

    def hear(self, event: Event) -> list[Json]:
        """The StreamResponses for this event."""
        match event:
            case turn.RunStarted():
                if event.message_id in self._texts:
                    self._texts[event.message_id].restart()
                return [] if self.state == WORKING else [self._turn(WORKING)]
            case turn.MessageDelta():
                return self._delta(event.message_id, event.delta)
            case turn.ToolStarted():
                about = {"tool": event.tool, "callId": event.call_id}
                return [self._turn(WORKING, event.label, about=about)]
            case turn.ToolFinished():
                about = {"tool": event.tool, "callId": event.call_id, "success": event.success}
                return [self._turn(WORKING, about=about)]
            case ws.OwnerFrame():
                return self._owner(event)
            case ws.MessageFrame() if event.message.role is Role.SYSTEM:
                return [self._turn(self.state, event.message.text, at=event.message.created_at)]
            case Ended():
                return self._end(event)
            case _:
                return []

    def decided(self, actions: Sequence[Action]) -> list[Json]:
        """The StreamResponses once its question is answered."""
        self.actions = actions
        return self._decided(datetime.now(UTC))

    def _owner(self, event: ws.OwnerFrame) -> list[Json]:
        owner = event.owner
        self.left_to_person = owner.kind is not OwnerKind.AI
        if not self.left_to_person:
            return []
        said = (TEXTS["handover.has_it"] if owner.kind is OwnerKind.HUMAN else TEXTS["handover.awaited"]).in_language(
            self._language
        )
        return [self._turn(WORKING, said, about={"owner": owner.to_wire()}, at=event.created_at)]

    def _end(self, event: Ended) -> list[Json]:
        message = event.message
        if message is None:
            return [self._turn(CANCELED if event.outcome is ExchangeEnd.CANCELLED else WORKING, at=event.at)]
        if event.outcome is ExchangeEnd.NOTICE:
            self._metadata = {"code": message.code}
            return [self._turn(FAILED, message.text, about=self._metadata, at=message.created_at)]
        self.actions = message.actions
        return [*self._whole(message), *self._decided(message.created_at)]

    def _decided(self, at: datetime) -> list[Json]:
        states = {action.state for action in self.actions}
        if ActionState.PENDING in states:
            waiting = [action for action in self.actions if action.state is ActionState.PENDING]
            told = "\n".join(action.summary for action in waiting)
            data = {"actions": [action.to_wire() for action in waiting]}
            return [self._turn(INPUT_REQUIRED, told, data=data, at=at)]
        if not states:
            return [self._turn(COMPLETED, at=at)]
        self._metadata = {"actions": [action.to_wire() for action in self.actions]}
        refused = states <= {ActionState.REJECTED, ActionState.EXPIRED}
        told = "\n".join(state_in_words(action, self._language) for action in self.actions)
        return [self._turn(CANCELED if refused else COMPLETED, told, about=self._metadata, at=at)]

    def _delta(self, identity: str, text: str) -> list[Json]:
        spoken = self._texts.setdefault(identity, ClientText())
        first = spoken.shown == ""
        rest = spoken.more(text)
        return [self._artifact(identity, rest, append=not first)] if rest else []

    def _whole(self, message: MessageView) -> list[Json]:
        spoken = self._texts.setdefault(message.id, ClientText())
        first = spoken.shown == ""
        rest = spoken.whole(message.text)
        told = message.to_wire() if message.citations or message.charts else {}
        beside = {name: told[name] for name in _BESIDE if told.get(name)}
        # A text of which something else was shown is replaced, and what was begun and given up is emptied.
        dropped = [one for one in self._texts if one != message.id and one in self._artifacts]
        updates = [self._artifact(one, "", append=False, last=True) for one in dropped]
        if rest is None:
            spoken.shown = message.text
            updates.append(self._artifact(message.id, message.text, append=False, last=True))
        else:
            updates.append(self._artifact(message.id, rest, append=not first, last=True))
        artifact = self._artifacts[message.id]
        if message.name is not None:
            artifact["name"] = updates[-1]["artifactUpdate"]["artifact"]["name"] = message.name
        if beside:
            artifact["metadata"] = updates[-1]["artifactUpdate"]["artifact"]["metadata"] = {"nexus": beside}
        return updates

    def _artifact(self, identity: str, text: str, *, append: bool, last: bool = False) -> Json:
        held = self._artifacts.setdefault(identity, {"artifactId": identity, "parts": [{"text": ""}]})
        held["parts"] = [{"text": held["parts"][0]["text"] + text if append else text}]
        artifact: Json = {"artifactId": identity, "parts": [{"text": text}]}
        marks = ({"append": True} if append else {}) | ({"lastChunk": True} if last else {})
        return {"artifactUpdate": {**self._place, "artifact": artifact, **marks}}

    def _turn(
        self,
        state: str,
        said: str | None = None,
        *,
        data: Json | None = None,
        about: Mapping[str, Any] | None = None,
        at: datetime | None = None,
    ) -> Json:
        self.state = state
        self.changed = at or datetime.now(UTC)
        self._message = None if said is None else self._agents_message(said, data)
        metadata = {"metadata": {"nexus": dict(about)}} if about else {}
        return {"statusUpdate": {**self._place, "status": self._status(), **metadata}}

    def _agents_message(self, said: str, data: Json | None) -> Json:
        parts: list[Json] = [{"text": said}]
        if data is not None:
            parts.append({"data": data, "mediaType": "application/json"})
        identity = f"{self.name}-{len(self._artifacts)}-{self.state.rpartition('_')[2].lower()}"
        return {"messageId": identity, "role": "ROLE_AGENT", "parts": parts, **self._place}


def stamp(at: datetime) -> str:
    """A time in the protocol's format."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
