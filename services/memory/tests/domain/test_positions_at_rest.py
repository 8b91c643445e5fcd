"""A store that gives no reason to doubt it asks the bus nothing between two looks at the consumers."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

from memory.application.positions import Positions, ProjectionSource
from memory.domain.keys import LogPosition
from memory.domain.progress import ConsumerProgress, Missed
from runtime.direct import StoredFact


class Store:
    """A store with one position for each source."""

    def __init__(self) -> None:
        self.at: dict[str, LogPosition] = {}
        self.lives = 1

    async def life(self) -> object:
        return self.lives

    async def load(self) -> dict[str, LogPosition]:
        return dict(self.at)

    async def move(self, name: str, before: LogPosition | None, to: LogPosition) -> bool:
        if self.at.get(name) != before:
            return False
        self.at[name] = to
        return True

    async def missed(self) -> list[Missed]:
        return []

    async def miss(self, gap: Missed) -> None:
        del gap


class Bus:
    """Consumers that were given `delivered` facts and have taken in `done`, of which the log holds none any more;
    counts the questions."""

    def __init__(self, done: int, delivered: int | None = None) -> None:
        self.done, self.delivered = done, done if delivered is None else delivered
        self.asked = 0

    async def progress(self, stream: str, durable: str, since: float) -> ConsumerProgress | None:
        del stream, durable, since
        self.asked += 1
        return ConsumerProgress(LogPosition(1, self.done), LogPosition(1, self.delivered), 1, self.delivered)

    async def read(self, stream: str, subject: str, after: int, size: int) -> tuple[list[StoredFact], bool]:
        del stream, subject, after, size
        return [], False

    async def since(self, stream: str, subject: str, at: datetime) -> int:
        del stream, subject, at
        return 0

    async def delete(self, stream: str, durable: str) -> None:
        raise AssertionError(f"{stream}/{durable} is not to be ended")

    async def leave_out(self, stream: str, up_to: int, keep: Callable[[int], Awaitable[object]]) -> None:
        del keep
        raise AssertionError(f"{stream} has lost nothing before {up_to}")


async def nothing(facts: Sequence[StoredFact]) -> None:
    del facts


def positions(store: Store, bus: Bus, every: float) -> Positions:
    source = ProjectionSource("CHAT", "memory-projection", "chat.>", nothing)
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
