"""A rule never sees what comes after its close."""

from decimal import Decimal

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from market_adapter.domain.backtest import decisions, rule, run
from market_adapter.testing.markets import bars_of

CLOSES = st.lists(st.floats(1, 500, allow_nan=False), min_size=12, max_size=40)
NAMES = st.sampled_from(["sma_cross", "momentum", "rsi_reversion", "buy_and_hold"])


@given(CLOSES, CLOSES, NAMES, st.integers(3, 11))
def test_a_future_bar_never_changes_a_past_decision(
    past: list[float], future: list[float], name: str, known: int
) -> None:
    one = np.array(past)
    other = np.array([*past[:known], *future])
    decided = decisions(rule(name, 2, 4), one, 0)[:known]
    assert decided == decisions(rule(name, 2, 4), other, 0)[:known]


@given(CLOSES, CLOSES, NAMES, st.integers(3, 11))
def test_a_future_bar_never_changes_a_past_trade(past: list[float], future: list[float], name: str, known: int) -> None:
    def traded(closes: list[float]) -> list[object]:
        bars = bars_of(closes)
        wanted = decisions(rule(name, 2, 4), np.array(closes[:-1]), 0)
        outcome = run(bars[1:], wanted, Decimal(10_000), Decimal("0.001"))
        return [trade for trade in outcome.trades if trade.on <= bars[known - 1].session]

    assert traded(past[:known]) == traded([*past[:known], *future])


def test_what_is_decided_at_a_close_is_done_at_the_next_open() -> None:
    bars = bars_of([10, 10, 20, 30])
    outcome = run(bars[1:], [False, True, True], Decimal(1000), Decimal(0))
    assert [(trade.on, trade.price) for trade in outcome.trades] == [(bars[2].session, bars[2].open)]
    assert outcome.equity == (Decimal(1000), Decimal(2000), Decimal(3000))


def test_costs_are_taken_of_each_trade_and_nothing_is_spent_twice() -> None:
    bars = bars_of([10, 10, 10, 10])
    outcome = run(bars[1:], [True, False, False], Decimal(1000), Decimal("0.01"))
    assert [trade.side for trade in outcome.trades] == ["buy", "sell"]
    assert outcome.equity[-1] == Decimal(1000) - outcome.trades[0].cost - outcome.trades[1].cost


@given(CLOSES, st.decimals(1, 100_000, places=2), st.decimals(0, "0.05", places=4))
def test_no_cent_is_spent_that_is_not_there(closes: list[float], cash: Decimal, cost: Decimal) -> None:
    bars = bars_of(closes)
    outcome = run(bars, [index % 2 == 0 for index in range(len(bars))], cash, cost)
    money = cash
    for trade in outcome.trades:
        worth = (trade.quantity * trade.price).quantize(Decimal("0.01"))
        money += worth - trade.cost if trade.side == "sell" else -worth - trade.cost
        assert money >= 0
        assert trade.cost >= 0
