"""A conversation's state, folded from its facts.

Several replicas project at once and the bus redelivers, so facts come in any order and more than once. The state is
therefore a set of registers, each with the position of the fact that set it; and it records which facts it has taken:
all up to `settled` (the store has all of those), and those in `taken` above it.
"""

import re
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from datetime import date, datetime

from contracts.conversation_rpc import MessageView
from contracts.errors import HANDOFF_WAITING, OFFICE_CLOSED, OWNER_IDLE, RATING_ASKED, SystemCode
from contracts.events.chat import (
    AssistantMessage,
    OperatorMessage,
    Owner,
    OwnerChanged,
    OwnerKind,
    SystemMessage,
    VisitorMessage,
)
from contracts.events.desk import Status
from contracts.ids import place_in_channel
from contracts.inbox import HandOver
from memory.domain import handoff
from memory.domain.desk import OPEN, RESOLVED, SNOOZED, DeskState
from memory.domain.facts import LogFact, view
from memory.domain.farewell import is_farewell
from memory.domain.keys import BEGINNING, LogPosition
from memory.domain.recall.words import words
from memory.domain.recent import UNSEEN, VisitorTraits

NEEDS_HUMAN = "needs_human"
STATES = (NEEDS_HUMAN, "ai", "stuck", "snoozed", "resolved")
"""States with a list of their own in the inbox."""
MOST_WORDS = 2_000
"""Different words by which a conversation is found."""
CUSTOMER = "user"
"""The role of people who are remembered; visitors are not."""
FAILURES = frozenset({SystemCode.LLM_UNAVAILABLE, SystemCode.DEADLINE, SystemCode.BUDGET_SPENT, SystemCode.INTERNAL})
"""Codes of notices that end a turn without an answer: somebody should look."""
_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}(?![\w-])", re.IGNORECASE)
NOTICES = frozenset({SystemCode.HANDOFF_TIMEOUT, OWNER_IDLE, HANDOFF_WAITING, OFFICE_CLOSED})
"""Codes of notices of who answers now."""


@dataclass(frozen=True, slots=True)
class Person:
    """The owner of a conversation: the verified sender of its first visitor message."""

    user_id: str
    role: str
    plan: str | None = None


@dataclass(frozen=True, slots=True)
class Ownership:
    """Who answers, since which fact. `since`: the log's time of that fact; `opens_at`: a message was taken when
    nobody was there, and waits for a person while the AI answers."""

    owner: Owner = field(default_factory=lambda: Owner(kind=OwnerKind.AI))
    position: LogPosition = BEGINNING
    since: datetime | None = None
    by: str = ""
    reason: str | None = None
    opens_at: datetime | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether a person was asked for and nobody has come."""
        return self.owner.kind == OwnerKind.WAITING or (self.owner.kind == OwnerKind.AI and self.opens_at is not None)


@dataclass(frozen=True, slots=True)
class ConversationOutcome:
    """The outcome of a conversation begun on `day` (UTC)."""

    day: date
    answers: int
    handed_off: bool
    failed: bool


@dataclass(slots=True)
class InboxConversation:
    """What the inbox shows of a conversation, and what sweeps need. `version` and `writer` guard each write.

    Treat it as a value: only `fold` makes new ones. It is not frozen, because copying it for every fact would cost more
    than the rest of the projection.
    """

    company: str
    conversation: str
    version: int = 0
    writer: str | None = field(default=None, compare=False)
    settled: LogPosition = BEGINNING
    taken: frozenset[LogPosition] = frozenset()
    person: Person | None = None
    person_position: LogPosition | None = None
    started_at: datetime | None = None
    latest: LogPosition = BEGINNING
    """Position of the newest fact: the order of the inbox."""
    message_count: int = 0
    last_message: MessageView | None = None
    last_position: LogPosition = BEGINNING
    seen: VisitorTraits = UNSEEN
    seen_position: LogPosition = BEGINNING
    ownership: Ownership = field(default_factory=Ownership)
    answered: LogPosition = BEGINNING
    failed: LogPosition = BEGINNING
    answers: int = 0
    handed_off: bool = False
    """Whether a person was ever asked for, or took over."""
    failures: int = 0
    noticed: LogPosition = BEGINNING
    """The newest notice about who answers: that somebody is awaited, that nobody came, that the owner has left."""
    hand_over: HandOver | None = None
    """Why a person was last asked for."""
    hand_over_position: LogPosition = BEGINNING
    replied: LogPosition = BEGINNING
    """The position up to which visitors have a reply: the newest operator message, or what an answer or notice
    settles."""
    desk: DeskState = field(default_factory=DeskState)
    """What people did with it besides writing; from another stream (domain/desk.py)."""
    heard_at: datetime | None = None
    """When the log stored the visitor's newest message."""
    claimed: LogPosition = BEGINNING
    """The newest change of owner by which a person was asked for or took it."""
    claimed_at: datetime | None = None
    said_at: datetime | None = None
    """When the log stored the newest message of all."""
    farewell: LogPosition = BEGINNING
    """The visitor's newest farewell."""
    words: frozenset[str] = frozenset()
    """The words by which it is found."""
    address: str | None = None
    """The newest e-mail address that the visitor has written, for answering when they have left."""
    address_position: LogPosition = BEGINNING
    rating_asked: bool = False
    """Whether its visitor was asked for a rating."""

    @property
    def status(self) -> Status:
        """open, snoozed, resolved. It is reopened by the visitor's next message, and by whoever takes it or asks for
        a person."""
        desk = self.desk
        if desk.state == OPEN or desk.state_since is None:
            return OPEN
        since = desk.state_since
        again = since.before(self.seen_position, self.heard_at) or since.before(self.claimed, self.claimed_at)
        return OPEN if again else desk.state

    @property
    def assignee(self) -> tuple[str | None, str | None]:
        """The assignee with their display name: who it was given to, or who has taken it over since."""
        desk, own = self.desk, self.ownership
        taken = own.owner.kind == OwnerKind.HUMAN and (
            desk.assigned is None or desk.assigned.before(own.position, own.since)
        )
        return (own.owner.operator_id, own.owner.name) if taken else (desk.assignee, desk.assignee_name)

    @property
    def whose(self) -> str | None:
        """The customer that the visitor turned out to be, or else whoever wrote first."""
        return self.desk.person or (self.person.user_id if self.person else None)

    @property
    def resolved_at(self) -> datetime | None:
        """Since when it is resolved; None: it is not."""
        since = self.desk.state_since
        return since.at if self.status == RESOLVED and since else None

    @property
    def wakes_at(self) -> datetime | None:
        """The time at which it is to be reopened; None if it is not reopened by itself."""
        return self.desk.snoozed_until if self.status == SNOOZED else None

    @property
    def quiet_since(self) -> datetime | None:
        """Since when nobody has written after an answer; None: it is not open, or somebody waits."""
        quiet = self.status == OPEN and not self.ownership.is_waiting and not self.is_stuck
        return self.said_at if quiet and BEGINNING < self.seen_position <= self.replied else None

    @property
    def is_unanswered(self) -> bool:
        """Whether a visitor's message has no answer. That a person has it or was asked for, or that the AI failed,
        is no answer."""
        unsettled = self.ownership.is_waiting or self.is_stuck or self.seen_position > self.replied
        return self.status == OPEN and self.seen_position > BEGINNING and unsettled

    @property
    def is_over(self) -> bool:
        """Whether the AI has answered a visitor's farewell."""
        return (
            self.quiet_since is not None
            and self.ownership.owner.kind == OwnerKind.AI
            and self.farewell == self.seen_position
        )

    @property
    def is_stuck(self) -> bool:
        """Whether the AI has failed and nobody has acted on it."""
        return self.ownership.owner.kind == OwnerKind.AI and self.failed > self.answered

    @property
    def state(self) -> str:
        """The state in the inbox: ai, needs_human, human, stuck, snoozed or resolved."""
        status = self.status
        if status != OPEN:
            return status
        match self.ownership.owner.kind:
            case OwnerKind.WAITING:
                return NEEDS_HUMAN
            case OwnerKind.HUMAN:
                return "human"
            case OwnerKind.AI if self.ownership.is_waiting:
                return NEEDS_HUMAN
            case OwnerKind.AI:
                return "stuck" if self.is_stuck else "ai"

    @property
    def waiting_since(self) -> datetime | None:
        """Since when a person has been awaited; None: nobody is."""
        return self.ownership.since if self.ownership.is_waiting and self.status == OPEN else None

    @property
    def due_since(self) -> datetime | None:
        """Since when the hand-off sweep has something to do or wait for here; None: nothing. Who has a channel's
        conversation is decided in the channel, which also gives it back."""
        if self.status != OPEN or place_in_channel(self.company, self.conversation) is not None:
            return None
        match self.ownership.owner.kind:
            case OwnerKind.WAITING:
                due = True
            case OwnerKind.HUMAN:
                due = self.seen_position > self.replied
            case OwnerKind.AI:
                due = self.untold
        return self.ownership.since if due else None

    @property
    def is_swept(self) -> bool:
        """Whether a sweep has something to do or wait for here."""
        return self.due_since is not None or self.wakes_at is not None or self.is_over

    @property
    def untold(self) -> bool:
        """Whether its people still have to be told that somebody is awaited, or who the sweep has made its owner."""
        own = self.ownership
        told_by_sweep = own.by == handoff.BY and own.reason in handoff.REASONS
        waits = own.is_waiting and not (own.opens_at and handoff.ai_tells_itself(own.by, own.reason))
        return (told_by_sweep or waits) and self.noticed < own.position


def fold(
    state: InboxConversation, facts: Iterable[LogFact], floor: LogPosition, verified: Mapping[str, Person]
) -> InboxConversation:
    """A new state with these facts; a fact already taken changes nothing.

    Args:
        facts: of this conversation, in any order.
        floor: the store has every fact up to here.
        verified: by event id, the sender of visitor messages whose principal has been checked.
    """
    taken = set(state.taken)
    state = copy(state)
    for fact in facts:
        if fact.position > state.settled and fact.position not in taken:
            taken.add(fact.position)
            _take(state, fact, verified.get(fact.event_id))
    state.settled = max(state.settled, floor)
    state.taken = frozenset(at for at in taken if at > state.settled)
    return state


def _take(state: InboxConversation, fact: LogFact, person: Person | None) -> None:
    at, stored = fact.position, fact.stored_at
    state.started_at = min(state.started_at or stored, stored)
    state.latest = max(state.latest, at)
    if fact.is_message:
        state.message_count += 1
        _take_words(state, fact)
        if at > state.last_position:
            state.last_message, state.last_position = view(fact), at
            state.said_at = stored
    if isinstance(fact.data, AssistantMessage | SystemMessage):
        state.replied = max(state.replied, LogPosition(at.era, fact.data.basis))
    match fact.data:
        case VisitorMessage() as data:
            _take_visitor(state, fact, data, person)
        case AssistantMessage():
            state.answers += 1
            state.answered = max(state.answered, at)
        case OperatorMessage():
            state.answered = max(state.answered, at)
            state.replied = max(state.replied, at)
        case SystemMessage(code=code) if code in NOTICES:
            state.noticed = max(state.noticed, at)
        case SystemMessage(code=code) if code == RATING_ASKED:
            state.rating_asked = True
        case SystemMessage(code=code) if code in FAILURES:
            state.failures += 1
            state.failed = max(state.failed, at)
        case OwnerChanged() as data:
            asked = data.owner.kind == OwnerKind.WAITING or data.opens_at is not None
            state.handed_off = state.handed_off or asked or data.owner.kind != OwnerKind.AI
            if (asked or data.owner.kind != OwnerKind.AI) and at > state.claimed:
                state.claimed, state.claimed_at = at, stored
            if at > state.ownership.position:
                state.ownership = Ownership(data.owner, at, stored, data.by, data.reason, data.opens_at)
                # Whoever takes or returns a conversation has looked at it: it is not stuck any more.
                state.answered = max(state.answered, at)
            if asked and at > state.hand_over_position:
                state.hand_over, state.hand_over_position = _handed_over(state, fact, data), at
        case _:
            pass


def _take_words(state: InboxConversation, fact: LogFact) -> None:
    match fact.data:
        case OperatorMessage() as data:
            text = f"{data.text} {data.name or ''}"
        case VisitorMessage() as data:
            text = " ".join(filter(None, (data.text, data.name, data.email)))
        case AssistantMessage() as data:
            text = data.text
        case _:
            return
    new = [word for word in words(text) if word not in state.words]
    if new:
        state.words = state.words.union(new[: max(MOST_WORDS - len(state.words), 0)])


def _handed_over(state: InboxConversation, fact: LogFact, data: OwnerChanged) -> HandOver:
    """Why a person is asked for. If an owner has left, the reason before them stays."""
    told = state.hand_over if data.reason in handoff.REASONS else None
    return HandOver(
        at=fact.stored_at,
        by=data.by,
        reason=data.reason,
        opens_at=data.opens_at,
        summary=data.summary or (told.summary if told else None),
        language=data.language or (told.language if told else None),
    )


def _take_visitor(state: InboxConversation, fact: LogFact, data: VisitorMessage, person: Person | None) -> None:
    at = fact.position
    if state.person_position is None or at < state.person_position:
        state.person, state.person_position = person, at
    if at > state.seen_position:
        state.seen, state.seen_position = state.seen.after(data, fact.at), at
        state.heard_at = fact.stored_at
    written = _ADDRESS.findall(data.text) if at > state.address_position else []
    if written:
        state.address, state.address_position = written[-1][:254], at
    if at > state.farewell and is_farewell(data.text):
        state.farewell = at
