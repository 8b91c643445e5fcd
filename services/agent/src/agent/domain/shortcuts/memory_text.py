"""Tells users what is remembered about them: facts in their own words, with dates and the words that ended them."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import cast, get_args

from agent.domain.prompt.copilot_words import VALUES
from agent.domain.text_features import language_of
from contracts.languages import Language
from contracts.spoken import MONTH_NAMES
from contracts.zones import zone

Fields = Mapping[str, object]
SHOWN = 15
"""Facts of one kind in an answer; an export has them all."""
ENDED = 5
_SAY: dict[str, dict[Language, str]] = {
    "nothing": {"es": "Todavía no recuerdo nada de ti.", "en": "I do not remember anything about you yet."},
    "known": {"es": "Esto es lo que recuerdo de ti.", "en": "This is what I remember about you."},
    "rest": {"es": "Esto es lo demás que me has dicho.", "en": "This is the rest of what you told me."},
    "no_more": {"es": "No hay más: eso es todo.", "en": "There is no more: that is all."},
    "offer": {
        "es": " Di «olvida la {number}» o «corrige la {number}: …».",
        "en": " Say “forget {number}” or “correct {number}: …”.",
    },
    "name": {"es": "Te llamas {value}.", "en": "Your name is {value}."},
    "riskProfile": {"es": "Tu perfil de riesgo es {value}.", "en": "Your risk profile is {value}."},
    "experience": {"es": "En experiencia, tu nivel es {value}.", "en": "Your level of experience is {value}."},
    "language": {"es": "Prefieres que hablemos en {value}.", "en": "You prefer to speak {value}."},
    "timezone": {"es": "Tu zona horaria es {value}.", "en": "Your time zone is {value}."},
    "tradingStyle": {"es": "Tu estilo es {value}.", "en": "Your trading style is {value}."},
    "favoriteSymbols": {"es": "Sigues sobre todo {value}.", "en": "You mostly follow {value}."},
    "told": {"es": "Me contaste {value}.", "en": "You told me {value}."},
    "told_on": {"es": "El {date} me contaste {value}.", "en": "On {date} you told me {value}."},
    "recentStrategies": {"es": "Hemos hablado de {value}.", "en": "We have talked about {value}."},
    "asked": {"es": "Has preguntado varias cosas, por ejemplo «{value}».",
              "en": "You have asked several things, for example “{value}”."},
    "ended": {"es": "«{value}» ya no vale", "en": "“{value}” no longer applies"},
    "said": {"es": " (desde el {date})", "en": " (since {date})"},
    "since": {"es": " desde el {date}", "en": " as of {date}"},
    "because": {"es": ": dijiste «{by}».", "en": ": you said “{by}”."},
    "replaced": {"es": ": ahora es {by}.", "en": ": now it is {by}."},
    "more": {"es": "Hay {count} más: di «muéstrame el resto».",
             "en": "There are {count} more: say “show me the rest”."},
}  # fmt: skip
_OFFERS: dict[str, dict[Language, str]] = {
    "name": {"es": " Di «olvida mi nombre» o «llámame …».", "en": " Say “forget my name” or “call me …”."},
    "riskProfile": {
        "es": " Di «olvida mi perfil de riesgo» o «mi perfil de riesgo es …».",
        "en": " Say “forget my risk profile” or “my risk profile is …”.",
    },
    "experience": {
        "es": " Di «olvida mi nivel de experiencia» o «mi nivel es …».",
        "en": " Say “forget my level of experience” or “my level is …”.",
    },
    "language": {
        "es": " Di «olvida mi idioma» o «háblame en …».", "en": " Say “forget my language” or “answer in …”."
    },
    "timezone": {
        "es": " Di «olvida mi zona horaria» o «mi zona horaria es …».",
        "en": " Say “forget my time zone” or “my time zone is …”.",
    },
    "tradingStyle": {"es": " Di «olvida mi estilo» o «ahora hago …».", "en": " Say “forget my style” or “I now do …”."},
    "favoriteSymbols": {"es": " Di «olvida mis favoritos».", "en": " Say “forget my favourites”."},
    "recentStrategies": {"es": " Di «olvida mis estrategias».", "en": " Say “forget my strategies”."},
    "asked": {"es": " Di «olvida mis preguntas».", "en": " Say “forget my questions”."},
}  # fmt: skip
"""How each is forgotten, and corrected where it can be."""
_SINGLE = ("name", "riskProfile", "experience", "language", "timezone", "tradingStyle")
_OWN_WORDS = frozenset(("userNotes", "preferences", "olderNotes"))
_AND: dict[Language, str] = {"es": " y ", "en": " and "}
_QUOTED: dict[Language, str] = {"es": "«{}»", "en": "“{}”"}


def told_memory(memory: Fields, language: Language, after: int = 0, more: int = 0) -> str:
    """A memory (wire form) in sentences, facts newest first, each with its number, the day on which the user said it,
    and what to say to forget or correct it. `after`: so many facts were told before, and with them all else; `more`: so
    many are left out here."""
    coded = VALUES[language]
    lines: list[str] = []
    where = zone(str(memory.get("timezone") or "UTC"))
    known = cast("Mapping[str, str]", memory.get("since") or {})

    def say(name: str, value: str) -> None:
        since = _SAY["said"][language].format(date=_day(known[name], language, where)) if name in known else ""
        lines.append(_SAY[name][language].format(value=value + since) + _OFFERS[name][language])

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
        told = _SAY["told_on" if date else "told"][language].format(date=date, value=_quoted(fact, language))
        lines.append(f"{number}. {told}" + _SAY["offer"][language].format(number=number))
    if more:
        lines.append(_SAY["more"][language].format(count=more))
    if strategies := [str(one["name"]) for one in cast("Sequence[Fields]", memory.get("recentStrategies") or ())]:
        say("recentStrategies", _listed(strategies, language))
    if questions := [one for one in _list(memory, "frequentQuestions") if "[" not in one]:
        begins = "¿" if language_of(questions[0], language) == "es" else ""  # templates are kept without it
        say("asked", begins + questions[0])
    if not lines:
        return _SAY["no_more" if after else "nothing"][language]
    past = cast("Sequence[Fields]", memory.get("superseded") or ())
    lines += [_ended(one, language, lambda value: coded.get(value, value), where) for one in past[:ENDED]]
    return "\n".join([_SAY["rest" if after else "known"][language], *lines])


def listed_facts(told: str) -> dict[int, str]:
    """The facts in a text of `told_memory`, by their numbers; empty: it is another text."""
    for language in get_args(Language):
        quote = re.escape(_QUOTED[language]).replace(re.escape("{}"), "(.+)")
        offer = re.escape(_SAY["offer"][language].split("{number}")[0])
        line = rf"^(\d+)\. [^“«\n]*{quote}\.{offer}"
        if found := re.findall(line, told, re.M):
            return {int(number): fact for number, fact in found}
    return {}


def _ended(past: Fields, language: Language, coded: Callable[[str], str], where: tzinfo) -> str:
    text = _SAY["ended"][language].format(value=coded(str(past["value"])))
    if isinstance(until := past.get("until"), str):
        text += _SAY["since"][language].format(date=_day(until, language, where))
    by = past.get("by")
    if not by:
        return text + "."
    kind = "because" if past.get("field") in _OWN_WORDS else "replaced"
    return text + _SAY[kind][language].format(by=coded(str(by)))


def _day(moment: str, language: Language, where: tzinfo) -> str:
    day = datetime.fromisoformat(moment).astimezone(where)
    month = MONTH_NAMES[language][day.month - 1]
    return f"{day.day} de {month} de {day.year}" if language == "es" else f"{month} {day.day}, {day.year}"


def _list(memory: Fields, name: str) -> list[str]:
    return [str(one) for one in cast("Sequence[object]", memory.get(name) or ())]


def _listed(values: Sequence[str], language: Language) -> str:
    *others, last = values
    return f"{', '.join(others)}{_AND[language]}{last}" if others else last


def _quoted(text: str, language: Language) -> str:
    return _QUOTED[language].format(text)
