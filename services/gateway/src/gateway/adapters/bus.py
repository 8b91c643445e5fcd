"""Publishes presence signals, which may be lost, and facts outside the conversations."""

from contracts.channels import PresenceKind, fact, live_presence
from contracts.envelope import CloudEvent, Wire
from contracts.ids import derive_id
from gateway.adapters.log import SOURCE, event_json
from gateway.errors import UnavailableError
from runtime.bus.publisher import Publisher
from runtime.errors import PublishFailedError

ORIGIN_HEADER = "Nexus-Origin"
"""The socket that a presence signal comes from; it is sent to the others only."""


class NatsBus:
    """Publishes everything that is not a fact of a conversation."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher

    async def presence(self, company: str, conversation: str, kind: PresenceKind, data: Wire, source: str) -> None:
        """Publishes to the other sockets of a conversation; `source` is the socket's own id."""
        event = CloudEvent[Wire](
            source=SOURCE,
            type=f"live.presence.{kind.value}.v1",
            subject=f"{company}/{conversation}",
            data=data,
        )
        subject = live_presence(company, conversation, kind)
        await self._publisher.publish_live(subject, event_json(event), {ORIGIN_HEADER: source})

    async def fact(self, kind: str, company: str, user: str | None, data: Wire, *, identity: str) -> None:
        """Appends a fact to FACTS; raises UnavailableError."""
        event = CloudEvent[Wire](
            id=derive_id(identity), source=SOURCE, type=kind, subject=f"{company}/{user or '-'}", data=data
        )
        try:
            await self._publisher.append(
                fact(kind, company, user), event_json(event), stream="FACTS", msg_id=identity, deadline=15.0
            )
        except PublishFailedError as error:
            raise UnavailableError("it could not be stored now: try again") from error
