"""Prepares a question for search: its significant words, their synonyms, and their weights."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from contracts.vocabulary import SAME_MEANING
from memory.domain.recall.words import STOP, SYNONYM_WEIGHT, english, language_of, query_terms, spanish, words

EARLIER = 0.35
"""The weight of a word from earlier messages, if the question says little by itself."""
SAYS_LITTLE = 3
"""Significant words from which on a question is understood by itself."""
SAME_HERE = 0.9
"""The weight of a company's synonym, compared with the word itself."""

QUESTION_WORDS = frozenset(("donde", "where", "cuando", "when", "quien", "quienes", "who"))
"""Words that say nothing in a text but a lot in its heading, in any language."""
_ASKING = tuple(
    (tuple(frozenset(one.split("+")) for one in asking.split()), told.split())
    for asking, told in (
        (
            "donde where address direccion",
            "donde where direccion calle ubicacion llegar address street located find",
        ),
        ("cuando when", "cuando when horario fecha fechas hours opening dates"),
        ("quien quienes who", "quien quienes who equipo fundo team staff founded"),
        (
            "hora horas abris abren abre abierto abiertos cerrais cierran cierra time open opens close closes shut",
            "horario abrimos hours opening open",
        ),
        (
            "how+get+there how+get+to directions llego llega llegar bus train autobus tren",
            "llegar directions bus train station autobus tren estacion",
        ),
        (
            "cant+come cannot+come cant+make+it cannot+make+it no+puedo+ir no+puedo+venir no+podemos+ir",
            "cancel cancelling cancellation cancelar cancelacion anular",
        ),
        (
            "how+much how+expensive cuanto+vale cuanto+valen cuanto+cuesta cuanto+cuestan cuanto+sale cuanto+es "
            "cuanto+cobran cuanto+cobrais",
            "price prices pricing cost costs fee fees precio precios cuesta cuestan tarifa tarifas",
        ),
        (
            "sign+up register join enrol apunto apuntarme inscribo inscribirme registro registrarme",
            "register registration join enrol apuntarse inscripcion registro registrarse alta",
        ),
    )
)
"""By the words that ask for something (`a+b`: all of these): what pages call it, in either language."""


def _meant() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for group in SAME_MEANING:
        stems = frozenset(stem for word in group for stem in (english(word), spanish(word)))
        for stem in stems:
            found[stem] = found.get(stem, frozenset()) | stems
    return found


_MEANT = _meant()
"""For each stem, the stems of words that mean the same, in either language."""


@dataclass(frozen=True, slots=True)
class QueryWord:
    """One word: the stems that stand for it, each with its weight; and what it counts beside the others."""

    word: str
    stems: Mapping[str, float]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class KnowledgeQuestion:
    """What is looked for. `language`: of the question, where it can be told."""

    asked: tuple[QueryWord, ...]
    language: str | None


class Synonyms:
    """Groups of words or phrases that mean the same to a company."""

    def __init__(self, groups: Iterable[Sequence[str]] = ()) -> None:
        self._others: dict[tuple[str, ...], dict[str, None]] = {}
        self._longest = 0
        for group in groups:
            phrases = [tuple(words(phrase)) for phrase in group]
            for phrase in phrases:
                if not phrase:
                    continue
                self._longest = max(self._longest, len(phrase))
                others = self._others.setdefault(phrase, {})
                others |= dict.fromkeys(word for other in phrases if other != phrase for word in other)

    def of(self, text: str) -> dict[str, list[str]]:
        """By word of the text that is, or begins, one of the phrases: the words of the others."""
        every = words(text)
        found: dict[str, list[str]] = {}
        for place, word in enumerate(every):
            for length in range(1, min(self._longest, len(every) - place) + 1):
                for other in self._others.get(tuple(every[place : place + length]), ()):
                    found.setdefault(word, []).append(other)
        return found


def parsed_question(
    text: str, earlier: Sequence[str] = (), language: str | None = None, synonyms: Synonyms | None = None
) -> KnowledgeQuestion:
    """The question. What was said `earlier`, newest first, counts where it says little by itself."""
    asked = {one.word: one for one in _words(text, synonyms, 1.0)}
    if len(asked) < SAYS_LITTLE:
        weight = EARLIER
        for said in earlier:
            for one in _words(said, synonyms, weight):
                asked.setdefault(one.word, one)
            weight *= 0.6
    return KnowledgeQuestion(tuple(asked.values()), language_of(text) or language)


def with_earlier(text: str, earlier: Sequence[str]) -> str:
    """A question, behind the one before it where it says little by itself."""
    return f"{earlier[0]} {text}" if earlier and len(list(query_terms(text))) < SAYS_LITTLE else text


@dataclass(frozen=True, slots=True)
class TextProfile:
    """What a text tells, for comparing it with another. Each word has its English and its Spanish stem: what language a
    few words are cannot be told, and two are alike when either stem is."""

    words: tuple[tuple[str, str], ...]
    stems: frozenset[str]
    numbers: frozenset[str]

    def shared(self, other: "TextProfile") -> list[tuple[str, str]]:
        """The words that the other one tells too."""
        return [word for word in self.words if word[0] in other.stems or word[1] in other.stems]


def text_profile(text: str) -> TextProfile:
    found = {(english(word), spanish(word)): word for word in words(text) if word not in STOP}
    numbers = frozenset(word for word in found.values() if word[0].isdigit())
    return TextProfile(tuple(found), frozenset(stem for pair in found for stem in pair), numbers)


def _words(text: str, synonyms: Synonyms | None, weight: float) -> list[QueryWord]:
    others = synonyms.of(text) if synonyms else {}
    found: list[QueryWord] = []
    for one in query_terms(text):
        stems = dict(one.stems)
        for own in (english(one.word), spanish(one.word)):
            for other in _MEANT.get(own, ()):
                stems.setdefault(other, SYNONYM_WEIGHT)
        for other in others.get(one.word, ()):
            for stem in (english(other), spanish(other)):
                stems[stem] = max(stems.get(stem, 0.0), SAME_HERE)
        found.append(QueryWord(one.word, stems, weight))
    every = set(words(text))
    asking: dict[str, float] = {}
    for asked, told in _ASKING:
        if weight == 1.0 and any(one <= every for one in asked):
            for other in told:
                asking |= {other: 1.0} if other in QUESTION_WORDS else dict.fromkeys(_both(other), SYNONYM_WEIGHT)
    if asking:
        found.append(QueryWord("?", asking, EARLIER))
    # A phrase may be made of words that tell nothing by themselves.
    known = {one.word for one in found}
    for word, same in others.items():
        if word not in known:
            found.append(
                QueryWord(word, {s: SAME_HERE for other in same for s in (english(other), spanish(other))}, weight)
            )
    return found


def _both(word: str) -> tuple[str, str]:
    return english(word), spanish(word)
