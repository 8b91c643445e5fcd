"""A yes that changes what it may change: checked like the first ones, and bound to what was said yes to."""

from decimal import Decimal
from typing import Any

import pytest

from contracts.market_rpc import ActionDecideRequest, ActionReply
from contracts.memory_rpc import UserRef
from contracts.tools.account import OrderArguments
from market_adapter.domain.paper.orders import Order
from market_adapter.testing.desk import ANN, Desk, market
from runtime.errors import RpcError


async def order_of(desk: Desk, order: str) -> Order:
    return next(one for one in (await desk.paper_trading.current(ANN)).orders if one.id == order)


async def decide(desk: Desk, action: str, language: str | None = None, **edits: Any) -> ActionReply:
    asked = {"companyId": "demo", "userId": "ann", "actionId": action, "decision": "confirm", "edits": edits or None}
    return await desk.actions.decide(ActionDecideRequest.model_validate(asked | {"language": language}))


async def test_a_yes_changes_quantity_and_limit_and_is_bound_to_both() -> None:
    desk = Desk(market("100", "100"))
    order = await desk.order(order_type="limit", limit_price="90", quantity=10)
    (shown,) = (await desk.actions.pending(UserRef(company_id="demo", user_id="ann"))).actions
    assert list(shown.editable or {}) == ["quantity", "limitPrice"]
    action = (await decide(desk, order, quantity=3, limitPrice="95.5")).action
    assert (action.state, action.details["quantity"], action.details["limitPrice"]) == ("confirmed", "3", "95.5")
    assert action.editable is None
    assert action.details["contentHash"] != shown.details["contentHash"]
    assert (await order_of(desk, order)).reserved == Decimal("286.50")
    # The first decision stands.
    assert (await decide(desk, order, quantity=7)).action.details["quantity"] == "3"


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        ({"quantity": 0}, "quantity: must be greater than 0"),
        ({"quantity": "many"}, "quantity: must be a number"),
        ({"quantity": 5000}, "are free: buy less"),
        ({"quantity": "0.00000001"}, "less than a cent"),
        ({"limitPrice": 5}, "cannot be changed"),
        ({"side": "sell"}, "cannot be changed"),
        ({"symbol": "AAPL", "quantity": 2}, "cannot be changed"),
        ({"quantity": None}, "quantity: must be a number"),
        ({"quantity": "NaN"}, "quantity: must be a number"),
    ],
)
async def test_what_is_wrong_with_it_decides_nothing(edits: dict[str, Any], said: str) -> None:
    desk = Desk(market("100", "100"))
    order = await desk.order(quantity=10)
    with pytest.raises(RpcError, match="BAD_FIELD") as refused:
        await decide(desk, order, **edits)
    assert said in refused.value.message
    waiting = await order_of(desk, order)
    assert (waiting.state, waiting.quantity) == ("pending_confirmation", 10)
    assert (await decide(desk, order)).action.state == "confirmed"


@pytest.mark.parametrize(
    ("language", "gone", "fixed", "name"),
    [
        ("es", "una orden limit lo necesita", "no se puede cambiar aquí", "precio límite"),
        ("en", "a limit order needs it", "cannot be changed here", "limit price"),
    ],
)
async def test_each_field_says_what_is_wrong_in_the_language_of_whoever_decides(
    language: str, gone: str, fixed: str, name: str
) -> None:
    desk = Desk(market("100", "100"))
    order = await desk.order(order_type="limit", limit_price="90", quantity=10)
    for edits, field, said, called in (
        ({"limitPrice": None}, "edits.limitPrice", gone, f"{name}: "),
        ({"side": "sell"}, "edits.side", fixed, "side: "),
        ({"quantity": 5000}, "edits", "", ""),
    ):
        with pytest.raises(RpcError, match="BAD_FIELD") as refused:
            await decide(desk, order, language, **edits)
        (fault,) = refused.value.fields
        assert (fault.field, fault.message) == (field, said or fault.message)
        assert refused.value.message == f"{called}{fault.message}"


def test_the_tool_itself_says_what_may_be_changed() -> None:
    properties = OrderArguments.model_json_schema()["properties"]
    assert [name for name, item in properties.items() if item.get("x-editable")] == ["quantity", "limit_price"]
