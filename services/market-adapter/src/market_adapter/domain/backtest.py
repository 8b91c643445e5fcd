"""Backtests a rule on past bars: a decision at a bar's close is carried out at the next bar's open.

A rule sees the bars up to its close and no others. Fills are those of paper orders (domain/paper/fills.py: a market
order at the next open; a bar without trades fills nothing); costs are a share of each trade. Each purchase invests all
of the money, in whole cents and hundred-millionths of a share, and each sale sells everything.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_DOWN, Decimal

import numpy as np

from market_adapter.domain.bars import Bar
from market_adapter.domain.paper.orders import LOT, to_cents
from market_adapter.domain.series import Floats

ZERO = Decimal(0)
Rule = Callable[[Floats], bool]
"""Decides from the closes so far whether to hold the share."""


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
    """The outcome of a backtest. `equity`: at each close, in units of the currency; `closes_held`: the number of
    closes at which the rule held the position."""

    trades: tuple[Trade, ...]
    equity: tuple[Decimal, ...]
    closes_held: int


def rule(name: str, fast: int, slow: int) -> Rule:
    """The rule of this name. sma_cross: hold while the fast average is above the slow one. momentum: hold while the
    close is above the one `slow` sessions before. rsi_reversion: buy below an RSI of 30, sell above 70 (Cutler's RSI of
    `fast` sessions). buy_and_hold: always hold. Raises ValueError for another name."""
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


def decisions(rule: Rule, closes: Floats, first: int) -> list[bool]:
    """The rule's decision at each close from index `first` on; each sees the closes up to its own."""
    return [rule(closes[: index + 1]) for index in range(first, len(closes))]


def run(bars: Sequence[Bar], holds: Sequence[bool], cash: Decimal, cost_share: Decimal) -> BacktestResult:
    """Trades `bars` (split-adjusted) by the decision at the close before each; `holds[0]` belongs to the close before
    the first bar. `cost_share`: the costs as a share of the traded amount."""
    money: Decimal = cash
    shares: Decimal = ZERO
    trades: list[Trade] = []
    equity: list[Decimal] = []
    sessions_held = 0
    for bar, wants_position in zip(bars, holds, strict=True):
        if bar.volume > 0 and wants_position and shares == ZERO:
            quantity = (money / (bar.open * (1 + cost_share))).quantize(LOT, ROUND_DOWN)
            price_paid = to_cents(quantity * bar.open)
            # With both rounded up, it would be a cent more than there is.
            fee = min(to_cents(price_paid * cost_share), money - price_paid)
            if quantity > 0:
                money, shares = money - price_paid - fee, quantity
                trades.append(Trade(bar.session, "buy", bar.open, quantity, fee))
        elif bar.volume > 0 and not wants_position and shares > ZERO:
            proceeds = to_cents(shares * bar.open)
            fee = to_cents(proceeds * cost_share)
            trades.append(Trade(bar.session, "sell", bar.open, shares, fee))
            money, shares = money + proceeds - fee, ZERO
        sessions_held += shares > ZERO
        equity.append(money + to_cents(shares * bar.close))
    return BacktestResult(tuple(trades), tuple(equity), sessions_held)


class _Reversion:
    """The rule rsi_reversion. It remembers whether it holds the share, since between 30 and 70 nothing changes."""

    def __init__(self, period: int) -> None:
        self._period = period
        self._is_holding = False

    def __call__(self, closes: Floats) -> bool:
        if len(closes) <= self._period:
            return False
        moves = np.diff(closes[-self._period - 1 :])
        gains, losses = float(moves[moves > 0].sum()), float(-moves[moves < 0].sum())
        strength = 50.0 if gains == losses == 0 else 100 * gains / (gains + losses)
        self._is_holding = strength < 30 or (self._is_holding and strength <= 70)
        return self._is_holding
