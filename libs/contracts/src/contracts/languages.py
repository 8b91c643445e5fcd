"""The languages of the product, and the choice of one for a person."""

import re
from typing import Literal, get_args

Language = Literal["es", "en"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
DEFAULT_LANGUAGE: Language = "es"

_LONGEST = 1_000
_BY_SUBTAG: dict[str, Language] = {language: language for language in LANGUAGES}
_QUALITY = re.compile(r"^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$")


def named_language(tags: str | None) -> Language | None:
    """The first of our languages in a tag (es-MX, en_GB.UTF-8) or in an Accept-Language header (RFC 9110, 12.5.4).

    In a header the best quality counts, then the order; entries with q=0 or an invalid quality are ignored.
    """
    best: Language | None = None
    most = 0.0
    for one in (tags or "")[:_LONGEST].split(","):
        tag, *parameters = (part.strip() for part in one.lower().split(";"))
        quality = _quality(parameters)
        known = _BY_SUBTAG.get(re.split(r"[-_.]", tag)[0])
        if known is not None and quality > most:
            best, most = known, quality
    return best


def spoken_language(tags: str | None) -> Language:
    """The same, but Spanish if none of ours is named."""
    return named_language(tags) or DEFAULT_LANGUAGE


def _quality(parameters: list[str]) -> float:
    if not parameters:
        return 1.0
    found = _QUALITY.match(parameters[0])
    return float(found[1]) if found else 0.0
