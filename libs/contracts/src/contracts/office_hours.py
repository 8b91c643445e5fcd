"""A company's office hours: whether somebody is there, when they will be back, and the texts for visitors."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, ValidationInfo, model_validator

from contracts.calendar_names import day_name, month_name, place_name
from contracts.enumerations import is_input
from contracts.strict import Strict
from contracts.texts import TEXTS
from contracts.zones import is_zone, zone

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_is_time = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]").fullmatch
_is_date = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}").fullmatch
MIDNIGHT = "24:00"
MAX_DAYS_AHEAD = 1_100
"""How many days to search for the next opening: enough for weekly hours and the most holidays that can be set."""


def _day(value: str, info: ValidationInfo) -> str:
    if is_input(info) and value not in DAYS:
        raise ValueError(f"use one of {', '.join(DAYS)}")
    return value


def _time(value: str, info: ValidationInfo) -> str:
    if is_input(info) and not _is_time(value):
        raise ValueError("use a time such as 09:00, from 00:00 to 23:59")
    return value


def _end(value: str, info: ValidationInfo) -> str:
    return value if value == MIDNIGHT else _time(value, info)


def _zone(value: str, info: ValidationInfo) -> str:
    # A stored zone is not refused, since another release's machine may know more zones.
    if is_input(info) and not is_zone(value):
        raise ValueError("use the name of a time zone such as Europe/Madrid or America/Mexico_City")
    return value


def _date(value: object, info: ValidationInfo) -> object:
    if is_input(info) and not (isinstance(value, str) and _is_date(value)):
        raise ValueError("use a date such as 2026-12-25")
    return value


class OpenHours(Strict):
    """Opening hours on some days of the week. Hours that close before they open run past midnight."""

    days: list[Annotated[str, AfterValidator(_day)]] = Field(min_length=1, max_length=7)
    opens: Annotated[str, AfterValidator(_time)]
    closes: Annotated[str, AfterValidator(_end)] = Field(description="24:00: to the end of the day")

    @model_validator(mode="after")
    def _lasts(self, info: ValidationInfo) -> "OpenHours":
        if is_input(info) and self.opens == self.closes:
            raise ValueError("opens and closes are the same; for a whole day use 00:00 and 24:00")
        return self


TimeZone = Annotated[str, AfterValidator(_zone)]


class OfficeHours(Strict):
    """The hours in which a company's people are there."""

    timezone: TimeZone = Field(description="an IANA name, e.g. Europe/Madrid")
    hours: list[OpenHours] = Field(min_length=1, max_length=21)
    holidays: list[Annotated[date, BeforeValidator(_date)]] = Field(
        default_factory=list[date], max_length=100, description="days on which nobody comes"
    )
    ask_address: StrictBool = Field(
        default=False, description="outside them visitors are told that they may leave an e-mail address"
    )


def next_opening(hours: OfficeHours | None, now: datetime) -> datetime | None:
    """Returns when somebody will be there next (UTC); None if somebody is there now."""
    if hours is None:
        return None
    today = now.astimezone(zone(hours.timezone)).date()
    for ahead in range(-1, MAX_DAYS_AHEAD):
        spans = sorted(_spans(hours, today + timedelta(days=ahead)))
        if any(start <= now < end for start, end in spans):
            return None
        if ahead >= 0 and (later := [start for start, _ in spans if start > now]):
            return later[0]
    return None  # hours of another release that this one cannot read: then visitors are not told to wait


def next_closing(hours: OfficeHours | None, now: datetime) -> datetime | None:
    """Returns until when somebody will be there without a break (UTC); None if nobody is there, no hours are set, or
    there is no closing within a week."""
    if hours is None:
        return None
    today = now.astimezone(zone(hours.timezone)).date()
    days = [today + timedelta(days=ahead) for ahead in range(-1, len(DAYS) + 1)]
    closing: datetime | None = None
    for start, end in sorted(span for day in days for span in _spans(hours, day)):
        if start <= (closing or now) < end:
            closing = end
    return None if closing and closing > now + timedelta(days=len(DAYS)) else closing


def away_notice(hours: OfficeHours | None, opens: datetime, now: datetime, language: str, *, ai: bool = True) -> str:
    """Returns the notice for visitors outside the hours: nobody is there, when somebody will be, and messages are kept.
    `ai`: the assistant continues to help meanwhile."""
    when, help_ = time_in_words(hours, opens, now, language), TEXTS["office.help"].in_language(language) if ai else ""
    notice = TEXTS["office.away"].in_language(language).format(when=when, help=help_)
    return notice + (TEXTS["office.address"].in_language(language) if hours and hours.ask_address else "")


def time_in_words(hours: OfficeHours | None, moment: datetime, now: datetime, language: str) -> str:
    """Returns a time in the company's time zone in words: "mañana a las 9:00 (hora de Madrid)"."""
    name = hours.timezone if hours else "UTC"
    local, today = moment.astimezone(zone(name)), now.astimezone(zone(name)).date()
    clock, days = f"{local.hour}:{local.minute:02d}", (local.date() - today).days
    day = TEXTS[{0: "calendar.today", 1: "calendar.tomorrow"}.get(days, "calendar.on_day")].format(
        weekday=day_name(local.weekday(), language), day=local.day, month=month_name(local.month, language)
    )
    text = TEXTS["calendar.at_one" if local.hour == 1 else "calendar.at"]
    return text.format(day=day, clock=clock, place=place_name(name, language)).in_language(language)


def _spans(hours: OfficeHours, day: date) -> Iterator[tuple[datetime, datetime]]:
    if day in hours.holidays:
        return
    time_zone = zone(hours.timezone)
    for hours_rule in hours.hours:
        readable = _is_time(hours_rule.opens) and (hours_rule.closes == MIDNIGHT or _is_time(hours_rule.closes))
        if not readable or DAYS[day.weekday()] not in hours_rule.days:
            continue
        past_midnight = hours_rule.closes <= hours_rule.opens or hours_rule.closes == MIDNIGHT
        last = day + timedelta(days=1) if past_midnight else day
        closes = time() if hours_rule.closes == MIDNIGHT else time.fromisoformat(hours_rule.closes)
        start = datetime.combine(day, time.fromisoformat(hours_rule.opens), time_zone).astimezone(UTC)
        end = datetime.combine(last, closes, time_zone).astimezone(UTC)
        if start < end:  # not if the clocks skip these hours
            yield start, end
