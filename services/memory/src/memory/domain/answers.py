"""Which facts answer a question about the writer: "where do I live?" is answered by "I just moved to Austin"."""

import re
from collections.abc import Callable, Sequence
from itertools import islice

from memory.domain.claims import PEOPLE, claims, denies
from memory.domain.long_term.concepts import I_EAT, concept, concepts_of, normalize
from memory.domain.mentions import mentioned_symbols
from memory.domain.recall.words import words
from memory.domain.references import CHILDREN, LIVING, PEOPLE_CONCEPTS, reference_words, referred_facts
from memory.domain.relevant_facts import RESTRICTS, facets

MAX_ANSWERS = 3
_ABOUT_WRITER = re.compile(
    r"\b(?:my|our|i|me|we|mis?|nuestr[oa]s?|yo|soy|estoy|voy|doy)\b|\b\w+(?:[^sn\W]o|[éí])\b|"
    r"\b\w+(?:aba|ía) antes\b"
)
"""Refers to the writer; in Spanish by the form of the verb."""
_NOT_OF_FACTS = re.compile(
    r"\b(?:should|shall|could|would|can(?! not)|may|worth|advi[cs]e|recommend|debo (?=\w+[aei]r\b)|deberia|conviene|"
    r"(?<!no )puedo|podria|recomiendas?|did i (?:ask|say|tell)|te (?:dije|pregunte|conte))\b|"
    r"\b(?:how|where) (?:do|to|can) i? ?(?!live|work|study|come|keep|store)\w+ (?:my|an?|options|shares)\b|"
    r"\b(?:como|donde) (?!me llam|se llam|vivo|trabajo|estudio|guardo)"
    rf"(?:me |lo |la )?\w+o\b(?! (?:mis?|nuestr[oa]s?) (?:{PEOPLE})\b)"
)
"""Asks for advice, for the way to do something, or for what was said in the chat."""
_UNSPECIFIC = concepts_of(
    "use pay before antes anything something anybody anyone somebody someone kind tipo thing long tiempo hace hacia "
    "hizo"
)
_OF_PEOPLE = frozenset(("spouse", "children", "relatives"))
"""Subjects of questions that a fact about somebody else may answer: "am I married?"."""
_INTENTIONS = concepts_of("want like prefer dream wish plan goal sueno planeo")
_ATTITUDES = frozenset(("like", "prefer", "trade", "want"))
_WISHED = re.compile(
    r"\b(?:would|i'd|we'd) (?:\w+ )?(?:love|like)\b|\b(?:some ?day|one day|hope to|algun dia|espero)\b|"
    r"\bme (?:encantaria|gustaria)\b"
)
"""A wish, which tells nothing of how things are."""
_BEFORE = re.compile(r"\b(?:before|previous|former|antes|anterior)\b(?! \d)")
_WAS = re.compile(r"\b(?:used to|was|were|did|before|antes|solia|\w{2,}aba|vivia|tenia|era|hacia)\b")
_PLACE = re.compile(r"\b(?:in|at|near|from|with|en|de|for|con)\b|\b(?:to|a) [A-ZÁÉÍÓÚ]")
_COUNTED = re.compile(r"\d|\b(?:one|two|three|four|five|six|twins|dos|tres|cuatro|cinco|seis|gemelos)\b")
_TIME = re.compile(
    r"\d|\b(?:on|at|in|every|until|after|before|el|los|las|en|cada|hasta|por las?|de noche|days?|nights?|mornings?)\b"
)
_REQUIREMENTS: tuple[tuple[re.Pattern[str], Callable[[str], object]], ...] = (
    (re.compile(r"^\W*(?:(?:de|from) )?(?:where|donde)\b"), _PLACE.search),
    (re.compile(r"^\W*(?:how (?:much|many|old|long)|a?\W*cuant[oa]s?)\b"), _COUNTED.search),
    (re.compile(r"^\W*(?:(?:until|desde|hasta|since) )?(?:when|cuando)\b"), _TIME.search),
)
"""What an answer to such a question must contain."""
_ASKING = re.compile(
    r"^\W*(?:(?:and|y|so|tell me|dime|in|at|on|for|a|de|en|con|para|desde|hasta|until|from) )*"
    r"(?:where|who|what|how|when|which|donde|quien|que|como|cuando|cual|cuant[oa]s?)\b(?: (?:day|time|dia|hora)\b)?"
    r"(?: (?:do|did|have) you (?:know|remember|learned|noted) (?:about|of)\b| (?:sabes|recuerdas|te acuerdas|"
    r"has apuntado) "
    r"(?:del?|sobre|acerca de)\b)?"
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_WHETHER = re.compile(
    r"^\W*(?:(?:and|y) )?(?:(?:do|does|did|am|is|are|was|were|have|has|had) (?:i|we|my|our)|"
    r"(?:is|are) there any\w*|hay alg\w*|"
    r"(?:no |ya )*(?:\w+[oei]|soy|estoy|voy|doy)|(?:es|son|\w+[ae]n?)(?: \w+)? mis?)\b[^?]*\?"
)
_OPEN = re.compile(r"^\W*(?:what|which|que|cual)\b")


def facts_that_answer(facts: Sequence[str], message: str) -> list[str]:
    """Returns at most `MAX_ANSWERS` facts that answer a message; none if it asks for something else."""
    answers = (_answers_to(facts, question) for question in _questions(message))
    return next(filter(None, answers), list[str]())


def is_about_writer(message: str) -> bool:
    """Whether facts about its writer may answer a message."""
    return bool(_questions(message))


def _questions(message: str) -> list[str]:
    """Returns the questions of a message that are about its writer. A single sentence counts without a question mark
    too; of several sentences only those with one."""
    sentences = [sentence for sentence in _SENTENCE.split(message) if sentence.strip()]
    candidates = sentences if len(sentences) < 2 else [sentence for sentence in sentences if "?" in sentence]
    return [
        sentence
        for sentence in candidates
        if (_ASKING.match(normalize(sentence)) or _WHETHER.match(normalize(sentence)))
        and _ABOUT_WRITER.search(sentence.lower())
        and not _NOT_OF_FACTS.search(normalize(sentence))
    ]


def _answers_to(facts: Sequence[str], question: str) -> list[str]:
    normalized = normalize(question)
    symbols = frozenset(map(concept, words(normalize(" ".join(mentioned_symbols(question))))))
    wanted = LIVING.sub("job", _ASKING.sub("", I_EAT.sub("comer", normalized), count=1))
    people = concepts_of(CHILDREN.sub("", wanted)) & PEOPLE_CONCEPTS
    requirements = [meets for beginning, meets in _REQUIREMENTS if beginning.match(normalized)]
    possible = [
        fact
        for fact in facts
        if people <= concepts_of(fact)
        and (people or facets(wanted) & _OF_PEOPLE or not claims(fact).relative)
        and all(meets(fact) for meets in requirements)
    ]
    if symbols:
        possible = [fact for fact in possible if symbols <= concepts_of(fact)]
        topic = reference_words(wanted) - symbols
        related = (fact for fact in possible if topic & concepts_of(fact) or facets(wanted) & facets(fact))
        return list(islice(related, MAX_ANSWERS))
    matching, ambiguous = referred_facts(possible, wanted)
    answers = [fact for fact in matching or ambiguous or possible if _covers_all(wanted, fact)]
    if _WHETHER.match(normalized):
        named = reference_words(wanted) - _UNSPECIFIC
        answers = [fact for fact in answers if named <= concepts_of(fact)] or answers
    if not _WISHED.search(normalized) and not concepts_of(normalized) & _INTENTIONS:
        answers = [fact for fact in answers if not _WISHED.search(normalize(fact))]
    if _BEFORE.search(normalized):
        return [fact for fact in answers if _WAS.search(normalize(fact))][:MAX_ANSWERS]
    if not _WAS.search(normalized):
        answers = [fact for fact in answers if not _WAS.search(normalize(fact))] or answers
    return _with_polarity(normalized, answers)[:MAX_ANSWERS]


def _with_polarity(question: str, facts: list[str]) -> list[str]:
    """Returns the facts that deny something if an open question asks for that; else the others, if there are any."""
    if not _OPEN.match(question):
        return facts
    if denies(question):
        return [fact for fact in facts if claims(fact).is_denial or RESTRICTS.search(normalize(fact))]
    return [fact for fact in facts if not claims(fact).is_denial] or facts


def _covers_all(question_part: str, fact: str) -> bool:
    """Whether a fact is about everything that a question names."""
    topics = [
        facets(word, forms=False) or frozenset((concept(word),))
        for word in words(question_part)
        if reference_words(word) - _UNSPECIFIC
    ] or [frozenset((attitude,)) for attitude in concepts_of(question_part) & _ATTITUDES]
    fact_topics = facets(fact) | concepts_of(fact)
    return bool(topics) and all(topic & fact_topics for topic in topics)
