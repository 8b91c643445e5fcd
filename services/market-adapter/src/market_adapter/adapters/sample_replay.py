"""The sample market after its last recorded session: recorded sessions come again, on the exchange's next dates.

The sessions in which every ticker was traded are played backwards from the last one, then forwards again, and so on. A
bar that is played backwards opens at its close and closes at its open, so that there is no jump at a turn and a price
stays in the range that it really had. A bar depends on its number alone: it is the same in every replica, and after a
restart. (Chained returns would lead away from any real price, up or down, within days.)
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from market_adapter.adapters.sample_files import CLOSES, OPENS, SampleData, load_following, utc
from market_adapter.domain.bars import Bar
from market_adapter.domain.splits import split_adjusted

FRIDAY = 4


class SessionPlace(NamedTuple):
    """The origin of a session that is played again: its place in the window, and the direction in which it is
    played."""

    source: int
    backwards: bool


class SampleReplay:
    """The bars by ticker and number of sessions after the last recorded one, from 1."""

    def __init__(self, data: SampleData) -> None:
        shortest = min(len(series.bars) for series in data.series.values())
        # In shares of the last recorded session: splits before it are over.
        self._windows: Mapping[str, tuple[Bar, ...]] = {
            name: split_adjusted(series.bars, series.splits)[-shortest:] for name, series in data.series.items()
        }
        self._length = shortest

    def bar(self, ticker: str, after: int, day: date, close: datetime) -> Bar:
        """The bar of the `after`-th session after the last recorded one, which is on `day` and closes then."""
        place = self.place(after)
        bar = self._windows[ticker][place.source]
        opens, closes = (bar.close, bar.open) if place.backwards else (bar.open, bar.close)
        return replace(bar, session=day, time=utc(day, OPENS), end=close, open=opens, close=closes)

    def place(self, after: int) -> SessionPlace:
        """Returns the session that is played again `after` sessions after the last recorded one."""
        turns, step = divmod(after - 1, self._length)
        return (
            SessionPlace(self._length - 1 - step, backwards=True)
            if turns % 2 == 0
            else SessionPlace(step, backwards=False)
        )


class FollowingSessions:
    """New York's sessions after the recorded ones: weekdays but holidays, with early closes, until the year 2200;
    every weekday from then on."""

    def __init__(self, unusual: Mapping[date, time | None]) -> None:
        self._unusual = unusual

    def __call__(self, day: date) -> tuple[date, datetime]:
        """The first session after a day, and when it closes."""
        while True:
            day += timedelta(days=1)
            if day.weekday() <= FRIDAY and (close := self._unusual.get(day, CLOSES)) is not None:
                return day, utc(day, close)


def following_sessions() -> FollowingSessions:
    """Reads the packaged file."""
    return FollowingSessions(load_following())
