"""Calculators for the risk of a trade: pure arithmetic on the arguments."""

from dataclasses import asdict
from decimal import Decimal

from tool_executor.domain.declaration import CallContext, Category, Data, DeclaredTool
from tool_executor.domain.plans import Arguments
from tool_executor.domain.position_size import RiskReward, SizedPosition, decimal_of, position_size, risk_reward
from tool_executor.domain.shapes import PRICE, SHARE, above_zero, arguments_schema, data_schema
from tool_executor.texts import named


async def calculate_position_size(arguments: Arguments, context: CallContext) -> Data:
    """Computes how much to buy or sell short so that the stop costs no more than the given part of the capital."""
    del context
    position = position_size(
        capital=decimal_of(arguments["capital"]),
        entry=decimal_of(arguments["entry_price"]),
        stop=decimal_of(arguments["stop_loss_price"]),
        risk=decimal_of(arguments["risk_percent"]),
        lot=decimal_of(arguments["lot_size"]),
        side=arguments.get("side"),
    )
    return _data_of(position)


async def calculate_risk_reward(arguments: Arguments, context: CallContext) -> Data:
    """Computes what a trade may win for each unit that it may lose."""
    del context
    trade = risk_reward(
        entry=decimal_of(arguments["entry_price"]),
        stop=decimal_of(arguments["stop_loss_price"]),
        target=decimal_of(arguments["take_profit_price"]),
    )
    return _data_of(trade)


_SIDE = {"enum": ["long", "short"]}
_AMOUNT = {"type": "number", "minimum": 0}

TOOLS: list[DeclaredTool] = [
    DeclaredTool(
        id="calculate.position_size",
        **named("calculate_position_size"),
        category=Category.CALCULATE,
        per_minute=100,
        time_limit=2.0,
        input_schema=arguments_schema(
            {
                "capital": above_zero("Account capital, in its currency"),
                "entry_price": above_zero("Price at which the position is opened"),
                "stop_loss_price": above_zero("Price at which it is closed at a loss; below the entry for a long"),
                "risk_percent": above_zero("Part of the capital at risk: 0.02 is 2 %", maximum=1),
            },
            {
                "lot_size": {**above_zero("Smallest tradable step; 1 for shares"), "default": 1},
                "side": {**_SIDE, "description": "Only to have the stop's side checked"},
            },
        ),
        output_schema=data_schema(
            {
                "side": _SIDE,
                "quantity": _AMOUNT,
                "risk_amount": _AMOUNT,
                "risk_at_stop": _AMOUNT,
                "position_value": _AMOUNT,
                "capped_by_cash": {"type": "boolean"},
            }
        ),
        handler=calculate_position_size,
        examples=({"capital": 10_000, "entry_price": 150, "stop_loss_price": 145, "risk_percent": 0.02},),
    ),
    DeclaredTool(
        id="calculate.risk_reward",
        **named("calculate_risk_reward"),
        category=Category.CALCULATE,
        per_minute=100,
        time_limit=2.0,
        input_schema=arguments_schema(
            {
                "entry_price": above_zero("Price at which the position is opened"),
                "stop_loss_price": above_zero("Price at which it is closed at a loss"),
                "take_profit_price": above_zero("Price at which it is closed at a profit"),
            }
        ),
        output_schema=data_schema(
            {"side": _SIDE, "ratio": _AMOUNT, "risk": PRICE, "reward": PRICE, "break_even_win_rate": SHARE}
        ),
        handler=calculate_risk_reward,
        examples=({"entry_price": 100, "stop_loss_price": 95, "take_profit_price": 115},),
    ),
]


def _data_of(result: SizedPosition | RiskReward) -> Data:
    fields = asdict(result).items()
    return {name: _json_number(value) if isinstance(value, Decimal) else value for name, value in fields}


def _json_number(value: Decimal) -> int | float:
    """Converts a decimal for JSON, which has none: to an integer if it is whole, else to the nearest float."""
    return int(value) if value == value.to_integral_value() else float(value)
