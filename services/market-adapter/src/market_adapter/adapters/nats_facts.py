"""Publishes the market's facts to the stream FACTS. A fact's id is derived from its key, so a repeat is the same
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
PUBLISH_TIMEOUT_SECONDS = 5.0
"""Deadline for storing a fact, shorter if a caller waits. A fact that is not stored is published later from its
outbox."""


class NatsFacts:
    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher

    async def publish(self, owner: Owner, fact: Fact) -> None:
        """Appends the fact. Raises PublishFailedError; the fact then stays in its outbox and is published later."""
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
            deadline=part_deadline(PUBLISH_TIMEOUT_SECONDS),
        )
