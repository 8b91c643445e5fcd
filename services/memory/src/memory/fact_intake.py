"""Facts of the stream FACTS: each type is declared once, for its consumer and for reading it again after a loss."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from contracts.envelope import CloudEvent
from contracts.ids import NOBODY, is_company
from contracts.streams import FACTS
from memory.application.late_facts import FactSubject, LateFacts
from memory.domain.keys import LogPosition, milliseconds
from runtime.bus.consumers import ConsumerSpec
from runtime.bus.direct import StoredFact
from runtime.lifecycle.service import Service
from runtime.workers.batch_worker import LINGER_SECONDS, BatchWorker, Handler, each_event, whole_batch
from runtime.workers.outcomes import DeadLetter, Outcome
from runtime.workers.pull_worker import Delivery

DataT = TypeVar("DataT", bound=BaseModel)
MISPLACED = DeadLetter("the subject names no company and user, or another type than the event")


@dataclass(frozen=True, slots=True)
class FactType(Generic[DataT]):
    """A type of event, and memory's durable consumer of it."""

    name: str
    durable: str
    event: type[CloudEvent[DataT]]

    @property
    def subject(self) -> str:
        """The subject of all facts of this type."""
        return f"{self.name}.>"


@dataclass(frozen=True, slots=True)
class TakenFact(Generic[DataT]):
    """One fact. `company` and `user` (None: no user) come from the subject rather than the data, because publishers
    have permissions for subjects. `place` is the time at which FACTS stored it (ms since the epoch) and its sequence
    there."""

    company: str
    user: str | None
    place: LogPosition
    event: CloudEvent[DataT]
    deliveries: int = 1

    @property
    def data(self) -> DataT:
        return self.event.data

    @property
    def about(self) -> FactSubject:
        """The user and the conversation that it is about."""
        conversation = getattr(self.data, "conversation_id", None)
        return FactSubject(self.company, self.user, conversation, self.event.time, self.place.seq)


@dataclass(frozen=True, slots=True)
class FactIntake:
    """What consumers of FACTS need: the service, and the filter for late facts (None: nothing is filtered)."""

    service: Service
    late: LateFacts | None


def take_in(intake: FactIntake, kind: FactType[DataT], take: Callable[[TakenFact[DataT]], Awaitable[Outcome]]) -> None:
    """Consumes facts of one type, retried while a dependency is away; a misfit becomes a dead letter, and a fact
    about somebody deleted is removed from the stream."""

    async def one(delivery: Delivery, event: CloudEvent[DataT]) -> Outcome:
        fact = _delivered(delivery, event)
        if fact is None:
            return MISPLACED
        return await (take(fact) if intake.late is None else intake.late.take(fact.about, lambda: take(fact)))

    _consume(intake.service, kind, each_event(kind.event, one), LINGER_SECONDS)


def take_in_together(
    intake: FactIntake,
    kind: FactType[DataT],
    take: Callable[[Sequence[TakenFact[DataT]]], Awaitable[Sequence[Outcome]]],
    *,
    linger: float,
) -> None:
    """The same for facts that are much cheaper in batches; a batch may fill for `linger` seconds."""

    async def batch(given: Sequence[tuple[Delivery, CloudEvent[DataT]]]) -> Sequence[Outcome]:
        facts = [_delivered(*one) for one in given]
        known = [fact for fact in facts if fact is not None]
        if intake.late is None:
            outcomes = iter(await take(known))
        else:
            outcomes = iter(await intake.late.take_all([(fact.about, fact) for fact in known], take))
        return [MISPLACED if fact is None else next(outcomes) for fact in facts]

    _consume(intake.service, kind, whole_batch(kind.event, batch), linger)


def read_again(kind: FactType[DataT], stored: StoredFact) -> TakenFact[DataT] | None:
    """The fact in a message that is read again; None: it is none. Raises pydantic.ValidationError."""
    if not stored.genuine:
        return None
    place = LogPosition(milliseconds(stored.time), stored.seq)
    return _fact(stored.subject, place, kind.event.model_validate_json(stored.event))


def fact_owner(event_type: str, subject: str) -> tuple[str, str | None] | None:
    """Company and user (None: no user) in the subject of a fact; None if it names no company, or another type."""
    parts = subject.removeprefix(f"{event_type}.").split(".")
    if len(parts) != 2 or not is_company(parts[0]):
        return None
    return parts[0], None if parts[1] == NOBODY else parts[1]


def _consume(service: Service, kind: FactType[Any], handler: Handler, linger: float) -> None:
    spec = ConsumerSpec(FACTS.name, kind.durable, (kind.subject,))
    service.add_worker(BatchWorker(service.nats, spec, handler, service=service.name, linger=linger))


def _delivered(delivery: Delivery, event: CloudEvent[DataT]) -> TakenFact[DataT] | None:
    place = LogPosition(int(delivery.stored_at * 1000), delivery.seq)
    return _fact(delivery.subject, place, event, delivery.num_delivered)


def _fact(subject: str, place: LogPosition, event: CloudEvent[DataT], deliveries: int = 1) -> TakenFact[DataT] | None:
    owner = fact_owner(event.type, subject)
    return TakenFact(*owner, place, event, deliveries) if owner else None
