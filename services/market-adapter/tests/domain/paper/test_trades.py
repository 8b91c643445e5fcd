"""What has been traded, as it is told."""

from market_adapter.testing.desk import Desk
from market_adapter.testing.markets import ScriptedProvider, bar


async def test_trades_are_told_newest_first_also_within_a_bar() -> None:
    provider = ScriptedProvider({"IBM": [bar(0, "100", "100", "100", "100"), bar(1, "99", "105", "90", "100")]})
    desk = Desk(provider)
    orders = [
        await desk.order(call_id="c1"),
        await desk.order(call_id="c2", order_type="limit", limit_price=95),
        await desk.order(call_id="c3", order_type="stop", stop_price=104),
    ]
    for order in orders:
        await desk.decide(order)
    await desk.bars()
    told = [one["order_id"] for one in (await desk.call("get_trade_history"))["trades"]]
    market_, limit, stop = orders
    assert told == [limit, stop, market_]
    assert [one["order_id"] for one in (await desk.call("get_trade_history", limit=2))["trades"]] == told[:2]
