"""The names of months, weekdays and numbers. Number names are for lookup in folded text (lower case, no accents)."""

from contracts.languages import LANGUAGES
from contracts.texts import TEXTS


def month_name(month: int, language: str) -> str:
    """Returns the name of a month, from 1."""
    return TEXTS["calendar.months"].in_language(language).split()[month - 1]


def day_name(weekday: int, language: str) -> str:
    """Returns the name of a weekday; Monday is 0."""
    return TEXTS["calendar.days"].in_language(language).split()[weekday]


def place_name(zone: str, language: str) -> str:
    """Returns the place of a time zone's IANA name: "Madrid", "Ciudad de México"."""
    place = zone.rsplit("/", 1)[-1].replace("_", " ")
    names = dict(pair.split("=") for pair in TEXTS["calendar.places"].in_language(language).split(", "))
    return names.get(place, place)


WEEKDAYS = {day_name(number, language).lower(): number for language in LANGUAGES for number in range(7)}
"""The weekday's number, by its name."""
MONTHS = {month_name(number, language).lower(): number for language in LANGUAGES for number in range(1, 13)}
MONTHS["setiembre"] = 9
"""The month's number, by its whole name."""
_SMALL = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen",
    "es": "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince "
    "dieciseis diecisiete dieciocho diecinueve",
}
_TENS = {
    "en": "ten twenty thirty forty fifty sixty seventy eighty ninety hundred",
    "es": "diez veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa cien",
}
NUMBERS = {
    **{word: number for words in _SMALL.values() for number, word in enumerate(words.split()) if word != "once"},
    **{word: 10 * number for words in _TENS.values() for number, word in enumerate(words.split(), 1)},
}
"""Whole numbers by their word. Articles are left out, since they are not always numbers, and "once", which is also
English."""

_OF_MEMORY = (
    r"(?: (?:everything|all|anything|whatever|it all))?(?: (?:that|what))? "
    r"(?:i (?:said|told you|mentioned)|you (?:know|remember|have (?:on|about|stored|saved)))\b"
    r"| (?:everything|all|anything) about\b| the (?:note|fact|part|bit|thing|stuff) (?:about|that|on)\b"
    r"| (?:the|that|my) (?:[\w-]+ ){1,3}(?:thing|bit|fact|note)\b| that (?:i|my|we)\b"
    r"| [^.,;]{1,60} from (?:your|my) memory\b"
)
_DE_MEMORIA = (
    r" (?:(?:que (?:no )?(?:soy|estoy|\w+o|mis?)|(?:lo|todo lo|el nombre|la edad) del?|mis?|"
    r"todo (?:sobre|acerca de)|(?:todo )?lo que (?:te (?:dije|conte|he (?:dicho|contado))|sabes|"
    r"recuerdas|tienes)|(?:de|from) (?:tu|mi) memoria)\b|"
    r" [^.,;]{1,60} de (?:tu|mi) memoria\b)"
)
FORGET_PATTERN = (
    r"(?:forget|stop remembering|don'?t remember|do not remember|no longer remember|"
    r"(?:you do not|you don'?t|no) need to remember|unlearn|i (?:don'?t|do not) want you to (?:know|remember)|"
    rf"(?:scratch|delete|drop|remove|erase|wipe|clear)(?={_OF_MEMORY})|"
    r"olvid(?:a|ate|ame|alo|ar|es|e)|deja de recordar|dejes de recordar|(?:ya )?no (?:quiero que |hace falta que )?"
    rf"(?:te )?recuerdes|no quiero que sepas|no (?:guardes|recuerdes)|"
    rf"(?:borra|elimina|quita|tacha)(?:me|lo)?(?={_DE_MEMORIA}))"
)
"""Pattern for the start of a request to forget something, over plain text (lower case, no accents)."""
