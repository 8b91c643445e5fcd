"""Split adjustment: what old prices and volumes are in today's shares.

Indicators, returns and changes use adjusted bars; orders, fills and the price itself use bars as traded. Prices are
divided and volumes multiplied by the ratio of every split between the bar and the last one, so price x volume stays.
Source of the convention: CRSP's cumulative factor to adjust prices.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction

from market_adapter.domain.bars import Bar, Split, Volume


def adjustment(splits: Iterable[Split], session: date, to: date) -> Fraction:
    """Returns how many shares of session `to` one share of an earlier `session` has become (1 without a split in
    between)."""
    factor = Fraction(1)
    for split in splits:
        if session < split.on <= to:
            factor *= split.ratio
    return factor


def scale_price(price: Decimal, factor: Fraction) -> Decimal:
    """A price of before, in shares of after: exact where Decimal can be, else to 28 significant digits."""
    return price * factor.denominator / factor.numerator


def scale_volume(volume: Volume, factor: Fraction) -> Volume:
    """A number of shares of before, in shares of after, to the nearest whole one."""
    return round(Fraction(volume) * factor)


def split_adjusted(bars: Sequence[Bar], splits: Sequence[Split]) -> tuple[Bar, ...]:
    """The bars in shares of the last one's session. A split after that session changes nothing: no look-ahead."""
    if not bars:
        return ()
    to = bars[-1].session
    ahead = sorted((split for split in splits if split.on <= to), key=lambda split: split.on)
    factor = Fraction(1)
    adjusted: list[Bar] = []
    for bar in reversed(bars):
        while ahead and ahead[-1].on > bar.session:
            factor *= ahead.pop().ratio
        adjusted.append(bar if factor == 1 else _scaled(bar, factor))
    adjusted.reverse()
    return tuple(adjusted)


def _scaled(bar: Bar, factor: Fraction) -> Bar:
    return replace(
        bar,
        open=scale_price(bar.open, factor),
        high=scale_price(bar.high, factor),
        low=scale_price(bar.low, factor),
        close=scale_price(bar.close, factor),
        volume=scale_volume(bar.volume, factor),
    )
