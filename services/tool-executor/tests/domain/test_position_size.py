"""Position size and risk/reward: textbook figures, rules, and properties that always hold."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_executor.domain.position_size import Side, SizingError, position_size, risk_reward

D = Decimal
PRICES = st.decimals(min_value=D("0.01"), max_value=D(1_000_000), places=2)
CAPITAL = st.decimals(min_value=D(1), max_value=D(10_000_000), places=2)
RISK = st.decimals(min_value=D("0.001"), max_value=D(1), places=3)


def test_two_percent_of_ten_thousand_over_five_dollars_is_forty_shares():
    position = position_size(D(10_000), D(150), D(145), D("0.02"))
    assert (position.quantity, position.risk_amount, position.position_value) == (40, 200, 6000)
    assert (position.side, position.capped_by_cash) == ("long", False)


def test_the_quantity_is_rounded_down_to_the_lot():
    assert position_size(D(10_000), D(100), D(97), D("0.02")).quantity == 66
    assert position_size(D(10_000), D(100), D(97), D("0.02"), lot=D(10)).quantity == 60
    assert position_size(D(10_000), D(50_000), D(49_000), D("0.02")).quantity == 0
    assert position_size(D(10_000), D(50_000), D(49_000), D("0.02"), lot=D("0.001")).quantity == D("0.2")


def test_the_quantity_is_capped_by_what_the_capital_can_pay():
    position = position_size(D(10_000), D(100), D(99), D("0.05"))
    assert (position.quantity, position.capped_by_cash, position.position_value) == (100, True, 10_000)
    assert (position.risk_amount, position.risk_at_stop) == (500, 100)


def test_a_stop_above_the_entry_is_a_short():
    position = position_size(D(10_000), D(145), D(150), D("0.02"))
    assert (position.side, position.quantity) == ("short", 40)


@pytest.mark.parametrize(
    ("entry", "stop", "side", "field"),
    [
        (100, 100, None, "stop_loss_price"),
        (100, 105, "long", "stop_loss_price"),
        (100, 95, "short", "stop_loss_price"),
        (0, 95, None, "entry_price"),
        (100, -1, None, "stop_loss_price"),
    ],
)
def test_a_stop_on_the_wrong_side_is_an_error_and_not_an_absolute_value(
    entry: int, stop: int, side: Side | None, field: str
):
    with pytest.raises(SizingError) as error:
        position_size(D(1000), D(entry), D(stop), D("0.01"), side=side)
    assert error.value.field == field


@pytest.mark.parametrize("risk", ["0", "-0.01", "2", "NaN", "Infinity"])
def test_risk_is_above_nothing_and_at_most_everything(risk: str):
    with pytest.raises(SizingError) as error:
        position_size(D(1000), D(100), D(95), D(risk))
    assert error.value.field == "risk_percent"


@given(CAPITAL, PRICES, PRICES, RISK)
def test_a_stop_out_never_costs_more_than_the_risk_nor_the_position_more_than_the_capital(
    capital: D, entry: D, stop: D, risk: D
):
    if entry == stop:
        return
    position = position_size(capital, entry, stop, risk)
    assert position.risk_at_stop <= position.risk_amount == capital * risk
    assert position.position_value <= capital
    assert position.quantity == position.quantity.to_integral_value()
    more = position.quantity + 1
    assert more * abs(entry - stop) > capital * risk or more * entry > capital


def test_three_to_one_breaks_even_at_a_quarter():
    trade = risk_reward(D(100), D(95), D(115))
    assert (trade.side, trade.risk, trade.reward, trade.ratio) == ("long", 5, 15, 3)
    assert trade.break_even_win_rate == D("0.25")


def test_a_short_has_its_stop_above_and_its_target_below():
    trade = risk_reward(D(100), D(110), D(80))
    assert (trade.side, trade.risk, trade.reward, trade.ratio) == ("short", 10, 20, 2)


@pytest.mark.parametrize(("stop", "target"), [(95, 100), (95, 90), (105, 110), (105, 100)])
def test_a_target_on_the_stops_side_is_an_error(stop: int, target: int):
    with pytest.raises(SizingError) as error:
        risk_reward(D(100), D(stop), D(target))
    assert error.value.field == "take_profit_price"


def test_tenths_are_exact():
    assert position_size(D("0.3"), D("0.1"), D("0.09"), D(1)).quantity == 3
    assert risk_reward(D("0.3"), D("0.2"), D("0.6")).ratio == 3
