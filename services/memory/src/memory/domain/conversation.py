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
    Wait,
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
"""States for which the inbox has a list."""
MAX_WORDS = 2_000
"""Different words by which a conversation can be found, at most."""
CUSTOMER = "user"
"""The role of people whom memory remembers; it does not remember visitors."""
FAILURE_CODES = frozenset(
    {SystemCode.LLM_UNAVAILABLE, SystemCode.DEADLINE, SystemCode.BUDGET_SPENT, SystemCode.INTERNAL}
)
"""Codes of notices that end a turn without an answer, so that somebody should look."""
_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}(?![\w-])", re.IGNORECASE)
OWNER_NOTICE_CODES = frozenset({SystemCode.HANDOFF_TIMEOUT, OWNER_IDLE, HANDOFF_WAITING, OFFICE_CLOSED})
"""Codes of notices about who answers now."""


@dataclass(frozen=True, slots=True)
class Person:
    """The owner of a conversation: the verified sender of its first visitor message."""

    user_id: str
    role: str
    plan: str | None = None


@dataclass(frozen=True, slots=True)
class Ownership:
    """Who answers, and since which fact. `since`: the log's time of that fact; `opens_at`: a message was taken outside
    office hours and waits for a person while the AI answers; `wait`: since when a visitor has waited whose owner was
    away, if that is before this fact."""

    owner: Owner = field(default_factory=lambda: Owner(kind=OwnerKind.AI))
    position: LogPosition = BEGINNING
    since: datetime | None = None
    by: str = ""
    reason: str | None = None
    opens_at: datetime | None = None
    wait: Wait | None = None

    @property
    def queue_position(self) -> LogPosition:
        """The position by which it is sorted among those that wait."""
        return LogPosition(self.position.era, self.wait.seq) if self.wait else self.position

    @property
    def is_waiting(self) -> bool:
        """Whether a person was asked for and nobody has come yet."""
        return self.owner.kind == OwnerKind.WAITING or (self.owner.kind == OwnerKind.AI and self.opens_at is not None)


@dataclass(frozen=True, slots=True)
class ConversationOutcome:
    """The outcome of a conversation that began on `day` (UTC)."""

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
    """Position of the newest fact, by which the inbox is sorted."""
    message_count: int = 0
    last_message: MessageView | None = None
    last_position: LogPosition = BEGINNING
    visitor_traits: VisitorTraits = UNSEEN
    visitor_traits_position: LogPosition = BEGINNING
    ownership: Ownership = field(default_factory=Ownership)
    answered: LogPosition = BEGINNING
    failed: LogPosition = BEGINNING
    answers: int = 0
    handed_off: bool = False
    """Whether a person was ever asked for, or took over."""
    failures: int = 0
    noticed: LogPosition = BEGINNING
    """The newest notice about who answers: somebody is awaited, nobody came, or the owner has left."""
    hand_over: HandOver | None = None
    """Why a person was last asked for."""
    hand_over_position: LogPosition = BEGINNING
    replied: LogPosition = BEGINNING
    """The position up to which visitors have a reply: the newest operator message, or what an answer or notice
    settles."""
    desk: DeskState = field(default_factory=DeskState)
    """What people did with it besides writing; from another stream (domain/desk.py)."""
    visitor_message_at: datetime | None = None
    """When the log stored the visitor's newest message."""
    claimed: LogPosition = BEGINNING
    """The newest change of owner by which a person was asked for or took over."""
    claimed_at: datetime | None = None
    last_message_at: datetime | None = None
    """When the log stored the newest message of all."""
    farewell: LogPosition = BEGINNING
    """Position of the visitor's newest farewell."""
    words: frozenset[str] = frozenset()
    """The words by which it can be found."""
    address: str | None = None
    """The newest e-mail address that the visitor has written, by which they can be answered after they have left."""
    address_position: LogPosition = BEGINNING
    rating_asked: bool = False
    """Whether its visitor was asked for a rating."""

    @property
    def status(self) -> Status:
        """open, snoozed or resolved. The visitor's next message reopens it, and so does taking it or asking for a
        person."""
        desk = self.desk
        if desk.state == OPEN or desk.state_since is None:
            return OPEN
        since = desk.state_since
        is_reopened = since.before(self.visitor_traits_position, self.visitor_message_at) or since.before(
            self.claimed, self.claimed_at
        )
        return OPEN if is_reopened else desk.state

    @property
    def assignee(self) -> tuple[str | None, str | None]:
        """The assignee and their display name: the person it was given to, or who has taken it over since."""
        desk, ownership = self.desk, self.ownership
        is_taken_over = ownership.owner.kind == OwnerKind.HUMAN and (
            desk.assigned is None or desk.assigned.before(ownership.position, ownership.since)
        )
        return (
            (ownership.owner.operator_id, ownership.owner.name)
            if is_taken_over
            else (desk.assignee, desk.assignee_name)
        )

    @property
    def person_id(self) -> str | None:
        """The customer that the visitor turned out to be, or else whoever wrote first."""
        return self.desk.person or (self.person.user_id if self.person else None)

    @property
    def person_name(self) -> str | None:
        """The name of that person; None if it is not known."""
        return self.desk.person_name or self.visitor_traits.profile.name

    @property
    def resolved_at(self) -> datetime | None:
        """When it was resolved; None if it is not resolved."""
        since = self.desk.state_since
        return since.at if self.status == RESOLVED and since else None

    @property
    def wakes_at(self) -> datetime | None:
        """When it is to be reopened; None if nothing reopens it by time."""
        return self.desk.snoozed_until if self.status == SNOOZED else None

    @property
    def quiet_since(self) -> datetime | None:
        """When the last message was written, if it is open and nobody waits for an answer; otherwise None."""
        is_quiet = self.status == OPEN and not self.ownership.is_waiting and not self.is_stuck
        return self.last_message_at if is_quiet and BEGINNING < self.visitor_traits_position <= self.replied else None

    @property
    def is_unanswered(self) -> bool:
        """Whether a visitor's message has no answer. A person having or being asked for it, or a failure of the AI, is
        not an answer."""
        is_unsettled = self.ownership.is_waiting or self.is_stuck or self.visitor_traits_position > self.replied
        return self.status == OPEN and self.visitor_traits_position > BEGINNING and is_unsettled

    @property
    def is_over(self) -> bool:
        """Whether the AI has answered a visitor's farewell."""
        return (
            self.quiet_since is not None
            and self.ownership.owner.kind == OwnerKind.AI
            and self.farewell == self.visitor_traits_position
        )

    @property
    def is_stuck(self) -> bool:
        """Whether the AI has failed and nobody has acted on that."""
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
        """Since when a person has been awaited; None if nobody is awaited."""
        if not self.ownership.is_waiting or self.status != OPEN:
            return None
        return self.ownership.wait.since if self.ownership.wait else self.ownership.since

    @property
    def due_since(self) -> datetime | None:
        """Since when the hand-off sweep has something to do or wait for here; None if nothing. The owner of a channel's
        conversation is decided in the channel, which also gives it back."""
        if self.status != OPEN or place_in_channel(self.company, self.conversation) is not None:
            return None
        match self.ownership.owner.kind:
            case OwnerKind.WAITING:
                is_due = True
            case OwnerKind.HUMAN:
                is_due = self.visitor_traits_position > self.replied
            case OwnerKind.AI:
                is_due = self.needs_notice
        return self.ownership.since if is_due else None

    @property
    def is_swept(self) -> bool:
        """Whether a sweep has something to do or wait for here."""
        return self.due_since is not None or self.wakes_at is not None or self.is_over

    @property
    def needs_notice(self) -> bool:
        """Whether its people must still be told that somebody is awaited, or that the sweep has changed the owner."""
        ownership = self.ownership
        is_set_by_sweep = ownership.by == handoff.BY and ownership.reason in handoff.REASONS
        is_announced = ownership.is_waiting and not (
            ownership.opens_at and handoff.is_announced_by_ai(ownership.by, ownership.reason)
        )
        return (is_set_by_sweep or is_announced) and self.noticed < ownership.position


def fold(
    state: InboxConversation, facts: Iterable[LogFact], floor: LogPosition, verified: Mapping[str, Person]
) -> InboxConversation:
    """Returns a new state with these facts; a fact that was already taken changes nothing.

    Args:
        facts: of this conversation, in any order.
        floor: the store has every fact up to here.
        verified: the senders of visitor messages whose principal has been checked, by event id.
    """
    taken = set(state.taken)
    state = copy(state)
    for fact in facts:
        if fact.position > state.settled and fact.position not in taken:
            taken.add(fact.position)
            _take(state, fact, verified.get(fact.event_id))
    state.settled = max(state.settled, floor)
    state.taken = frozenset(position for position in taken if position > state.settled)
    return state


def _take(state: InboxConversation, fact: LogFact, person: Person | None) -> None:
    position, stored_at = fact.position, fact.stored_at
    state.started_at = min(state.started_at or stored_at, stored_at)
    state.latest = max(state.latest, position)
    if fact.is_message:
        state.message_count += 1
        _take_words(state, fact)
        if position > state.last_position:
            state.last_message, state.last_position = view(fact), position
            state.last_message_at = stored_at
    if isinstance(fact.data, AssistantMessage | SystemMessage):
        state.replied = max(state.replied, LogPosition(position.era, fact.data.basis))
    match fact.data:
        case VisitorMessage() as data:
            _take_visitor(state, fact, data, person)
        case AssistantMessage():
            state.answers += 1
            state.answered = max(state.answered, position)
        case OperatorMessage():
            state.answered = max(state.answered, position)
            state.replied = max(state.replied, position)
        case SystemMessage(code=code) if code in OWNER_NOTICE_CODES:
            state.noticed = max(state.noticed, position)
        case SystemMessage(code=code) if code == RATING_ASKED:
            state.rating_asked = True
        case SystemMessage(code=code) if code in FAILURE_CODES:
            state.failures += 1
            state.failed = max(state.failed, position)
        case OwnerChanged() as data:
            is_requested = data.owner.kind == OwnerKind.WAITING or data.opens_at is not None
            state.handed_off = state.handed_off or is_requested or data.owner.kind != OwnerKind.AI
            if (is_requested or data.owner.kind != OwnerKind.AI) and position > state.claimed:
                state.claimed, state.claimed_at = position, stored_at
            if position > state.ownership.position:
                state.ownership = Ownership(
                    data.owner, position, stored_at, data.by, data.reason, data.opens_at, data.wait
                )
                # Whoever takes or returns a conversation has looked at it, so it is no longer stuck.
                state.answered = max(state.answered, position)
            if is_requested and position > state.hand_over_position:
                state.hand_over, state.hand_over_position = _hand_over_of(state, fact, data), position
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
    new_words = [word for word in words(text) if word not in state.words]
    if new_words:
        state.words = state.words.union(new_words[: max(MAX_WORDS - len(state.words), 0)])


def _hand_over_of(state: InboxConversation, fact: LogFact, data: OwnerChanged) -> HandOver:
    """Returns why a person is asked for. If an owner has left, the previous reason is kept."""
    previous = state.hand_over if data.reason in handoff.REASONS else None
    return HandOver(
        at=fact.stored_at,
        by=data.by,
        reason=data.reason,
        opens_at=data.opens_at,
        summary=data.summary or (previous.summary if previous else None),
        language=data.language or (previous.language if previous else None),
    )


def _take_visitor(state: InboxConversation, fact: LogFact, data: VisitorMessage, person: Person | None) -> None:
    position = fact.position
    if state.person_position is None or position < state.person_position:
        state.person, state.person_position = person, position
    if position > state.visitor_traits_position:
        state.visitor_traits, state.visitor_traits_position = state.visitor_traits.after(data, fact.at), position
        state.visitor_message_at = fact.stored_at
    addresses = _ADDRESS.findall(data.text) if position > state.address_position else []
    if addresses:
        state.address, state.address_position = addresses[-1][:254], position
    if position > state.farewell and is_farewell(data.text):
        state.farewell = position
