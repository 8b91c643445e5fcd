"""A store that gives no reason to doubt it asks the bus nothing between two looks at the consumers."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

import pytest

from contracts.channels import ChatKind
from contracts.events.chat import OperatorMessage
from memory.application.positions import FACTS_BETWEEN_CHECKS, Positions
from memory.application.projection_sources import ProjectionSource
from memory.domain.facts import LogFact
from memory.domain.keys import LogPosition
from memory.domain.progress import ConsumerProgress, Missed
from memory.errors import StoreUnavailableError
from runtime.bus.direct import StoredFact


class Store:
    """A store with one position for each source."""

    def __init__(self) -> None:
        self.at: dict[str, LogPosition] = {}
        self.lives = 1

    async def incarnation(self) -> object:
        return self.lives

    async def load(self) -> dict[str, LogPosition]:
        return dict(self.at)

    async def move(self, name: str, expected: LogPosition | None, new: LogPosition) -> bool:
        if self.at.get(name) != expected:
            return False
        self.at[name] = new
        return True

    async def missed(self) -> list[Missed]:
        return []

    async def miss(self, gap: Missed) -> None:
        del gap


class Bus:
    """Consumers that were given `delivered` facts and have taken in `done`, of which the log holds the last; counts the
    questions, and remembers where it was read. `between`: what happens while it is asked."""

    def __init__(self, done: int, delivered: int | None = None, furthest: int | None = None) -> None:
        self.done, self.delivered = done, done if delivered is None else delivered
        self.furthest = self.delivered if furthest is None else furthest
        self.asked = 0
        self.read_after: list[int] = []
        self.lost: list[tuple[str, int]] = []
        self.between: Callable[[], None] = lambda: None

    async def progress(self, stream: str, durable: str, since: float) -> ConsumerProgress | None:
        del stream, durable, since
        self.asked += 1
        self.between()
        done, furthest, delivered = (LogPosition(1, seq) for seq in (self.done, self.furthest, self.delivered))
        return ConsumerProgress(done, furthest, delivered, 1, self.delivered)

    async def read(self, stream: str, subject: str, after: int, size: int) -> tuple[list[StoredFact], bool]:
        del stream, subject, size
        self.read_after.append(after)
        event = b'{"id":"e%d"}' % self.delivered
        return [StoredFact(self.delivered, "chat.acme.c1.message.visitor.v1", event, "")], False

    async def since(self, stream: str, subject: str, start: datetime) -> int:
        del stream, subject, start
        return 0

    async def delete(self, stream: str, durable: str) -> None:
        raise AssertionError(f"{stream}/{durable} is not to be ended")

    async def leave_out(self, stream: str, up_to: int, keep: Callable[[int], Awaitable[object]]) -> None:
        del keep
        raise AssertionError(f"{stream} has lost nothing before {up_to}")

    async def note_lost_end(self, stream: str, up_to: int) -> None:
        self.lost.append((stream, up_to))


def stored_fact(seq: int) -> LogFact:
    """A fact as the bus holds it."""
    now = datetime.now(UTC)
    said = OperatorMessage(message_id=f"m{seq}", text="hello", operator_id="o1")
    return LogFact("acme", "c1", ChatKind.OPERATOR, LogPosition(1, seq), f"e{seq}", now, now, said, b"{}")


async def nothing(facts: Sequence[StoredFact]) -> None:
    del facts


LOG = ProjectionSource("CHAT", "memory-projection", "chat.>", nothing)


def positions(store: Store, bus: Bus, every: float, source: ProjectionSource = LOG) -> Positions:
    return Positions("mongodb", store, bus, (source,), now=lambda: datetime.now(UTC), empty=True, every=every)


async def test_at_rest_nobody_asks_the_bus() -> None:
    store, bus = Store(), Bus(7)
    looked = positions(store, bus, every=3600)
    await looked.look()
    assert store.at == {"CHAT/memory-projection": LogPosition(1, 7)}
    asked = bus.asked
    for _ in range(5):
        await looked.look()
    # One more: the first look had only begun when it asked.
    assert bus.asked <= asked + 1
    assert looked.behind == {}


async def test_a_store_that_was_away_or_put_back_is_compared_at_once() -> None:
    store, bus = Store(), Bus(7)
    looked = positions(store, bus, every=3600)
    await looked.look()
    await looked.look()
    asked = bus.asked
    store.lives += 1
    await looked.look()
    assert bus.asked > asked
    await looked.look()
    asked, store.at = bus.asked, {"CHAT/memory-projection": LogPosition(1, 3)}
    await looked.look()
    assert bus.asked > asked
    assert store.at == {"CHAT/memory-projection": LogPosition(1, 7)}


async def test_a_doubted_store_is_brought_up_behind_what_was_acknowledged_out_of_order() -> None:
    store, bus = Store(), Bus(3, delivered=7)
    looked = positions(store, bus, every=3600)
    await looked.look()
    assert store.at == {"CHAT/memory-projection": LogPosition(1, 7)}


async def test_a_store_that_is_put_back_is_brought_up_behind_what_waits_for_its_acknowledgement() -> None:
    """It may be stored already, and be acknowledged only now. At the start nobody holds it."""
    store, bus = Store(), Bus(3, delivered=7, furthest=3)
    store.at = {"CHAT/memory-projection": LogPosition(1, 3)}
    looked = positions(store, bus, every=3600)
    await looked.look()
    assert bus.read_after == []
    store.lives += 1
    await looked.look()
    assert bus.read_after == [3]
    assert store.at == {"CHAT/memory-projection": LogPosition(1, 7)}


async def test_nothing_read_of_a_store_that_was_started_again_is_told_before_it_is_compared() -> None:
    store, bus, hurried = Store(), Bus(3), list[str]()
    looked = positions(store, bus, every=3600)
    looked.hurry = lambda: hurried.append("now")
    await looked.look()
    async with looked.same_server():
        pass
    for _ in range(2):
        with pytest.raises(StoreUnavailableError):
            async with looked.same_server():
                store.lives = 2
    assert hurried == ["now", "now"]
    await looked.compare()
    async with looked.same_server():
        pass


async def test_a_position_that_was_moved_while_the_store_was_put_back_is_put_back_too() -> None:
    store, bus = Store(), Bus(3)
    looked = positions(store, bus, every=0)
    await looked.look()
    await looked.look()

    def put_back() -> None:
        store.lives, bus.done, bus.furthest, bus.delivered, bus.between = 2, 7, 7, 7, lambda: None

    bus.between, bus.read_after = put_back, []
    await looked.look()
    assert (store.at, bus.read_after) == ({"CHAT/memory-projection": LogPosition(1, 7)}, [])
    await looked.look()
    assert bus.read_after == [3]
    assert store.at == {"CHAT/memory-projection": LogPosition(1, 7)}


async def test_who_starts_behind_an_end_takes_nothing_in_again() -> None:
    """And many facts are not waited with for the usual time: behind kill -9 only the last of them come again."""
    store, bus = Store(), Bus(3)
    looked = positions(store, bus, every=3600)
    await looked.look()
    bus.done = bus.furthest = bus.delivered = 7
    looked.taken([stored_fact(seq) for seq in range(8 - FACTS_BETWEEN_CHECKS, 8)])
    await looked.look()
    assert store.at == {"CHAT/memory-projection": LogPosition(1, 7)}
    bus.done = bus.furthest = bus.delivered = 9
    await looked.look()
    assert store.at == {"CHAT/memory-projection": LogPosition(1, 7)}
    await looked.settle()
    bus.read_after = []
    await positions(store, bus, every=3600).look()
    assert (store.at, bus.read_after) == ({"CHAT/memory-projection": LogPosition(1, 9)}, [])


async def test_a_stream_of_facts_that_has_lost_its_end_is_told_once_and_goes_on_from_what_is_there() -> None:
    store, bus = Store(), Bus(7)
    store.at["FACTS/memory-usage"] = LogPosition(1, 9)
    looked = positions(store, bus, 0, ProjectionSource("FACTS", "memory-usage", "fact.usage.>", nothing))
    for _ in range(3):
        await looked.look()
    assert bus.lost == [("FACTS", 9)]
    assert store.at == {"FACTS/memory-usage": LogPosition(1, 7)}
    assert looked.behind == {}
    bus.done = bus.delivered = bus.furthest = 8
    await looked.look()
    assert store.at == {"FACTS/memory-usage": LogPosition(1, 8)}
