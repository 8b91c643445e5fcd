"""Reads one message and its outcome from a conversation's frames: the part of the log that a request is about."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from contracts import ws
from contracts.conversation import AnswerRules, may_answer
from contracts.envelope import Wire
from contracts.events import turn
from contracts.events.chat import CancelReason, Owner, OwnerKind, Role
from contracts.ids import turn_id
from contracts.rpc import MessageView, TurnState


class ExchangeEnd(StrEnum):
    """How an exchange ended."""

    ANSWERED = "answered"
    """By the AI: `message` is the answer, whole."""
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
    """When it was stopped, if the log says so."""


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
"""What a door translates. RunStarted: discard the text so far, another run begins. MessageFrame: somebody else
wrote."""
_RUNNING = (turn.RunStarted, turn.MessageDelta, turn.ToolStarted, turn.ToolFinished, turn.RunFinished, turn.RunError)
CAUGHT_UP = "caught.up"
"""The type of the frame that separates missed frames from live ones."""
_READ = frozenset(
    {
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
    }
)


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
        self._patient = patient
        self._turns = {turn_id(company, conversation, asked)}
        self._owner: Owner | None = None
        self.question: MessageView | None = None
        """The message itself, if the frames read include it."""
        self.counted = False
        """Whether the answer's usage was reported."""
        self._caught_up = False
        self._overtaken = False
        self._next_delta = 0
        """The next delta of the running text. Deltas after a missed one, or of a run that began earlier, are not
        shown: the final message has the whole text."""
        self.ended = False

    @property
    def live(self) -> bool:
        """Whether all missed frames have been read, so that frames are now live."""
        return self._caught_up

    def usage(self, told: Mapping[str, Any]) -> turn.RunFinished | None:
        """The answer's usage, if this frame reports it."""
        if told["type"] != "run.finished" or told.get("turnId") not in self._turns:
            return None
        return turn.RunFinished.model_validate(told)

    def read(self, told: Mapping[str, Any]) -> Iterator[Event]:
        """The events in a frame that belong to this exchange. After its end: messages of people before the visitor's
        next one."""
        if told["type"] == CAUGHT_UP:
            self._caught_up = True
            if not self.ended:
                yield from self._left_to_people()
        elif told["type"] in _READ and not self._overtaken:
            yield from self._of(ws.read_server_frame(told))

    def _of(self, frame: Wire) -> Iterator[Event]:
        match frame:
            case ws.WelcomeFrame():
                self._owner = frame.owner
                if (running := frame.active_turn) is not None and running.turn_id in self._turns:
                    yield turn.RunStarted(turn_id=running.turn_id, message_id=running.message_id)
                    self._next_delta = running.delta_seq + 1
                    if running.text_so_far:
                        yield turn.MessageDelta(
                            turn_id=running.turn_id,
                            message_id=running.message_id,
                            delta_seq=max(running.delta_seq, 0),
                            delta=running.text_so_far,
                        )
                    yield from _handed(running)
            case ws.SnapshotFrame():
                for message in frame.messages:
                    yield from self._said(message)
            case ws.MessageFrame():
                yield from self._said(frame.message)
            case _ if self.ended:
                return
            case ws.OwnerFrame():
                yield frame
                if self._caught_up:  # the welcome's is newer than what was missed
                    self._owner = frame.owner
                    if not self._patient:
                        yield from self._left_to_people()
            case ws.CancelledFrame():
                # What is overtaken is decided anew; a take-over is told by the owner.
                final = frame.reason in {CancelReason.USER, CancelReason.DISABLED}
                if frame.turn_id in self._turns and final:
                    yield self._end(ExchangeEnd.CANCELLED, at=frame.created_at)
            case _ if isinstance(frame, _RUNNING) and frame.turn_id in self._turns:
                self.counted = self.counted or isinstance(frame, turn.RunFinished)
                if self._follows(frame):
                    yield frame
            case _:
                pass

    def _follows(self, frame: Wire) -> bool:
        if isinstance(frame, turn.RunStarted):
            self._next_delta = 0
        elif isinstance(frame, turn.MessageDelta):
            if frame.delta_seq != self._next_delta:
                return False
            self._next_delta += 1
        return True

    def _said(self, message: MessageView) -> Iterator[Event]:
        if message.seq == self._asked and message.role.asks:
            self.question = message
        if message.seq <= self._asked or self._overtaken:
            return
        if self.ended:
            self._overtaken = message.role.asks
            if message.role is Role.OPERATOR:
                yield ws.MessageFrame(message=message)
            return
        match message.role:
            case Role.ASSISTANT if message.turn_id in self._turns:
                yield self._end(ExchangeEnd.ANSWERED, message)
            case Role.OPERATOR:
                yield self._end(ExchangeEnd.SPOKEN, message)
            case Role.SYSTEM if message.turn_id in self._turns:
                yield self._end(ExchangeEnd.NOTICE, message)
            case Role.VISITOR | Role.USER:
                # Neighbours are answered as one: by the turn of the newest.
                self._turns.add(turn_id(self._company, self._conversation, message.seq))
                yield ws.MessageFrame(message=message)
            case _:
                yield ws.MessageFrame(message=message)

    def _left_to_people(self) -> Iterator[Event]:
        kind = self._owner.kind if self._owner is not None else OwnerKind.AI
        if may_answer(self._rules, kind):
            return
        if not self._patient:
            yield self._end(ExchangeEnd.HANDED_OFF)
            return
        # With the assistant switched off nobody has it, and nobody but a person will answer.
        told = self._owner if self._owner and kind is not OwnerKind.AI else Owner(kind=OwnerKind.WAITING)
        yield ws.OwnerFrame(owner=told, seq=self._asked)

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
