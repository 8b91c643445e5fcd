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
from contracts.expressions import expression

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
_HOW_LONG = expression(rf"\b(?:how (?:much|long)|much|cu[aá]nt[oa]s?) (?:time|tiempo)\b|\b{UNIT}\b", re.IGNORECASE)
"""How long something is for: words that name no thing a site could offer."""
_RELATIVE_VERB = expression(r"(?<=\w )que (?:no )?(?:(?:se|me|te|nos|os|lo|la|le) )?\w+", re.IGNORECASE)
"""A verb that says what a thing should do: "algo que no tenga gluten"."""
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
        for word in re.findall(r"[^\W\d_]+", _RELATIVE_VERB.sub(" ", _HOW_LONG.sub(" ", question)))
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
    return _NearestSections(question, previous_question, last_quote, candidates).excerpts()


class _NearestSections:
    """The sections that come near a question, and those that it is shown."""

    def __init__(self, question: str, previous_question: str, last_quote: str, candidates: Candidates) -> None:
        self._question, self._last_quote, self._candidates = question, last_quote, candidates
        self._index = candidates.index
        self._query = query = terms(FREE_OR_PAID.sub(" ", question))
        self._earlier_terms = {word: keys for word, keys in terms(previous_question).items() if word not in query}
        self._specific_terms = specific_terms = topic_words(query)
        self._unknown_terms = [word for word in specific_terms if not self._index.is_known(query[word])]
        self._required = [
            *required_keys(question),
            *(inherited_keys(question, previous_question) if is_follow_up(question) else ()),
        ]
        # If the question has only common words, use those.
        words = [*(specific_terms or (word for word in query if word[0] != "=")), *topic_words(self._earlier_terms)]
        self._topic_keys = [(query | self._earlier_terms)[word] for word in words]
        self._sections = ranked_sections(question, previous_question, last_quote, candidates)

    def excerpts(self) -> tuple[list[Excerpt], bool]:
        """The excerpts to show, and whether they may be the answer."""
        if self._is_about_something_else():
            return [], False
        near_sections = self._preferred(self._near_sections())
        if not near_sections:
            return self._faintly_similar(), False
        best = near_sections[0]
        # A thing that no page names does not exist there, however similar other things of its kind are.
        may_answer = _may_answer(self._question, self._query, self._required, best, self._candidates) or (
            self._is_similar(best) and not unknown_words(self._question, self._candidates)
        )
        others = [section for section in self._sections if section in near_sections or self._similarity(section) > 0]
        shown = [
            best,
            *(section for section in others if can_be_shown_beside(section, [best], self._required, self._candidates)),
        ]
        return self._extracts(shown[:MAX_SECTIONS_SHOWN]), may_answer

    def _is_about_something_else(self) -> bool:
        """Whether half of the words that the question is about are unknown, and no section stands out."""
        if 2 * len(self._unknown_terms) < max(len(self._specific_terms), 1):
            return False
        is_new_topic = self._is_new_topic()
        return not any(self._stands_out(section, is_new_topic) for section in self._sections[:MAX_SECTIONS_SHOWN])

    def _is_new_topic(self) -> bool:
        """Whether every word that the question is about is unknown: having a previous question makes no section likely
        then."""
        if not self._last_quote or len(self._unknown_terms) != len(self._specific_terms):
            return False
        has_unknown_words = len(self._unknown_terms) >= MIN_TOPIC_WORDS or unknown_words(
            self._question, self._candidates
        )
        return bool(has_unknown_words) and not is_follow_up(self._question)

    def _near_sections(self) -> list[Section]:
        near_sections = [section for section in self._sections if self._is_near(section)]
        if not self._specific_terms or len(self._unknown_terms) < len(self._specific_terms):
            return near_sections
        # Sections near the previous question are about other things, unless this question continues it.
        continues = is_follow_up(self._question)
        return [
            section
            for section in near_sections
            if (continues and section.likelihood >= _HIGH_LIKELIHOOD) or self._is_similar(section)
        ]

    def _preferred(self, near_sections: list[Section]) -> list[Section]:
        """The one of them that contains rarer words of the question than the first, if there is one. Prices and dates
        must be shown by the section, if one shows them."""
        missing_weights = {section.location: self._missing_weight(section) for section in near_sections}
        rarer = [
            section
            for section in near_sections
            if self._comes_close(section)
            and missing_weights[section.location] < missing_weights[near_sections[0].location]
        ][:1] or near_sections
        return [section for section in rarer if self._index.has_all(self._required, section.sentences[0])] or rarer

    def _faintly_similar(self) -> list[Excerpt]:
        likeliest = self._sections[:MAX_SECTIONS_SHOWN]
        if max(map(self._similarity, likeliest), default=0.0) < _MIN_FAINT_SIMILARITY:
            return []
        return self._extracts([section for section in likeliest if self._similarity(section) > 0])

    def _extracts(self, sections: Sequence[Section]) -> list[Excerpt]:
        return [excerpt for section in sections for excerpt in section_extract((), section, self._candidates)]

    def _similarity(self, section: Section) -> float:
        return similarity_of(section, self._candidates)

    def _is_similar(self, section: Section) -> bool:
        return self._similarity(section) >= MIN_SIMILARITY

    def _stands_out(self, section: Section, is_new_topic: bool) -> bool:
        is_foreign = self._candidates.passages[section.sentences[0]].number in self._candidates.foreign
        is_likely = section.likelihood >= _HIGH_LIKELIHOOD and not is_new_topic
        return is_foreign or is_likely or self._similarity(section) >= _HIGH_SIMILARITY

    def _comes_close(self, section: Section) -> bool:
        return section.likelihood >= MIN_LIKELIHOOD or self._similarity(section) >= _HIGH_SIMILARITY

    def _missing_weight(self, section: Section) -> float:
        missing = uncovered_words(self._query, section.sentences, self._candidates)
        return sum(self._index.weight(self._query[word]) for word in missing)

    def _is_near(self, section: Section) -> bool:
        """Whether a section is likely or similar, or covers enough of this question and of the previous one."""
        index, position = self._index, section.sentences[0]
        if section.likelihood >= _HIGH_LIKELIHOOD or self._is_similar(section):
            return True
        if index.is_fragment(position) or not any(
            index.strength(keys, position) >= MIN_STRENGTH for keys in self._topic_keys
        ):
            return False
        context_share = (
            _PREVIOUS_QUESTION_BONUS * index.coverage(self._earlier_terms, position) if self._earlier_terms else 0.0
        )
        context_share += _LAST_QUOTE_BONUS * (self._candidates.passages[position].is_in(self._last_quote))
        share = (index.coverage(self._query, position) if self._query else 0.0) + context_share
        return share >= (_MIN_RELATED_COVERAGE if self._earlier_terms or self._last_quote else MIN_ACTION_COVERAGE)


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
