"""Reads one message and its outcome from a conversation's frames: the part of the log that a request is about."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from contracts import ws
from contracts.agent_rpc import TurnState
from contracts.conversation import AnswerRules, may_answer
from contracts.conversation_rpc import MessageView
from contracts.envelope import Wire
from contracts.events import turn
from contracts.events.chat import CancelReason, Owner, OwnerKind, Role
from contracts.ids import turn_id


class ExchangeEnd(StrEnum):
    """The ways in which an exchange ends."""

    ANSWERED = "answered"
    """The AI has answered; `message` is the whole answer."""
    SPOKEN = "spoken"
    """A person replied: `message` is their reply."""
    NOTICE = "notice"
    """No answer could be given: `message` says why, with its `code`."""
    CANCELLED = "cancelled"
    """Somebody stopped it."""
    HANDED_OFF = "handed_off"
    """A person has the conversation, or is awaited (`owner`); the AI does not answer."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The last event of an exchange."""

    outcome: ExchangeEnd
    message: MessageView | None = None
    owner: Owner | None = None
    at: datetime | None = None
    """The time at which it was stopped, if the log says so."""


Event = (
    turn.RunStarted
    | turn.MessageDelta
    | turn.ToolStarted
    | turn.ToolFinished
    | turn.RunFinished
    | turn.RunError
    | ws.OwnerFrame
    | ws.MessageFrame
    | Ended
)
"""The events that a door translates. RunStarted: another run begins, and the text so far is discarded. MessageFrame:
somebody else wrote."""
CAUGHT_UP = "caught.up"
"""The type of the frame that separates missed frames from live ones."""
_READ: dict[str, Callable[[Mapping[str, Any]], Wire]] = {
    kind: ws.SERVER_FRAMES[kind].model_validate
    for kind in (
        "welcome",
        "snapshot",
        "message.created",
        "run.started",
        "message.delta",
        "tool.started",
        "tool.finished",
        "run.finished",
        "run.error",
        "run.cancelled",
        "owner.changed",
    )
}


class Exchange:
    """The exchange that begins with the visitor message at `asked`. Frames are read in order, and none after the end.

    `patient`: a person taking over does not end it, their reply does; the takeover is an event.
    """

    def __init__(
        self, company: str, conversation: str, asked: int, rules: AnswerRules, *, patient: bool = False
    ) -> None:
        self._company = company
        self._conversation = conversation
        self._asked = asked
        self._rules = rules
        self.patient = patient
        self._turns = {turn_id(company, conversation, asked)}
        self._owner: Owner | None = None
        self.question: MessageView | None = None
        """The message itself, if the frames read include it."""
        self.counted = False
        """Whether the answer's usage was reported."""
        self.live = False
        """Whether all missed frames have been read, so that frames are now live."""
        self._overtaken = False
        self._next_delta = 0
        """The next delta of the running text. Deltas after a missed one, or of a run that began earlier, are not
        shown: the final message has the whole text."""
        self.ended = False

    def usage(self, told: Mapping[str, Any]) -> turn.RunFinished | None:
        """The answer's usage, if this frame reports it."""
        if told["type"] != "run.finished" or told.get("turnId") not in self._turns:
            return None
        return turn.RunFinished.model_validate(told)

    def begin(self, owner: Owner) -> Sequence[Event]:
        """The events of a conversation that is followed from now on."""
        self._owner, self.live = owner, True
        return self._left_to_people()

    def read(self, told: Mapping[str, Any]) -> Sequence[Event]:
        """The events in a frame that belong to this exchange. After its end: messages of people before the visitor's
        next one."""
        if told["type"] == CAUGHT_UP:
            self.live = True
            return () if self.ended else self._left_to_people()
        read = _READ.get(told["type"])
        if read is None or self._overtaken:
            return ()
        frame = read(told)
        match frame:
            case ws.MessageFrame():
                return self._said(frame.message)
            case ws.WelcomeFrame():
                return self._welcomed(frame)
            case ws.SnapshotFrame():
                return [event for message in frame.messages for event in self._said(message)]
            case _ if self.ended:
                return ()
            case ws.OwnerFrame():
                if self.live:  # the welcome's is newer than what was missed
                    self._owner = frame.owner
                    if not self.patient:
                        return (frame, *self._left_to_people())
                return (frame,)
            case ws.CancelledFrame():
                # What is overtaken is decided anew; a take-over is told by the owner.
                final = frame.reason in {CancelReason.USER, CancelReason.DISABLED}
                if frame.turn_id in self._turns and final:
                    return (self._end(ExchangeEnd.CANCELLED, at=frame.created_at),)
                return ()
            case _:
                return self._run(frame)

    def _welcomed(self, frame: ws.WelcomeFrame) -> Sequence[Event]:
        self._owner = frame.owner
        running = frame.active_turn
        if running is None or running.turn_id not in self._turns:
            return ()
        about = {"turn_id": running.turn_id, "message_id": running.message_id}
        self._next_delta = running.delta_seq + 1
        events: list[Event] = [turn.RunStarted(**about)]
        if running.text_so_far:
            delta_seq = max(running.delta_seq, 0)
            events.append(turn.MessageDelta(**about, delta_seq=delta_seq, delta=running.text_so_far))
        return [*events, *_handed(running)]

    def _run(self, frame: Any) -> Sequence[Event]:
        """A live sign of a turn."""
        if frame.turn_id not in self._turns:
            return ()
        match frame:
            case turn.RunStarted():
                self._next_delta = 0
            case turn.MessageDelta():
                if frame.delta_seq != self._next_delta:
                    return ()
                self._next_delta += 1
            case turn.RunFinished():
                self.counted = True
            case _:
                pass
        return (frame,)

    def _said(self, message: MessageView) -> Sequence[Event]:
        if message.seq == self._asked and message.role.gets_answers:
            self.question = message
        if message.seq <= self._asked or self._overtaken:
            return ()
        if self.ended:
            self._overtaken = message.role.gets_answers
            return (ws.MessageFrame(message=message),) if message.role is Role.OPERATOR else ()
        match message.role:
            case Role.ASSISTANT if message.turn_id in self._turns:
                return (self._end(ExchangeEnd.ANSWERED, message),)
            case Role.OPERATOR:
                return (self._end(ExchangeEnd.SPOKEN, message),)
            case Role.SYSTEM if message.turn_id in self._turns:
                return (self._end(ExchangeEnd.NOTICE, message),)
            case Role.VISITOR | Role.USER:
                # Neighbours are answered as one: by the turn of the newest.
                self._turns.add(turn_id(self._company, self._conversation, message.seq))
            case _:
                pass
        return (ws.MessageFrame(message=message),)

    def _left_to_people(self) -> Sequence[Event]:
        kind = self._owner.kind if self._owner is not None else OwnerKind.AI
        if may_answer(self._rules, kind):
            return ()
        if not self.patient:
            return (self._end(ExchangeEnd.HANDED_OFF),)
        # With the assistant switched off nobody has it, and nobody but a person will answer.
        told = self._owner if self._owner and kind is not OwnerKind.AI else Owner(kind=OwnerKind.WAITING)
        return (ws.OwnerFrame(owner=told, seq=self._asked),)

    def _end(self, outcome: ExchangeEnd, message: MessageView | None = None, at: datetime | None = None) -> Ended:
        self.ended = True
        return Ended(outcome, message, self._owner, at)


def _handed(running: TurnState) -> Iterator[turn.ToolStarted]:
    """The handed calls that wait for their client and have not been reported yet."""
    waiting = running.waiting or []
    for left, one in zip(range(len(waiting) - 1, -1, -1), waiting, strict=True):
        yield turn.ToolStarted(
            turn_id=running.turn_id,
            call_id=one.call_id,
            tool=one.tool,
            label=one.tool,
            arguments=one.arguments,
            left=left,
        )
