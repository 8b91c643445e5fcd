"""A task of A2A: one message and its outcome, in the protocol's states, artifacts and events. It is read entirely
from the conversation, so that any gateway can determine a task's state at any time."""

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
from gateway.doors.approvals import action_state_text
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
_SEQUENCE = re.compile(r"[1-9][0-9]{0,14}")
_METADATA_FIELDS = ("citations", "charts")


@dataclass(frozen=True, slots=True)
class TaskId:
    """A task's id: its conversation, and its message's sequence there."""

    conversation: str
    seq: int

    def __str__(self) -> str:
        return f"{self.conversation}-{self.seq}"

    @classmethod
    def parse(cls, text: str) -> "TaskId | None":
        """The task id in a text; None if it is not one."""
        conversation, _, seq = text.rpartition("-")
        if not is_id(conversation) or _SEQUENCE.fullmatch(seq) is None:
            return None
        return cls(conversation, int(seq))


class Task:
    """One task. `events_for` returns the updates for an event, without what they repeat."""

    def __init__(self, id: TaskId, question: MessageView, language: Language) -> None:
        self.id = id
        self._ids = {"taskId": str(id), "contextId": id.conversation}
        self.state = SUBMITTED
        self.actions: Sequence[Action] = ()
        self.left_to_person = False
        self.changed_at = question.created_at
        self.question = question
        self._language = language
        self._message: Json | None = None
        self._metadata: Json = {}
        self._artifacts: dict[str, Json] = {}
        self._texts: dict[str, ClientText] = {}

    @property
    def sort_key(self) -> tuple[int, int]:
        """The time of its last change in microseconds since 1970, and its message's sequence, which is unique. Lists
        begin with the greatest key."""
        return (self.changed_at - _EPOCH) // timedelta(microseconds=1), self.id.seq

    # ------------------------------------------------------------------ as the protocol shows it

    def view(self, history: int | None = None, *, artifacts: bool = True) -> Json:
        """The Task object. `history`: how many messages to show at most; None: all."""
        shown_artifacts = [artifact for artifact in self._artifacts.values() if artifact["parts"][0].get("text") != ""]
        artifact_field = {"artifacts": shown_artifacts} if artifacts and shown_artifacts else {}
        history_field = {} if history == 0 else {"history": [self._history()]}
        metadata = {"metadata": {"nexus": self._metadata}} if self._metadata else {}
        return (
            {"id": str(self.id), "contextId": self.id.conversation}
            | {"status": self._status()}
            | artifact_field
            | history_field
            | metadata
        )

    def _history(self) -> Json:
        identity = self.question.client_message_id or self.question.id
        part = {"text": self.question.text}
        return {"messageId": identity, "role": "ROLE_USER", "parts": [part], **self._ids}

    def _status(self) -> Json:
        message = {} if self._message is None else {"message": self._message}
        return {"state": self.state, "timestamp": timestamp_text(self.changed_at), **message}

    # ------------------------------------------------------------------ what happens

    def events_for(self, event: Event) -> list[Json]:
        """The StreamResponses for an event of the exchange."""
        match event:
            case turn.RunStarted():
                if event.message_id in self._texts:
                    self._texts[event.message_id].restart()
                return [] if self.state == WORKING else [self._status_update(WORKING)]
            case turn.MessageDelta():
                return self._text_updates(event.message_id, event.delta)
            case turn.ToolStarted():
                metadata = {"tool": event.tool, "callId": event.call_id}
                return [self._status_update(WORKING, event.label, nexus_metadata=metadata)]
            case turn.ToolFinished():
                metadata = {"tool": event.tool, "callId": event.call_id, "success": event.success}
                return [self._status_update(WORKING, nexus_metadata=metadata)]
            case ws.OwnerFrame():
                return self._owner_updates(event)
            case ws.MessageFrame() if event.message.role is Role.SYSTEM:
                return [self._status_update(self.state, event.message.text, time=event.message.created_at)]
            case Ended():
                return self._end_updates(event)
            case _:
                return []

    def apply_decisions(self, actions: Sequence[Action]) -> list[Json]:
        """The StreamResponses after a decision. `actions`: the task's actions in their current states."""
        self.actions = actions
        return self._decision_updates(self.question.created_at)

    def _owner_updates(self, event: ws.OwnerFrame) -> list[Json]:
        owner = event.owner
        self.left_to_person = owner.kind is not OwnerKind.AI
        if not self.left_to_person:
            return []
        text = (TEXTS["handover.has_it"] if owner.kind is OwnerKind.HUMAN else TEXTS["handover.awaited"]).in_language(
            self._language
        )
        return [self._status_update(WORKING, text, nexus_metadata={"owner": owner.to_wire()}, time=event.created_at)]

    def _end_updates(self, event: Ended) -> list[Json]:
        message = event.message
        if message is None:
            return [self._status_update(CANCELED if event.outcome is ExchangeEnd.CANCELLED else WORKING, time=event.at)]
        if event.outcome is ExchangeEnd.NOTICE:
            self._metadata = {"code": message.code}
            return [self._status_update(FAILED, message.text, nexus_metadata=self._metadata, time=message.created_at)]
        self.actions = message.actions
        return [*self._final_text(message), *self._decision_updates(message.created_at)]

    def _decision_updates(self, asked_at: datetime) -> list[Json]:
        time = max([asked_at, *map(_decided_at, self.actions)])
        states = {action.state for action in self.actions}
        if ActionState.PENDING in states:
            pending = [action for action in self.actions if action.state is ActionState.PENDING]
            text = "\n".join(action.summary for action in pending)
            data = {"actions": [action.to_wire() for action in pending]}
            return [self._status_update(INPUT_REQUIRED, text, data=data, time=time)]
        if not states:
            return [self._status_update(COMPLETED, time=time)]
        self._metadata = {"actions": [action.to_wire() for action in self.actions]}
        is_refused = states <= {ActionState.REJECTED, ActionState.EXPIRED}
        text = "\n".join(action_state_text(action, self._language) for action in self.actions)
        return [
            self._status_update(CANCELED if is_refused else COMPLETED, text, nexus_metadata=self._metadata, time=time)
        ]

    def _text_updates(self, message_id: str, text: str) -> list[Json]:
        client_text = self._texts.setdefault(message_id, ClientText())
        is_first = client_text.shown == ""
        remaining = client_text.add(text)
        return [self._artifact_update(message_id, remaining, append=not is_first)] if remaining else []

    def _final_text(self, message: MessageView) -> list[Json]:
        client_text = self._texts.setdefault(message.id, ClientText())
        is_first = client_text.shown == ""
        remaining = client_text.complete(message.text)
        wire = message.to_wire() if message.citations or message.charts else {}
        attached = {name: wire[name] for name in _METADATA_FIELDS if wire.get(name)}
        # If another text was sent for this message, it is replaced; texts that were begun and abandoned are emptied.
        abandoned = [text_id for text_id in self._texts if text_id != message.id and text_id in self._artifacts]
        updates = [self._artifact_update(text_id, "", append=False, last=True) for text_id in abandoned]
        if remaining is None:
            client_text.shown = message.text
            updates.append(self._artifact_update(message.id, message.text, append=False, last=True))
        else:
            updates.append(self._artifact_update(message.id, remaining, append=not is_first, last=True))
        artifact = self._artifacts[message.id]
        if message.name is not None:
            artifact["name"] = updates[-1]["artifactUpdate"]["artifact"]["name"] = message.name
        if attached:
            artifact["metadata"] = updates[-1]["artifactUpdate"]["artifact"]["metadata"] = {"nexus": attached}
        return updates

    def _artifact_update(self, message_id: str, text: str, *, append: bool, last: bool = False) -> Json:
        stored = self._artifacts.setdefault(message_id, {"artifactId": message_id, "parts": [{"text": ""}]})
        stored["parts"] = [{"text": stored["parts"][0]["text"] + text if append else text}]
        artifact: Json = {"artifactId": message_id, "parts": [{"text": text}]}
        flags = ({"append": True} if append else {}) | ({"lastChunk": True} if last else {})
        return {"artifactUpdate": {**self._ids, "artifact": artifact, **flags}}

    def _status_update(
        self,
        state: str,
        text: str | None = None,
        *,
        data: Json | None = None,
        nexus_metadata: Mapping[str, Any] | None = None,
        time: datetime | None = None,
    ) -> Json:
        self.state = state
        self.changed_at = time or datetime.now(UTC)
        self._message = None if text is None else self._agent_message(text, data)
        metadata = {"metadata": {"nexus": dict(nexus_metadata)}} if nexus_metadata else {}
        return {"statusUpdate": {**self._ids, "status": self._status(), **metadata}}

    def _agent_message(self, text: str, data: Json | None) -> Json:
        parts: list[Json] = [{"text": text}]
        if data is not None:
            parts.append({"data": data, "mediaType": "application/json"})
        identity = f"{self.id}-{len(self._artifacts)}-{self.state.rpartition('_')[2].lower()}"
        return {"messageId": identity, "role": "ROLE_AGENT", "parts": parts, **self._ids}


def _decided_at(action: Action) -> datetime:
    """The time of the decision on an action; long ago if it waits for one."""
    text = action.details.get("decidedAt")
    return datetime.fromisoformat(text) if isinstance(text, str) else _EPOCH


def timestamp_text(time: datetime) -> str:
    """A time in the protocol's format."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
