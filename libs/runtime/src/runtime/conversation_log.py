"""Reading a conversation from the log: the snapshot that decision, prompt and fence come from, and the facts after a
sequence. Ids are checked here before any read (contracts.channels): NATS would take a `*` for a wildcard.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import orjson
from nats.aio.client import Client
from nats.errors import Error as NatsError

from contracts.channels import ChatKind, chat, conversation_tree, parse_chat
from contracts.conversation import read_fact
from contracts.ids import derive_id
from runtime.direct import DirectReader, StoredFact
from runtime.errors import LogBehind, ReadFailed
from runtime.publishing import Fence
from runtime.replies import ReplyInbox

STREAM = "CHAT"
_KINDS = {kind.value: kind for kind in ChatKind}
BATCH = 256
NEVER_TRIMMED = 50_000
"""Facts at the log's end that are there whatever else was trimmed (memory keeps more, since bounds can be old)."""
CONCURRENT_READS = 4
"""Batch reads at once, a process: they scan the stream, and fifty at once stop everybody's publishing."""

STAND_INS = 1_000
"""Misfits for which the fact before them is remembered."""


@dataclass(frozen=True, slots=True)
class LogSnapshot:
    """The newest fact of each kind that fits its contract, from one view. `n` is the tree's highest sequence, of
    whatever kind: 0 for an empty conversation."""

    facts: Mapping[ChatKind, StoredFact]
    n: int
    filter: str

    @property
    def fence(self) -> Fence:
        """The fence of whatever is decided from this snapshot."""
        return Fence(self.n, self.filter)


@dataclass(frozen=True, slots=True)
class LogBounds:
    """The stream as it is now: its first and last sequence, the epoch that names its incarnation, and how many bytes it
    may still hold (None: as many as there are)."""

    first_seq: int
    last_seq: int
    created: str
    epoch: str
    room: int | None = None

    @property
    def created_at(self) -> datetime:
        """When this incarnation of the stream was made."""
        return datetime.fromisoformat(self.created)

    @property
    def whole_from(self) -> int:
        """From here on nothing was trimmed: whoever needs older facts asks memory."""
        return max(self.first_seq, self.last_seq - NEVER_TRIMMED + 1, 1)


def fits(subject: str, event: bytes) -> bool:
    """Whether an event of CHAT, or of its live copy, is a conversation's fact (contracts.conversation)."""
    address = parse_chat(subject)
    if address is None:
        return False
    try:
        orjson.loads(event)  # stricter than the model: an endless number, say
        read_fact(address, event)
    except ValueError:
        return False
    return True


class ConversationLog:
    """The stream CHAT, one conversation at a time."""

    def __init__(self, client: Client, stream: str = STREAM) -> None:
        self._stream = stream
        self._direct = DirectReader(client, stream)
        self._inbox = ReplyInbox.of(client)
        self._scans = asyncio.Semaphore(CONCURRENT_READS)
        self._stand_ins: dict[tuple[int, str], StoredFact | None] = {}

    async def snapshot(
        self, company: str, conversation: str, at_least: int = 0, *, deadline: float = 5.0
    ) -> LogSnapshot:
        """The newest fact of each kind, at least as new as the sequence `at_least`.

        Raises:
            LogBehind: the replicas that answered stayed older than that.
            ReadFailed: no answer in time.
        """
        tree = conversation_tree(company, conversation)
        clock = asyncio.get_running_loop().time
        end = clock() + deadline
        pause = 0.001
        while True:
            stored = await self._direct.last_of_each([tree], deadline=max(end - clock(), 0.05))
            n = stored[-1].seq if stored else 0
            if n >= at_least:
                # Kinds that this version does not know, and what fits no contract, count for n and for nothing else.
                tail = len(tree) - 1
                known = {_KINDS[kind]: fact for fact in stored if (kind := fact.subject[tail:]) in _KINDS}
                facts = {
                    kind: found
                    for kind, fact in known.items()
                    if (found := fact if fits(fact.subject, fact.event) else await self._before(fact)) is not None
                }
                return LogSnapshot(facts, n, tree)
            if clock() + pause >= end:
                raise LogBehind(f"the log of {company}/{conversation} was read at {n}, and {at_least} is needed")
            await asyncio.sleep(pause)
            pause = min(pause * 2, 0.1)

    async def _before(self, misfit: StoredFact) -> StoredFact | None:
        """The newest fact of its subject before one that fits no contract. Direct reads go forward: all are read."""
        key = (misfit.seq, misfit.stamp)
        if key in self._stand_ins:
            return self._stand_ins[key]
        found: StoredFact | None = None
        position = 1
        while True:
            batch = await self._direct.batch(misfit.subject, position, BATCH)
            earlier = [fact for fact in batch.facts if fact.seq < misfit.seq]
            found = next((fact for fact in reversed(earlier) if fits(fact.subject, fact.event)), found)
            if len(earlier) < len(batch.facts) or not batch.more or not batch.facts:
                break
            position = batch.facts[-1].seq + 1
        if len(self._stand_ins) >= STAND_INS:
            del self._stand_ins[next(iter(self._stand_ins))]
        self._stand_ins[key] = found
        return found

    async def read(
        self, company: str, conversation: str, after: int, up_to: int, *, deadline: float = 10.0
    ) -> list[StoredFact]:
        """The conversation's facts with after < seq ≤ up_to, in order.

        Compare `bounds` first: below the stream's first sequence there is nothing, and NATS does not say so; and more
        than 20,000 behind its end memory is the one to ask.

        Raises:
            ReadFailed: no answer in time, or no turn to read.
        """
        tree = conversation_tree(company, conversation)
        facts: list[StoredFact] = []
        if after >= up_to:
            return facts
        clock = asyncio.get_running_loop().time
        end = clock() + deadline
        position = after + 1
        try:
            async with asyncio.timeout_at(end):
                await self._scans.acquire()
        except TimeoutError as error:
            raise ReadFailed(f"{company}/{conversation}: too many are reading the log at once") from error
        try:
            while True:
                batch = await self._direct.batch(tree, position, BATCH, deadline=max(end - clock(), 0.001))
                facts.extend(fact for fact in batch.facts if fact.seq <= up_to)
                if not batch.facts or not batch.more or batch.facts[-1].seq >= up_to:
                    return facts
                position = batch.facts[-1].seq + 1
        finally:
            self._scans.release()

    async def first_visitor(self, company: str, conversation: str) -> StoredFact | None:
        """The conversation's first visitor message that the stream still holds."""
        return await self._direct.next(chat(company, conversation, ChatKind.VISITOR), 1)

    async def at(self, seq: int) -> StoredFact | None:
        """The fact at this sequence, of whatever conversation; None if it is gone or not there yet."""
        return await self._direct.at(seq)

    async def bounds(self, *, deadline: float = 5.0) -> LogBounds:
        """First and last sequence and the epoch, asked of the stream's leader.

        Raises:
            ReadFailed: no answer in time.
        """
        subject = f"$JS.API.STREAM.INFO.{self._stream}"
        try:
            answer = orjson.loads((await self._inbox.request(subject, b"", deadline=deadline)).data)
        except (TimeoutError, NatsError) as error:
            raise ReadFailed(f"no answer about the stream {self._stream}: is JetStream up?") from error
        if "error" in answer:
            raise ReadFailed(f"stream {self._stream}: {answer['error'].get('description')}")
        state, created, most = answer["state"], str(answer["created"]), int(answer["config"]["max_bytes"])
        return LogBounds(
            first_seq=int(state["first_seq"]),
            last_seq=int(state["last_seq"]),
            created=created,
            epoch=epoch_of(self._stream, created),
            room=max(most - int(state["bytes"]), 0) if most > 0 else None,
        )


def epoch_of(stream: str, created: str) -> str:
    """Names one incarnation of a stream: it changes when the stream is made anew or restored from elsewhere."""
    return derive_id(stream, created)[:8]
