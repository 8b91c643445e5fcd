"""When somebody is there, and how that is said."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from contracts.company import CompanyConfig, faults, read_config
from contracts.office_hours import DAYS, OfficeHours, away_notice, next_closing, next_opening
from contracts.testing import closed_for_days

WEEK = {
    "timezone": "Europe/Madrid",
    "hours": [
        {"days": ["mon", "tue", "wed", "thu", "fri"], "opens": "09:00", "closes": "14:00"},
        {"days": ["mon", "tue", "wed", "thu"], "opens": "16:00", "closes": "18:30"},
        {"days": ["fri"], "opens": "22:00", "closes": "02:00"},
    ],
    "holidays": ["2026-12-25"],
}
HOURS = OfficeHours.model_validate(WEEK)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "opens"),
    [
        ("2026-11-23T07:59:59", "2026-11-23T08:00"),  # a Monday, Madrid is one hour ahead
        ("2026-11-23T08:00", None),
        ("2026-11-23T12:59:59", None),
        ("2026-11-23T13:00", "2026-11-23T15:00"),
        ("2026-11-23T17:30", "2026-11-24T08:00"),
        ("2026-11-28T00:59", None),  # Saturday 01:59 there: Friday's night
        ("2026-11-28T01:00", "2026-11-30T08:00"),
        ("2026-12-24T18:00", "2026-12-28T08:00"),  # the Friday is a holiday, its night too
        ("2026-07-06T07:00", None),  # in summer two hours ahead
        ("2026-10-23T00:30", "2026-10-23T07:00"),
        ("2026-10-25T12:00", "2026-10-26T08:00"),  # the clocks went back in the night
    ],
)
def test_somebody_is_there_again_at_the_next_opening(now: str, opens: str | None) -> None:
    assert next_opening(HOURS, at(now)) == (at(opens) if opens else None)


def test_without_hours_somebody_is_always_there() -> None:
    assert next_opening(None, at("2026-11-23T03:00")) is None
    assert next_closing(None, at("2026-11-23T03:00")) is None


@pytest.mark.parametrize(
    ("spans", "closes"),
    [
        ([("00:00", "24:00")], None),
        ([("09:00", "13:00"), ("13:00", "18:00")], "2026-11-23T18:00"),
        ([("09:00", "14:00"), ("13:00", "18:00"), ("20:00", "22:00")], "2026-11-23T18:00"),
        ([("09:00", "24:00"), ("00:00", "02:00")], "2026-11-24T02:00"),
    ],
    ids=["never", "adjoining", "overlapping", "over midnight"],
)
def test_hours_that_adjoin_have_no_closing_between_them(spans: list[tuple[str, str]], closes: str | None) -> None:
    lines = [{"days": list(DAYS), "opens": opens, "closes": ends} for opens, ends in spans]
    hours = OfficeHours.model_validate({"timezone": "UTC", "hours": lines})
    assert next_closing(hours, at("2026-11-23T12:59")) == (at(closes) if closes else None)


@given(
    st.datetimes(datetime(2024, 1, 1), datetime(2030, 1, 1)),
    st.sets(st.sampled_from(DAYS), min_size=1),
    st.integers(0, 1439),
    st.integers(0, 1439),
    st.sampled_from(["UTC", "Europe/Madrid", "America/Mexico_City", "Asia/Kathmandu", "Pacific/Apia"]),
)
@example(datetime(2026, 3, 28, 12), {"sun"}, 150, 180, "Europe/Madrid").via("half an hour that the clocks leave out")
@example(datetime(2026, 10, 24, 12), {"sun"}, 150, 180, "Europe/Madrid").via("half an hour that comes twice")
def test_at_the_opening_somebody_is_there_and_until_then_nobody(
    now: datetime, days: set[str], opens: int, closes: int, zone: str
) -> None:
    if opens == closes:
        closes = (closes + 1) % 1440
    text = [f"{minute // 60:02d}:{minute % 60:02d}" for minute in (opens, closes)]
    one = {"days": sorted(days), "opens": text[0], "closes": text[1]}
    hours, now = OfficeHours.model_validate({"timezone": zone, "hours": [one]}), now.replace(tzinfo=UTC)
    found = next_opening(hours, now)
    if found is None:
        until = next_closing(hours, now)
        assert until is not None
        assert until > now
        return
    assert found > now
    assert next_closing(hours, now) is None
    assert next_opening(hours, found) is None
    assert next_opening(hours, now + (found - now) / 2) == found


def test_an_opening_is_found_behind_as_many_holidays_as_there_may_be() -> None:
    rest = [f"2027-{month:02d}-{day:02d}" for month in range(1, 13) for day in range(1, 29)]
    mondays = [day for day in rest if datetime.fromisoformat(day).weekday() == 0][:100]
    hours = {"timezone": "UTC", "hours": [{"days": ["mon"], "opens": "09:00", "closes": "24:00"}], "holidays": mondays}
    found = next_opening(OfficeHours.model_validate(hours), at("2026-12-31T12:00"))
    assert found is not None
    assert found.date().isoformat() not in mondays


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"timezone": "Mars/Olympus"}, "officeHours.timezone", "Europe/Madrid"),
        ({"timezone": "../etc/passwd"}, "officeHours.timezone", "time zone"),
        ({"hours": []}, "officeHours.hours", "empty"),
        ({"hours": [{"days": ["monday"], "opens": "09:00", "closes": "18:00"}]}, "officeHours.hours.0.days.0", "mon"),
        ({"hours": [{"days": ["mon"], "opens": "9", "closes": "18:00"}]}, "officeHours.hours.0.opens", "09:00"),
        ({"hours": [{"days": ["mon"], "opens": "09:00", "closes": "25:00"}]}, "officeHours.hours.0.closes", "23:59"),
        ({"hours": [{"days": ["mon"], "opens": "09:00", "closes": "09:00"}]}, "officeHours.hours.0", "24:00"),
        ({"hours": [{"days": ["mon"], "opens": "09:00\n", "closes": "18:00"}]}, "officeHours.hours.0.opens", "09:00"),
        ({"hours": [{"days": ["mon"], "opens": "09:00", "closes": "18:00\n"}]}, "officeHours.hours.0.closes", "23:59"),
        ({"holidays": ["25/12/2026"]}, "officeHours.holidays.0", "2026-12-25"),
        ({"holidays": [86400]}, "officeHours.holidays.0", "2026-12-25"),
        ({"holidays": ["2026-12-25T00:00:00"]}, "officeHours.holidays.0", "2026-12-25"),
        ({"open": True}, "officeHours.open", "no such field"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, Any], field: str, words: str) -> None:
    (fault,) = faults({"companyId": "acme", "officeHours": {**WEEK, **change}})
    assert fault.field == field
    assert words in fault.message


def test_hours_travel_and_are_read_leniently() -> None:
    assert faults({"companyId": "acme", "officeHours": WEEK}) == []
    config = CompanyConfig.model_validate({"companyId": "acme", "officeHours": WEEK})
    assert config.to_wire()["officeHours"] == {**WEEK, "askAddress": False}
    newer = read_config({"companyId": "acme", "officeHours": {**WEEK, "timezone": "Mars/Olympus", "breaks": []}})
    assert newer.to_wire()["officeHours"]["breaks"] == []
    assert next_opening(newer.office_hours, at("2026-11-23T08:30")) == at("2026-11-23T09:00")  # as in UTC


def test_a_visitor_is_told_when_in_both_languages() -> None:
    opens = at("2026-11-23T08:00")
    assert "el lunes 23 de noviembre a las 9:00 (hora de Madrid)" in away_notice(
        HOURS, opens, at("2026-11-20T20:00"), "es"
    )
    assert "on Monday 23 November at 9:00 (Madrid time)" in away_notice(HOURS, opens, at("2026-11-20T20:00"), "en-GB")
    assert "mañana a las 9:00" in away_notice(HOURS, opens, at("2026-11-22T20:00"), "es")
    mexico = HOURS.model_copy(update={"timezone": "America/Mexico_City"})
    assert "(hora de Ciudad de México)" in away_notice(mexico, opens, opens, "es")
    assert "(Mexico City time)" in away_notice(mexico, opens, opens, "en")
    assert "today at 9:00" in away_notice(HOURS, opens, at("2026-11-23T01:00"), "en")
    assert "address" not in away_notice(HOURS, opens, at("2026-11-23T01:00"), "en")
    asked = HOURS.model_copy(update={"ask_address": True})
    assert "leave your address here" in away_notice(asked, opens, at("2026-11-23T01:00"), "en")
    assert "deja aquí tu dirección" in away_notice(asked, opens, at("2026-11-23T01:00"), "es")


def test_hours_for_tests_are_closed_now() -> None:
    found = next_opening(OfficeHours.model_validate(closed_for_days()), datetime.now(UTC))
    assert found is not None
    assert (found - datetime.now(UTC)).days in (2, 3)
