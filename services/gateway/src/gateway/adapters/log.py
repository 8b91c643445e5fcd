"""The conversations' log, in the stream CHAT."""

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

Json = JsonObject
SOURCE = "/nexus/gateway"
READ_DEADLINE = 5.0
"""Seconds for a read of a conversation's log."""
READ_AGAIN = 0.05
"""Seconds until a replica that lacks what is needed is asked again."""
APPEND_DEADLINE = 15.0
"""Seconds in which an append must be stored; it is retried under the same id until then."""
ROOM_AGE = 5.0
"""Seconds for which the log's free space is cached."""
CLOCKS = 60.0
"""Seconds by which the clocks of two machines may differ."""
UNKNOWN = -1
"""The position before anything was received or read."""
BOUNDS_AGE = 1.0
"""Seconds for which the stream's bounds are cached; only its epoch and rough length matter."""


class NatsLog:
    """Reads by direct get, appends with an id that a repeat shares."""

    def __init__(self, conversations: ConversationLog, publisher: Publisher, clock: Clock) -> None:
        self._conversations = conversations
        self._writer = ConversationWriter(
            conversations, publisher, SOURCE, read_deadline=READ_DEADLINE, append_deadline=APPEND_DEADLINE
        )
        self._clock = clock
        self.position = UNKNOWN
        """The sequence up to which the live feed has passed every fact on, or what it missed is being read."""
        self._epoch: str = ""
        self._bounds: tuple[float, Bounds] | None = None
        self._room: tuple[float, int | None] | None = None
        self._reading_bounds = SingleFlight[Bounds]()

    def forget_bounds(self) -> None:
        """Clears the cached bounds: after a reconnect the stream may be another one."""
        self._bounds = None
        self._reading_bounds.forget()

    def has_reached(self, sequence: int) -> None:
        """Moves the position on."""
        self.position = max(self.position, sequence)

    async def snapshot(self, company: str, conversation: str, at_least: int = 0, *, reached: int = 0) -> Snapshot:
        """The newest fact of each kind, at least as new as `at_least`, from a log that has `reached` that sequence."""
        try:
            return await self._conversations.snapshot(
                company, conversation, at_least, reached=reached, deadline=READ_DEADLINE
            )
        except ReadFailedError as error:
            raise _away() from error

    async def read(self, company: str, conversation: str, after: int, up_to: int, *, whole: bool = False) -> list[Fact]:
        """The facts in (after, up_to], in order. `whole`: there is one at `up_to`, and a replica that lacks it is asked
        again."""
        end = self._clock.monotonic() + READ_DEADLINE
        while True:
            try:
                stored = await self._conversations.read(company, conversation, after, up_to, deadline=READ_DEADLINE)
            except ReadFailedError as error:
                raise _away() from error
            if not whole or (stored and stored[-1].seq >= up_to):
                return facts_of(stored)
            if self._clock.monotonic() >= end:
                raise _away()
            await asyncio.sleep(READ_AGAIN)

    async def near(self, company: str, conversation: str, up_to: int, distance: int) -> tuple[list[Fact], bool]:
        """The facts up to `up_to` among the log's last `distance`, in order, and whether these are all of the
        conversation."""
        bounds = await self.bounds()
        after = max(bounds.first_seq - 1, bounds.last_seq - distance, 0)
        facts = await self.read(company, conversation, after, up_to)
        return facts, after == 0 or await self._began_after(conversation, after)

    async def last_facts(
        self, company: str, conversation: str, snapshot: Snapshot, distance: int
    ) -> tuple[list[Fact], bool]:
        """`near` for the conversation of this snapshot, plus the newest fact of each kind."""
        facts, complete = await self.near(company, conversation, snapshot.seq, distance)
        known = {fact.seq: fact for fact in (*snapshot.last.values(), *facts)}
        return [known[seq] for seq in sorted(known)], complete

    async def _began_after(self, conversation: str, seq: int) -> bool:
        """Whether the conversation certainly began after the message at `seq` was stored."""
        begun = conversation_start(conversation)
        if begun is None:
            return False
        try:
            first = await self._conversations.at(seq + 1)
        except ReadFailedError as error:
            raise _away() from error
        return first is not None and begun > first.time.timestamp() + CLOCKS

    async def first_visitor(self, company: str, conversation: str) -> Fact | None:
        """The first visitor message that the stream still holds."""
        try:
            return await self._conversations.first_visitor(company, conversation)
        except ReadFailedError as error:
            raise _away() from error

    async def bounds(self) -> Bounds:
        """Epoch and first and last sequence of the whole log."""
        return self._fresh_bounds() or await self._reading_bounds.result("bounds", self._read_bounds)

    def _fresh_bounds(self) -> Bounds | None:
        if self._bounds is None or self._clock.monotonic() - self._bounds[0] >= BOUNDS_AGE:
            return None
        return self._bounds[1]

    async def _read_bounds(self) -> Bounds:
        now = self._clock.monotonic()
        try:
            read = await self._conversations.bounds(deadline=READ_DEADLINE)
        except ReadFailedError as error:
            raise _away() from error
        bounds = Bounds(read.epoch, read.first_seq, read.last_seq)
        self._bounds = (now, bounds)
        self._room = (now, read.room)
        before, self._epoch = self._epoch, bounds.epoch
        # A log that was made anew counts from the start. At the first look the position stands that the live feed has
        # reached: what is behind it may never come.
        if before != bounds.epoch and (before or self.position == UNKNOWN):
            self.position = bounds.last_seq
        return bounds

    async def snapshot_and_bounds(self, company: str, conversation: str, reached: int = 0) -> tuple[Snapshot, Bounds]:
        """The conversation's snapshot, and the log's bounds. The snapshot holds what the live feed has passed on: who
        joined it before has all that is newer."""
        known = await self.bounds() if self.position == UNKNOWN else self._fresh_bounds()
        reached = max(reached, self.position)
        if known is not None:
            return await self.snapshot(company, conversation, reached=max(reached, known.last_seq)), known
        return await asyncio.gather(self.snapshot(company, conversation, reached=reached), self.bounds())

    async def room(self) -> int | None:
        """Bytes that the log may still hold, as of some seconds ago; None: unknown."""
        if self._room is None or self._clock.monotonic() - self._room[0] >= ROOM_AGE:
            with contextlib.suppress(UnavailableError):
                await self.bounds()
        return self._room[1] if self._room else None

    async def append(self, company: str, conversation: str, kind: ChatKind, data: Wire, *, identity: str) -> Appended:
        """Appends a fact under an id derived from company, conversation, kind and `identity`; raises
        UnavailableError: no acknowledgement within 15 s, retry with the same identity."""
        new = _new_fact(company, conversation, kind, data, identity)
        with _publishing():
            return await self._writer.append(company, conversation, new)

    async def append_if(
        self, company: str, conversation: str, kind: ChatKind, *, identity: str, decide: Decide
    ) -> Appended | None:
        """Appends what `decide` makes of the newest snapshot, fenced, and decides again if something newer was
        first. None: `decide` made nothing of it."""

        async def new(now: Snapshot) -> NewFact | None:
            data = await decide(now)
            return None if data is None else _new_fact(company, conversation, kind, data, identity)

        own = (kind, derive_id(company, conversation, kind.short, identity))
        with _publishing():
            return await self._writer.append_if(company, conversation, new, repeats=own)

    async def append_again(
        self, company: str, conversation: str, fact: Fact, data: Json, *, identity: str, fence: int
    ) -> Appended:
        """Appends a fact once more, with its own event and id, with `data`.

        Raises:
            FenceRefusedError: the conversation holds something newer than `fence`.
        """
        body = orjson.dumps({**fact.event, "data": data})
        with _publishing():
            return await self._writer.append_event(company, conversation, fact.kind, body, identity, fence=fence)


@contextlib.contextmanager
def _publishing() -> Generator[None]:
    try:
        yield
    except FenceRefusedError:
        raise
    except ConversationBusyError as error:
        raise UnavailableError("the conversation changes too quickly: try again") from error
    except PublishFailedError as error:
        raise UnavailableError("it could not be stored now: try again with the same id") from error
    except ReadFailedError as error:
        raise _away() from error


def _new_fact(company: str, conversation: str, kind: ChatKind, data: Wire, identity: str) -> NewFact:
    return NewFact(kind, data, identity, event_id=derive_id(company, conversation, kind.short, identity))


def _away() -> UnavailableError:
    return UnavailableError("the conversations' log cannot be read now: try again")
