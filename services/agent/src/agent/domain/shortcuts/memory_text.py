"""Tells users what is remembered about them: facts in their own words, with dates and the words that ended them."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import cast

from agent.domain.prompt.copilot_words import VALUES
from agent.domain.text_features import language_of
from agent.texts import TEXTS
from contracts.calendar_names import month_name
from contracts.languages import LANGUAGES, Language
from contracts.zones import zone

Fields = Mapping[str, object]
SHOWN = 15
"""Facts of one kind in an answer; an export has them all."""
ENDED = 5
_SINGLE = ("name", "riskProfile", "experience", "language", "timezone", "tradingStyle")
_OWN_WORDS = frozenset(("userNotes", "preferences", "olderNotes"))


def memory_in_words(memory: Fields, language: Language, after: int = 0, more: int = 0) -> str:
    """A memory (wire form) in sentences, facts newest first, each with its number, the day on which the user said it,
    and what to say to forget or correct it. `after`: so many facts were told before, and with them all else; `more`: so
    many are left out here."""
    coded = VALUES[language]
    lines: list[str] = []
    where = zone(str(memory.get("timezone") or "UTC"))
    known = cast("Mapping[str, str]", memory.get("since") or {})

    def say(name: str, value: str) -> None:
        since = _text("said", language).format(date=_day(known[name], language, where)) if name in known else ""
        how = TEXTS[f"told_memory.how.{name}"].in_language(language)
        lines.append(_text(name, language).format(value=value + since) + how)

    facts = [*_list(memory, "userNotes"), *_list(memory, "preferences"), *_list(memory, "olderNotes")]
    more += len(facts[SHOWN:])
    if after:
        memory = {}
    for name in _SINGLE:
        if value := memory.get(name):
            say(name, coded.get(str(value), str(value)))
    if symbols := _list(memory, "favoriteSymbols"):
        say("favoriteSymbols", _listed(symbols[:SHOWN], language))
    for number, fact in enumerate(facts[:SHOWN], start=after + 1):
        date = _day(known[fact], language, where) if fact in known else ""
        told = _text("told_on" if date else "told", language).format(date=date, value=_quoted(fact, language))
        lines.append(f"{number}. {told}" + _text("offer", language).format(number=number))
    if facts:
        lines.append("")  # what follows is none of the list's
    if more:
        lines.append(_text("more", language).format(count=more))
    if strategies := [str(one["name"]) for one in cast("Sequence[Fields]", memory.get("recentStrategies") or ())]:
        say("recentStrategies", _listed(strategies, language))
    if questions := [one for one in _list(memory, "frequentQuestions") if "[" not in one]:
        begins = "¿" if language_of(questions[0], language) == "es" else ""  # templates are kept without it
        say("asked", begins + questions[0])
    if not lines:
        return _text("no_more" if after else "nothing", language)
    past = cast("Sequence[Fields]", memory.get("superseded") or ())
    lines += [_ended(one, language, lambda value: coded.get(value, value), where) for one in past[:ENDED]]
    return "\n".join([_text("rest" if after else "known", language), *lines]).rstrip()


def listed_facts(told: str) -> dict[int, str]:
    """The facts in a text of `memory_in_words`, by their numbers; empty: it is another text."""
    for language in LANGUAGES:
        quote = "(.+)".join(map(re.escape, _text("quotes", language)))
        offer = re.escape(_text("offer", language).split("{number}")[0])
        line = rf"^(\d+)\. [^“«\n]*{quote}\.{offer}"
        if found := re.findall(line, told, re.M):
            return {int(number): fact for number, fact in found}
    return {}


def _text(key: str, language: Language) -> str:
    return TEXTS[f"told_memory.{key}"].in_language(language)


def _ended(past: Fields, language: Language, coded: Callable[[str], str], where: tzinfo) -> str:
    text = _text("ended", language).format(value=coded(str(past["value"])))
    if isinstance(until := past.get("until"), str):
        text += _text("since", language).format(date=_day(until, language, where))
    by = past.get("by")
    if not by:
        return text + "."
    kind = "because" if past.get("field") in _OWN_WORDS else "replaced"
    return text + _text(kind, language).format(by=coded(str(by)))


def _day(moment: str, language: Language, where: tzinfo) -> str:
    day = datetime.fromisoformat(moment).astimezone(where)
    return _text("day", language).format(day=day.day, month=month_name(day.month, language), year=day.year)


def _list(memory: Fields, name: str) -> list[str]:
    return [str(one) for one in cast("Sequence[object]", memory.get(name) or ())]


def _listed(values: Sequence[str], language: Language) -> str:
    *others, last = values
    return f"{', '.join(others)}{_text('and', language)}{last}" if others else last


def _quoted(text: str, language: Language) -> str:
    first, last = _text("quotes", language)
    return f"{first}{text}{last}"
