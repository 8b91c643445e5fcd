"""Which facts answer a question about oneself: "where do I live?" is answered by "I just moved to Austin"."""

import re
from collections.abc import Callable, Sequence

from memory.domain.long_term.concepts import concept, concepts_of, normalize
from memory.domain.mentions import mentioned
from memory.domain.recall.words import words
from memory.domain.references import LIVING, reference_words, referred_facts
from memory.domain.relevant_facts import facets

MOST = 3
_OWN = re.compile(r"\b(?:my|our|i|me|we|mis?|nuestr[oa]s?|yo)\b|\b\w+(?:[^sn\W]o|[éí])\b")
"""Speaks of who asks; in Spanish by the form of the verb."""
_NOT_OF_FACTS = re.compile(
    r"\b(?:should|shall|could|would|can|may|worth|advi[cs]e|recommend|debo (?=\w+[aei]r\b)|deberia|conviene|"
    r"(?<!no )puedo|podria|recomiendas?|did i (?:ask|say|tell)|te (?:dije|pregunte|conte))\b|"
    r"\b(?:how|where) (?:do|to|can) i? ?(?!live|work|study|come|keep|store)\w+ (?:my|an?|options|shares)\b|"
    r"\b(?:como|donde) (?!me llam|se llam|vivo|trabajo|estudio|guardo)"
    r"(?:me |lo |la )?\w+o\b"
)
"""Asks for advice, for the way to do something, or for what was said in the chat."""
_GENERAL = frozenset(("use", "pay"))
_PEOPLE = frozenset(
    concept(word)
    for word in words(
        "brother sister mother father mom dad son daughter kid wife husband boss friend partner hermano hermana madre "
        "padre hijo hija mujer marido esposa esposo jefe amigo amiga novia"
    )
)
_PLACE = re.compile(r"\b(?:in|at|near|from|with|en|de|for|con)\b|\b(?:to|a) [A-ZÁÉÍÓÚ]")
_COUNTED = re.compile(r"\d|\b(?:one|two|three|four|five|six|twins|dos|tres|cuatro|cinco|seis|gemelos)\b")
_TIME = re.compile(
    r"\d|\b(?:on|at|in|every|until|after|before|el|los|las|en|cada|hasta|por las?|de noche|days?|nights?|mornings?)\b"
)
_ASKED_FOR: tuple[tuple[re.Pattern[str], Callable[[str], object]], ...] = (
    (re.compile(r"^\W*(?:(?:de|from) )?(?:where|donde)\b"), _PLACE.search),
    (re.compile(r"^\W*(?:how (?:much|many|old)|a?\W*cuant[oa]s?)\b"), _COUNTED.search),
    (re.compile(r"^\W*(?:(?:until|desde|hasta|since) )?(?:when|cuando)\b"), _TIME.search),
)
"""What an answer to such a question must tell."""
_ASKING = re.compile(
    r"^\W*(?:(?:and|y|so|tell me|dime|in|at|on|for|a|de|en|con|para|desde|hasta|until|from) )*"
    r"(?:where|who|what|how|when|which|donde|quien|que|como|cuando|cual|cuant[oa]s?)\b(?: (?:day|time|dia|hora)\b)?"
    r"(?: (?:do|did|have) you (?:know|remember|learned|noted) (?:about|of)\b| (?:sabes|recuerdas|te acuerdas|"
    r"has apuntado) "
    r"(?:del?|sobre|acerca de)\b)?"
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_WHETHER = re.compile(r"^\W*(?:(?:do|did|am|have|was|had) i|no \w+[oei]|\w+[oei])\b[^?]*\?")


def facts_that_answer(facts: Sequence[str], message: str) -> list[str]:
    """The facts, at most `MOST`, that tell what a message asks; none, if it asks for something else."""
    each = (_that_answer(facts, one) for one in _questions(message))
    return next(filter(None, each), list[str]())


def is_about_writer(message: str) -> bool:
    """Whether facts about who writes it may answer a message."""
    return bool(_questions(message))


def _questions(message: str) -> list[str]:
    """The questions of a message that are about who asks: of one sentence with or without its mark, of several those
    with it."""
    several = [one for one in _SENTENCE.split(message) if one.strip()]
    asked = several if len(several) < 2 else [one for one in several if "?" in one]
    return [
        one
        for one in asked
        if (_ASKING.match(normalize(one)) or _WHETHER.match(normalize(one)))
        and _OWN.search(one.lower())
        and not _NOT_OF_FACTS.search(normalize(one))
    ]


def _that_answer(facts: Sequence[str], question: str) -> list[str]:
    bare = normalize(question)
    symbols = frozenset(map(concept, words(normalize(" ".join(mentioned(question))))))
    asked = LIVING.sub("job", _ASKING.sub("", bare, count=1))
    people = concepts_of(asked) & _PEOPLE
    told = [tells for begins, tells in _ASKED_FOR if begins.match(bare)]
    able = [one for one in facts if people <= concepts_of(one) and all(tells(one) for tells in told)]
    if symbols:
        able = [one for one in able if symbols <= concepts_of(one)]
        about = reference_words(asked) - symbols
        return [one for one in able if about & concepts_of(one) or facets(asked) & facets(one)][:MOST]
    named, several = referred_facts(able, asked)
    return [one for one in named or several if _is_all_of(asked, one)][:MOST]


def _is_all_of(asked: str, fact: str) -> bool:
    """Whether a fact is about everything that a question names."""
    every = [
        facets(word, forms=False) or frozenset((concept(word),))
        for word in words(asked)
        if reference_words(word) - _GENERAL
    ]
    of = facets(fact) | concepts_of(fact)
    return bool(every) and all(one & of for one in every)
