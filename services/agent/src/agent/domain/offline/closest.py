"""Finds what comes closest to a question for which no sentence was chosen by its words, and which of its words no page
contains."""

import re
from collections.abc import Sequence

from agent.domain.offline import shapes
from agent.domain.offline.concepts import ANOTHER_TERM
from agent.domain.offline.constraints import FREE_OR_PAID, UNIT, inherited_keys
from agent.domain.offline.doubts import (
    MAX_SECTIONS_SHOWN,
    MIN_LIKELIHOOD,
    MIN_SIMILARITY,
    MIN_STRENGTH,
    MIN_TOPIC_WORDS,
    answers_by_itself,
    can_be_shown_beside,
    similarity_of,
    uncovered_words,
)
from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.passage_index import Candidates
from agent.domain.offline.previous_questions import is_follow_up
from agent.domain.offline.questions import Query, required_keys, terms, topic_words
from agent.domain.offline.relevance import Section, ranked_sections
from agent.domain.offline.section_quotes import section_extract, with_paragraphs
from agent.domain.text_features import plain, stem

MIN_COVERAGE = 0.4
"""Minimum share of a question's weight (0 to 1) that the nearest section must cover to be offered as a possible answer.
Below it the section is only shown as related."""
MIN_ACTION_COVERAGE = 0.3
"""The same minimum for questions about whether or how something is done: pages use other verbs for it. Questions about
a thing need the higher minimum, since the price of another thing is no answer."""
_MIN_RELATED_COVERAGE = 0.15
"""Minimum share of the weight of this question, plus the bonuses below, that a section must reach to be related, if
there was a previous question or quotation. Without one the minimum is `_MIN_ACTION_COVERAGE`."""
_PREVIOUS_QUESTION_BONUS = 0.5
_LAST_QUOTE_BONUS = 0.15
"""Bonuses added to that share: `_PREVIOUS_QUESTION_BONUS` times the covered share of the previous question's weight,
and `_LAST_QUOTE_BONUS` if the section was quoted last."""
_MIN_FAINT_SIMILARITY = 0.1
"""If no section is related: minimum similarity (0 to 1) that one of the likeliest must reach for those with any
similarity to be shown (decision 0118)."""
_HIGH_SIMILARITY = 0.3
"""Similarity from which on an unlikely section is shown, even if the site lacks half of the words that the question is
about."""
_HIGH_LIKELIHOOD = 0.5
"""Likelihood from which on a section is shown whatever words it shares with the question."""
_HOW_LONG = re.compile(rf"\b(?:how (?:much|long)|much|cu[aá]nt[oa]s?) (?:time|tiempo)\b|\b{UNIT}\b", re.IGNORECASE)
"""How long something is for: words that name no thing a site could offer."""
MIN_REPORTED_LETTERS = 4
"""A word that no page contains is reported ("I find nothing about …") if it has at least this many letters: short words
such as "use" say nothing."""


def certain_section_quote(
    question: str, previous_question: str, last_quote: str, candidates: Candidates
) -> list[Excerpt]:
    """Return the likeliest section's quotation if it answers for certain, else nothing. For questions for which no
    sentence was chosen by its words; the section must be by far the likeliest and contain every word that the question
    is about."""
    query, required = terms(FREE_OR_PAID.sub(" ", question)), required_keys(question)
    sections = ranked_sections(question, previous_question, last_quote, candidates) if topic_words(query) else []
    if not sections or not answers_by_itself(sections[0], query, required, candidates):
        return []
    return with_paragraphs(section_extract((), sections[0], candidates), query, required, candidates)


def unknown_words(question: str, candidates: Candidates) -> list[str]:
    """Return the words of a question whether something exists that no candidate contains, in any synonym; as they are
    written in the question. Empty for other questions, and if all candidates are in another language."""
    normalized, index = plain(question), candidates.index
    has_same_language = any(passage.number not in candidates.foreign for passage in candidates.passages)
    if not has_same_language or not (
        shapes.DO_YOU.search(normalized) or shapes.MAY.search(normalized) or ANOTHER_TERM.match(normalized)
    ):
        return []
    query = terms(FREE_OR_PAID.sub(" ", question))
    unknown_stems = {word for word in topic_words(query) if not index.is_known(query[word])}
    return [
        word
        for word in re.findall(r"[^\W\d_]+", _HOW_LONG.sub(" ", question))
        if stem(plain(word)) in unknown_stems
        and not plain(word).endswith("is")  # not a Spanish verb such as enviáis or salís
    ]


def nearest_excerpts(
    question: str, previous_question: str, last_quote: str, candidates: Candidates
) -> tuple[list[Excerpt], bool]:
    """Return the nearest excerpts to a question that nothing answers, and whether they may be the answer.

    No excerpts if no section stands out, none is similar in meaning, and none contains a word of this question or of
    the previous one.
    """
    query = terms(FREE_OR_PAID.sub(" ", question))
    earlier_terms = {word: keys for word, keys in terms(previous_question).items() if word not in query}
    specific_terms = topic_words(query)
    required = [
        *required_keys(question),
        *(inherited_keys(question, previous_question) if is_follow_up(question) else ()),
    ]
    # If the question has only common words, use those.
    words = [*(specific_terms or (word for word in query if word[0] != "=")), *topic_words(earlier_terms)]
    index, topic_keys = candidates.index, [(query | earlier_terms)[word] for word in words]

    def near(section: Section) -> bool:
        return similarity_of(section, candidates) >= MIN_SIMILARITY

    unknown_terms = [word for word in specific_terms if not index.is_known(query[word])]
    # If every word that it is about is unknown, having a previous question makes no section likely.
    is_new_topic = bool(last_quote) and len(unknown_terms) == len(specific_terms) and not is_follow_up(question)
    is_new_topic = is_new_topic and (len(unknown_terms) >= MIN_TOPIC_WORDS or unknown_words(question, candidates) != [])

    def stands_out(section: Section) -> bool:
        is_foreign = candidates.passages[section.sentences[0]].number in candidates.foreign
        is_likely = section.likelihood >= _HIGH_LIKELIHOOD and not is_new_topic
        return is_foreign or is_likely or similarity_of(section, candidates) >= _HIGH_SIMILARITY

    def comes_close(section: Section) -> bool:
        return section.likelihood >= MIN_LIKELIHOOD or similarity_of(section, candidates) >= _HIGH_SIMILARITY

    def missing(section: Section) -> float:
        return sum(index.weight(query[word]) for word in uncovered_words(query, section.sentences, candidates))

    def stands_near(section: Section) -> bool:
        position = section.sentences[0]
        if section.likelihood >= _HIGH_LIKELIHOOD or near(section):
            return True
        if index.is_fragment(position) or not any(
            index.strength(keys, position) >= MIN_STRENGTH for keys in topic_keys
        ):
            return False
        context_share = _PREVIOUS_QUESTION_BONUS * index.coverage(earlier_terms, position) if earlier_terms else 0.0
        context_share += _LAST_QUOTE_BONUS * (candidates.passages[position].is_in(last_quote))
        return (index.coverage(query, position) if query else 0.0) + context_share >= (
            _MIN_RELATED_COVERAGE if earlier_terms or last_quote else MIN_ACTION_COVERAGE
        )

    sections = ranked_sections(question, previous_question, last_quote, candidates)
    if 2 * len(unknown_terms) >= max(len(specific_terms), 1) and not any(
        map(stands_out, sections[:MAX_SECTIONS_SHOWN])
    ):
        return [], False  # the question is about something else
    near_sections = [section for section in sections if stands_near(section)]
    if specific_terms and not any(index.is_known(query[word]) for word in specific_terms):
        # Sections near the previous question are about other things, unless this question continues it.
        near_sections = [
            section
            for section in near_sections
            if (is_follow_up(question) and section.likelihood >= _HIGH_LIKELIHOOD) or near(section)
        ]
    if not near_sections:
        similarities = [similarity_of(section, candidates) for section in sections[:MAX_SECTIONS_SHOWN]]
        if max(similarities, default=0.0) < _MIN_FAINT_SIMILARITY:
            return [], False
        shown = [section for section, similarity in zip(sections, similarities, strict=False) if similarity > 0]
        return [excerpt for section in shown for excerpt in section_extract((), section, candidates)], False
    # Prefer a section that contains rarer words of the question. Prices and dates must be shown by the section.
    missing_weights = {section.location: missing(section) for section in near_sections}
    near_sections = [
        section
        for section in near_sections
        if comes_close(section) and missing_weights[section.location] < missing_weights[near_sections[0].location]
    ][:1] or near_sections
    near_sections = [
        section for section in near_sections if index.has_all(required, section.sentences[0])
    ] or near_sections
    # A thing that no page names does not exist there, however similar other things of its kind are.
    may_answer = _may_answer(question, query, required, near_sections[0], candidates) or (
        near(near_sections[0]) and not unknown_words(question, candidates)
    )
    others = [section for section in sections if section in near_sections or similarity_of(section, candidates) > 0]
    shown = [
        near_sections[0],
        *(section for section in others if can_be_shown_beside(section, near_sections[:1], required, candidates)),
    ][:MAX_SECTIONS_SHOWN]
    return [excerpt for section in shown for excerpt in section_extract((), section, candidates)], may_answer


def _may_answer(
    question: str, query: Query, required: Sequence[frozenset[str]], section: Section, candidates: Candidates
) -> bool:
    """Whether a section's likeliest sentence covers enough of the question to be its answer."""
    index, best, specific_terms = candidates.index, section.sentences[0], topic_words(query)
    if not specific_terms:
        # "How many hours is it?" names no thing: a section with such a figure may answer it.
        return (
            bool(required)
            and index.has_all(required, best)
            and section.likelihood >= _HIGH_LIKELIHOOD
            and index.coverage(query, best) >= MIN_COVERAGE
        )
    asks_figure = any(keys & shapes.PRICE_OR_TIME for keys in query.values())
    is_about_thing = asks_figure or shapes.DO_YOU.search(plain(question))
    return (
        any(index.strength(query[word], best) >= MIN_STRENGTH for word in specific_terms)
        and not (candidates.passages[best].row and uncovered_words(query, [best], candidates))
        and index.coverage(query, best) >= (MIN_COVERAGE if is_about_thing else MIN_ACTION_COVERAGE)
    )
