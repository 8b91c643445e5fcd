"""Dead letters: what a service could not handle, kept with where it came from and why, until somebody replays it.

A letter's body is the original body, unchanged. Its headers are the original ones, except the server's own
(`Nats-…`), and those named below. The subject is `dlq.<service>.<stream>` (contracts.channels.dead_letter).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from nats.aio.client import Client

from contracts.channels import dead_letter
from contracts.ids import derive_id
from runtime.direct import DirectReader
from runtime.errors import RuntimeFault
from runtime.logging import masked_text
from runtime.metrics import DEAD_LETTERS
from runtime.publishing import Appended, Publisher
from runtime.replies import ReplyInbox, headers_of, status_of

STREAM = "DLQ"
SUBJECT = "Nexus-Subject"
SEQUENCE = "Nexus-Sequence"
REASON = "Nexus-Reason"
DELIVERIES = "Nexus-Deliveries"
SERVICE = "Nexus-Service"
ORIGIN = "Nexus-Stream"
_MAX_REASON = 1000
_PAGE = 256


class NoSuchLetter(RuntimeFault):
    """There is no dead letter at this sequence."""


@dataclass(frozen=True, slots=True)
class Letter:
    """One dead letter. `seq` is its place in DLQ, `origin_seq` the one it had in `stream` (0: unknown)."""

    seq: int
    service: str
    stream: str
    subject: str
    origin_seq: int
    reason: str
    deliveries: int
    time: datetime
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


class DeadLetters:
    """Writes and reads the dead letters."""

    def __init__(self, client: Client) -> None:
        self._publisher = Publisher(client)
        self._inbox = ReplyInbox.of(client)
        self._direct = DirectReader(client, STREAM)

    async def put(
        self,
        *,
        service: str,
        stream: str,
        subject: str,
        body: bytes,
        reason: str,
        headers: Mapping[str, str] | None = None,
        origin_seq: int = 0,
        deliveries: int = 0,
        deadline: float = 15.0,
    ) -> Appended:
        """Keeps a message that is given up. The same message of the same stream is kept once within two minutes."""
        kept = {key: value for key, value in (headers or {}).items() if not key.startswith(("Nats-", "Nexus-"))}
        kept.update(
            {
                SERVICE: service,
                ORIGIN: stream,
                SUBJECT: subject,
                SEQUENCE: str(origin_seq),
                REASON: masked_text(reason)[:_MAX_REASON].replace("\r", " ").replace("\n", " "),
                DELIVERIES: str(deliveries),
            }
        )
        DEAD_LETTERS.labels(service, stream).inc()
        return await self._publisher.append(
            dead_letter(service, stream),
            body,
            stream=STREAM,
            msg_id=f"dlq.{service}.{stream}.{origin_seq or derive_id(subject, body.decode(errors='replace'))}",
            headers=kept,
            deadline=deadline,
        )

    async def list(self, *, service: str | None = None, after: int = 0, limit: int = 100) -> list[Letter]:
        """Letters in the order in which they were given up, from the first behind the sequence `after`."""
        subject = "dlq.>" if service is None else f"dlq.{service}.>"
        letters: list[Letter] = []
        position = after + 1
        while len(letters) < limit:
            batch = await self._direct.batch(subject, position, min(_PAGE, limit - len(letters)))
            for fact in batch.facts:
                letter = await self.get(fact.seq)
                letters.append(letter)
            if not batch.more or not batch.facts:
                break
            position = batch.facts[-1].seq + 1
        return letters

    async def get(self, seq: int) -> Letter:
        """The letter at this place in DLQ.

        Raises:
            NoSuchLetter: there is none (any more).
        """
        body = b'{"seq":%d}' % seq
        message = await self._inbox.request(f"$JS.API.DIRECT.GET.{STREAM}", body, deadline=5)
        if status_of(message) is not None:
            raise NoSuchLetter(f"there is no dead letter {seq}; `nexus dlq list` shows those there are")
        headers = headers_of(message)
        return Letter(
            seq=seq,
            service=headers.get(SERVICE, ""),
            stream=headers.get(ORIGIN, ""),
            subject=headers.get(SUBJECT, ""),
            origin_seq=int(headers.get(SEQUENCE, "0")),
            reason=headers.get(REASON, ""),
            deliveries=int(headers.get(DELIVERIES, "0")),
            time=datetime.fromisoformat(headers["Nats-Time-Stamp"]),
            body=message.data,
            headers={key: value for key, value in headers.items() if not key.startswith(("Nats-", "Nexus-"))},
        )

    async def replay(self, seq: int) -> Appended:
        """Puts the letter's message back where it came from, once for each two minutes."""
        letter = await self.get(seq)
        return await self._publisher.append(
            letter.subject,
            letter.body,
            stream=letter.stream,
            msg_id=f"replay.{letter.service}.{seq}",
            headers=dict(letter.headers),
        )
