"""The fill rules, one by one."""

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from contracts.tools.account import OrderType, Side
from market_adapter.domain.paper.fills import match
from market_adapter.domain.paper.orders import Order
from market_adapter.testing.markets import bar

NOW = datetime(2024, 1, 1, tzinfo=UTC)


def order(side: str, type_: str, *, limit: str | None = None, stop: str | None = None, quantity: str = "10") -> Order:
    return Order(
        id="o1", call_id="c1", symbol="IBM", side=Side(side), type=OrderType(type_), quantity=Decimal(quantity),
        limit_price=None if limit is None else Decimal(limit), stop_price=None if stop is None else Decimal(stop),
        currency="USD", reserve_price=Decimal(100), content_hash="", created_at=NOW, confirm_by=NOW,
        session=date(2024, 1, 1),
    )  # fmt: skip


def triggered(one: Order) -> Order:
    return replace(one, triggered=True)


#           side    type          limit  stop    open   high   low    close   price    triggered
RULES = {
    "a market order fills at the open": (
        "buy", "market", None, None, "100", "105", "95", "101", "100", False),
    "so does a sale at market": (
        "sell", "market", None, None, "100", "105", "95", "101", "100", False),
    "a limit needs trade-through: a touch fills nothing": (
        "buy", "limit", "95", None, "100", "105", "95", "101", None, False),
    "a limit that is traded through fills at the limit": (
        "buy", "limit", "95", None, "100", "105", "94.99", "101", "95", False),
    "a favourable gap fills at the open": (
        "buy", "limit", "95", None, "93", "105", "92", "101", "93", False),
    "an open at the limit that goes no lower fills nothing": (
        "buy", "limit", "95", None, "95", "105", "95", "101", None, False),
    "a sale's limit is not filled by a touch": (
        "sell", "limit", "105", None, "100", "105", "95", "101", None, False),
    "a sale's limit that is traded through fills at the limit": (
        "sell", "limit", "105", None, "100", "105.01", "95", "101", "105", False),
    "a favourable gap up fills a sale at the open": (
        "sell", "limit", "105", None, "107", "108", "106", "107", "107", False),
    "a stop triggers at a touch and fills at the stop": (
        "buy", "stop", None, "105", "100", "105", "95", "101", "105", True),
    "a stop that is gapped over fills at the open": (
        "buy", "stop", None, "105", "107", "110", "106", "108", "107", True),
    "a stop that is not reached does nothing": (
        "buy", "stop", None, "105", "100", "104.99", "95", "101", None, False),
    "a stop-loss triggers at a touch and fills at the stop": (
        "sell", "stop", None, "95", "100", "105", "95", "101", "95", True),
    "a stop-loss that is gapped over fills at the worse open": (
        "sell", "stop", None, "95", "90", "92", "88", "91", "90", True),
    "a stop-loss that is not reached does nothing": (
        "sell", "stop", None, "95", "100", "105", "95.01", "101", None, False),
    "the bar that triggers a stop-limit fills it when its close is inside the limit, at the worst price allowed": (
        "buy", "stop_limit", "106", "105", "100", "108", "99", "105.5", "106", True),
    "the worst price is the bar's own high when that is inside the limit": (
        "buy", "stop_limit", "110", "105", "100", "108", "99", "105.5", "108", True),
    "a close beyond the limit only triggers": (
        "buy", "stop_limit", "106", "105", "100", "108", "99", "107", None, True),
    "a close at the limit only triggers": (
        "buy", "stop_limit", "106", "105", "100", "108", "99", "106", None, True),
    "a stop-limit that is gapped over, beyond its limit, only triggers": (
        "buy", "stop_limit", "106", "105", "110", "112", "109", "111", None, True),
    "a sale's stop-limit fills on the bar that triggers it when the close is inside": (
        "sell", "stop_limit", "94", "95", "100", "101", "93", "95", "94", True),
    "and only triggers when it is not": (
        "sell", "stop_limit", "94", "95", "100", "101", "90", "91", None, True),
    "a stop-limit that is not reached does nothing": (
        "sell", "stop_limit", "94", "95", "100", "101", "95.01", "96", None, False),
}  # fmt: skip


@pytest.mark.parametrize(
    ("side", "type_", "limit", "stop", "open_", "high", "low", "close", "price", "now_triggered"),
    RULES.values(),
    ids=RULES.keys(),
)
def test_rule(
    side: str, type_: str, limit: str | None, stop: str | None, open_: str, high: str, low: str, close: str,
    price: str | None, now_triggered: bool,
) -> None:  # fmt: skip
    found = match(order(side, type_, limit=limit, stop=stop), bar(1, open_, high, low, close))
    assert found.price == (None if price is None else Decimal(price))
    assert found.triggered is now_triggered
    assert found.quantity == (0 if price is None else 10)


def test_after_its_trigger_a_stop_limit_rests_as_a_limit_order() -> None:
    resting = triggered(order("buy", "stop_limit", limit="106", stop="105"))
    assert match(resting, bar(2, "107", "109", "106", "108")).price is None
    assert match(resting, bar(2, "107", "109", "105.9", "108")).price == 106
    assert match(resting, bar(2, "104", "105", "103", "104")).price == 104


def test_the_rest_of_a_triggered_stop_is_a_market_order() -> None:
    assert match(triggered(order("sell", "stop", stop="95")), bar(2, "99", "100", "98", "99")).price == 99


def test_no_order_takes_more_than_a_tenth_of_a_bars_volume() -> None:
    assert match(order("buy", "market", quantity="500"), bar(1, "1", "1", "1", "1", volume=1000)).quantity == 100


@pytest.mark.parametrize("type_", ["market", "limit", "stop", "stop_limit"])
def test_a_bar_in_which_nothing_was_traded_fills_and_triggers_nothing(type_: str) -> None:
    waiting = order("buy", type_, limit="200", stop="1")
    found = match(waiting, bar(1, "100", "100", "100", "100", volume=0))
    assert (found.price, found.triggered) == (None, False)
