"""Decides whether an answer is certain, and what to show beside an uncertain one.

An answer is uncertain if it lacks a word of the question, or if another section is likelier. Then it is quoted together
with the likeliest other sections: "I am not sure this answers your question."
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from agent.domain.offline import shapes
from agent.domain.offline.common_words import is_common
from agent.domain.offline.constraints import FREE_OR_PAID, gives_count, inherited_keys
from agent.domain.offline.doubts import (
    MAX_SECTIONS_SHOWN,
    MIN_LIKELIHOOD_ALONE,
    answers_by_itself,
    answers_exactly,
    can_be_shown_beside,
    completing_section,
    heading_asks_same,
    is_in_no_sentence,
    is_name,
    more_similar_section,
    section_headed_by_topic,
    stand_apart,
    uncovered_names,
    uncovered_words,
    with_times,
)
from agent.domain.offline.evidence import has_evidence
from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.kinds import TITLE_END
from agent.domain.offline.lexicon import keys_in, keys_of
from agent.domain.offline.other_cases import is_another_case
from agent.domain.offline.passage_index import SECTION_STRENGTH, Candidates
from agent.domain.offline.passages import complete_answer, is_row_named
from agent.domain.offline.questions import (
    Query,
    is_other_cancellation,
    required_keys,
    terms,
    topic_words,
)
from agent.domain.offline.relevance import Section, ranked_sections
from agent.domain.offline.section_quotes import section_extract, with_paragraphs
from agent.domain.text_features import plain

MIN_CERTAIN_LIKELIHOOD = 0.5
"""Minimum likelihood (0 to 1) of an answer's sections together for the answer to be certain."""
_MAX_OVERRULED_LIKELIHOOD = 0.1
"""If the answer's sections together are less likely than this, a section of at least `MIN_CERTAIN_LIKELIHOOD` overrules
it."""
_NEGLIGIBLE_LIKELIHOOD = 0.01
"""Likelihood below which a section does not count as another possible answer, if the chosen ones have at least
`MIN_LIKELIHOOD_ALONE`."""


@dataclass(frozen=True)
class ChosenAnswer:
    """Excerpts that were chosen as the answer to a question, with what its certainty depends on.

    `antecedent` holds the questions that this one refers to ("" if it is complete), `previous_question` the one asked
    before it, `last_quote` what was quoted last.
    """

    question: str
    antecedent: str
    previous_question: str
    chosen: Sequence[Excerpt]
    candidates: Candidates
    last_quote: str = ""

    def certain_quote(self) -> list[Excerpt]:
        """What to quote as the certain answer, by the first condition that is met; empty if none is. Unless the
        excerpts are complete, they are quoted with the rest of their paragraphs."""
        if self._is_complete_list or self._is_priced_row:
            return list(self.chosen)
        if named := self._named_section_instead:
            return self._in_paragraphs(named)
        if self._is_likeliest or self._is_exactly_what_follows:
            return self._in_paragraphs(self.chosen)
        likeliest = self._ranking[0]
        if (
            self._is_overruled
            and not self._is_continued
            and answers_by_itself(likeliest, self._query, self._required, self.candidates)
        ):
            return self._in_paragraphs(section_extract((), likeliest, self.candidates))
        return []

    def doubtful_quote(self) -> list[Excerpt]:
        """What to quote with a doubt: the chosen sections with the others that may answer."""
        alternative = self._ranking[0] if self._is_overruled else self._named_section or self._more_similar_section
        others = [
            section
            for section in dict.fromkeys([*([alternative] if alternative else self._sections), *self._ranking])
            if section is alternative
            or can_be_shown_beside(section, self._chosen_sections, self._required, self.candidates)
        ]
        lacking = [self._query[word] for word in self._uncovered if word in self._query]
        completing = completing_section(lacking, self._required, self._chosen_sections, self._ranking, self.candidates)
        others = list(dict.fromkeys([*others[: MAX_SECTIONS_SHOWN - 1], *completing]))
        shown = section_extract(self.chosen, self._chosen_sections[0], self.candidates)
        other_excerpts = [excerpt for section in others for excerpt in section_extract((), section, self.candidates)]
        if self._is_overruled or self._is_row_beside_named_section:
            return [*other_excerpts, *shown]
        return [*shown, *other_excerpts]

    def _in_paragraphs(self, excerpts: Sequence[Excerpt]) -> list[Excerpt]:
        return with_paragraphs(excerpts, self._query, self._required, self.candidates)

    # What the question asks, and where the excerpts are.

    @cached_property
    def _query(self) -> Query:
        return terms(FREE_OR_PAID.sub(" ", self.question))

    @cached_property
    def _required(self) -> list[frozenset[str]]:
        return required_keys(self.question)

    @cached_property
    def _needed(self) -> list[frozenset[str]]:
        """What the question requires, or inherits from the one that it refers to."""
        return [*self._required, *inherited_keys(self.question, self.antecedent)]

    @cached_property
    def _counted(self) -> frozenset[str]:
        """The keys of what is counted, if the question asks how many there are of something."""
        how_many = shapes.HOW_MANY.search(plain(self.question))
        return keys_of(how_many["what"]) if how_many else frozenset()

    @cached_property
    def _positions(self) -> list[int]:
        return [i for i, passage in enumerate(self.candidates.passages) if passage in self.chosen]

    @cached_property
    def _passages(self) -> list[Excerpt]:
        return [self.candidates.passages[i] for i in self._positions]

    @cached_property
    def _is_continued(self) -> bool:
        """Whether they were quoted before: what goes on from the last quotation stays where that was."""
        return any(passage.is_in(self.last_quote) for passage in self._passages)

    @cached_property
    def _missing_words(self) -> list[str]:
        """The words and names of the question that the excerpts lack."""
        index, query = self.candidates.index, self._query
        return [
            *(
                word
                for word in uncovered_words(query, self._positions, self.candidates)
                if not query[word] & shapes.ANSWERED_IMPLICITLY
            ),
            *uncovered_names(self.question, query, self._positions, self.candidates),
            *(word for word, keys in query.items() if is_common(keys) and self._names_another_page(keys)),
            *(
                word
                for word in query
                if is_name(word) and all(not index.strength(query[word], i) for i in self._positions)
            ),
        ]

    def _names_another_page(self, keys: frozenset[str]) -> bool:
        """Whether a common word is what another page is about: "cancel the plan" is not about cancelling a stay."""
        is_here = any(self.candidates.index.strength(keys, i) for i in self._positions)
        return not is_here and any(
            keys & keys_in(TITLE_END.split(passage.title)[0]) for passage in self.candidates.passages if passage.number
        )

    @cached_property
    def _uncovered(self) -> list[str]:
        """The same, with the month or the hour that they lack."""
        return with_times(self.question, self._query, self._missing_words, self._positions, self.candidates)

    # The sections that compete with the chosen ones.

    @cached_property
    def _ranking(self) -> list[Section]:
        # A complete question that was answered completely does not depend on the previous ones.
        is_dependent = self.antecedent or self._missing_words
        context = (self.previous_question, self.last_quote) if is_dependent else ("", "")
        return [
            section
            for section in ranked_sections(self.question, *context, self.candidates)
            if self._is_chosen(section)
            or not is_other_cancellation(section.location[1], f"{self.question} {self.previous_question}")
        ]

    @cached_property
    def _sections(self) -> list[Section]:
        """Those of the ranking that contain what such a question needs, and the chosen ones."""
        index, counted = self.candidates.index, self._counted
        return [
            section
            for section in self._ranking
            if self._is_chosen(section)
            or any(
                index.has_all(self._required, i)
                and has_evidence(self.question, index.section_text(i))
                and (not counted or gives_count(self.candidates.passages[i], counted))
                for i in section.sentences
            )
        ]

    def _is_chosen(self, section: Section) -> bool:
        return any(excerpt.location == section.location for excerpt in self.chosen)

    @cached_property
    def _chosen_sections(self) -> list[Section]:
        return [section for section in self._sections if self._is_chosen(section)]

    @cached_property
    def _chosen_likelihood(self) -> float:
        return sum(section.likelihood for section in self._chosen_sections)

    @cached_property
    def _counting_sections(self) -> list[Section]:
        """The sections that are not negligible beside the chosen ones."""
        return [
            section
            for section in self._sections
            if self._chosen_likelihood < MIN_LIKELIHOOD_ALONE
            or section in self._chosen_sections
            or section.likelihood >= _NEGLIGIBLE_LIKELIHOOD
        ]

    @cached_property
    def _named_section(self) -> Section | None:
        if self.antecedent and self._is_continued:
            return None  # "and the gym?", after what a ticket includes, is not about the gym's own section
        return section_headed_by_topic(self._query, self._positions, self._counting_sections, self.candidates)

    @cached_property
    def _is_row_beside_named_section(self) -> bool:
        return self._named_section is not None and any(passage.row for passage in self._passages)

    @cached_property
    def _more_similar_section(self) -> Section | None:
        return more_similar_section(self._chosen_sections, self._counting_sections, self.candidates)

    @cached_property
    def _is_overruled(self) -> bool:
        """Whether a section is so much likelier that the chosen ones are shown after it. A row that shows what is asked
        for is not overruled by a section that does not."""
        return (
            self._ranking[0].likelihood >= MIN_CERTAIN_LIKELIHOOD
            and self._chosen_likelihood < _MAX_OVERRULED_LIKELIHOOD
            and (self._ranking[0] in self._sections or not any(passage.row for passage in self._passages))
        )

    # The conditions of which a certain answer meets one.

    @cached_property
    def _is_complete_list(self) -> bool:
        return bool(complete_answer(self.question, self.antecedent, self.candidates.passages))

    @cached_property
    def _is_full(self) -> bool:
        """Whether the excerpts lack nothing, and are about the same case as the question."""
        return not (
            self._uncovered
            or is_another_case(self.question, self.previous_question, self.last_quote, self._positions, self.candidates)
            or self._leaves_subject
            or is_in_no_sentence(self._query, self._chosen_sections, self.candidates)
            or stand_apart(self._query, self._required, self._positions, self.candidates)
        )

    @property
    def _leaves_subject(self) -> bool:
        """Whether a follow-up's excerpts have no word of what it follows, and are not beside what was quoted then: "and
        for children?", after the price of the castle tour, does not ask for the price of a child's seat."""
        quoted = {passage.location for passage in self.candidates.passages if passage.is_in(self.last_quote)}
        if not self.antecedent or any(passage.location in quoted for passage in self._passages):
            return False
        earlier = terms(self.antecedent)
        subject = [keys for word, keys in earlier.items() if word[0] != "=" and not keys & shapes.PRICE_OR_TIME]
        strength = self.candidates.index.strength
        return len(subject) > 1 and not any(strength(keys, i) for keys in subject for i in self._positions)

    @property
    def _is_full_and_alone(self) -> bool:
        """Whether they are full, and no section is called what the question is about."""
        return self._is_full and self._named_section is None

    @property
    def _is_other_count(self) -> bool:
        """Whether the number that is asked for is not theirs alone: "two automatic cars" beside "22 cars"."""

        def counts(position: int) -> bool:
            index, passage = self.candidates.index, self.candidates.passages[position]
            return gives_count(passage, self._counted) and all(
                index.strength(self._query[word], position) > SECTION_STRENGTH for word in topic_words(self._query)
            )

        others = (i for section in self._sections if not self._is_chosen(section) for i in section.sentences)
        return bool(self._counted) and (not any(map(counts, self._positions)) or any(map(counts, others)))

    @property
    def _is_exactly_what_follows(self) -> bool:
        """Whether a follow-up ("and Pro?", after the price of Premium) is answered by a section of that name that shows
        a price."""
        return (
            bool(self.antecedent)
            and self._is_full_and_alone
            and all(
                answers_exactly(section, self._query, self._needed, self.candidates)
                for section in self._chosen_sections
            )
        )

    @property
    def _is_priced_row(self) -> bool:
        """Whether a price is asked for, and the excerpts are the rows of that name."""
        asks_price = any(keys & shapes.PRICE for keys in self._needed)
        by_columns = not self.antecedent
        return (
            asks_price
            and self._is_full_and_alone
            and all(is_row_named(self._query, row, by_columns=by_columns) for row in self._passages)
        )

    @property
    def _named_section_instead(self) -> list[Excerpt]:
        """The first excerpt with what is needed of the likeliest section, if that is called what the question is about
        and the chosen excerpts only mention it."""
        named = self._named_section
        if (
            named is None
            or named is not self._sections[0]
            or named.likelihood < MIN_CERTAIN_LIKELIHOOD
            or not answers_exactly(named, self._query, self._required, self.candidates)
        ):
            return []
        has_all = self.candidates.index.has_all
        return [self.candidates.passages[i] for i in named.sentences if has_all(self._required, i)][:1]

    @property
    def _is_likeliest(self) -> bool:
        """Whether the excerpts are full and no other section is likelier or more similar in meaning."""
        if not self._is_full_and_alone or self._more_similar_section or self._is_overruled or self._is_other_count:
            return False
        share = self._chosen_likelihood / sum(section.likelihood for section in self._sections)
        return self._sections[0] in self._chosen_sections and (
            share >= MIN_CERTAIN_LIKELIHOOD
            or any(heading_asks_same(self._query, passage.heading) for passage in self._passages)
        )
