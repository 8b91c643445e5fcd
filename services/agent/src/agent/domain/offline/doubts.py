"""Compares the sections that may answer a question: what each lacks, and which may be shown beside another."""

from collections.abc import Sequence

from agent.domain.offline import constraints, shapes
from agent.domain.offline.common_words import COMMON, significant_words
from agent.domain.offline.kinds import name_of
from agent.domain.offline.lexicon import keys_in, keys_of, words_of
from agent.domain.offline.months import covers_month
from agent.domain.offline.passage_index import SECTION_STRENGTH, Candidates
from agent.domain.offline.questions import (
    Query,
    topic_words,
)
from agent.domain.offline.relevance import Section
from agent.domain.offline.section_quotes import section_extract
from agent.domain.text_features import stem

MIN_SIMILARITY = 0.2
"""Similarity in meaning (0 is the average of texts, 1 the maximum) from which on a section may answer the question
whatever its words are (measured with multilingual-e5-small, decision 0153)."""
_MIN_SIMILARITY_LEAD = 0.12
"""Lead in similarity over the chosen sections from which on another section makes the answer uncertain."""
MIN_LIKELIHOOD_ALONE = 0.8
"""Likelihood from which on one section answers by itself."""
_MIN_SIMILARITY_ALONE = 0.15
"""Minimum similarity of a section that answers by itself."""
_NEED = frozenset(("=need",))
MAX_SECTIONS_SHOWN = 3
"""Sections shown at most if nothing is certain."""
MIN_LIKELIHOOD = 0.05
"""Minimum likelihood of each of them after the first."""
MIN_STRENGTH = 0.75
"""Minimum strength (0 to 1, `PassageIndex.strength`) of a word in a sentence that counts as containing it: the sentence
has it, or its section does."""
_MIN_TITLE_STRENGTH = 0.5
"""Strength of a word that only the page's title has; a word of less strength is uncovered."""
MIN_TOPIC_WORDS = 2
"""Number of specific words from which on a question says clearly what it is about."""
_HOURS = frozenset(("=hours",))
_MONTH = frozenset(("=month",))
"""Key that stands for any month, so another month has it too."""
_MIN_NAME_DIGITS = 4
"""A number with at least this many digits is a name, a year or an amount."""


def uncovered_names(question: str, query: Query, positions: Sequence[int], candidates: Candidates) -> list[str]:
    """The common words of a question that tables use in names ("Plus", "Plan Senior", "Large") and the chosen sentences
    lack."""
    rows = [passage for passage in candidates.passages if passage.is_table_row]
    names = [name_of(row) for row in rows] + [column for row in rows for column in row.columns if " " in column]
    words = {word for name in names for word in words_of(name)}.intersection(significant_words(question))
    return [
        word
        for word in map(stem, words)
        if word in COMMON.intersection(query)
        and not any(candidates.index.strength(frozenset((word,)), i) for i in positions)
    ]


def stand_apart(
    query: Query, required: Sequence[frozenset[str]], positions: Sequence[int], candidates: Candidates
) -> bool:
    """Whether what the question needs, such as a time, and what it is about are only in different sentences of a
    section."""
    index, topic = candidates.index, topic_words(query)
    meeting = [i for i in positions if index.has_all(required, i)] if required and topic else []
    return bool(meeting) and not any(
        index.strength(query[word], i) > SECTION_STRENGTH for word in topic for i in meeting
    )


def is_in_no_sentence(query: Query, sections: Sequence[Section], candidates: Candidates) -> bool:
    """Whether no sentence or row of these sections, with what stands above it, has every word that the question is
    about: "The crime group meets on Tuesdays. The film group has a waiting list." does not say whether the crime group
    has one."""
    index = candidates.index
    topic = [query[word] for word in topic_words(query) if not query[word] & (_MONTH | shapes.ANSWERED_IMPLICITLY)]
    return not any(
        all(index.strength(keys, i) not in (0, SECTION_STRENGTH) for keys in topic)
        for section in sections
        for i in section.sentences
    )


def with_times(
    question: str, query: Query, uncovered: Sequence[str], positions: Sequence[int], candidates: Candidates
) -> list[str]:
    """The uncovered words with the month or the hour that is asked for and that the chosen sentences do not give."""
    uncovered, texts = list(uncovered), [candidates.passages[i].text for i in positions]
    if not any(_MONTH & keys for keys in query.values()):
        # A sentence about one month only is an exception to the rule.
        uncovered += ["=month"] * any(shapes.A_MONTH_ALONE.match(text) for text in texts)
    uncovered += [
        word
        for word, keys in query.items()
        if _MONTH & keys and not any(candidates.index.has_word(keys - _MONTH, i) for i in positions)
    ]
    if any(covers_month(question, text) for text in texts):
        uncovered = [word for word in uncovered if not query.get(word, _MONTH) & _MONTH]
    asks_hour = "=clock" in query and all(keys & (shapes.CLOCK | _HOURS) for keys in query.values())
    if asks_hour and not any(map(constraints.shows_hour, texts)):
        uncovered.append("=clock")  # "closed" is not an hour
    return uncovered


def answers_by_itself(
    section: Section, query: Query, required: Sequence[frozenset[str]], candidates: Candidates
) -> bool:
    """Whether a section answers by itself: it is by far the likeliest and similar in meaning, and what would be quoted
    of it contains every word that the question is about and what the question needs. A need ("do I have to …?") is met
    by a heading that names the topic."""
    quoted_positions = [
        i for i, passage in enumerate(candidates.passages) if passage in section_extract((), section, candidates)
    ]
    quoted_text = " ".join(candidates.passages[i].text for i in quoted_positions)
    is_titled = _is_titled_by_topic(section, query)
    unmet = [keys for keys in required if not (is_titled and keys == _NEED)]
    return (
        section.likelihood >= MIN_LIKELIHOOD_ALONE
        and similarity_of(section, candidates) >= _MIN_SIMILARITY_ALONE
        and not uncovered_words(query, quoted_positions, candidates)
        and all(any(candidates.index.has_all([keys], i) for i in quoted_positions) for keys in unmet)
        and (not any(keys & shapes.PRICE for keys in unmet) or any(map(str.isdigit, quoted_text)))
        and (shapes.CLOCK not in unmet or constraints.shows_hour(quoted_text))
    )


def _is_titled_by_topic(section: Section, query: Query) -> bool:
    """Whether every significant word of a section's heading is one that the question is about."""
    topic = topic_words(query)
    heading_words = significant_words(section.location[1])
    return bool(heading_words) and all(
        any(query[word] & keys_of(heading_word) for word in topic) for heading_word in heading_words
    )


def answers_exactly(section: Section, query: Query, required: Sequence[frozenset[str]], candidates: Candidates) -> bool:
    """Whether a section is about nothing but what the question names, and shows the price or time that is asked for."""
    return (
        bool(required)
        and _is_titled_by_topic(section, query)
        and any(candidates.index.has_all(required, i) for i in section.sentences)
    )


def completing_section(
    lacking: Sequence[frozenset[str]],
    required: Sequence[frozenset[str]],
    chosen_sections: Sequence[Section],
    sections: Sequence[Section],
    candidates: Candidates,
) -> list[Section]:
    """The likeliest other section with one sentence that contains every word that the chosen sections lack, and shows
    the figure that is asked for; at most one."""
    figures = [keys for keys in required if keys & shapes.SHOWN_FIGURES]

    def says_it(position: int) -> bool:
        sentence_keys = keys_in(candidates.passages[position].text)
        return all(keys & sentence_keys for keys in lacking) and candidates.index.has_all(figures, position)

    return [
        section
        for section in sections
        if lacking and section not in chosen_sections and any(map(says_it, section.sentences))
    ][:1]


def can_be_shown_beside(
    other: Section, shown: Sequence[Section], required: Sequence[frozenset[str]], candidates: Candidates
) -> bool:
    """Whether another section is likely enough to be shown beside these, and in their language. If it lacks what the
    question needs, it must be likelier than the first of them, and more similar in meaning than average."""
    first, index = shown[0], candidates.index
    foreign_flags = [
        candidates.passages[section.sentences[0]].number in candidates.foreign for section in (other, first)
    ]
    is_likelier = other.likelihood > first.likelihood and similarity_of(other, candidates) > 0
    is_relevant = is_likelier or any(index.has_all(required, i) for i in other.sentences)
    return (
        other not in shown
        and other.likelihood >= MIN_LIKELIHOOD
        and foreign_flags[0] <= foreign_flags[1]
        and is_relevant
    )


def similarity_of(section: Section, candidates: Candidates) -> float:
    """How similar in meaning a section is to the question; 0 is the average of texts."""
    return candidates.passages[section.sentences[0]].near


def more_similar_section(
    chosen_sections: Sequence[Section], sections: Sequence[Section], candidates: Candidates
) -> Section | None:
    """The section that is most similar to the question, if it leads the chosen sections by `_MIN_SIMILARITY_LEAD`."""
    most_similar = max(sections, key=lambda section: similarity_of(section, candidates))
    chosen_similarity = max(similarity_of(section, candidates) for section in chosen_sections)
    if similarity_of(most_similar, candidates) >= max(MIN_SIMILARITY, chosen_similarity + _MIN_SIMILARITY_LEAD):
        return most_similar
    return None


def section_headed_by_topic(
    query: Query, positions: Sequence[int], sections: Sequence[Section], candidates: Candidates
) -> Section | None:
    """The section whose heading is what the question is about, if the chosen sentences only mention that."""
    # Compare stems only: a heading need not be about other meanings of the words.
    topic_keys = [
        frozenset(key for key in query[word] if key[0] != "=")
        for word in topic_words(query)
        if not query[word] & shapes.PRICE_OR_TIME
    ]
    if not topic_keys or any(
        candidates.passages[i].row and all(map(keys_in(candidates.passages[i].text).__and__, topic_keys))
        for i in positions
    ):
        return None

    def is_called(heading: str) -> bool:
        heading_keys = keys_in(heading)
        return all(keys & heading_keys for keys in topic_keys)

    if any(is_called(candidates.passages[i].heading) for i in positions):
        return None
    return next((section for section in sections if is_called(section.location[1])), None)


def heading_asks_same(query: Query, heading: str) -> bool:
    """Whether a heading asks the same in other words: "Getting here", "What to bring"."""
    return any(
        key in query and pattern.search(heading)
        for key, pattern in shapes.SAID_AS
        if key in ("=directions", *shapes.ANSWERED_BY_HEADING)
    )


def is_name(word: str) -> bool:
    """Whether a number is long enough to be a name, so that another number means another thing."""
    return word.isdigit() and len(word) >= _MIN_NAME_DIGITS


def uncovered_words(query: Query, positions: Sequence[int], candidates: Candidates) -> list[str]:
    """The words that say what a question is about and that neither these passages nor their page titles contain."""
    index = candidates.index
    return [
        word
        for word in topic_words(query)
        if all(index.strength(query[word], i) < _MIN_TITLE_STRENGTH for i in positions)
    ]
