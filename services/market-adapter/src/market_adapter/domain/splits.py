"""Split adjustment: converts old prices and volumes to today's shares.

Indicators, returns and changes use adjusted bars; orders, fills and the price itself use bars as traded. Prices are
divided and volumes multiplied by the ratio of every split between the bar and the last one; price x volume stays the
same. Source of the convention: CRSP's cumulative factor to adjust prices.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction

from market_adapter.domain.bars import Bar, Split, Volume


def adjustment(splits: Iterable[Split], session: date, target: date) -> Fraction:
    """The number of shares of session `target` that one share of an earlier `session` has become (1 without a split in
    between)."""
    factor = Fraction(1)
    for split in splits:
        if session < split.on <= target:
            factor *= split.ratio
    return factor


def scale_price(price: Decimal, factor: Fraction) -> Decimal:
    """A price before the splits in shares after them: exact if Decimal can be, otherwise to 28 significant digits."""
    return price * factor.denominator / factor.numerator


def scale_volume(volume: Volume, factor: Fraction) -> Volume:
    """A number of shares before the splits in shares after them, rounded to a whole number."""
    return round(Fraction(volume) * factor)


def split_adjusted(bars: Sequence[Bar], splits: Sequence[Split]) -> tuple[Bar, ...]:
    """The bars in shares of the last bar's session. A later split changes nothing, since it was not known then."""
    if not bars:
        return ()
    last_session = bars[-1].session
    remaining_splits = sorted((split for split in splits if split.on <= last_session), key=lambda split: split.on)
    factor = Fraction(1)
    adjusted: list[Bar] = []
    for bar in reversed(bars):
        while remaining_splits and remaining_splits[-1].on > bar.session:
            factor *= remaining_splits.pop().ratio
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
