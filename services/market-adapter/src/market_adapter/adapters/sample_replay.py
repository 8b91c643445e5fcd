"""The sample market after its last recorded session: recorded sessions are replayed on the exchange's next dates.

The sessions in which every ticker was traded are replayed backwards from the last one, then forwards, and so on. A bar
that is replayed backwards opens at its close and closes at its open, so that there is no jump at a turn and prices stay
in their real range. A bar depends only on its number: it is the same in every replica and after a restart. (Chained
returns would lead away from any real price within days.)
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
    """The origin of a replayed session: its index in the window, and the direction in which it is replayed."""

    source: int
    backwards: bool


class SampleReplay:
    """The replayed bars, by ticker and by the number of sessions after the last recorded one, from 1."""

    def __init__(self, data: SampleData) -> None:
        shortest = min(len(series.bars) for series in data.series.values())
        # In shares of the last recorded session, so that splits before it play no part.
        self._windows: Mapping[str, tuple[Bar, ...]] = {
            name: split_adjusted(series.bars, series.splits)[-shortest:] for name, series in data.series.items()
        }
        self._length = shortest

    def bar(self, ticker: str, after: int, day: date, close: datetime) -> Bar:
        """The bar of the `after`-th session after the last recorded one, which is on `day` and closes at `close`."""
        source_place = self.place(after)
        bar = self._windows[ticker][source_place.source]
        opens, closes = (bar.close, bar.open) if source_place.backwards else (bar.open, bar.close)
        return replace(bar, session=day, time=utc(day, OPENS), end=close, open=opens, close=closes)

    def place(self, after: int) -> SessionPlace:
        """The session that is replayed `after` sessions after the last recorded one."""
        turns, step = divmod(after - 1, self._length)
        return (
            SessionPlace(self._length - 1 - step, backwards=True)
            if turns % 2 == 0
            else SessionPlace(step, backwards=False)
        )


class FollowingSessions:
    """New York's sessions after the recorded ones: weekdays except holidays, with early closes, until the year 2200;
    from then on every weekday."""

    def __init__(self, unusual: Mapping[date, time | None]) -> None:
        self._unusual = unusual

    def __call__(self, day: date) -> tuple[date, datetime]:
        """The first session after a day, and when it closes."""
        while True:
            day += timedelta(days=1)
            if day.weekday() <= FRIDAY and (close := self._unusual.get(day, CLOSES)) is not None:
                return day, utc(day, close)


def following_sessions() -> FollowingSessions:
    """The sessions after the recorded ones, by the packaged file."""
    return FollowingSessions(load_following())
