"""Paper orders. The market-adapter serves them and uses the call id as the order id, so the outcome of an interrupted
call is found by repeating the call. No order is placed before the user confirms it in the chat."""

from collections.abc import Sequence
from functools import partial

from contracts.tools.account import (
    PRICES_OF,
    CancelledData,
    CreatedData,
    OrderArguments,
    OrderRef,
    OrderType,
    PendingData,
)
from contracts.tools.arguments import NoArguments, input_schema
from contracts.tools.results import output_schema
from tool_executor.domain.declaration import ArgumentProblem, Category, DeclaredTool, OverTheBus
from tool_executor.domain.plans import Arguments
from tool_executor.domain.shapes import with_normal_symbol
from tool_executor.texts import TEXTS, named


def price_problems(arguments: Arguments) -> Sequence[ArgumentProblem]:
    """Returns a problem for each price that is missing or that the order type would ignore."""
    kind = OrderType(arguments["order_type"])
    problems: list[ArgumentProblem] = []
    for name in ("limit_price", "stop_price"):
        is_needed, is_given = name in PRICES_OF[kind], name in arguments
        if is_needed and not is_given:
            problems.append(ArgumentProblem(name, TEXTS["order.price_needed"].format(kind=kind)))
        elif is_given and not is_needed:
            text = TEXTS["order.price_not_taken"].format(kind=kind)
            problems.append(ArgumentProblem(name, text))
    return problems


trading_tool = partial(DeclaredTool, category=Category.TRADING, required_plan="pro", handler=OverTheBus())

TOOLS: list[DeclaredTool] = [
    trading_tool(
        id="trading.create_paper_order",
        **named("create_paper_order"),
        per_minute=10,
        side_effects=True,
        time_limit=5.0,
        input_schema=input_schema(OrderArguments),
        output_schema=output_schema(CreatedData),
        reconcile=OverTheBus(),
        validator=price_problems,
        normaliser=with_normal_symbol,
        examples=(
            {"symbol": "IBM", "side": "buy", "quantity": 10, "order_type": "market"},
            {"symbol": "MSFT", "side": "sell", "quantity": 5, "order_type": "limit", "limit_price": 29.5},
        ),
    ),
    trading_tool(
        id="trading.cancel_paper_order",
        **named("cancel_paper_order"),
        per_minute=20,
        side_effects=True,
        destructive=True,
        idempotent=True,
        time_limit=5.0,
        input_schema=input_schema(OrderRef),
        output_schema=output_schema(CancelledData),
        reconcile=OverTheBus(),
        examples=({"order_id": "0196f0c2-6a51-7cc3-9b7e-0d5b2f3a1c44"},),
    ),
    trading_tool(
        id="trading.get_pending_orders",
        **named("get_pending_orders"),
        per_minute=30,
        time_limit=5.0,
        input_schema=input_schema(NoArguments),
        output_schema=output_schema(PendingData),
        examples=({},),
    ),
]
