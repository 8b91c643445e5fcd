"""Decides whether an answer is certain, and what to show beside an uncertain one.

An answer is uncertain if it lacks a word of the question, or if another section is likelier. Then it is quoted together
with the likeliest other sections: "I am not sure this answers your question."
"""

from collections.abc import Sequence

from agent.domain.offline import constraints, shapes
from agent.domain.offline.common_words import COMMON, significant_words
from agent.domain.offline.constraints import FREE_OR_PAID, gives_count, inherited_keys
from agent.domain.offline.evidence import has_evidence
from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.kinds import name_of
from agent.domain.offline.lexicon import keys_in, keys_of, words_of
from agent.domain.offline.months import covers_month
from agent.domain.offline.other_cases import is_another_case
from agent.domain.offline.passage_index import SECTION_STRENGTH, Candidates
from agent.domain.offline.passages import complete_answer, is_row_named
from agent.domain.offline.questions import (
    Query,
    is_other_cancellation,
    lacks_subject,
    required_keys,
    terms,
    topic_words,
)
from agent.domain.offline.relevance import Section, ranked_sections
from agent.domain.offline.section_quotes import section_extract, with_paragraphs
from agent.domain.text_features import plain, stem

MIN_CERTAIN_LIKELIHOOD = 0.5
"""Minimum likelihood (0 to 1) of an answer's sections together for the answer to be certain."""
_MAX_OVERRULED_LIKELIHOOD = 0.1
"""If the answer's sections together are less likely than this, a section of at least `MIN_CERTAIN_LIKELIHOOD` overrules
it."""
MIN_SIMILARITY = 0.2
"""Similarity in meaning (0 is the average of texts, 1 the maximum) from which on a section may answer the question
whatever its words are (measured with multilingual-e5-small, decision 0153)."""
_MIN_SIMILARITY_LEAD = 0.12
"""Lead in similarity over the chosen sections from which on another section makes the answer uncertain."""
_MIN_LIKELIHOOD_ALONE = 0.8
"""Likelihood from which on one section answers by itself."""
_NEGLIGIBLE_LIKELIHOOD = 0.01
"""Likelihood below which a section does not count as another possible answer, if the chosen ones have at least
`_MIN_LIKELIHOOD_ALONE`."""
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
_MIN_NAME_STRENGTH = 0.85
"""Minimum strength of a word that a row, its columns, its heading or its page's title has."""
_MIN_NAME_DIGITS = 4
"""A number with at least this many digits is a name, a year or an amount."""


def quotes_with_certainty(
    question: str,
    antecedent: str,
    previous_question: str,
    chosen: Sequence[Excerpt],
    candidates: Candidates,
    last_quote: str = "",
) -> tuple[list[Excerpt], bool]:
    """Return what to quote, and whether it answers the question for certain.

    A certain answer is quoted with the rest of its paragraph, an uncertain one with the sections that may answer
    instead. `antecedent` holds the questions that this one refers to ("" if it is complete), `previous_question` the
    one asked before it, `last_quote` what was quoted last.
    """
    if complete_answer(question, antecedent, candidates.passages) or _is_of_named_row(question, antecedent, chosen):
        return list(chosen), True
    index, required = candidates.index, required_keys(question)
    query = terms(FREE_OR_PAID.sub(" ", question))
    positions = [i for i, passage in enumerate(candidates.passages) if passage in chosen]
    passages = [candidates.passages[i] for i in positions]
    uncovered = [
        word for word in uncovered_words(query, positions, candidates) if not query[word] & shapes.ANSWERED_IMPLICITLY
    ]
    uncovered += _uncovered_names(question, query, positions, candidates)
    # A complete question that was answered completely does not depend on the previous ones.
    context = (previous_question, last_quote) if antecedent or uncovered else ("", "")
    chosen_locations = {excerpt.location for excerpt in chosen}
    ranking = [
        section
        for section in ranked_sections(question, *context, candidates)
        if section.location in chosen_locations
        or not is_other_cancellation(section.location[1], f"{question} {previous_question}")
    ]
    sections = [
        section
        for section in ranking
        # Sections without what such a question needs do not count as other answers.
        if section.location in chosen_locations
        or any(index.has_all(required, i) and has_evidence(question, index.section_text(i)) for i in section.sentences)
    ]
    chosen_sections = [section for section in sections if section.location in chosen_locations]
    chosen_likelihood = sum(section.likelihood for section in chosen_sections)
    uncovered = _with_times(question, query, uncovered, positions, candidates)
    counting_sections = [
        section
        for section in sections
        if chosen_likelihood < _MIN_LIKELIHOOD_ALONE
        or section in chosen_sections
        or section.likelihood >= _NEGLIGIBLE_LIKELIHOOD
    ]
    named_section = _section_headed_by_topic(query, positions, counting_sections, candidates)
    is_other_row = named_section is not None and any(passage.row for passage in passages)
    more_similar = _more_similar_section(chosen_sections, counting_sections, candidates)

    def certain() -> tuple[list[Excerpt], bool]:
        return with_paragraphs(chosen, query, required, candidates), True

    if not (uncovered or is_other_row or more_similar) and any(
        _contains_all(query, required, i, candidates) for i in positions
    ):
        return certain()
    uncovered += [
        word for word in query if _is_name(word) and all(not index.strength(query[word], i) for i in positions)
    ]
    is_full = not (
        uncovered
        or is_another_case(question, previous_question, last_quote, positions, candidates)
        or _stand_apart(query, required, positions, candidates)
    )
    count_question = None if antecedent else shapes.HOW_MANY.search(plain(question))
    if is_full and count_question:
        counted_keys = keys_of(count_question["what"])
        if any(gives_count(passage, counted_keys) for passage in passages):
            return certain()
    is_full_and_alone = is_full and named_section is None
    needed = [*required, *inherited_keys(question, antecedent)]
    if (
        is_full_and_alone
        and antecedent
        and all(_answers_exactly(section, query, needed, candidates) for section in chosen_sections)
    ):
        # "And Pro?" after the price of Premium: a section of that name that shows a price.
        return certain()
    asks_price = any(keys & shapes.PRICE for keys in needed)
    if is_full_and_alone and asks_price and all(is_row_named(query, passage) for passage in passages):
        return list(chosen), True
    # A row that shows what is asked for is not overruled by a section that does not.
    is_overruled = (
        ranking[0].likelihood >= MIN_CERTAIN_LIKELIHOOD
        and chosen_likelihood < _MAX_OVERRULED_LIKELIHOOD
        and (ranking[0] in sections or not any(passage.row for passage in passages))
    )
    if (
        named_section is not None
        and named_section is sections[0]
        and named_section.likelihood >= MIN_CERTAIN_LIKELIHOOD
        and _answers_exactly(named_section, query, required, candidates)
    ):
        of_it = [candidates.passages[i] for i in named_section.sentences if index.has_all(required, i)]
        return with_paragraphs(of_it[:1], query, required, candidates), True
    if is_full_and_alone and not more_similar and sections[0] in chosen_sections and not is_overruled:
        has_matching_heading = any(_heading_asks_same(query, passage.heading) for passage in passages)
        chosen_share = chosen_likelihood / sum(section.likelihood for section in sections)
        if has_matching_heading or chosen_share >= MIN_CERTAIN_LIKELIHOOD:
            return certain()
    is_continued = any(passage.is_in(last_quote) for passage in passages)
    if is_overruled and not is_continued and answers_by_itself(ranking[0], query, required, candidates):
        return with_paragraphs(section_extract((), ranking[0], candidates), query, required, candidates), True
    alternative = ranking[0] if is_overruled else named_section or more_similar
    others = [
        section
        for section in dict.fromkeys([*([alternative] if alternative else sections), *ranking])
        if section is alternative or can_be_shown_beside(section, chosen_sections, required, candidates)
    ]
    lacking = [query[word] for word in uncovered if word in query]
    completing = _completing_section(lacking, required, chosen_sections, ranking, candidates)
    others = list(dict.fromkeys([*others[: MAX_SECTIONS_SHOWN - 1], *completing]))
    shown = section_extract(chosen, chosen_sections[0], candidates)
    other_excerpts = [excerpt for section in others for excerpt in section_extract((), section, candidates)]
    return ([*other_excerpts, *shown] if is_overruled or is_other_row else [*shown, *other_excerpts]), False


def _uncovered_names(question: str, query: Query, positions: Sequence[int], candidates: Candidates) -> list[str]:
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


def _stand_apart(
    query: Query, required: Sequence[frozenset[str]], positions: Sequence[int], candidates: Candidates
) -> bool:
    """Whether what the question needs, such as a time, and what it is about are only in different sentences of a
    section."""
    index, topic = candidates.index, topic_words(query)
    meeting = [i for i in positions if index.has_all(required, i)] if required and topic else []
    return bool(meeting) and not any(
        index.strength(query[word], i) > SECTION_STRENGTH for word in topic for i in meeting
    )


def _with_times(
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
        section.likelihood >= _MIN_LIKELIHOOD_ALONE
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


def _answers_exactly(
    section: Section, query: Query, required: Sequence[frozenset[str]], candidates: Candidates
) -> bool:
    """Whether a section is about nothing but what the question names, and shows the price or time that is asked for."""
    return (
        bool(required)
        and _is_titled_by_topic(section, query)
        and any(candidates.index.has_all(required, i) for i in section.sentences)
    )


def _completing_section(
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


def _is_of_named_row(question: str, antecedent: str, chosen: Sequence[Excerpt]) -> bool:
    """Whether a question for the price or the duration of something mentioned before is answered by the table row of
    that name."""
    antecedent_keys = frozenset[str]().union(*terms(antecedent).values())
    row_names = [significant_words(name_of(excerpt)) for excerpt in chosen if excerpt.is_table_row]
    return (
        lacks_subject(question)
        and len(row_names) == len(chosen)
        and all(name and all(keys_of(word) & antecedent_keys for word in name) for name in row_names)
    )


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


def _more_similar_section(
    chosen_sections: Sequence[Section], sections: Sequence[Section], candidates: Candidates
) -> Section | None:
    """The section that is most similar to the question, if it leads the chosen sections by `_MIN_SIMILARITY_LEAD`."""
    most_similar = max(sections, key=lambda section: similarity_of(section, candidates))
    chosen_similarity = max(similarity_of(section, candidates) for section in chosen_sections)
    if similarity_of(most_similar, candidates) >= max(MIN_SIMILARITY, chosen_similarity + _MIN_SIMILARITY_LEAD):
        return most_similar
    return None


def _section_headed_by_topic(
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


def _contains_all(query: Query, required: Sequence[frozenset[str]], position: int, candidates: Candidates) -> bool:
    """Whether everything that a question is about is in one table row and its names, or in a sentence's heading."""
    index, words = candidates.index, [*topic_words(query), *(word for word in query if word.isdigit())]
    if len(words) < MIN_TOPIC_WORDS or not index.has_all(required, position):
        return False
    if (passage := candidates.passages[position]).row:
        # The page's title may use a word in another sense; the row's own name does not.
        column_keys = keys_in(" ".join((passage.column, *passage.columns)))
        is_named = any(
            index.has_word(query[word], position) for word in words if not query[word] & shapes.PRICE_OR_TIME
        )
        return is_named and all(
            query[word] & column_keys or index.strength(query[word], position) >= _MIN_NAME_STRENGTH for word in words
        )
    return index.heading_has(query, words, position)


def _heading_asks_same(query: Query, heading: str) -> bool:
    """Whether a heading asks the same in other words: "Getting here", "What to bring"."""
    return any(
        key in query and pattern.search(heading)
        for key, pattern in shapes.SAID_AS
        if key in ("=directions", *shapes.ANSWERED_BY_HEADING)
    )


def _is_name(word: str) -> bool:
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
