"""Reads one question and its outcome from a conversation's frames: the part of the log that a request is about."""

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
    """How an exchange ended."""

    ANSWERED = "answered"
    """The AI has answered; `message` is the whole answer."""
    PERSON_REPLIED = "spoken"
    """A person replied; `message` is their reply."""
    NOTICE = "notice"
    """No answer could be given; `message` says why, with a `code`."""
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
    """The time of a cancellation, if the log has it."""


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
a message that is not the outcome."""
CAUGHT_UP = "caught.up"
"""The type of the frame that separates missed frames from live ones."""
_FRAME_PARSERS: dict[str, Callable[[Mapping[str, Any]], Wire]] = {
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
    """The exchange that begins with the visitor message at `question_seq`. Frames must be read in the log's order.

    `await_person`: a takeover by a person is an event, and only their reply ends the exchange.
    """

    def __init__(
        self, company: str, conversation: str, question_seq: int, rules: AnswerRules, *, await_person: bool = False
    ) -> None:
        self._company = company
        self._conversation = conversation
        self._question_seq = question_seq
        self._rules = rules
        self.await_person = await_person
        self._turns = {turn_id(company, conversation, question_seq)}
        self._owner: Owner | None = None
        self.question: MessageView | None = None
        """The visitor message, if it was among the frames read."""
        self.has_usage = False
        """Whether the answer's usage was reported."""
        self.is_live = False
        """Whether all missed frames have been read, so that the next ones are live."""
        self._is_overtaken = False
        self._next_delta = 0
        """The number of the next delta. Deltas after a missed one, or of a run that began earlier, are skipped: the
        final message has the whole text."""
        self.has_ended = False

    def usage(self, raw_frame: Mapping[str, Any]) -> turn.RunFinished | None:
        """The answer's usage, if the frame reports it."""
        if raw_frame["type"] != "run.finished" or raw_frame.get("turnId") not in self._turns:
            return None
        return turn.RunFinished.model_validate(raw_frame)

    def begin(self, owner: Owner) -> Sequence[Event]:
        """The first events of a conversation that is followed from now on."""
        self._owner, self.is_live = owner, True
        return self._hand_off_events()

    def read(self, raw_frame: Mapping[str, Any]) -> Sequence[Event]:
        """The events in a frame that belong to this exchange. After its end: messages of human agents, until the
        visitor's next message."""
        if raw_frame["type"] == CAUGHT_UP:
            self.is_live = True
            return () if self.has_ended else self._hand_off_events()
        parse = _FRAME_PARSERS.get(raw_frame["type"])
        if parse is None or self._is_overtaken:
            return ()
        frame = parse(raw_frame)
        match frame:
            case ws.MessageFrame():
                return self._read_message(frame.message)
            case ws.WelcomeFrame():
                return self._read_welcome(frame)
            case ws.SnapshotFrame():
                return [event for message in frame.messages for event in self._read_message(message)]
            case _ if self.has_ended:
                return ()
            case ws.OwnerFrame():
                if self.is_live:  # the owner in the welcome is newer than those in missed frames
                    self._owner = frame.owner
                    if not self.await_person:
                        return (frame, *self._hand_off_events())
                return (frame,)
            case ws.CancelledFrame():
                # A superseded turn is followed by another; a takeover is reported by a change of owner.
                is_final = frame.reason in {CancelReason.USER, CancelReason.DISABLED}
                if frame.turn_id in self._turns and is_final:
                    return (self._end(ExchangeEnd.CANCELLED, at=frame.created_at),)
                return ()
            case _:
                return self._read_live_sign(frame)

    def _read_welcome(self, frame: ws.WelcomeFrame) -> Sequence[Event]:
        self._owner = frame.owner
        running = frame.active_turn
        if running is None or running.turn_id not in self._turns:
            return ()
        ids = {"turn_id": running.turn_id, "message_id": running.message_id}
        self._next_delta = running.delta_seq + 1
        events: list[Event] = [turn.RunStarted(**ids)]
        if running.text_so_far:
            delta_seq = max(running.delta_seq, 0)
            events.append(turn.MessageDelta(**ids, delta_seq=delta_seq, delta=running.text_so_far))
        return [*events, *_handed_calls(running)]

    def _read_live_sign(self, frame: Any) -> Sequence[Event]:
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
                self.has_usage = True
            case _:
                pass
        return (frame,)

    def _read_message(self, message: MessageView) -> Sequence[Event]:
        if message.seq == self._question_seq and message.role.gets_answers:
            self.question = message
        if message.seq <= self._question_seq or self._is_overtaken:
            return ()
        if self.has_ended:
            self._is_overtaken = message.role.gets_answers
            return (ws.MessageFrame(message=message),) if message.role is Role.OPERATOR else ()
        match message.role:
            case Role.ASSISTANT if message.turn_id in self._turns:
                return (self._end(ExchangeEnd.ANSWERED, message),)
            case Role.OPERATOR:
                return (self._end(ExchangeEnd.PERSON_REPLIED, message),)
            case Role.SYSTEM if message.turn_id in self._turns:
                return (self._end(ExchangeEnd.NOTICE, message),)
            case Role.VISITOR | Role.USER:
                # A burst of messages is answered by the turn of the newest.
                self._turns.add(turn_id(self._company, self._conversation, message.seq))
            case _:
                pass
        return (ws.MessageFrame(message=message),)

    def _hand_off_events(self) -> Sequence[Event]:
        kind = self._owner.kind if self._owner is not None else OwnerKind.AI
        if may_answer(self._rules, kind):
            return ()
        if not self.await_person:
            return (self._end(ExchangeEnd.HANDED_OFF),)
        # With the assistant switched off nobody has the conversation, and only a person can answer.
        owner = self._owner if self._owner and kind is not OwnerKind.AI else Owner(kind=OwnerKind.WAITING)
        return (ws.OwnerFrame(owner=owner, seq=self._question_seq),)

    def _end(self, outcome: ExchangeEnd, message: MessageView | None = None, at: datetime | None = None) -> Ended:
        self.has_ended = True
        return Ended(outcome, message, self._owner, at)


def _handed_calls(running: TurnState) -> Iterator[turn.ToolStarted]:
    """The handed calls that wait for their client and are not reported yet, in order; each says how many follow."""
    calls = running.waiting or []
    for remaining, call in zip(range(len(calls) - 1, -1, -1), calls, strict=True):
        yield turn.ToolStarted(
            turn_id=running.turn_id,
            call_id=call.call_id,
            tool=call.tool,
            label=call.tool,
            arguments=call.arguments,
            left=remaining,
        )
