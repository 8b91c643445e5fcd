"""Backtests a rule on past bars: a decision at a bar's close is carried out at the next bar's open.

A rule sees the bars up to its close and no others; fills are those of paper orders (domain/paper/fills.py: a market
order at the next open, a bar without trades fills nothing), costs are a share of each trade. All of the money goes in,
in whole cents and hundred-millionths of a share, and all of it comes out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_DOWN, Decimal

import numpy as np

from market_adapter.domain.bars import Bar
from market_adapter.domain.series import Floats

CENT = Decimal("0.01")
LOT = Decimal("0.00000001")
NONE = Decimal(0)
Rule = Callable[[Floats], bool]
"""Decides from the closes up to now whether to hold the share."""


@dataclass(frozen=True, slots=True)
class Trade:
    """One fill."""

    on: date
    side: str
    price: Decimal
    quantity: Decimal
    cost: Decimal


@dataclass(frozen=True, slots=True)
class BacktestResult:
    """The outcome. `equity`: at each close, in units of the money; `held`: the number of closes at which the rule held
    the position."""

    trades: tuple[Trade, ...]
    equity: tuple[Decimal, ...]
    held: int


def rule(name: str, fast: int, slow: int) -> Rule:
    """sma_cross: hold while the fast average is above the slow one. momentum: hold while the close is above the one
    of `slow` sessions before. rsi_reversion: buy below an RSI of 30, sell above 70 (Cutler's, of `fast` sessions).
    buy_and_hold: always. Raises ValueError for another name."""
    match name:
        case "sma_cross":
            return lambda closes: len(closes) >= slow and bool(closes[-fast:].mean() > closes[-slow:].mean())
        case "momentum":
            return lambda closes: len(closes) > slow and bool(closes[-1] > closes[-1 - slow])
        case "rsi_reversion":
            return _Reversion(fast)
        case "buy_and_hold":
            return lambda closes: True
        case _:
            raise ValueError(f"there is no rule {name}")


def decisions(of: Rule, closes: Floats, first: int) -> list[bool]:
    """Returns the rule's decision at each close from number `first` on; each sees the closes up to its own."""
    return [of(closes[: index + 1]) for index in range(first, len(closes))]


def run(bars: Sequence[Bar], wanted: Sequence[bool], cash: Decimal, cost: Decimal) -> BacktestResult:
    """Trades `bars` (split-adjusted) by what was wanted at the close before each; `wanted[0]` is of the close before
    the first bar. `cost`: a share of what is traded."""
    money: Decimal = cash
    shares: Decimal = NONE
    trades: list[Trade] = []
    equity: list[Decimal] = []
    held = 0
    for bar, hold in zip(bars, wanted, strict=True):
        if bar.volume > 0 and hold and shares == NONE:
            quantity = (money / (bar.open * (1 + cost))).quantize(LOT, ROUND_DOWN)
            paid = (quantity * bar.open).quantize(CENT)
            # Both rounded up would be a cent more than there is.
            fee = min((paid * cost).quantize(CENT), money - paid)
            if quantity > 0:
                money, shares = money - paid - fee, quantity
                trades.append(Trade(bar.session, "buy", bar.open, quantity, fee))
        elif bar.volume > 0 and not hold and shares > NONE:
            got = (shares * bar.open).quantize(CENT)
            fee = (got * cost).quantize(CENT)
            trades.append(Trade(bar.session, "sell", bar.open, shares, fee))
            money, shares = money + got - fee, NONE
        held += shares > NONE
        equity.append(money + (shares * bar.close).quantize(CENT))
    return BacktestResult(tuple(trades), tuple(equity), held)


class _Reversion:
    """Remembers whether it holds: between 30 and 70 nothing changes."""

    def __init__(self, period: int) -> None:
        self._period = period
        self._holds = False

    def __call__(self, closes: Floats) -> bool:
        if len(closes) <= self._period:
            return False
        moves = np.diff(closes[-self._period - 1 :])
        gains, losses = float(moves[moves > 0].sum()), float(-moves[moves < 0].sum())
        strength = 50.0 if gains == losses == 0 else 100 * gains / (gains + losses)
        self._holds = strength < 30 or (self._holds and strength <= 70)
        return self._holds
