"""Consumes facts of the stream FACTS. Each type is declared once, for its consumer and for reading it again after a
loss."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from contracts.envelope import CloudEvent
from contracts.ids import NOBODY, is_company
from contracts.streams import FACTS
from memory.application.late_facts import FactSubject, LateFacts
from memory.application.projection_sources import ProjectionSource, process_each
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
class ReceivedFact(Generic[DataT]):
    """A fact as it arrived. `company` and `user` (None: no user) come from the subject, not from the data, because
    publishers have permissions for subjects. `position` is the time at which FACTS stored it (ms since the epoch) and
    its sequence there."""

    company: str
    user: str | None
    position: LogPosition
    event: CloudEvent[DataT]
    deliveries: int = 1

    @property
    def data(self) -> DataT:
        return self.event.data

    @property
    def subject(self) -> FactSubject:
        """The user and the conversation that the fact is about."""
        conversation = getattr(self.data, "conversation_id", None)
        return FactSubject(self.company, self.user, conversation, self.event.time, self.position.seq)


@dataclass(frozen=True, slots=True)
class FactIntake:
    """What consumers of FACTS need: the service, and the filter for late facts (None: no filter). `sources`: by these a
    MongoDB that has lost data reads the facts again."""

    service: Service
    late: LateFacts | None
    sources: list[ProjectionSource] = field(default_factory=list[ProjectionSource])

    def read_again(
        self, kind: FactType[DataT], handle: "Callable[[ReceivedFact[DataT]], Awaitable[object]]", stored_as: str = ""
    ) -> None:
        """Adds the source by which facts of one type are handled again."""
        self.sources.append(fact_source(kind, handle, stored_as=stored_as))


def consume_facts(
    intake: FactIntake, kind: FactType[DataT], handle: Callable[[ReceivedFact[DataT]], Awaitable[Outcome]]
) -> None:
    """Consumes facts of one type, retried while a dependency is unavailable. A misfit becomes a dead letter, and a fact
    about a deleted user or conversation is removed from the stream."""

    async def handle_one(delivery: Delivery, event: CloudEvent[DataT]) -> Outcome:
        fact = _fact_of_delivery(delivery, event)
        if fact is None:
            return MISPLACED
        return await (handle(fact) if intake.late is None else intake.late.take(fact.subject, lambda: handle(fact)))

    _consume(intake.service, kind, each_event(kind.event, handle_one), LINGER_SECONDS)


def consume_batches(
    intake: FactIntake,
    kind: FactType[DataT],
    handle: Callable[[Sequence[ReceivedFact[DataT]]], Awaitable[Sequence[Outcome]]],
    *,
    linger: float,
) -> None:
    """Consumes facts of one type that are much cheaper to handle together; a batch may fill for `linger` seconds."""

    async def handle_batch(deliveries: Sequence[tuple[Delivery, CloudEvent[DataT]]]) -> Sequence[Outcome]:
        facts = [_fact_of_delivery(*pair) for pair in deliveries]
        placed = [fact for fact in facts if fact is not None]
        if intake.late is None:
            outcomes = iter(await handle(placed))
        else:
            outcomes = iter(await intake.late.take_all([(fact.subject, fact) for fact in placed], handle))
        return [MISPLACED if fact is None else next(outcomes) for fact in facts]

    _consume(intake.service, kind, whole_batch(kind.event, handle_batch), linger)


def fact_source(
    kind: FactType[DataT],
    handle: Callable[[ReceivedFact[DataT]], Awaitable[object]],
    max_age: timedelta | None = None,
    stored_as: str = "",
) -> ProjectionSource:
    """The source that reads facts of one type again, and handles each."""

    async def reapply(stored: StoredFact) -> None:
        if (fact := decode_stored(kind, stored)) is not None:
            await handle(fact)

    process = partial(process_each, take=reapply)
    return ProjectionSource(FACTS.name, kind.durable, kind.subject, process, max_age, stored_as=stored_as)


def decode_stored(kind: FactType[DataT], stored: StoredFact) -> ReceivedFact[DataT] | None:
    """Decodes a stored message; None if it is not a valid fact of ours. Raises pydantic.ValidationError."""
    if not stored.genuine:
        return None
    position = LogPosition(milliseconds(stored.time), stored.seq)
    return _fact(stored.subject, position, kind.event.model_validate_json(stored.event))


def fact_owner(event_type: str, subject: str) -> tuple[str, str | None] | None:
    """The company and the user (None: no user) in a fact's subject; None if it names no company, or another type."""
    parts = subject.removeprefix(f"{event_type}.").split(".")
    if len(parts) != 2 or not is_company(parts[0]):
        return None
    return parts[0], None if parts[1] == NOBODY else parts[1]


def _consume(service: Service, kind: FactType[Any], handler: Handler, linger: float) -> None:
    spec = ConsumerSpec(FACTS.name, kind.durable, (kind.subject,))
    service.add_worker(BatchWorker(service.nats, spec, handler, service=service.name, linger=linger))


def _fact_of_delivery(delivery: Delivery, event: CloudEvent[DataT]) -> ReceivedFact[DataT] | None:
    position = LogPosition(int(delivery.stored_at * 1000), delivery.seq)
    return _fact(delivery.subject, position, event, delivery.num_delivered)


def _fact(
    subject: str, position: LogPosition, event: CloudEvent[DataT], deliveries: int = 1
) -> ReceivedFact[DataT] | None:
    owner = fact_owner(event.type, subject)
    return ReceivedFact(*owner, position, event, deliveries) if owner else None
