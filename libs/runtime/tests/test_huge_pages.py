"""A process' own memory in large pages: nothing in it changes."""

from runtime.huge_pages import put_together


def test_what_is_held_is_the_same_afterwards() -> None:
    held = [bytes([number]) * 100_000 for number in range(200)]
    put_together()
    assert held == [bytes([number]) * 100_000 for number in range(200)]
