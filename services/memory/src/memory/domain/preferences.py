"""What a text says that its writer prefers, in the writer's own words."""

import re

from memory.domain.permanence import is_of_the_moment, is_passing

_LEAD = (
    r"(?:now|actually|lately|nowadays|these days|from now on"
    r"|ahora|ahora s[ií]|[uú]ltimamente|a partir de ahora|desde ahora),?"
)
_NEXT = (
    r",?\s(?:and|but|y|e|pero) (?:I|we|my|yo|mis?|(?:ya )?(?:no )?(?:prefiero|odio|detesto|adoro|me (?:gust|encant)an?|"
    r"nunca|siempre|soy|tengo|vivo|trabajo))\b"
)
"""The start of another statement of the same sentence."""
PREFERENCE = re.compile(
    rf"(?:^|[.,;:!¡]\s*|\b(?:and|y|pero|but)\s+)(?:{_LEAD}\s+)?"
    r"((?:I(?:'d)? (?:always |really |now |actually )?(?:prefer|rather)\b|I (?:always |really |now |also |don'?t |"
    r"do not )?(?:like|love|enjoy|hate|dislike)\b|(?:instead of|rather than|en vez de|"
    r"en lugar de) [^.!?,;\n]{2,40},? (?:I prefer|prefiero)\b|always\b|I always\b|(?:yo )?(?:siempre |ahora |"
    r"(?:ya )?no )?(?:prefiero|odio|detesto|adoro)\b|(?:a m[ií] )?(?:ahora |no )?(?:me gustan?|me encantan?)\b|"
    r"siempre\b)"
    rf"(?:(?!{_NEXT})(?:[^.!?\n;]|[.](?=\d))){{2,300}})",
    re.I,
)


def preferences_in(text: str) -> list[str]:
    """Returns the preferences that the text states, in its own words."""
    return [preference for match in PREFERENCE.finditer(text) if not is_momentary(preference := match[1].strip(" ,"))]


def is_momentary(text: str) -> bool:
    return is_passing(text) or is_of_the_moment(text)
