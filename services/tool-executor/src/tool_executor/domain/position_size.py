"""Position size and risk/reward, in exact decimal arithmetic.

A long position has its stop below the entry, a short one above it. A stop on the wrong side, or at the entry, is an
error; no absolute value is taken. Source of the formulas: Van K. Tharp, "Trade Your Way to Financial Freedom" (1998),
chapters 11 and 12: quantity = capital at risk / risk per unit; break-even win rate = risk / (risk + reward).
"""

from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Context, Decimal
from typing import Literal

from contracts.text import Text
from tool_executor.domain.declaration import ArgumentProblem, ToolRefusedError
from tool_executor.texts import TEXTS

Side = Literal["long", "short"]
_SIDES = TEXTS.section("sizing.sides")
_ABOVE, _BELOW = TEXTS["sizing.above"], TEXTS["sizing.below"]
_EXACT = Context(prec=50)
_RATE = Decimal("0.000001")


class SizingError(ToolRefusedError):
    """The figures make no valid trade. `field` names the argument to change."""

    def __init__(self, field: str, text: Text) -> None:
        super().__init__(ArgumentProblem(field, text))
        self.field = field


@dataclass(frozen=True, slots=True)
class SizedPosition:
    """Money in the account's currency. `risk_amount` is what may be lost; `risk_at_stop` what this quantity loses."""

    side: Side
    quantity: Decimal
    risk_amount: Decimal
    risk_at_stop: Decimal
    position_value: Decimal
    capped_by_cash: bool


@dataclass(frozen=True, slots=True)
class RiskReward:
    """`risk` and `reward` per unit; `ratio` = reward / risk; `break_even_win_rate` from 0 to 1."""

    side: Side
    risk: Decimal
    reward: Decimal
    ratio: Decimal
    break_even_win_rate: Decimal


def decimal_of(number: float) -> Decimal:
    """Returns the number as written: 0.1 is exactly one tenth."""
    return Decimal(str(number))


def position_size(
    capital: Decimal,
    entry: Decimal,
    stop: Decimal,
    risk: Decimal,
    lot: Decimal = Decimal(1),
    side: Side | None = None,
) -> SizedPosition:
    """Computes how much to trade so that a stop-out loses at most `risk` of `capital` (0.02 = 2 %).

    Rounded down to the lot, and capped by what the capital can pay for. All figures positive.

    Raises:
        SizingError: stop equal to the entry, or on the wrong side of it for `side`.
    """
    _positive(capital=capital, entry_price=entry, stop_loss_price=stop, risk_percent=risk, lot_size=lot)
    if risk > 1:
        raise SizingError("risk_percent", TEXTS["sizing.risk_above_one"])
    position_side = _side(entry, stop, side)
    per_unit = entry - stop if position_side == "long" else stop - entry
    risk_amount = _EXACT.multiply(capital, risk)
    unlimited_quantity = _whole_lots(_EXACT.divide(risk_amount, per_unit), lot)
    affordable = _whole_lots(_EXACT.divide(capital, entry), lot)
    quantity = min(unlimited_quantity, affordable)
    return SizedPosition(
        side=position_side,
        quantity=quantity,
        risk_amount=risk_amount,
        risk_at_stop=_EXACT.multiply(quantity, per_unit),
        position_value=_EXACT.multiply(quantity, entry),
        capped_by_cash=affordable < unlimited_quantity,
    )


def risk_reward(entry: Decimal, stop: Decimal, target: Decimal) -> RiskReward:
    """Computes what a trade may win for what it may lose, per unit. All prices positive.

    Raises:
        SizingError: stop equal to the entry, or target not on the other side of it.
    """
    _positive(entry_price=entry, stop_loss_price=stop, take_profit_price=target)
    side = _side(entry, stop, None)
    risk, reward = (entry - stop, target - entry) if side == "long" else (stop - entry, entry - target)
    if reward <= 0:
        direction = _ABOVE if side == "long" else _BELOW
        raise SizingError(
            "take_profit_price", TEXTS["sizing.target_on_wrong_side"].format(where=direction, side=_SIDES[side])
        )
    return RiskReward(
        side=side,
        risk=risk,
        reward=reward,
        ratio=_EXACT.divide(reward, risk).quantize(_RATE, ROUND_HALF_EVEN, _EXACT),
        break_even_win_rate=_EXACT.divide(risk, risk + reward).quantize(_RATE, ROUND_HALF_EVEN, _EXACT),
    )


def _side(entry: Decimal, stop: Decimal, requested_side: Side | None) -> Side:
    if stop == entry:
        raise SizingError("stop_loss_price", TEXTS["sizing.stop_at_entry"])
    side: Side = "long" if stop < entry else "short"
    if requested_side is not None and requested_side != side:
        direction = _BELOW if requested_side == "long" else _ABOVE
        raise SizingError(
            "stop_loss_price", TEXTS["sizing.stop_on_wrong_side"].format(where=direction, side=_SIDES[requested_side])
        )
    return side


def _whole_lots(quantity: Decimal, lot: Decimal) -> Decimal:
    lots = _EXACT.divide(quantity, lot).to_integral_value(ROUND_DOWN)
    return _EXACT.multiply(lots, lot)


def _positive(**figures: Decimal) -> None:
    for field, figure in figures.items():
        if not figure.is_finite() or figure <= 0:
            raise SizingError(field, TEXTS["sizing.not_positive"])
