"""Histories as arrays of floats, for indicators, returns and models. Money is never computed this way."""

from dataclasses import dataclass, fields
from datetime import date

import numpy as np
from numpy.typing import NDArray

from market_adapter.domain.bars import BarHistory
from market_adapter.domain.splits import split_adjusted

Floats = NDArray[np.float64]
FIGURES = ("open", "high", "low", "close", "volume")


@dataclass(frozen=True, slots=True)
class Series:
    """Split-adjusted bars, oldest first, each field an array of the same length. Every value is finite: one NaN would
    make TA-Lib's RSI 0 to the end and freeze its ADX."""

    sessions: tuple[date, ...]
    open: Floats
    high: Floats
    low: Floats
    close: Floats
    volume: Floats

    def __post_init__(self) -> None:
        for name in FIGURES:
            if not np.isfinite(getattr(self, name)).all():
                raise ValueError(f"a bar has no {name}: leave out incomplete bars where they come in")

    def __len__(self) -> int:
        return len(self.sessions)

    def tail(self, count: int) -> "Series":
        """The last `count` bars."""
        return Series(*(getattr(self, field.name)[-count:] for field in fields(self)))


def series_of(history: BarHistory) -> Series:
    """The arrays of a history, in shares of its last session. Raises ValueError if a bar is incomplete."""
    bars = split_adjusted(history.bars, history.splits)
    return Series(
        tuple(bar.session for bar in bars),
        *(np.array([float(getattr(bar, name)) for bar in bars]) for name in FIGURES),
    )
