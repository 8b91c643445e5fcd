"""Dead letters: messages that a service could not handle, stored with their origin and the reason, to be replayed.

A letter's body is the original body. Its headers are the original ones, except the server's own (`Nats-…`), plus those
named below. The subject is `dlq.<service>.<stream>.<letter>` (contracts.channels.dead_letter) and identifies the
message; the stream holds one message for each subject, so a letter is stored only once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

import structlog
from nats.aio.client import Client

from contracts.channels import dead_letter
from contracts.ids import derive_id
from runtime.bus.direct import DirectReader
from runtime.bus.publisher import Appended, Fence, Publisher
from runtime.bus.replies import ReplyInbox, headers_of, status_of
from runtime.errors import FenceRefusedError, RuntimeLibraryError
from runtime.observability.logging import masked_text
from runtime.observability.metrics import DEAD_LETTERS
from runtime.workers.deliveries import Delivery
from runtime.workers.outcomes import DeadLetter, Retry

log = structlog.get_logger(__name__)

STREAM = "DLQ"
SUBJECT = "Nexus-Subject"
SEQUENCE = "Nexus-Sequence"
REASON = "Nexus-Reason"
DELIVERIES = "Nexus-Deliveries"
SERVICE = "Nexus-Service"
ORIGIN = "Nexus-Stream"
_MAX_REASON = 1000
_PAGE = 256


class NoSuchLetterError(RuntimeLibraryError):
    """There is no dead letter at this sequence."""


@dataclass(frozen=True, slots=True)
class Letter:
    """One dead letter. `seq` is its position in DLQ, `origin_seq` the original one in `stream` (0: unknown)."""

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
        letter: str | None = None,
    ) -> bool:
        """Stores a message that is given up; returns False if it was stored before. `letter`: its name, if position and
        body of the message do not identify it."""
        address = dead_letter(service, stream, letter or _name(subject, origin_seq, body))
        letter_headers = {
            key: value for key, value in (headers or {}).items() if not key.startswith(("Nats-", "Nexus-"))
        }
        letter_headers.update(
            {
                SERVICE: service,
                ORIGIN: stream,
                SUBJECT: subject,
                SEQUENCE: str(origin_seq),
                REASON: masked_text(reason)[:_MAX_REASON].replace("\r", " ").replace("\n", " "),
                DELIVERIES: str(deliveries),
            }
        )
        try:
            await self._publisher.append(
                address,
                body,
                stream=STREAM,
                msg_id=address,
                fence=Fence(0, address),
                headers=letter_headers,
                deadline=deadline,
            )
        except FenceRefusedError:
            return False
        DEAD_LETTERS.labels(service, stream).inc()
        return True

    async def bury(self, delivery: Delivery, reason: str, *, service: str, stream: str) -> DeadLetter | Retry:
        """Stores a delivery that its handler has given up, and returns its outcome: Retry if the letter could not be
        written."""
        log.error("dead_letter", service=service, subject=delivery.subject, seq=delivery.seq, reason=reason)
        try:
            await self.put(
                service=service,
                stream=stream,
                subject=delivery.subject,
                body=delivery.data,
                reason=reason,
                headers=delivery.headers,
                origin_seq=delivery.seq,
                deliveries=delivery.num_delivered,
            )
        except RuntimeLibraryError as error:
            log.warning("dead_letter.failed", service=service, seq=delivery.seq, error=str(error))
            return Retry(1.0)
        return DeadLetter(reason)

    async def has(self, service: str, stream: str, letter: str) -> bool:
        """Whether there is a letter with this name; raises ReadFailedError."""
        return await self._direct.last(dead_letter(service, stream, letter)) is not None

    async def list(self, *, service: str | None = None, after: int = 0, limit: int = 100) -> list[Letter]:
        """Returns letters after the sequence `after`, in the order in which they were written."""
        subject = "dlq.>" if service is None else f"dlq.{service}.>"
        letters: list[Letter] = []
        position = after + 1
        while len(letters) < limit:
            batch = await self._direct.batch(subject, position, min(_PAGE, limit - len(letters)))
            for fact in batch.facts:
                with suppress(NoSuchLetterError):  # deleted since it was listed
                    letters.append(await self.get(fact.seq))
            if not batch.more or not batch.facts:
                break
            position = batch.facts[-1].seq + 1
        return letters

    async def get(self, seq: int) -> Letter:
        """Returns the letter at this position in DLQ.

        Raises:
            NoSuchLetterError: there is none (any more).
        """
        body = b'{"seq":%d}' % seq
        message = await self._inbox.request(f"$JS.API.DIRECT.GET.{STREAM}", body, deadline=5)
        if status_of(message) is not None:
            raise NoSuchLetterError(f"there is no dead letter {seq}; `nexus dlq list` shows those there are")
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
        """Publishes the letter's message again under its original subject, at most once every two minutes."""
        letter = await self.get(seq)
        return await self._publisher.append(
            letter.subject,
            letter.body,
            stream=letter.stream,
            msg_id=f"replay.{letter.service}.{seq}",
            headers=dict(letter.headers),
        )


def _name(subject: str, origin_seq: int, body: bytes) -> str:
    """Returns a name for a message: its position identifies it, and its body distinguishes messages at the same
    position in two eras of a stream."""
    return f"{origin_seq}-{derive_id(subject, hashlib.sha256(body).hexdigest())[:8]}"
