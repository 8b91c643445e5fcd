"""What is remembered of a user, told to them in sentences: facts in their own words, with dates and what ended them."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import cast

from agent.domain.prompt.copilot_words import WORDS
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
    "correct": {
        "es": "Puedes corregirme («ahora…») o decirme «olvida que…» sobre cualquiera de estas cosas.",
        "en": "You can correct any of this (“now I…”) or tell me “forget that…”.",
    },
    "name": {"es": "Te llamas {value}.", "en": "Your name is {value}."},
    "riskProfile": {"es": "Tu perfil de riesgo es {value}.", "en": "Your risk profile is {value}."},
    "experience": {"es": "En experiencia, tu nivel es {value}.", "en": "Your level of experience is {value}."},
    "language": {"es": "Prefieres que hablemos en {value}.", "en": "You prefer to speak {value}."},
    "timezone": {"es": "Tu zona horaria es {value}.", "en": "Your time zone is {value}."},
    "tradingStyle": {"es": "Tu estilo es {value}.", "en": "Your trading style is {value}."},
    "favoriteSymbols": {"es": "Sigues sobre todo {value}.", "en": "You mostly follow {value}."},
    "facts": {"es": "Me has dicho: {value}.", "en": "You told me: {value}."},
    "recentStrategies": {"es": "Hemos hablado de {value}.", "en": "We have talked about {value}."},
    "asked": {"es": "Has preguntado varias cosas, por ejemplo «{value}».",
              "en": "You have asked several things, for example “{value}”."},
    "ended": {"es": "«{value}» ya no vale", "en": "“{value}” no longer applies"},
    "said": {"es": " (desde el {date})", "en": " (since {date})"},
    "since": {"es": " desde el {date}", "en": " as of {date}"},
    "because": {"es": ": dijiste «{by}».", "en": ": you said “{by}”."},
    "replaced": {"es": ": ahora es {by}.", "en": ": now it is {by}."},
    "more": {"es": "Hay {count} cosas más.", "en": "There are {count} more."},
}  # fmt: skip
_SINGLE = ("name", "riskProfile", "experience", "language", "timezone", "tradingStyle")
_OWN_WORDS = frozenset(("userNotes", "preferences", "olderNotes"))
_AND: dict[Language, str] = {"es": " y ", "en": " and "}
_QUOTED: dict[Language, str] = {"es": "«{}»", "en": "“{}”"}


def told_memory(memory: Fields, language: Language) -> str:
    """A memory (wire form) in sentences, facts newest first, each with the day on which the user said it."""
    words = WORDS[language]
    coded = {**words.risks, **words.experiences, **words.styles, **words.languages}
    lines: list[str] = []
    where = zone(str(memory.get("timezone") or "UTC"))
    known = cast("Mapping[str, str]", memory.get("since") or {})

    def say(name: str, value: str, fact: str = "") -> None:
        since = _SAY["said"][language].format(date=_day(known[fact], language, where)) if fact in known else ""
        lines.append(_SAY[name][language].format(value=value + since))

    for name in _SINGLE:
        if value := memory.get(name):
            say(name, coded.get(str(value), str(value)), name)
    if symbols := _list(memory, "favoriteSymbols"):
        say("favoriteSymbols", _listed(symbols[:SHOWN], language))
    facts = [*_list(memory, "userNotes"), *_list(memory, "preferences"), *_list(memory, "olderNotes")]
    for fact in facts[:SHOWN]:
        say("facts", _quoted(fact, language), fact)
    if len(facts) > SHOWN:
        lines.append(_SAY["more"][language].format(count=len(facts) - SHOWN))
    if strategies := [str(one["name"]) for one in cast("Sequence[Fields]", memory.get("recentStrategies") or ())]:
        say("recentStrategies", _listed(strategies, language))
    if questions := [one for one in _list(memory, "frequentQuestions") if "[" not in one]:
        say("asked", questions[0])
    if not lines:
        return _SAY["nothing"][language]
    past = cast("Sequence[Fields]", memory.get("superseded") or ())
    lines += [_ended(one, language, lambda value: coded.get(value, value), where) for one in past[:ENDED]]
    return "\n".join([_SAY["known"][language], *lines, _SAY["correct"][language]])


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
