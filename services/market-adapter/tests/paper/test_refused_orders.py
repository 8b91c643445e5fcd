"""Orders that are refused before anybody is asked for a yes: why, and in whose language."""

from typing import Any

import pytest

from market_adapter.testing_desk import Desk, market
from market_adapter.tools.trading import MOST_WAITING
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
    ("es", ["esto cuesta 100100.00 USD y hay 100000.00 libres", "hay 0 IBM libres para vender", "órdenes en espera",
            "ya está ejecutada", "no tienes ninguna orden", "es un índice", "no es un símbolo"]),
    ("en", ["this takes 100100.00 USD and 100000.00 are free", "0 IBM are free to sell", "orders are waiting",
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
    for number in range(MOST_WAITING):
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
