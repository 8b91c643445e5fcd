"""Prepares a question for search: its significant words, their synonyms, and their weights."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from contracts.vocabulary import SYNONYMS
from memory.domain.recall.words import STOP, SYNONYM_WEIGHT, english, language_of, query_terms, spanish, words

EARLIER_WEIGHT = 0.35
"""The weight of a word from earlier messages, if the question has few significant words."""
MIN_WORDS = 3
"""Significant words from which on a question is understood by itself."""
COMPANY_SYNONYM_WEIGHT = 0.9
"""The weight of a company's synonym, compared with the word itself."""

QUESTION_WORDS = frozenset(("donde", "where", "cuando", "when", "quien", "quienes", "who"))
"""Words that mean nothing in a text but a lot in its heading, in any language."""
_ASKING = tuple(
    (tuple(frozenset(form.split("+")) for form in asking.split()), topics.split())
    for asking, topics in (
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


def _same_stems() -> dict[str, frozenset[str]]:
    same_stems: dict[str, frozenset[str]] = {}
    for group in SYNONYMS:
        stems = frozenset(stem for word in group for stem in (english(word), spanish(word)))
        for stem in stems:
            same_stems[stem] = same_stems.get(stem, frozenset()) | stems
    return same_stems


_SAME_STEMS = _same_stems()
"""For each stem, the stems of words that mean the same, in either language."""


@dataclass(frozen=True, slots=True)
class QueryWord:
    """One word: the stems that represent it, each with its weight; and its own weight among the words."""

    word: str
    stems: Mapping[str, float]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class KnowledgeQuestion:
    """What is searched for. `language`: of the question, if it can be determined."""

    query_words: tuple[QueryWord, ...]
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
        """Returns the words of the synonyms, by the word of the text that is, or begins, one of the phrases."""
        text_words = words(text)
        by_word: dict[str, list[str]] = {}
        for index, word in enumerate(text_words):
            for length in range(1, min(self._longest, len(text_words) - index) + 1):
                for other in self._others.get(tuple(text_words[index : index + length]), ()):
                    by_word.setdefault(word, []).append(other)
        return by_word


def parsed_question(
    text: str, earlier: Sequence[str] = (), language: str | None = None, synonyms: Synonyms | None = None
) -> KnowledgeQuestion:
    """Returns the question. The messages in `earlier`, newest first, count if it says little by itself."""
    query_words = {query_word.word: query_word for query_word in _words(text, synonyms, 1.0)}
    if len(query_words) < MIN_WORDS:
        weight = EARLIER_WEIGHT
        for message in earlier:
            for query_word in _words(message, synonyms, weight):
                query_words.setdefault(query_word.word, query_word)
            weight *= 0.6
    return KnowledgeQuestion(tuple(query_words.values()), language_of(text) or language)


def with_earlier(text: str, earlier: Sequence[str]) -> str:
    """Returns a question, preceded by the one before it if it says little by itself."""
    return f"{earlier[0]} {text}" if earlier and len(list(query_terms(text))) < MIN_WORDS else text


@dataclass(frozen=True, slots=True)
class TextProfile:
    """A text's words, for comparing it with another. Each word has its English and its Spanish stem, since the language
    of a few words cannot be determined; two words are alike if either stem is."""

    words: tuple[tuple[str, str], ...]
    stems: frozenset[str]
    numbers: frozenset[str]

    def shared(self, other: "TextProfile") -> list[tuple[str, str]]:
        """Returns the words that the other text has too."""
        return [word for word in self.words if word[0] in other.stems or word[1] in other.stems]


def text_profile(text: str) -> TextProfile:
    words_by_stems = {(english(word), spanish(word)): word for word in words(text) if word not in STOP}
    numbers = frozenset(word for word in words_by_stems.values() if word[0].isdigit())
    return TextProfile(tuple(words_by_stems), frozenset(stem for pair in words_by_stems for stem in pair), numbers)


def _words(text: str, synonyms: Synonyms | None, weight: float) -> list[QueryWord]:
    others = synonyms.of(text) if synonyms else {}
    query_words: list[QueryWord] = []
    for term in query_terms(text):
        stems = dict(term.stems)
        for word_stem in (english(term.word), spanish(term.word)):
            for other in _SAME_STEMS.get(word_stem, ()):
                stems.setdefault(other, SYNONYM_WEIGHT)
        for other in others.get(term.word, ()):
            for stem in (english(other), spanish(other)):
                stems[stem] = max(stems.get(stem, 0.0), COMPANY_SYNONYM_WEIGHT)
        query_words.append(QueryWord(term.word, stems, weight))
    text_words = set(words(text))
    asked_stems: dict[str, float] = {}
    for phrases, page_words in _ASKING:
        if weight == 1.0 and any(term <= text_words for term in phrases):
            for other in page_words:
                asked_stems |= (
                    {other: 1.0} if other in QUESTION_WORDS else dict.fromkeys(_stems_of(other), SYNONYM_WEIGHT)
                )
    if asked_stems:
        query_words.append(QueryWord("?", asked_stems, EARLIER_WEIGHT))
    # A phrase may consist of words that have no meaning by themselves.
    known_words = {term.word for term in query_words}
    for word, phrase_words in others.items():
        if word not in known_words:
            query_words.append(
                QueryWord(
                    word,
                    {s: COMPANY_SYNONYM_WEIGHT for other in phrase_words for s in (english(other), spanish(other))},
                    weight,
                )
            )
    return query_words


def _stems_of(word: str) -> tuple[str, str]:
    return english(word), spanish(word)
