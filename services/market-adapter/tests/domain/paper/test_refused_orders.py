"""Orders that are refused before anybody is asked for a yes: why, and in whose language."""

from typing import Any

import pytest

from market_adapter.testing.desk import Desk, market
from market_adapter.tools.trading import MAX_WAITING
from runtime.errors import RpcError


@pytest.mark.parametrize(("arguments", "reason"), [
    ({"quantity": 1001}, "insufficient_cash"),
    ({"quantity": 1, "side": "sell"}, "insufficient_position"),
    ({"symbol": "TSLA"}, "no_data"),
    ({"symbol": "not a symbol"}, "bad_symbol"),
])  # fmt: skip
async def test_what_the_account_or_the_market_cannot_bear_is_refused(arguments: dict[str, Any], reason: str) -> None:
    desk = Desk(market("100"))
    with pytest.raises(RpcError) as raised:
        await desk.order(**{"side": "buy", **arguments})
    assert (raised.value.code, raised.value.reason) == ("EXECUTION_ERROR", reason)


@pytest.mark.parametrize(("language", "words"), [
    ("es", ["esto cuesta 100.100,00 USD y hay 100.000,00 libres", "hay 0 IBM libres para vender", "órdenes en espera",
            "ya está ejecutada", "no tienes ninguna orden", "es un índice", "no es un símbolo"]),
    ("en", ["this takes 100,100.00 USD and 100,000.00 are free", "0 IBM are free to sell", "orders are waiting",
            "this order is filled", "you have no order", "is an index", "is not a symbol"]),
])  # fmt: skip
async def test_a_refusal_is_said_in_the_callers_language(language: str, words: list[str]) -> None:
    provider = market("100", "100")
    provider.all_bars["^GSPC"] = provider.all_bars["IBM"]
    desk = Desk(provider)
    desk.language = language

    async def refusal(tool: str, **arguments: Any) -> str:
        with pytest.raises(RpcError) as raised:
            await desk.call(tool, "refused", **arguments)
        return raised.value.message

    order = {"symbol": "IBM", "side": "buy", "quantity": 1, "order_type": "market"}
    said = [
        await refusal("create_paper_order", **{**order, "quantity": 1001}),
        await refusal("create_paper_order", **{**order, "side": "sell"}),
    ]
    filled = await desk.order(quantity=1)
    await desk.decide(filled)
    await desk.bars()
    for number in range(MAX_WAITING):
        await desk.order(call_id=f"w{number}", quantity=1)
    said += [
        await refusal("create_paper_order", **order),
        await refusal("cancel_paper_order", order_id=filled),
        await refusal("cancel_paper_order", order_id="nobodys"),
        await refusal("create_paper_order", **{**order, "symbol": "^GSPC"}),
        await refusal("create_paper_order", **{**order, "symbol": "A,B"}),
    ]
    for message, expected in zip(said, words, strict=True):
        assert expected in message


@pytest.mark.parametrize(("symbol", "currency"), [("^GSPC", "USD"), ("BTC/USDT", "USDT"), ("VOD.L", "GBp")])
async def test_what_cannot_be_bought_for_dollars_is_not_tradable(symbol: str, currency: str) -> None:
    provider = market("100", "100")
    provider.all_bars[symbol] = provider.all_bars["IBM"]
    provider.currency = currency
    with pytest.raises(RpcError) as raised:
        await Desk(provider).order(symbol=symbol)
    assert raised.value.reason == "not_tradable"


@pytest.mark.parametrize(("arguments", "field"), [
    ({"quantity": 0}, "quantity"),
    ({"quantity": -1}, "quantity"),
    ({"order_type": "limit"}, "limit_price"),
    ({"order_type": "stop_limit", "limit_price": 1}, "stop_price"),
    ({"order_type": "market", "limit_price": 1}, "limit_price"),
    ({"order_type": "stop", "stop_price": 0}, "stop_price"),
    ({"order_type": "iceberg"}, "order_type"),
    ({"side": "short"}, "side"),
])  # fmt: skip
async def test_arguments_that_make_no_order_are_refused_by_field(arguments: dict[str, Any], field: str) -> None:
    desk = Desk(market("100"))
    with pytest.raises(RpcError, match=field) as raised:
        await desk.order(**{"side": "buy", **arguments})
    assert raised.value.code == "VALIDATION_ERROR"


async def test_less_than_a_cent_is_refused_with_what_would_be_enough() -> None:
    desk = Desk(market("430", "430", "430"))
    with pytest.raises(RpcError) as raised:
        await desk.order(quantity=0.00001)
    assert raised.value.reason == "below_minimum"
    assert "0.00001 IBM at 430 is less than a cent: order 0.00002326 or more" in raised.value.message
    made = await desk.call("create_paper_order", symbol="IBM", side="buy", quantity=0.00002326, order_type="market")
    assert made["estimate"]["amount"] == 0.01


async def test_what_is_left_can_be_sold_however_little_it_is() -> None:
    desk = Desk(market("430", "430", "430", "100"))
    await desk.decide(await desk.order(quantity=0.00003))
    await desk.bars(2)
    with pytest.raises(RpcError) as raised:
        await desk.order("sell", "part", quantity=0.00001)
    assert raised.value.reason == "below_minimum"
    sold = await desk.order("sell", "rest", quantity=0.00003)
    await desk.decide(sold)
    await desk.bars()
    assert (await desk.call("get_portfolio"))["positions"] == []


@pytest.mark.parametrize(("side", "wanted"), [("buy", 97000), ("sell", 99000)])
async def test_the_estimate_leaves_other_orders_what_they_reserve(side: str, wanted: float) -> None:
    desk = Desk(market("100", "100", "100", "100"))
    await desk.decide(await desk.order(call_id="held"))
    await desk.bars(2)
    await desk.decide(await desk.order(call_id="open", quantity=20, order_type="limit", limit_price=50))
    made = await desk.call("create_paper_order", "new", symbol="IBM", side=side, quantity=10, order_type="market")
    # 99,000 of cash, of which the open order reserves 1,000.
    assert made["estimate"]["cash_after"] == wanted
    again = await desk.decide(made["action_id"])
    assert again == "confirmed"
    repeated = await desk.call("create_paper_order", "new", symbol="IBM", side=side, quantity=10, order_type="market")
    assert repeated["estimate"] == made["estimate"]


@pytest.mark.parametrize(("language", "words"), [
    ("es", "create_paper_order: quantity: debe tener como mucho 8 decimales"),
    ("en", "create_paper_order: quantity: must have at most 8 decimals"),
])  # fmt: skip
async def test_wrong_arguments_are_said_in_words_and_in_the_callers_language(language: str, words: str) -> None:
    desk = Desk(market("100"))
    desk.language = language
    with pytest.raises(RpcError) as raised:
        await desk.order(quantity=0.123456789)
    assert (raised.value.code, raised.value.message) == ("VALIDATION_ERROR", words)
    (fault,) = raised.value.fields
    assert f"create_paper_order: {fault.field}: {fault.message}" == words
