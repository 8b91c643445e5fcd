"""Lists upcoming events for a question without a ticker: "any Fed meeting next week?", "¿qué resultados hay esta
semana?".

It knows economic events and those of the shares that the customer holds or watches. Spanish and English.
"""

import re
from calendar import monthrange
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple, cast

from agent.domain.analysis.formats import as_date, day
from agent.domain.text_features import plain, symbols_in
from agent.texts import TEXTS
from contracts.expressions import expression
from contracts.languages import Language

Event = Mapping[str, Any]
MAX_EVENTS = 10
"""Maximum events of an answer."""
_WHEN = (
    r"today|tomorrow|this (?:week|month)|next (?:week|month)|hoy|manana|(?:esta|proxima) semana|"
    r"(?:este|proximo) mes|(?:semana|mes) que viene"
)
_KINDS: Mapping[str, re.Pattern[str]] = {
    "earnings": expression(r"\b(?:earnings|results|resultados|reports?|reporting|presenta\w*|publica\w*)\b"),
    "dividend": expression(r"\b(?:ex-)?divid\w+"),
    "economy": expression(r"\b(?:econom\w+|macro\w*|fed|fomc|federal reserve|reserva federal|central bank|jobs|"
                          r"employment|empleo|rates?|tipos)\b"),
}  # fmt: skip
_ASKS_FOR_CALENDAR = expression(
    r"\b(?:(?:economic|earnings|results|market|dividend) calendar"
    r"|(?:calendario|agenda) (?:economic\w+|de (?:resultados|la semana|dividendos|eventos)|del mercado)"
    r"|(?:upcoming|coming|next|market|economic|scheduled|proxim[oa]s) (?:\w+ )?(?:events?|eventos?)"
    rf"|(?:events?|eventos?) (?:\w+ ){{0,5}}?(?:{_WHEN}|economic\w+|macro\w*|(?:coming|are) up|proxim\w+)"
    r"|next week'?s (?:\w+ )?(?:earnings|results|reports|events)"
    rf"|(?:resultados|eventos|dividendos) (?:\w+ )?(?:de|para) (?:la )?(?:{_WHEN})"
    r"|(?:coming up|(?:on|in) the calendar|en el calendario|en la agenda|previsto)(?: for| para)? "
    rf"(?:{_WHEN})|(?:next|proxim[oa]) (?:\w+ ){{0,2}}?(?:fed|fomc|employment|jobs|empleo)"
    r"|(?:fed|fomc|reserva federal)\b.{0,40} (?:meet\w*|decid\w+|decision\w*|reun\w+)"
    rf"|(?:what|which|que) (?:earnings|results|reports?|resultados|dividend\w*|events?) (?:\w+ ){{1,3}}?(?:{_WHEN})"
    r"|(?:who|which \w+|any \w+|quien(?:es)?|que (?:empresas?|valores|resultados|dividendos)|(?:hay|algun\w*) \w+) "
    r"(?:\w+ ){0,4}?(?:report\w*|earnings|results|presenta\w*|publica\w*|resultados|divid\w+)(?: \w+){0,2}? "
    rf"(?:{_WHEN}))\b"
)
_COMPANY_WORDS = expression(r"\b(?:you|your|we|our|organi\w+|webinars?|tu|tus|vuestr\w+|vosotros|haceis|nosotros)\b")


class _Span(NamedTuple):
    first: date
    last: date


def coming_events(question: str, market: Mapping[str, Any] | None, language: Language) -> str | None:
    """The events in the time that a question asks about, or else the next one; None if it asks for no calendar, or none
    is known."""
    normalized = plain(question)
    if not market or not market.get("current_time") or symbols_in(question):
        return None
    if not _ASKS_FOR_CALENDAR.search(normalized) or _COMPANY_WORDS.search(normalized):
        return None
    kinds = [kind for kind, pattern in _KINDS.items() if pattern.search(normalized)]
    upcoming = [
        event for event in cast("Sequence[Event]", market["upcoming_events"]) if not kinds or event["kind"] in kinds
    ]
    span = _span(normalized, as_date(market["current_time"]))
    in_span = [event for event in upcoming if span is None or span.first <= as_date(event["date"]) <= span.last]
    texts = {name: text.in_language(language) for name, text in TEXTS.section("offline.calendar").items()}
    heading = texts["head" if in_span else "next" if upcoming else "nothing"]
    return "\n".join(
        [heading, *(_line(event, language) for event in (in_span or upcoming[:1])[:MAX_EVENTS]), "", texts["about"]]
    )


def _line(event: Event, language: Language) -> str:
    sure = TEXTS["offline.calendar.expected"].in_language(language) if event["status"] == "expected" else ""
    return f"- {day(event['date'], language)}: {event['name']}{sure} ({event['source']})"


def _span(normalized: str, today: date) -> _Span | None:
    """The days that a normalized text names; None for all to come."""
    if re.search(r"\b(?:tomorrow|manana)\b", normalized):
        return _Span(today + timedelta(days=1), today + timedelta(days=1))
    if re.search(r"\b(?:today|hoy)\b", normalized):
        return _Span(today, today)
    is_next = bool(
        re.search(r"\b(?:next (?:week|month)|proxim[oa] (?:semana|mes)|(?:semana|mes) que viene)\b", normalized)
    )
    if re.search(r"\b(?:week|semana)\b", normalized):
        monday = today - timedelta(days=today.weekday()) + timedelta(days=7 * is_next)
        return _Span(max(monday, today), monday + timedelta(days=6))
    if re.search(r"\b(?:month|mes)\b", normalized):
        first = today.replace(day=1) if not is_next else (today.replace(day=28) + timedelta(days=4)).replace(day=1)
        return _Span(max(first, today), first.replace(day=monthrange(first.year, first.month)[1]))
    return None
