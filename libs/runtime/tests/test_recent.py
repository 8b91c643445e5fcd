"""How much is kept depends on how many conversations go on, not on how many there were."""

from runtime.recent import DEFAULT_TTL_SECONDS, Bounded, Recent
from runtime.testing.clock import FakeClock


async def test_what_has_gone_is_not_kept() -> None:
    clock = FakeClock()
    recent = Recent[int, str](1_000, clock=clock.monotonic)
    for conversation in range(100):
        recent.keep(conversation, "said")
        await clock.advance(DEFAULT_TTL_SECONDS / 10)
    assert list(recent) == list(range(89, 100))
    assert recent.get(90) == "said"
    # It is looked at only when another one comes: until then it is too old to be had.
    assert (recent.get(89), len(recent)) == (None, 11)
    recent.keep(93, "said again")
    assert list(recent) == [90, 91, 92, 94, 95, 96, 97, 98, 99, 93]


def test_it_is_bounded_in_number_and_size() -> None:
    recent = Recent[str, str](3, max_size=10, size=len)
    for name in "abcd":
        recent.keep(name, "xx")
    assert list(recent) == ["b", "c", "d"]
    recent.keep("c", "xxxxxxxx")
    assert list(recent) == ["d", "c"]
    recent.keep("e", "x" * 11)
    assert list(recent) == []
    recent.keep("f", "x" * 10)
    recent.drop("f")
    recent.drop("nobody's")
    recent.keep("g", "x" * 10)
    assert recent.get("g") == "x" * 10
    recent.clear()
    assert len(recent) == 0


def test_what_is_set_again_stays_and_the_oldest_goes() -> None:
    numbers = Bounded[str, int](2)
    for name, number in (("a", 1), ("b", 2), ("a", 3)):
        numbers[name] = number
    numbers.setdefault("c", 4)
    assert list(numbers.items()) == [("a", 3), ("c", 4)]
