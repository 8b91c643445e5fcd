"""Describes the bar of one day ("MSFT, 2 March 2012: open …"), and whether the market is open now."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from typing import Any, cast

from agent.domain.analysis.formats import moment, number, percent, signed
from agent.domain.analysis.relative_days import date_in
from agent.domain.offline.market_days import day_beside, day_in
from agent.domain.offline.market_words import ANOTHER_DAY, HOLIDAYS
from agent.domain.offline.wishes import Calls
from agent.domain.text_features import plain
from agent.texts import TEXTS
from contracts.calendar_names import day_name
from contracts.languages import Language

HOURS = "get_market_hours"
"""The tool that returns the market's hours on a day."""


def bar_of_day(body: dict[str, Any], day: str, language: Language) -> str:
    """The bar of one day; if there is none, that fact and the last session before it."""
    bars, symbol, day_text = cast("list[dict[str, Any]]", body.get("bars") or []), body["symbol"], moment(day, language)
    bars_until = [bar for bar in bars if str(bar["time"])[:10] <= day]
    if not bars_until:
        known_span = " – ".join(moment(str(bar["time"])[:10], language) for bar in (bars[:1] + bars[-1:])) or "–"
        return _say("no_data", language, symbol=symbol, day=day_text, known=known_span)
    last = bars_until[-1]
    prices = {name: number(last[name], language) for name in ("open", "high", "low", "close")}
    parts = {"symbol": symbol, "day": day_text, "source": _say("source", language, source=body.get("source"))}
    if (session := str(last["time"])[:10]) != day:
        return _say("no_session", language, **parts, before=moment(session, language), close=prices["close"])
    move = ""
    if len(bars_until) > 1 and (previous_close := float(bars_until[-2]["close"])):
        move = _say("move", language, move=signed(percent(float(last["close"]) / previous_close - 1, language)))
    return _say("session", language, **parts, **prices, move=move)


def market_hours(body: Mapping[str, Any], language: Language) -> str:
    """When the market opens and closes on a day, and if the day is today, whether it is open now; if it has no session,
    the next day with one."""
    parts = {"day": _with_weekday(str(body["day"]), language), "source": body.get("source")}
    if not body.get("opens"):
        return _say("no_hours", language, **parts, next=_with_weekday(str(body["next_day"]), language))
    bounds = {name: moment(str(body[name]), language) for name in ("opens", "closes")}
    hours = {name: text.rpartition(", ")[2] for name, text in bounds.items()}
    text = _say("short_hours" if body.get("early_close") else "hours", language, **parts, **hours)
    opens, closes, now = (datetime.fromisoformat(str(body[name])) for name in ("opens", "closes", "as_of"))
    if now.date() != opens.date():
        return text
    status = TEXTS["offline.market.open" if opens <= now < closes else "offline.market.closed"]
    return f"{status.in_language(language)}. {text}"


def holidays(body: Mapping[str, Any], language: Language) -> str:
    """The market's next holidays, and the days on which it closes early."""
    lines = [_say("holidays", language, source=body.get("source"))]
    for holiday in body["holidays"]:
        key = "closes_early" if holiday["closes"] else "closed_all_day"
        closes = moment(str(holiday["closes"]), language).rpartition(", ")[2]
        lines.append(f"- {_say(key, language, day=_with_weekday(str(holiday['day']), language), closes=closes)}")
    return "\n".join(lines)


def _with_weekday(day: str, language: Language) -> str:
    return f"{day_name(date.fromisoformat(day).weekday(), language)}, {moment(day, language)}"


def hours_call(
    question: str,
    offered: Collection[str],
    market: Mapping[str, Any] | None,
    results: Sequence[tuple[str, dict[str, Any], dict[str, Any]]],
    earlier_questions: Sequence[str] = (),
) -> Calls:
    """The call for the hours of the day that a question names, or that lies beside the last one ("and the day after?");
    empty if the question is about now, or the tool is not offered. If the current time is unknown, today's hours are
    looked up first: they tell which day "tomorrow" is."""
    if HOURS not in offered:
        return ()
    normalized, current_time = plain(question), (market or {}).get("current_time")
    if results:
        todays = [body.get("day") for tool, arguments, body in results if tool == HOURS and not arguments]
        today = todays[0] if len(results) == len(todays) == 1 else None
        day = day_in(normalized, date.fromisoformat(today)) if today else None
        return ((HOURS, {"day": str(day)}),) if day and str(day) != today else ()
    day = date_in(normalized)
    if current_time:
        today = date.fromisoformat(str(current_time)[:10])
        day = day_in(normalized, today) or day_beside(normalized, earlier_questions[-1:], today)
    if day is None and current_time and not HOLIDAYS.search(normalized):
        return ()
    return ((HOURS, {"day": str(day)} if day else {}),)


def market_now(question: str, market: Mapping[str, Any] | None, language: Language) -> str | None:
    """Whether the market is open, and when it opens and closes next; None if unknown. For another day that a question
    names, it says that no more is known."""
    status = TEXTS.section("offline.market").get(str((market or {}).get("status")))
    if market is None or status is None:
        return None
    time_keys = ("next_close", "next_open") if market["status"] == "open" else ("next_open", "next_close")
    times = [_say(end, language, moment=moment(market[end], language)) for end in time_keys if market.get(end)]
    state = "; ".join(filter(None, (status.in_language(language), _say("and", language).join(times)))) + "."
    return _say("no_other_day", language, now=state) if ANOTHER_DAY.search(plain(question)) else state


def _say(key: str, language: Language, **parts: object) -> str:
    return TEXTS[f"offline.day.{key}"].in_language(language).format(**parts)
