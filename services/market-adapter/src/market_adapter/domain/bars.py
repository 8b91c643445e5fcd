"""Bars and corporate actions as they were: prices as traded, not adjusted."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

from contracts.symbols import Symbol
from market_adapter.errors import NoDataError
from market_adapter.texts import TEXTS

Volume = int | Decimal
"""Shares, in whole numbers, or coins, which are traded in fractions."""


@dataclass(frozen=True, slots=True)
class Bar:
    """The trades from `time` to `end` (both UTC) in one bar, in the symbol's currency; volume in shares or coins.

    `session` is the exchange's own date, by which splits and dividends are dated, not by UTC.
    """

    session: date
    time: datetime
    end: datetime
    open: Decimal
    high: Decimal
    low: Decimal
    close: Decimal
    volume: Volume


@dataclass(frozen=True, slots=True)
class Split:
    """From the opening of session `on`, `ratio` new shares replace one old share (2 for 2:1, 1/10 for a reverse
    split)."""

    on: date
    ratio: Fraction


@dataclass(frozen=True, slots=True)
class Dividend:
    """Cash paid on each share held before session `on` (the ex-date), in the currency and shares of that day."""

    on: date
    amount: Decimal


@dataclass(frozen=True, slots=True)
class BarHistory:
    """A symbol's bars as traded, oldest first, and the corporate actions up to the last of them.

    It is never empty: a provider without bars raises an error instead. Actions after the last bar are not part of it,
    since their effect on the price was not known then.
    """

    symbol: Symbol
    currency: str
    source: str
    bars: Sequence[Bar]
    splits: tuple[Split, ...] = ()
    dividends: tuple[Dividend, ...] = ()
    known_at: datetime | None = None
    """The time of the newest price, if the source reports it: the last bar may be incomplete."""

    def __post_init__(self) -> None:
        if not self.bars:
            raise ValueError(f"{self.symbol} has no bars: raise NoDataError where they were looked for")

    @property
    def last(self) -> Bar:
        return self.bars[-1]

    def as_of(self, now: datetime) -> datetime:
        """The time of the newest price: the last bar's end, unless the source names an earlier time."""
        return min(self.last.end, now) if self.known_at is None else min(self.last.end, self.known_at, now)


def bars_from(history: BarHistory, moment: datetime) -> BarHistory | None:
    """The bars that opened at `moment` or later; None if there are none."""
    first = bisect_left(history.bars, moment, key=lambda bar: bar.time)
    return replace(history, bars=history.bars[first:]) if first < len(history.bars) else None


def known_by(history: BarHistory, day: date) -> BarHistory:
    """The history as it was known at the close of that day: without later bars, splits and dividends. Raises
    NoDataError if it has no bar."""
    if history.last.session <= day:
        return history
    bars = tuple(bar for bar in history.bars if bar.session <= day)
    if not bars:
        available = f"{history.bars[0].session} – {history.last.session}"
        raise NoDataError(history.symbol.name, TEXTS["market.no_bars"].format(symbol=history.symbol, have=available))
    last = bars[-1].session
    return replace(
        history,
        bars=bars,
        splits=tuple(split for split in history.splits if split.on <= last),
        dividends=tuple(dividend for dividend in history.dividends if dividend.on <= last),
        known_at=None,
    )
