"""Everything that can happen to an account, in any order: whatever it is, the books add up."""

import asyncio
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contracts.tools.account import Side
from market_adapter.actions import ActionMethods
from market_adapter.domain.bars import Split
from market_adapter.domain.paper.account import OPENING_CASH
from market_adapter.domain.paper.orders import OrderState
from market_adapter.handlers import user_tools
from market_adapter.paper_trading import PaperTrading
from market_adapter.testing.desk import ANN, Crash, Desk
from market_adapter.testing.markets import ScriptedProvider, bar
from runtime.errors import RpcError

PRICE = st.integers(80, 120)
STEP = st.one_of(
    st.tuples(
        st.just("order"), st.sampled_from(["buy", "sell"]), st.sampled_from(["market", "limit", "stop", "stop_limit"]),
        st.integers(1, 700), PRICE, PRICE, st.integers(0, 12),
    ),
    st.tuples(st.just("decide"), st.integers(0, 12), st.sampled_from(["confirm", "reject"])),
    st.tuples(st.just("cancel"), st.integers(0, 12)),
    st.tuples(st.just("bar"), PRICE, st.integers(0, 8), st.integers(0, 8), PRICE, st.booleans()),
    st.tuples(st.just("die"), st.sampled_from(["before", "after"])),
    st.tuples(st.just("hour")),
)  # fmt: skip


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEP, min_size=5, max_size=40))
def test_whatever_happens_in_whatever_order_the_account_adds_up(steps: list[tuple[Any, ...]]) -> None:
    asyncio.run(run_through(steps))


async def run_through(steps: list[tuple[Any, ...]]) -> None:
    """Orders, answers, cancels, bars, splits, crashes and repeats; after each step the books must be right."""
    bars = [bar(0, "100", "100", "100", "100", volume=2000)]
    provider = ScriptedProvider({"IBM": bars}, {"IBM": ()})
    desk = Desk(provider)
    made: list[str] = []
    for step in steps:
        try:
            match step:
                case ("order", side, type_, quantity, limit, stop, call):
                    prices = {"limit_price": limit} if "limit" in type_ else {}
                    prices |= {"stop_price": stop} if "stop" in type_ else {}
                    made.append(await desk.order(side, f"c{call}", order_type=type_, quantity=quantity, **prices))
                case ("decide", which, decision) if made:
                    await desk.decide(made[int(which) % len(made)], str(decision))
                case ("cancel", which) if made:
                    await desk.call("cancel_paper_order", order_id=made[which % len(made)])
                case ("bar", open_, up, down, close, split):
                    if split:
                        on = bars[-1].session + timedelta(days=1)
                        provider.splits = {"IBM": (*provider.splits["IBM"], Split(on, Fraction(3, 2)))}
                    high, low = max(open_, close) + up, min(open_, close) - down
                    bars.append(bar(len(bars), str(open_), str(high), str(low), str(close), volume=2000))
                    await desk.bars()
                case ("die", when):
                    desk.memory.die = when
                    continue
                case ("hour",):
                    await desk.clock.advance(3600)
                case _:
                    pass
        except (RpcError, Crash):
            pass
        desk.memory.die = ""
        await check(desk)
        # A new process finds everything where the old one left it.
        left = desk.memory
        again = Desk(provider)
        again.clock, again.published, again.memory = desk.clock, desk.published, left
        again.paper_trading = PaperTrading(left, provider, desk.published.publish, desk.clock)
        again.actions = ActionMethods(provider, again.paper_trading, desk.clock)
        again.tools = {m.subject.split(".")[2]: h for m, h in user_tools(provider, again.paper_trading, desk.clock)}
        desk = again


async def check(desk: Desk) -> None:
    """Every sum that must hold, of what is stored."""
    account = await desk.memory.load(ANN)
    fills = [(order, fill) for order in account.orders for fill in order.fills]
    bought = sum((fill.amount for order, fill in fills if order.side is Side.BUY), Decimal(0))
    sold = sum((fill.amount for order, fill in fills if order.side is Side.SELL), Decimal(0))
    realized = sum((fill.realized or Decimal(0) for _, fill in fills), Decimal(0))
    cost = sum((held.cost for held in account.positions.values()), Decimal(0))
    assert account.cash == OPENING_CASH - bought + sold
    assert account.cash + cost == OPENING_CASH + realized
    assert account.cash >= 0
    assert account.buying_power >= 0
    assert account.cash == account.cash.quantize(Decimal("0.01"))
    for held in account.positions.values():
        assert held.quantity > 0
        assert account.free_quantity(held.symbol) >= 0
    for order in account.orders:
        assert 0 <= order.filled <= order.quantity
        assert (order.state is OrderState.FILLED) == (order.filled == order.quantity)
        assert not order.fills or order.decision is not None
    assert len({order.call_id for order in account.orders}) == len(account.orders)
    await desk.paper_trading.run()
    after = await desk.memory.load(ANN)
    assert after.outbox == ()
    told = {key for _, kind, key in desk.published.facts if kind == "order.filled.v1"}
    assert told == {f"{order.id}-{fill.number}" for order in after.orders for fill in order.fills}
