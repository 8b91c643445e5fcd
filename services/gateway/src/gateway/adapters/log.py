"""The log of conversations, in the stream CHAT."""

import asyncio
import contextlib
from collections.abc import Generator

import orjson

from contracts.channels import ChatKind
from contracts.conversation import Fact, Snapshot
from contracts.envelope import Wire
from contracts.ids import conversation_start, derive_id
from contracts.json_values import JsonObject
from gateway.domain.recovery import Bounds
from gateway.errors import UnavailableError
from gateway.ports import Decide
from runtime.bus.publisher import Appended, Publisher
from runtime.calls.single_flight import SingleFlight
from runtime.clock import Clock
from runtime.conversation import ConversationLog, ConversationWriter, NewFact, facts_of
from runtime.errors import ConversationBusyError, FenceRefusedError, PublishFailedError, ReadFailedError

SOURCE = "/nexus/gateway"
READ_SECONDS = 5.0
"""Deadline in seconds of reading a conversation's log."""
READ_RETRY_SECONDS = 0.05
"""Seconds until a replica that lacks a required fact is asked again."""
APPEND_SECONDS = 15.0
"""Deadline in seconds of an append, which is retried under the same id until then."""
FREE_BYTES_AGE_SECONDS = 5.0
"""Seconds for which the log's free space is cached."""
CLOCK_SKEW_SECONDS = 60.0
"""Seconds by which the clocks of two machines may differ."""
UNKNOWN_POSITION = -1
"""The position before anything was received or read."""
BOUNDS_AGE_SECONDS = 1.0
"""Seconds for which the stream's bounds are cached; only its epoch and rough length matter."""


class NatsLog:
    """Reads facts by direct get, and appends facts with ids by which a repeat is recognised."""

    def __init__(self, conversations: ConversationLog, publisher: Publisher, clock: Clock) -> None:
        self._conversations = conversations
        self._writer = ConversationWriter(
            conversations, publisher, SOURCE, read_deadline=READ_SECONDS, append_deadline=APPEND_SECONDS
        )
        self._clock = clock
        self.position = UNKNOWN_POSITION
        """The sequence up to which the live feed has passed on every fact; those it missed are being read."""
        self._epoch: str = ""
        self._bounds: tuple[float, Bounds] | None = None
        self._free_bytes: tuple[float, int | None] | None = None
        self._bounds_read = SingleFlight[Bounds]()

    def forget_bounds(self) -> None:
        """Forgets the cached bounds: after a reconnect the stream may be another one."""
        self._bounds = None
        self._bounds_read.forget()

    def has_reached(self, sequence: int) -> None:
        """Moves the position forward to this sequence."""
        self.position = max(self.position, sequence)

    async def snapshot(self, company: str, conversation: str, at_least: int = 0, *, reached: int = 0) -> Snapshot:
        """The conversation's snapshot, at least as new as `at_least`, from a replica that has `reached` a sequence."""
        with _as_gateway_errors():
            return await self._conversations.snapshot(
                company, conversation, at_least, reached=reached, deadline=READ_SECONDS
            )

    async def read(
        self, company: str, conversation: str, after: int, up_to: int, *, require_last: bool = False
    ) -> list[Fact]:
        """The facts in (after, up_to], in order. `require_last`: there is a fact at `up_to`; a replica without it is
        asked again."""
        give_up_at = self._clock.monotonic() + READ_SECONDS
        while True:
            with _as_gateway_errors():
                stored = await self._conversations.read(company, conversation, after, up_to, deadline=READ_SECONDS)
            if not require_last or (stored and stored[-1].seq >= up_to):
                return facts_of(stored)
            if self._clock.monotonic() >= give_up_at:
                raise _unreadable()
            await asyncio.sleep(READ_RETRY_SECONDS)

    async def recent_facts(self, company: str, conversation: str, up_to: int, distance: int) -> tuple[list[Fact], bool]:
        """The facts up to `up_to` among the log's last `distance` messages, in order, and whether these are all the
        facts of the conversation."""
        bounds = await self.bounds()
        after = max(bounds.first_seq - 1, bounds.last_seq - distance, 0)
        facts = await self.read(company, conversation, after, up_to)
        return facts, after == 0 or await self._started_after(conversation, after)

    async def last_facts(
        self, company: str, conversation: str, snapshot: Snapshot, distance: int
    ) -> tuple[list[Fact], bool]:
        """`recent_facts` up to this snapshot, plus the snapshot's newest fact of each kind."""
        facts, complete = await self.recent_facts(company, conversation, snapshot.seq, distance)
        facts_by_seq = {fact.seq: fact for fact in (*snapshot.last.values(), *facts)}
        return [facts_by_seq[seq] for seq in sorted(facts_by_seq)], complete

    async def _started_after(self, conversation: str, seq: int) -> bool:
        """Whether the conversation certainly started after the message at `seq` was stored."""
        started_at = conversation_start(conversation)
        if started_at is None:
            return False
        with _as_gateway_errors():
            next_message = await self._conversations.at(seq + 1)
        return next_message is not None and started_at > next_message.time.timestamp() + CLOCK_SKEW_SECONDS

    async def first_visitor(self, company: str, conversation: str) -> Fact | None:
        """The first visitor message that the stream still has."""
        with _as_gateway_errors():
            return await self._conversations.first_visitor(company, conversation)

    async def bounds(self) -> Bounds:
        """The epoch and the first and last sequence of the whole log."""
        return self._cached_bounds() or await self._bounds_read.result("bounds", self._read_bounds)

    def _cached_bounds(self) -> Bounds | None:
        if self._bounds is None or self._clock.monotonic() - self._bounds[0] >= BOUNDS_AGE_SECONDS:
            return None
        return self._bounds[1]

    async def _read_bounds(self) -> Bounds:
        now = self._clock.monotonic()
        with _as_gateway_errors():
            stream = await self._conversations.bounds(deadline=READ_SECONDS)
        bounds = Bounds(stream.epoch, stream.first_seq, stream.last_seq)
        self._bounds = (now, bounds)
        self._free_bytes = (now, stream.room)
        previous_epoch, self._epoch = self._epoch, bounds.epoch
        # A new log counts from the start. At the first read, a position that the live feed has reached is kept: facts
        # after it may never be received.
        if previous_epoch != bounds.epoch and (previous_epoch or self.position == UNKNOWN_POSITION):
            self.position = bounds.last_seq
        return bounds

    async def snapshot_and_bounds(self, company: str, conversation: str, reached: int = 0) -> tuple[Snapshot, Bounds]:
        """The conversation's snapshot and the log's bounds. The snapshot contains everything that the live feed has
        passed on: an attachment that joined before gets everything newer."""
        bounds = await self.bounds() if self.position == UNKNOWN_POSITION else self._cached_bounds()
        reached = max(reached, self.position)
        if bounds is not None:
            return await self.snapshot(company, conversation, reached=max(reached, bounds.last_seq)), bounds
        return await asyncio.gather(self.snapshot(company, conversation, reached=reached), self.bounds())

    async def free_bytes(self) -> int | None:
        """The bytes that are free in the log, as of some seconds ago; None if unknown."""
        if self._free_bytes is None or self._clock.monotonic() - self._free_bytes[0] >= FREE_BYTES_AGE_SECONDS:
            with contextlib.suppress(UnavailableError):
                await self.bounds()
        return self._free_bytes[1] if self._free_bytes else None

    async def append(self, company: str, conversation: str, kind: ChatKind, data: Wire, *, identity: str) -> Appended:
        """Appends a fact with an id derived from company, conversation, kind and `identity`. Raises UnavailableError if
        there is no acknowledgement within 15 s; retry with the same identity."""
        new_fact = _new_fact(company, conversation, kind, data, identity)
        with _as_gateway_errors():
            return await self._writer.append(company, conversation, new_fact)

    async def append_if(
        self, company: str, conversation: str, kind: ChatKind, *, identity: str, decide: Decide
    ) -> Appended | None:
        """Appends, fenced, the fact that `decide` returns for the newest snapshot; decides again if a newer fact was
        stored first. Returns None if `decide` does."""

        async def new_fact(now: Snapshot) -> NewFact | None:
            data = await decide(now)
            return None if data is None else _new_fact(company, conversation, kind, data, identity)

        repeat = (kind, derive_id(company, conversation, kind.short, identity))
        with _as_gateway_errors():
            return await self._writer.append_if(company, conversation, new_fact, repeats=repeat)

    async def append_again(
        self, company: str, conversation: str, fact: Fact, data: JsonObject, *, identity: str, fence: int
    ) -> Appended:
        """Appends a fact once more, with the same event id and with `data`.

        Raises:
            FenceRefusedError: the conversation has a fact newer than `fence`.
        """
        body = orjson.dumps({**fact.event, "data": data})
        with _as_gateway_errors():
            return await self._writer.append_event(company, conversation, fact.kind, body, identity, fence=fence)


@contextlib.contextmanager
def _as_gateway_errors() -> Generator[None]:
    try:
        yield
    except FenceRefusedError:
        raise
    except ConversationBusyError as error:
        raise UnavailableError("the conversation changes too quickly: try again") from error
    except PublishFailedError as error:
        raise UnavailableError("it could not be stored now: try again with the same id") from error
    except ReadFailedError as error:
        raise _unreadable() from error


def _new_fact(company: str, conversation: str, kind: ChatKind, data: Wire, identity: str) -> NewFact:
    return NewFact(kind, data, identity, event_id=derive_id(company, conversation, kind.short, identity))


def _unreadable() -> UnavailableError:
    return UnavailableError("the conversations' log cannot be read now: try again")
