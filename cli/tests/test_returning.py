"""When a chat at the terminal comes back to a gateway that was away."""

from nexus_cli.chat.client import pause_before


def test_it_comes_back_within_two_seconds_however_often_it_was_tried() -> None:
    assert [pause_before(attempt, 1.0) for attempt in (0, 1, 2, 3, 4, 500)] == [0.2, 0.4, 0.8, 1.6, 2.0, 2.0]


def test_clients_that_lost_the_same_gateway_are_spread_out() -> None:
    for attempt in range(10):
        assert pause_before(attempt, 0.0) == pause_before(attempt, 1.0) / 4
