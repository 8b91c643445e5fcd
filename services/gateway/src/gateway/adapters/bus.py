"""Publishes presence signals, which may be lost, and facts outside the conversations."""

from contracts.channels import PresenceKind, fact, live_presence
from contracts.envelope import Wire
from contracts.ids import derive_id
from gateway.adapters.log import SOURCE
from gateway.errors import UnavailableError
from runtime.bus.publisher import Publisher, event_json
from runtime.errors import PublishFailedError

ORIGIN_HEADER = "Nexus-Origin"
"""The id of the attachment that a presence signal comes from; the signal is sent to the others only."""


class NatsBus:
    """Publishes everything that is not a fact of a conversation."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher

    async def publish_presence(
        self, company: str, conversation: str, kind: PresenceKind, data: Wire, source: str
    ) -> None:
        """Publishes a presence signal to the other sockets of a conversation; `source`: the sender's attachment id."""
        subject = f"{company}/{conversation}"
        event = event_json(f"live.presence.{kind.value}.v1", SOURCE, data.to_wire(), subject=subject)
        await self._publisher.publish_live(live_presence(company, conversation, kind), event, {ORIGIN_HEADER: source})

    async def publish_fact(self, kind: str, company: str, user: str | None, data: Wire, *, identity: str) -> None:
        """Appends a fact to FACTS; raises UnavailableError."""
        subject = f"{company}/{user or '-'}"
        event = event_json(kind, SOURCE, data.to_wire(), subject=subject, identity=derive_id(identity))
        try:
            await self._publisher.append(fact(kind, company, user), event, stream="FACTS", msg_id=identity)
        except PublishFailedError as error:
            raise UnavailableError("it could not be stored now: try again") from error
