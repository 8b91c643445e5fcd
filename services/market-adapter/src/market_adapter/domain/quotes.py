"""Prices and their changes."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from contracts.symbols import Symbol
from market_adapter.domain.bars import BarHistory, Volume
from market_adapter.domain.splits import adjustment, scale_price

PERCENT_PLACES = Decimal("0.0001")


class ChangeBasis(StrEnum):
    """The price against which a change is measured."""

    PREVIOUS_CLOSE = "previous_close"
    """The close of the previous session, in today's shares if there was a split in between."""
    DAY_BEFORE = "24h"
    """The close of the last bar that is at least 24 hours old, since markets that never close have no previous
    session."""
    NONE = "none"
    """There is no earlier session (first day of trading): the change is unknown, not zero."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A price in `currency` at the time `as_of` (UTC), from `source`. `volume` is that of the session so far."""

    symbol: Symbol
    price: Decimal
    currency: str
    volume: Volume
    as_of: datetime
    source: str
    change_basis: ChangeBasis
    basis_price: Decimal | None

    @property
    def change(self) -> Decimal | None:
        """The price minus the basis; None if there is no basis."""
        return None if self.basis_price is None else self.price - self.basis_price

    @property
    def change_percent(self) -> Decimal | None:
        """The change in percent of the basis, to four places; None if there is no basis."""
        if self.basis_price is None or self.basis_price == 0:
            return None
        return ((self.price - self.basis_price) / self.basis_price * 100).quantize(PERCENT_PLACES)


def quote_from_daily(history: BarHistory) -> Quote:
    """The last daily bar's close, with its change from the previous session, split-adjusted."""
    last = history.last
    basis, basis_price = ChangeBasis.NONE, None
    if len(history.bars) > 1:
        previous = history.bars[-2]
        factor = adjustment(history.splits, previous.session, last.session)
        basis, basis_price = ChangeBasis.PREVIOUS_CLOSE, scale_price(previous.close, factor)
    return Quote(
        symbol=history.symbol,
        price=last.close,
        currency=history.currency,
        volume=last.volume,
        as_of=last.end if history.known_at is None else min(last.end, history.known_at),
        source=history.source,
        change_basis=basis,
        basis_price=basis_price,
    )


def quote_from_hourly(history: BarHistory, now: datetime) -> Quote:
    """The last bar's close, with its change from the last close at least 24 hours before `now`."""
    last = history.last
    day_ago = now - timedelta(hours=24)
    older_bars = [bar for bar in history.bars if bar.end <= day_ago]
    return Quote(
        symbol=history.symbol,
        price=last.close,
        currency=history.currency,
        volume=sum(bar.volume for bar in history.bars if bar.end > day_ago),
        as_of=history.as_of(now),
        source=history.source,
        change_basis=ChangeBasis.DAY_BEFORE if older_bars else ChangeBasis.NONE,
        basis_price=older_bars[-1].close if older_bars else None,
    )
