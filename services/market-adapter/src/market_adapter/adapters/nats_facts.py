"""Publishes the market's facts to the stream FACTS. A fact's id follows from its content, so a repeat is the same
event."""

from contracts.channels import fact as subject_of
from contracts.envelope import CloudEvent
from contracts.events.registry import BY_TYPE
from contracts.ids import derive_id
from market_adapter.domain.paper.account import Fact, Owner
from runtime.bus.publisher import Publisher
from runtime.calls.deadlines import part_deadline

SOURCE = "/nexus/market-adapter"
STREAM = "FACTS"
DEADLINE = 5.0
"""Seconds to store a fact; less when a caller waits. One that is not stored is told later, out of its outbox."""


class NatsFacts:
    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher

    async def publish(self, owner: Owner, fact: Fact) -> None:
        """Appends the fact. Raises PublishFailedError; then it stays in its outbox and is told later."""
        data = BY_TYPE[fact.kind].data.model_validate(fact.data)
        event = CloudEvent[type(data)](  # pyright: ignore[reportInvalidTypeArguments]
            id=derive_id(owner.company, owner.user, fact.kind, fact.key),
            source=SOURCE,
            type=fact.kind,
            subject=str(owner),
            data=data,
        )
        await self._publisher.append(
            subject_of(fact.kind, owner.company, owner.user),
            event.to_json(),
            stream=STREAM,
            msg_id=f"{owner.company}.{owner.user}.{fact.kind}.{fact.key}",
            deadline=part_deadline(DEADLINE),
        )
