"""Puts what is remembered about a user into sentences: facts in their own words, with dates and the words that ended
them."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import cast

from agent.domain.prompt.copilot_words import VALUES
from agent.domain.text_features import language_of
from agent.texts import TEXTS
from contracts.calendar_names import month_name
from contracts.languages import LANGUAGES, Language
from contracts.zones import DEFAULT_ZONE, zone

Fields = Mapping[str, object]
MAX_FACTS_SHOWN = 15
"""Maximum facts of one kind in an answer; an export has them all."""
MAX_ENDED_SHOWN = 5
"""Maximum ended facts in an answer."""
_SINGLE = ("name", "riskProfile", "experience", "language", "timezone", "tradingStyle")
_OWN_WORDS = frozenset(("userNotes", "preferences", "olderNotes"))


def memory_in_words(memory: Fields, language: Language, after: int = 0, omitted: int = 0) -> str:
    """A memory (wire form) in sentences: facts newest first, each with its number, the day on which the user said it,
    and how to forget or correct it. `after` facts, and everything else, were in earlier answers; `omitted` facts are
    left out of `memory` already."""
    coded = VALUES[language]
    lines: list[str] = []
    time_zone = zone(str(memory.get("timezone") or DEFAULT_ZONE))
    dates_said = cast("Mapping[str, str]", memory.get("since") or {})

    def say(name: str, value: str) -> None:
        since = (
            _text("said", language).format(date=_day(dates_said[name], language, time_zone))
            if name in dates_said
            else ""
        )
        how = TEXTS[f"told_memory.how.{name}"].in_language(language)
        lines.append(_text(name, language).format(value=value + since) + how)

    facts = [*_list(memory, "userNotes"), *_list(memory, "preferences"), *_list(memory, "olderNotes")]
    omitted += len(facts[MAX_FACTS_SHOWN:])
    if after:
        memory = {}
    for name in _SINGLE:
        if value := memory.get(name):
            say(name, coded.get(str(value), str(value)))
    if symbols := _list(memory, "favoriteSymbols"):
        say("favoriteSymbols", _listed(symbols[:MAX_FACTS_SHOWN], language))
    for number, fact in enumerate(facts[:MAX_FACTS_SHOWN], start=after + 1):
        date = _day(dates_said[fact], language, time_zone) if fact in dates_said else ""
        sentence = _text("told_on" if date else "told", language).format(date=date, value=_quoted(fact, language))
        lines.append(f"{number}. {sentence}" + _text("offer", language).format(number=number))
    if facts:
        lines.append("")  # end the list
    if omitted:
        lines.append(_text("more", language).format(count=omitted))
    if strategies := [
        str(strategy["name"]) for strategy in cast("Sequence[Fields]", memory.get("recentStrategies") or ())
    ]:
        say("recentStrategies", _listed(strategies, language))
    if questions := [question for question in _list(memory, "frequentQuestions") if "[" not in question]:
        opening_mark = "¿" if language_of(questions[0], language) == "es" else ""  # templates are stored without it
        say("asked", opening_mark + questions[0])
    if not lines:
        return _text("no_more" if after else "nothing", language)
    ended_facts = cast("Sequence[Fields]", memory.get("superseded") or ())
    lines += [
        _ended(fact, language, lambda value: coded.get(value, value), time_zone)
        for fact in ended_facts[:MAX_ENDED_SHOWN]
    ]
    return "\n".join([_text("rest" if after else "known", language), *lines]).rstrip()


def listed_facts(text: str) -> dict[int, str]:
    """The facts in a text of `memory_in_words`, by number; empty if it is another text."""
    for language in LANGUAGES:
        quote = "(.+)".join(map(re.escape, _text("quotes", language)))
        offer = re.escape(_text("offer", language).split("{number}")[0])
        line = rf"^(\d+)\. [^“«\n]*{quote}\.{offer}"
        if matches := re.findall(line, text, re.M):
            return {int(number): fact for number, fact in matches}
    return {}


def _text(key: str, language: Language) -> str:
    return TEXTS[f"told_memory.{key}"].in_language(language)


def _ended(fact: Fields, language: Language, coded: Callable[[str], str], time_zone: tzinfo) -> str:
    text = _text("ended", language).format(value=coded(str(fact["value"])))
    if isinstance(until := fact.get("until"), str):
        text += _text("since", language).format(date=_day(until, language, time_zone))
    replacement = fact.get("by")
    if not replacement:
        return text + "."
    kind = "because" if fact.get("field") in _OWN_WORDS else "replaced"
    return text + _text(kind, language).format(by=coded(str(replacement)))


def _day(moment: str, language: Language, time_zone: tzinfo) -> str:
    day = datetime.fromisoformat(moment).astimezone(time_zone)
    return _text("day", language).format(day=day.day, month=month_name(day.month, language), year=day.year)


def _list(memory: Fields, name: str) -> list[str]:
    return [str(entry) for entry in cast("Sequence[object]", memory.get(name) or ())]


def _listed(values: Sequence[str], language: Language) -> str:
    *others, last = values
    return f"{', '.join(others)}{_text('and', language)}{last}" if others else last


def _quoted(text: str, language: Language) -> str:
    opening, closing = _text("quotes", language)
    return f"{opening}{text}{closing}"
