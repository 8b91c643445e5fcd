"""Whether a sentence tells that there is another number of something than a fact says."""

import re
from functools import lru_cache

from contracts.calendar_names import MONTHS, NUMBERS
from memory.domain.long_term.concepts import ACTIONS, COUNTS, concept, concepts_of, normalize
from memory.domain.long_term.slots import OCCASION
from memory.domain.replacement import GENERIC

DATES = {concept(word) for word in (*MONTHS, *OCCASION)}
NUMBER_CONCEPTS = concepts_of(" ".join(NUMBERS))
NUMBER_WORDS = rf"\d+|{'|'.join(NUMBERS)}"
_TRADED = re.compile(
    r"\b(?:(?:sold|vendi|vendimos|vendido) (?P<sold>\d+(?:[.,]\d{3})*)|(?:bought|compre|compramos|comprado) \d[\d.,]* "
    r"(?:more|mas))\b(?P<unnamed>(?: (?:more|mas|today|yesterday|hoy|ayer))?(?:$|[,;.]| so\b| asi\b))?"
)
_HELD = re.compile(r"\b(?:have|own|hold|got|tengo|tenemos|poseo) (?P<count>\d+(?:[.,]\d{3})*|[a-z]+) (?P<what>\w+)")
_REMAINING = re.compile(
    r"\b(?:(?:only|just) (?:have|own)|have (?:only|just)|am down to|are down to|left with|(?:me|nos) quedan?|"
    rf"solo (?:tengo|tenemos)|(?:tengo|tenemos) solo) (?:with )?(?:only |just |solo )?(?P<count>{NUMBER_WORDS}|una?)\b"
)
_SHARES = re.compile(r"\b(?:shares?|stocks?|acciones|[A-Z]{2,5})\b")


def changes_count(sentence: str, fact: str) -> bool:
    """Whether a sentence tells that its writer sold some of the things of which a fact tells a larger number, or bought
    more of them. A sale that names nothing is one of shares."""
    traded, holding = _TRADED.search(normalize(sentence)), _HELD.search(normalize(fact))
    if holding is None or not (count := _number(holding["count"])):
        return False
    if remaining := _REMAINING.search(normalize(sentence)):
        return _number(remaining["count"]) < count and concept(holding["what"]) in concepts_of(sentence)
    if traded is None or (traded["sold"] and _number(traded["sold"]) >= count):
        return False
    if traded["unnamed"] is not None:
        return bool(_SHARES.search(fact))
    return bool(distinctive_concepts(sentence) & distinctive_concepts(fact) - GENERIC)


def _number(count: str) -> int:
    """Returns the number that digits or a word say; 0 if the word is none."""
    return int(re.sub(r"\D", "", COUNTS.get(count, count)) or 0)


@lru_cache(maxsize=4_000)
def distinctive_concepts(text: str) -> frozenset[str]:
    """Returns the concepts of a text without figures, actions and dates."""
    return (
        frozenset(concept_ for concept_ in concepts_of(text) if not concept_[0].isdigit())
        - ACTIONS
        - DATES
        - NUMBER_CONCEPTS
    )
