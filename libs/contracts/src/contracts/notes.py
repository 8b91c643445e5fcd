"""Splits a request to remember into its facts: "I am vegan, that I live in Lima and that I don't smoke" is three. The
agent's rules ask for each of them, and memory learns each from the same words."""

import re

_PLAIN = (
    r"(?:I(?:'m|'ve| am| have| live| work| own| (?:don't|do not|never|always|only))|(?:no )?(?:soy|tengo|tenemos|vivo|"
    r"vivimos|trabajo|fumo|bebo|gano)|(?:my|our) (?:\w+ ){1,3}(?:is|are|has|have|was|works|lives)|"
    r"(?:mis?|nuestr[oa]s?) (?:\w+ ){1,3}(?:es|son|tienen?|viven?|trabajan?|se llama?n?))\b"
)
"""The start of a statement about oneself."""
_NAMED = (
    r"(?:I\b|we\b|(?:my|our|the|no|nunca|me|nos|mis?|nuestr[oa]s?|el|la|los|las) \w|(?:soy|estoy|voy)\b|"
    r"(?-i:[A-ZÁÉÍÓÚÑ]\w+ \w)|\w{2,}(?:[oéí]|[aei]mos)\b)"
)
"""The start of such a statement after "that", where it may begin in more ways."""
_JOINT = re.compile(
    rf"(?:\s*[,;]\s*(?:(?:and|y|e)\s+)?|\s+(?:and|y|e)\s+)(?:(?:that|que)\s+(?={_NAMED})|(?={_PLAIN}))", re.I
)
_SUBORDINATE = re.compile(r"\b(?:that|which|who|whom|when|if|because|unless|que|quien|cuando|si|porque)\b", re.I)
"""A clause that may continue after the joint: "a car that I don't use and that I want to sell"."""
_VERB = re.compile(
    r"\b(?:I|we|is|are|has|have|was|\w+'s|es|(?<!\bmy )son|est[aá]n?|tienen?|viven?|trabajan?|se|era|fue)\b|"
    r"^(?:the|my|our) \w+ \w{3,}s\b|^(?:no |me |nos )*(?:soy|estoy|voy|\w{2,}(?:[oéí]|[aei]mos))\b",
    re.I,
)


def split_note(note: str) -> list[str]:
    """Returns the statements of a note, in its words and order; the note itself if it is a single statement."""
    statements, start = list[str](), 0
    for joint in _JOINT.finditer(note):
        statement = note[start : joint.start()]
        if _VERB.search(statement) and not _SUBORDINATE.search(statement):
            statements.append(statement)
            start = joint.end()
    return [*statements, note[start:]]
