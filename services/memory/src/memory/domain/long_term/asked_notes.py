"""What a user asks to remember, in their own words."""

import re

from contracts.notes import split_note
from memory.domain.long_term.pasted import unquoted

_NOTE = re.compile(
    r"(?:^|[.,;:!¡?]\s*|\bplease\s+|\bpor favor,?\s+|\band\s+|\by\s+)(?:remember|keep in mind|don'?t forget|"
    r"make a note|note|recu[eé]rda(?:me)?|acu[eé]rdate(?: de)?|ten en cuenta|no olvides|no te olvides de|anota|"
    r"ap[uú]nta(?:me|te)?|write down|jot down|"
    r"toma nota)(?:\s+de)?(?:\s+(?:that|que)\b|:|,|\s+(?=(?:I|I'm|I've|my|we|our|mi|mis|soy|tengo|vivo|trabajo|estoy|"
    r"me|no|nunca|siempre)\b))"
    r"\s*((?:[^\n?.!]|[.!](?=\S)){2,500})",
    re.I,
)

_NOTE_BEFORE = re.compile(
    r"(?:^|[.!?\n]\s*+)((?:[^.!?\n]|[.](?=\S)){3,300}?)(?:\s*[,;:–]\s*|\s(?=(?:and|y|please|por favor)\b))(?:(?:and|so|"
    r"y|as[ií] que)\s+)?(?:(?:please|por favor),?\s+)?(?:remember (?:that|this|it)|(?:keep|bear) (?:that|this|"
    r"it) in mind|don'?t forget(?: (?:that|this|it))?|(?:make a note of|note) (?:that|this|it)|recu[eé]rda(?:lo|melo)|"
    r"tenlo (?:en cuenta|presente)|no lo olvides|no te olvides|an[oó]talo|ap[uú]ntalo|gu[aá]rdalo|ten eso en cuenta|"
    r"acu[eé]rdate(?: de (?:eso|esto))?)"
    r"(?:[\s,]+(?:please|por favor|ok|okay|vale|gracias|thanks|thank you))*\s*(?=$|[.!\n])",
    re.I,
)
"""A statement followed by the request to remember it: "my son is called Leo, keep that in mind"."""

_ONLY_POLITE = re.compile(r"(?:please|por favor|thanks|thank you|gracias|ok|okay|vale|for me|too|[\W_])*", re.I)
"""Nothing to remember: "remember that please" refers to what comes before it."""


def requested_notes(text: str) -> list[str]:
    """Returns what the text asks to remember; a request inside a quotation is somebody else's."""
    unquoted_text = unquoted(text)
    notes = [text[slice(*match.span(1))].strip(" .,") for match in _NOTE.finditer(unquoted_text)]
    notes = [note for note in notes if not _ONLY_POLITE.fullmatch(note)]
    notes = notes or [text[slice(*match.span(1))].strip(" .,") for match in _NOTE_BEFORE.finditer(unquoted_text)]
    return [part for note in notes for part in split_note(note)]
