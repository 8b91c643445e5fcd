"""What a user asks to remember, in their own words."""

import re

from memory.domain.long_term.speech import unquoted

_NOTE = re.compile(
    r"(?:^|[.,;:!¡?]\s*|\bplease\s+|\bpor favor,?\s+|\band\s+|\by\s+)"
    r"(?:remember|keep in mind|don'?t forget|make a note|note"
    r"|recu[eé]rda(?:me)?|acu[eé]rdate(?: de)?|ten en cuenta|no olvides"
    r"|no te olvides de|anota|toma nota)(?:\s+de)?"
    r"(?:\s+(?:that|que)\b|:|,|\s+(?=(?:I|I'm|I've|my|we|our|mi|mis|soy|tengo|vivo|trabajo|estoy|me|no|nunca|siempre)\b))"
    r"\s*((?:[^\n?.!]|[.!](?=\S)){2,500})",
    re.I,
)

_NOTE_BEFORE = re.compile(
    r"(?:^|[.!?\n]\s*+)((?:[^.!?\n]|[.](?=\S)){3,300}?)"
    r"(?:\s*[,;:–]\s*|\s(?=(?:and|y|please|por favor)\b))(?:(?:and|so|y|as[ií] que)\s+)?(?:(?:please|por favor),?\s+)?"
    r"(?:remember (?:that|this|it)|(?:keep|bear) (?:that|this|it) in mind|don'?t forget(?: (?:that|this|it))?"
    r"|(?:make a note of|note) (?:that|this|it)"
    r"|recu[eé]rda(?:lo|melo)|tenlo (?:en cuenta|presente)|no lo olvides|no te olvides|an[oó]talo|ap[uú]ntalo"
    r"|gu[aá]rdalo|ten eso en cuenta|acu[eé]rdate(?: de (?:eso|esto))?)"
    r"(?:[\s,]+(?:please|por favor|ok|okay|vale|gracias|thanks|thank you))*\s*(?=$|[.!\n])",
    re.I,
)
"""What stands before the request to remember it: "my son is called Leo, keep that in mind"."""


def notes_in(text: str) -> list[str]:
    """What the text asks to remember; a request in quotation marks is somebody else's."""
    own = unquoted(text)
    found = [text[slice(*match.span(1))].strip(" .,") for match in _NOTE.finditer(own)]
    return found or [text[slice(*match.span(1))].strip(" .,") for match in _NOTE_BEFORE.finditer(own)]
