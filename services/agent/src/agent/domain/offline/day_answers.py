"""Tells what the bars say of one day ("MSFT, 2 March 2012: open …"), and whether the market is open now."""

from collections.abc import Collection, Mapping
from datetime import date
from typing import Any, cast

from agent.domain.analysis.formats import moment, number, percent, signed
from agent.domain.offline.market_days import day_in
from agent.domain.offline.market_words import ANOTHER_DAY
from agent.domain.offline.relative_days import date_in
from agent.domain.offline.wishes import Calls
from agent.domain.text_features import plain
from agent.texts import TEXTS
from contracts.calendar_names import day_name
from contracts.languages import Language

HOURS = "get_market_hours"
"""The tool that tells the hours of a day."""


def on_day(body: dict[str, Any], day: str, language: Language) -> str:
    """The bar of one day; where there is none, that, and the last session before it."""
    bars, symbol, said = cast("list[dict[str, Any]]", body.get("bars") or []), body["symbol"], moment(day, language)
    until = [one for one in bars if str(one["time"])[:10] <= day]
    if not until:
        known = " – ".join(moment(str(one["time"])[:10], language) for one in (bars[:1] + bars[-1:])) or "–"
        return _say("no_data", language, symbol=symbol, day=said, known=known)
    last = until[-1]
    prices = {name: number(last[name], language) for name in ("open", "high", "low", "close")}
    told = {"symbol": symbol, "day": said, "source": _say("source", language, source=body.get("source"))}
    if (session := str(last["time"])[:10]) != day:
        return _say("no_session", language, **told, before=moment(session, language), close=prices["close"])
    move = ""
    if len(until) > 1 and (before := float(until[-2]["close"])):
        move = _say("move", language, move=signed(percent(float(last["close"]) / before - 1, language)))
    return _say("session", language, **told, **prices, move=move)


def market_hours(body: Mapping[str, Any], language: Language) -> str:
    """When the market opens and closes on a day, or that it does not, and which day is the next one with a session."""
    told = {"day": _with_weekday(str(body["day"]), language), "source": body.get("source")}
    if not body.get("opens"):
        return _say("no_hours", language, **told, next=_with_weekday(str(body["next_day"]), language))
    bounds = {name: moment(str(body[name]), language) for name in ("opens", "closes")}
    hours = {name: said.rpartition(", ")[2] for name, said in bounds.items()}
    return _say("short_hours" if body.get("early_close") else "hours", language, **told, **hours)


def _with_weekday(day: str, language: Language) -> str:
    return f"{day_name(date.fromisoformat(day).weekday(), language)}, {moment(day, language)}"


def hours_call(question: str, offered: Collection[str], market: Mapping[str, Any] | None) -> Calls:
    """The call that tells the hours of the day that a question names; none: it is about now, or they cannot be looked
    up. Where nobody has told what day it is, those of today are looked up too."""
    if HOURS not in offered:
        return ()
    said, now = plain(question), (market or {}).get("current_time")
    day = day_in(said, date.fromisoformat(str(now)[:10])) if now else date_in(said)
    if day is None and now:
        return ()
    return ((HOURS, {"day": str(day)} if day else {}),)


def market_now(question: str, market: Mapping[str, Any] | None, language: Language) -> str | None:
    """Whether the market is open, and when it opens and closes next; None: not known. Of the day that a question names
    no more is known."""
    status = TEXTS.section("offline.market").get(str((market or {}).get("status")))
    if market is None or status is None:
        return None
    ends = ("next_close", "next_open") if market["status"] == "open" else ("next_open", "next_close")
    told = [_say(end, language, moment=moment(market[end], language)) for end in ends if market.get(end)]
    said = "; ".join(filter(None, (status.in_language(language), _say("and", language).join(told)))) + "."
    return _say("no_other_day", language, now=said) if ANOTHER_DAY.search(plain(question)) else said


def _say(key: str, language: Language, **parts: object) -> str:
    return TEXTS[f"offline.day.{key}"].in_language(language).format(**parts)
