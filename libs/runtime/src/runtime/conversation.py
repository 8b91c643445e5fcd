"""A conversation in the log: the snapshot for decisions, prompt and fence, the facts after a sequence, and appending
what was decided from a snapshot. Ids are checked here before any read (contracts.channels): NATS would take a `*`
for a wildcard."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

import orjson
from nats.aio.client import Client
from nats.errors import Error as NatsError

from contracts.channels import ChatKind, chat, chat_msg_id, conversation_tree, parse_chat
from contracts.conversation import Fact, Snapshot, read_fact, snapshot_of
from contracts.envelope import CloudEvent, Wire
from contracts.ids import derive_id
from runtime.bus.direct import DirectReader, StoredFact
from runtime.bus.jetstream_api import StreamInfo, ask, error_text
from runtime.bus.publisher import Appended, Fence, Publisher
from runtime.bus.replies import ReplyInbox
from runtime.bus.streams import counting_since
from runtime.errors import ConversationBusyError, FenceRefusedError, LogBehindError, ReadFailedError
from runtime.recent import Bounded

STREAM = "CHAT"
_KINDS = frozenset(kind.value for kind in ChatKind)
BATCH_SIZE = 256
UNTRIMMED_FACTS = 50_000
"""The number of facts at the log's end that are never trimmed (memory keeps more, since bounds can be outdated)."""
CONCURRENT_READS = 4
"""Concurrent batch reads of a process: they scan the stream, and fifty at once would block all publishing."""

MAX_ATTEMPTS = 16
"""Attempts of an append. No human conversation gets a new fact between read and append sixteen times in a row."""
MAX_STAND_INS = 1_000
"""The number of misfits whose preceding fact is cached."""


@dataclass(frozen=True, slots=True)
class LogBounds:
    """The stream's current state: first and last sequence, when counting began (before all restores), the epoch, and
    how many more bytes it may hold (None: unlimited)."""

    first_seq: int
    last_seq: int
    created_at: datetime
    epoch: str
    room: int | None = None

    @property
    def whole_from(self) -> int:
        """The first sequence from which nothing was trimmed; older facts must be read from memory."""
        return max(self.first_seq, self.last_seq - UNTRIMMED_FACTS + 1, 1)


def fact_of(subject: str, seq: int, event: bytes, stored_at: float = 0.0, *, genuine: bool) -> Fact | None:
    """Returns an event of CHAT, or its live copy, as a fact. Returns None if it belongs to no conversation, is a misfit
    (contracts.conversation), or is not `genuine` (runtime.bus.marks)."""
    address = parse_chat(subject)
    if address is None or not genuine:
        return None
    try:
        parsed = orjson.loads(event)  # stricter than the model, for example about infinite numbers
        checked = read_fact(address, event).data
    except ValueError:
        return None
    return Fact.of(address.kind, seq, parsed, stored_at, checked)


def facts_of(stored: Iterable[StoredFact]) -> list[Fact]:
    """Returns the facts among stored messages."""
    return [fact for message in stored if (fact := _fact(message)) is not None]


def _fact(stored: StoredFact) -> Fact | None:
    return fact_of(stored.subject, stored.seq, stored.event, stored.time.timestamp(), genuine=stored.genuine)


class ConversationLog:
    """The stream CHAT, one conversation at a time."""

    def __init__(self, client: Client, stream: str = STREAM) -> None:
        self._stream = stream
        self._direct = DirectReader(client, stream)
        self._inbox = ReplyInbox.of(client)
        self._scans = asyncio.Semaphore(CONCURRENT_READS)
        self._stand_ins = Bounded[tuple[int, str], Fact | None](MAX_STAND_INS)

    async def snapshot(
        self, company: str, conversation: str, at_least: int = 0, *, reached: int = 0, deadline: float = 5.0
    ) -> Snapshot:
        """Returns the newest fact of each kind. The newest of all is at least at the sequence `at_least`, and the
        answering replica's whole log has reached the sequence `reached`.

        Raises:
            LogBehindError: the answering replicas stayed older than `at_least`.
            ReadFailedError: no answer in time.
        """
        tree = conversation_tree(company, conversation)
        clock = asyncio.get_running_loop().time
        end = clock() + deadline
        pause = 0.001
        while True:
            stored = await self._direct.last_of_each([tree], reached=reached, deadline=max(end - clock(), 0.05))
            newest_seq = stored[-1].seq if stored else 0
            if newest_seq >= at_least and (
                stored or not reached or await self._is_empty(tree, max(end - clock(), 0.05))
            ):
                # Unknown kinds and misfits count for `newest_seq` only.
                kind_start = len(tree) - 1
                known = [message for message in stored if message.subject[kind_start:] in _KINDS]
                return snapshot_of(
                    [fact for message in known if (fact := await self._newest(message)) is not None], newest_seq
                )
            if clock() + pause >= end:
                raise LogBehindError(
                    f"the log of {company}/{conversation} was read up to {newest_seq}, but {at_least} is needed"
                )
            await asyncio.sleep(pause)
            pause = min(pause * 2, 0.1)

    async def _is_empty(self, tree: str, deadline: float) -> bool:
        """Whether the leader has no fact of a conversation either: a replica that finds nothing does not say how far
        its log reaches."""
        info = await self._info({"subjects_filter": tree}, deadline)
        return not info["state"].get("subjects")

    async def _newest(self, stored: StoredFact) -> Fact | None:
        """Returns the newest valid fact under this event's subject."""
        return _fact(stored) or await self._before(stored)

    async def _before(self, misfit: StoredFact) -> Fact | None:
        """Returns the newest fact under a misfit's subject before it. Direct reads only go forward, so all are read."""
        key = (misfit.seq, misfit.stamp)
        if key in self._stand_ins:
            return self._stand_ins[key]
        newest: Fact | None = None
        position = 1
        while True:
            batch = await self._direct.batch(misfit.subject, position, BATCH_SIZE)
            earlier = [stored for stored in batch.facts if stored.seq < misfit.seq]
            newest = next((fact for stored in reversed(earlier) if (fact := _fact(stored)) is not None), newest)
            if len(earlier) < len(batch.facts) or not batch.more or not batch.facts:
                break
            position = batch.facts[-1].seq + 1
        self._stand_ins[key] = newest
        return newest

    async def read(
        self, company: str, conversation: str, after: int, up_to: int, *, deadline: float = 10.0
    ) -> list[StoredFact]:
        """Returns the conversation's facts with after < seq ≤ up_to, in order.

        Compare `bounds` first: below the stream's first sequence there is nothing, which NATS does not report. Facts
        more than 20,000 before the stream's end should be read from memory instead.

        Raises:
            ReadFailedError: no answer in time, or too many concurrent reads.
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
            raise ReadFailedError(f"{company}/{conversation}: too many are reading the log at once") from error
        try:
            while True:
                batch = await self._direct.batch(tree, position, BATCH_SIZE, deadline=max(end - clock(), 0.001))
                facts.extend(fact for fact in batch.facts if fact.seq <= up_to)
                if not batch.facts or not batch.more or batch.facts[-1].seq >= up_to:
                    return facts
                position = batch.facts[-1].seq + 1
        finally:
            self._scans.release()

    async def first_visitor(self, company: str, conversation: str, after: int = 0) -> Fact | None:
        """Returns the conversation's first visitor message after the sequence `after`, if the stream still holds it."""
        subject = chat(company, conversation, ChatKind.VISITOR)
        while (stored := await self._direct.next(subject, after + 1)) is not None:
            if (fact := _fact(stored)) is not None:
                return fact
            after = stored.seq
        return None

    async def at(self, seq: int) -> StoredFact | None:
        """Returns the fact at this sequence, of any conversation; None if it is gone or does not exist yet."""
        return await self._direct.at(seq)

    async def bounds(self, *, deadline: float = 5.0) -> LogBounds:
        """Returns the stream's bounds, as its leader knows them.

        Raises:
            ReadFailedError: no answer in time.
        """
        answer = await self._info(None, deadline)
        state, max_bytes = answer["state"], answer["config"]["max_bytes"]
        return LogBounds(
            first_seq=state["first_seq"],
            last_seq=state["last_seq"],
            created_at=counting_since(answer),
            epoch=epoch_of(self._stream, answer["created"]),
            room=max(max_bytes - state["bytes"], 0) if max_bytes > 0 else None,
        )

    async def _info(self, query: Mapping[str, object] | None, deadline: float) -> StreamInfo:
        try:
            answer = await ask(self._inbox, StreamInfo, f"STREAM.INFO.{self._stream}", query, deadline=deadline)
        except (TimeoutError, NatsError) as error:
            raise ReadFailedError(f"no answer about the stream {self._stream}: is JetStream up?") from error
        if "error" in answer:
            raise ReadFailedError(f"stream {self._stream}: {error_text(answer)}")
        return answer


def fence_at(company: str, conversation: str, seq: int) -> Fence:
    """Returns the fence for a decision from a snapshot at `seq`. All writers must use the byte-identical filter: with
    three replicas the check is atomic only among equal filters."""
    return Fence(seq, conversation_tree(company, conversation))


@dataclass(frozen=True, slots=True)
class NewFact:
    """A fact to append. `identity`: the part of its message id besides company, conversation and kind; a repeat of
    the same fact has the same one, and the same `event_id`."""

    kind: ChatKind
    data: Wire
    identity: str
    event_id: str


Decide = Callable[[Snapshot], Awaitable[NewFact | None]]


class ConversationWriter:
    """Appends to conversations for one service. `read_deadline` and `append_deadline` in seconds."""

    def __init__(
        self,
        log: ConversationLog,
        publisher: Publisher,
        source: str,
        *,
        read_deadline: float = 5.0,
        append_deadline: float = 15.0,
    ) -> None:
        self._log = log
        self._publisher = publisher
        self._source = source
        self._read_deadline = read_deadline
        self._append_deadline = append_deadline

    async def append_if(
        self, company: str, conversation: str, decide: Decide, *, repeats: tuple[ChatKind, str] | None = None
    ) -> Appended | None:
        """Appends the fact that `decide` returns for the newest snapshot. If something newer is stored first, it
        decides again.

        Args:
            company: the conversation's company.
            conversation: its id.
            decide: returns the fact to append, or None if there is nothing to append (any more).
            repeats: kind and event id under which an earlier call may have stored this already.

        Returns:
            Where it is stored, `duplicate` if an earlier attempt stored it; None if there was nothing to append.

        Raises:
            ConversationBusyError: something newer was stored first each time.
            ReadFailedError: no snapshot in time.
            PublishFailedError: not stored in time, or unknown.
        """
        stored_before, at_least = repeats, 0
        for _ in range(MAX_ATTEMPTS):
            snapshot = await self._log.snapshot(company, conversation, at_least, deadline=self._read_deadline)
            if stored_before is not None:
                newest = snapshot.last.get(stored_before[0])
                if newest is not None and newest.event.get("id") == stored_before[1]:
                    # An earlier attempt stored it and its acknowledgement was lost: the server checks the fence before
                    # the id.
                    return Appended(newest.seq, duplicate=True)
            new = await decide(snapshot)
            if new is None:
                return None
            stored_before = (new.kind, new.event_id)
            try:
                return await self.append(company, conversation, new, fence=snapshot.seq)
            except FenceRefusedError as error:
                at_least = error.newest or snapshot.seq + 1
        raise ConversationBusyError(
            f"{company}/{conversation} changes too quickly: something newer came {MAX_ATTEMPTS} times"
        )

    async def append(self, company: str, conversation: str, new: NewFact, *, fence: int | None = None) -> Appended:
        """Appends a fact, optionally fenced by the sequence of the decision's snapshot.

        Raises:
            FenceRefusedError: the conversation holds something newer than `fence`.
            PublishFailedError: not stored in time, or unknown.
        """
        event = CloudEvent(
            id=new.event_id,
            source=self._source,
            type=new.kind.event_type,
            subject=f"{company}/{conversation}",
            data=new.data,
        )
        return await self.append_event(company, conversation, new.kind, event.to_json(), new.identity, fence=fence)

    async def append_event(
        self, company: str, conversation: str, kind: ChatKind, event: bytes, identity: str, *, fence: int | None = None
    ) -> Appended:
        """`append` for an event in JSON."""
        return await self._publisher.append(
            chat(company, conversation, kind),
            event,
            stream=STREAM,
            msg_id=chat_msg_id(company, conversation, kind, identity),
            fence=None if fence is None else fence_at(company, conversation, fence),
            deadline=self._append_deadline,
        )


def epoch_of(stream: str, created: str) -> str:
    """Returns the epoch of a stream, which changes when the stream is recreated or restored."""
    return derive_id(stream, created)[:8]
