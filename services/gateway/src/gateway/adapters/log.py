"""The conversations' log, in the stream CHAT (ports.Log)."""

import contextlib

import orjson

from contracts.channels import ChatKind, chat, chat_msg_id, conversation_tree, parse_chat
from contracts.envelope import CloudEvent, Wire
from contracts.ids import derive_id
from gateway.domain.conversation_ids import begun_at
from gateway.domain.facts import Fact, Json, Snapshot
from gateway.domain.recovery import Bounds
from gateway.errors import FenceRefused, Unavailable
from gateway.ports import Stored
from runtime.clock import Clock
from runtime.conversation_log import ConversationLog, fits
from runtime.direct import StoredFact
from runtime.errors import FenceRefused as RuntimeFenceRefused
from runtime.errors import PublishFailed, ReadFailed
from runtime.publishing import Fence, Publisher
from runtime.single_flight import SingleFlight

SOURCE = "/nexus/gateway"
READ_DEADLINE = 5.0
"""Seconds to read of a conversation's log."""
APPEND_DEADLINE = 15.0
"""Seconds in which a message must be stored; until then it is tried again under its id."""
ROOM_AGE = 5.0
"""Seconds for which what is free in the log is good enough."""
CLOCKS = 60.0
"""Seconds by which the clocks of two machines may differ."""
BOUNDS_AGE = 1.0
"""Seconds for which the stream's bounds are good enough: they tell its incarnation and its rough length."""


class NatsLog:
    """Reads by direct get, appends with an id that a repeat has too."""

    def __init__(self, conversations: ConversationLog, publisher: Publisher, clock: Clock) -> None:
        self._conversations = conversations
        self._publisher = publisher
        self._clock = clock
        self._bounds: tuple[float, Bounds] | None = None
        self._room: tuple[float, int | None] | None = None
        self._reading_bounds = SingleFlight[Bounds]()

    def forget_bounds(self) -> None:
        """After a reconnect the stream may be another one."""
        self._bounds = None
        self._reading_bounds.forget()

    async def snapshot(self, company: str, conversation: str, at_least: int = 0) -> Snapshot:
        try:
            read = await self._conversations.snapshot(company, conversation, at_least, deadline=READ_DEADLINE)
        except ReadFailed as error:
            raise _away(error) from error
        last = {kind: fact for kind, stored in read.facts.items() if (fact := _fact(stored)) is not None}
        return Snapshot(read.n, last)

    async def read(self, company: str, conversation: str, after: int, up_to: int) -> list[Fact]:
        try:
            stored = await self._conversations.read(company, conversation, after, up_to, deadline=READ_DEADLINE)
        except ReadFailed as error:
            raise _away(error) from error
        return [fact for one in stored if (fact := _fact(one)) is not None]

    async def near(self, company: str, conversation: str, up_to: int, distance: int) -> tuple[list[Fact], bool]:
        bounds = await self.bounds()
        after = max(bounds.first_seq - 1, bounds.last_seq - distance, 0)
        facts = await self.read(company, conversation, after, up_to)
        return facts, after == 0 or await self._began_after(conversation, after)

    async def _began_after(self, conversation: str, seq: int) -> bool:
        """Whether the conversation is surely younger than what stands at `seq` and before it."""
        begun = begun_at(conversation)
        if begun is None:
            return False
        try:
            first = await self._conversations.at(seq + 1)
        except ReadFailed as error:
            raise _away(error) from error
        return first is not None and begun > first.time.timestamp() + CLOCKS

    async def first_visitor(self, company: str, conversation: str) -> Fact | None:
        try:
            stored = await self._conversations.first_visitor(company, conversation)
        except ReadFailed as error:
            raise _away(error) from error
        return _fact(stored) if stored else None

    async def bounds(self) -> Bounds:
        now = self._clock.monotonic()
        if self._bounds is not None and now - self._bounds[0] < BOUNDS_AGE:
            return self._bounds[1]
        return await self._reading_bounds.result("bounds", self._read_bounds)

    async def _read_bounds(self) -> Bounds:
        now = self._clock.monotonic()
        try:
            read = await self._conversations.bounds(deadline=READ_DEADLINE)
        except ReadFailed as error:
            raise _away(error) from error
        bounds = Bounds(read.epoch, read.first_seq, read.last_seq)
        self._bounds = (now, bounds)
        self._room = (now, read.room)
        return bounds

    async def room(self) -> int | None:
        """Bytes that the log may still hold, as of some seconds ago; None: nobody can say."""
        if self._room is None or self._clock.monotonic() - self._room[0] >= ROOM_AGE:
            with contextlib.suppress(Unavailable):
                await self.bounds()
        return self._room[1] if self._room else None

    async def append(
        self, company: str, conversation: str, kind: ChatKind, data: Wire, *, identity: str, fence: int | None = None
    ) -> Stored:
        event = CloudEvent[Wire](
            id=derive_id(company, conversation, kind.short, identity),
            source=SOURCE,
            type=kind.event_type,
            subject=f"{company}/{conversation}",
            data=data,
        )
        return await self._append(company, conversation, kind, event_json(event), identity, fence)

    async def append_again(
        self, company: str, conversation: str, fact: Fact, data: Json, *, identity: str, fence: int
    ) -> Stored:
        body = orjson.dumps({**fact.event, "data": data})
        return await self._append(company, conversation, fact.kind, body, identity, fence)

    async def _append(
        self, company: str, conversation: str, kind: ChatKind, body: bytes, identity: str, fence: int | None
    ) -> Stored:
        try:
            stored = await self._publisher.append(
                chat(company, conversation, kind),
                body,
                stream="CHAT",
                msg_id=chat_msg_id(company, conversation, kind, identity),
                fence=Fence(fence, conversation_tree(company, conversation)) if fence is not None else None,
                deadline=APPEND_DEADLINE,
            )
        except RuntimeFenceRefused as error:
            raise FenceRefused("the conversation went on in the meantime") from error
        except PublishFailed as error:
            raise Unavailable("it could not be stored now: try again with the same id") from error
        return Stored(stored.seq, stored.duplicate)


def event_json(event: CloudEvent[Wire]) -> bytes:
    """The event's JSON, with the whole of its data: the envelope's type parameter names only the base."""
    envelope = event.model_dump(mode="json", exclude={"data"}, exclude_none=True)
    return orjson.dumps({**envelope, "data": event.data.to_wire()})


def parse_fact(subject: str, seq: int, body: bytes) -> Fact | None:
    """A fact as it comes from the stream or the live feed; None when it is not one, or does not fit its contract."""
    address = parse_chat(subject)
    if address is None or not fits(subject, body):
        return None
    return Fact(seq, address.kind, orjson.loads(body))


def _fact(stored: StoredFact) -> Fact | None:
    return parse_fact(stored.subject, stored.seq, stored.event)


def _away(error: ReadFailed) -> Unavailable:
    return Unavailable(f"the conversations' log cannot be read now: try again ({type(error).__name__})")
