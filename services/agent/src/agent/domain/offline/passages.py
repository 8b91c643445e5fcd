"""Finds the sentence or table row that answers a question, or nothing.

Sentences are ranked as in BM25: a word counts more if fewer passages contain it. In the end, the share of the question
that a passage covers decides. A word that no page contains counts most, so a question about something else ("do you
sell boats?") finds nothing, whatever its other words are.
"""

from collections.abc import Sequence
from dataclasses import replace

from agent.domain.offline import constraints, shapes
from agent.domain.offline.common_words import COMMON, significant_words
from agent.domain.offline.constraints import carried, is_part_of_price, without_how_long
from agent.domain.offline.evidence import HOW_TO, has_evidence
from agent.domain.offline.excerpts import Excerpt, SitePage, passages_of
from agent.domain.offline.kinds import MOST_SHOWN, can_list, listed, name_of
from agent.domain.offline.lexicon import keys_in, keys_of, words_of
from agent.domain.offline.passage_index import SHORT, SHOWN_ALONE, Candidates
from agent.domain.offline.questions import Query, is_bare, is_of_leaving, is_vague, needed, specific_words, terms
from agent.domain.offline.sections import all_shown, compared, included
from agent.domain.offline.superlatives import is_superlative, the_most, whole_of
from agent.domain.text_features import plain, stem

ENOUGH = 0.6
"""Minimum share (0 to 1) of a question's weight that a passage must cover to answer it."""
_MONEY = dict(shapes.SHAPES)["=price"]
_SAYS_SO = 0.03
"""Bonus of a sentence that says what the company does or does not do, for "do you …?"."""
_IN_MONEY = 0.5
"""Bonus of a price in money, so that it precedes a free trial as the answer of a follow-up for a price."""
TELLS = 350
"""Maximum characters of a section or paragraph that is quoted in full."""


def best_passages(
    question: str, antecedent: str, pages: Sequence[SitePage], min_coverage: float = ENOUGH
) -> list[Excerpt]:
    """The passages of the pages that answer the question; empty if none does."""
    return rank(
        question, antecedent, Candidates([passage for page in pages for passage in passages_of(page)]), min_coverage
    )


def as_a_whole(question: str, antecedent: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The answer to a question about everything of a kind: its members, a difference, what something includes."""
    question = constraints.FREE_OR_PAID.sub(" ", question)
    query = _asked(question, antecedent, passages)
    complete_answer = listed(question, passages)
    if not complete_answer and not constraints.ASKS_OPINION.search(plain(question)):
        complete_answer = compared(question, antecedent, passages)
    if not complete_answer and is_superlative(question):
        superlative = the_most(question, antecedent, passages)
        question_words, last_words = (" ".join(words_of(text)) for text in (question, antecedent.rpartition("\n")[2]))
        asks_contents = shapes.INCLUDED.search(question_words) or (
            shapes.INCLUDED.search(last_words) and not shapes.HOW_MUCH.search(question_words)
        )
        return whole_of(superlative[0], passages) if superlative and asks_contents else superlative
    complete_answer = complete_answer or included(question, passages)
    return complete_answer or ([] if antecedent else all_shown(plain(question), query, passages))


def rank(
    question: str,
    antecedent: str,
    candidates: Candidates,
    min_coverage: float = ENOUGH,
    min_antecedent_coverage: float = shapes.OF_IT,
) -> list[Excerpt]:
    """Return the passages of one section that answer the question, in page order; empty if none does.

    `antecedent` holds the questions that this one refers to. `min_antecedent_coverage` is the share of them that a
    passage must cover to answer a question for a price or a duration that names nothing ("how much is it?").
    """
    passages = candidates.passages
    complete_answer = as_a_whole(question, antecedent, passages)
    question = constraints.FREE_OR_PAID.sub(" ", question)
    query, antecedent_terms = _asked(question, antecedent, passages), terms(antecedent)
    if (
        complete_answer
        or is_superlative(question)
        or not passages
        or not query
        or not (antecedent or significant_words(question) or "=directions" in query)
    ):
        return complete_answer
    if all(keys & shapes.PRICE for keys in query.values()) and shapes.OBLIGED.search(plain(question)):
        return []  # whether it has to be paid, or when
    if not antecedent_terms and is_bare(query) and not any(key in query for key in shapes.TOLD_ITSELF):
        return []  # it asks when, or for how much, without saying of what
    index = candidates.index
    inherited = carried(question, antecedent) if antecedent else []
    is_name_alone = bool(antecedent_terms) and index.is_name_alone(query)
    required = [*needed(question), *inherited]
    excludes_parts = any(keys & shapes.PRICE for keys in query.values()) and not constraints.PART_OF_PRICE.search(
        plain(question)
    )
    coverages = [
        index.share(query, at) if index.covers(required, at) and index.has_more_words(query, at) else 0.0
        for at in range(len(passages))
    ]
    if antecedent_terms and is_bare(query):
        # "And how much is it?" is about the antecedent only.
        coverages = [
            index.share_of_it(query, antecedent_terms, at, min_antecedent_coverage)
            if index.covers(required, at)
            else 0.0
            for at in range(len(passages))
        ]
    if (inherited or is_name_alone) and (topic := index.unnamed(terms(without_how_long(antecedent)))):
        # "And on Pro?" asks of Pro what was asked of Premium.
        coverages = [coverage if index.has_any_word(topic, at) else 0.0 for at, coverage in enumerate(coverages)]
    if (constraints.TAKES in required or shapes.CLOCK in required) and (
        topic := [keys for keys in query.values() if keys not in SHOWN_ALONE]
    ):
        # Under "Trial and refunds", each sentence has its own time.
        coverages = [coverage if index.has_word_itself(topic, at) else 0.0 for at, coverage in enumerate(coverages)]
    if antecedent and is_vague(query):
        # "Can I add more?" is about the antecedent only.
        coverages = [
            coverage if index.share(antecedent_terms, at) >= min_antecedent_coverage else 0.0
            for at, coverage in enumerate(coverages)
        ]
    coverages = [
        coverage if coverage and has_evidence(question, index.section(at)) else 0.0
        for at, coverage in enumerate(coverages)
    ]
    coverages = [
        coverage if can_list(question, passage) else 0.0 for coverage, passage in zip(coverages, passages, strict=True)
    ]
    if excludes_parts:
        coverages = [
            0.0 if is_part_of_price(passage.text) else coverage
            for coverage, passage in zip(coverages, passages, strict=True)
        ]
    if (count_question := shapes.HOW_MANY.search(plain(question))) and not keys_of(count_question["what"]) & COMMON:
        coverages = [
            coverage if index.counts(keys_of(count_question["what"]), at) else 0.0
            for at, coverage in enumerate(coverages)
        ]
    # How to leave is under "Cancelling"; how to join is elsewhere.
    without_cancelling = [
        0.0 if is_of_leaving(name_of(passage), f"{question} {antecedent}") else coverage
        for coverage, passage in zip(coverages, passages, strict=True)
    ]
    coverages = without_cancelling if max(without_cancelling) >= min_coverage else coverages
    if max(coverages) < min_coverage:
        return []
    asks_whether = shapes.DO_YOU.search(plain(question))
    question_stems = {stem(word) for word in words_of(question) if len(word) > SHORT}
    scores = [
        coverage
        + index.preferred(query, antecedent_terms, question_stems, at)
        + (_SAYS_SO if asks_whether and shapes.DOES_OR_NOT.search(passage.text) else 0)
        + (_IN_MONEY if shapes.COST in inherited and _MONEY.search(passage.text) else 0)
        for at, (coverage, passage) in enumerate(zip(coverages, passages, strict=True))
    ]
    best_score = max(scores)
    at = scores.index(best_score)
    chosen = passages[at]
    section_positions = [
        i for i, passage in enumerate(passages) if (passage.url, passage.heading) == (chosen.url, chosen.heading)
    ]
    if chosen.row and (rows_of_kind := _rows_of_kind(query, passages, coverages)):
        return rows_of_kind
    if not chosen.row and (shapes.COSTS.search(plain(question)) or shapes.COST in inherited):
        # The price is in the table row of that name; a sentence beside it is about one case.
        rows_of_name = [
            passage
            for passage, coverage in zip(passages, coverages, strict=True)
            if coverage >= min_coverage and has_name(query, passage)
        ]
        if rows_of_name:
            return rows_of_name[:MOST_SHOWN]
    if index.only_heading(query, at):
        # The heading asks the question, so what is below it is the answer: its beginning, or the whole list.
        return [passages[i] for i in section_positions[: MOST_SHOWN if chosen.item else 3]]
    if chosen.row and index.is_about_another_day(query, at):
        # All days together show that the day is not among them.
        return [passages[i] for i in section_positions if passages[i].row][:MOST_SHOWN]
    title_keys = keys_in(f"{chosen.title} {chosen.heading}")
    if chosen.item and HOW_TO.search(plain(question)) and any(keys & title_keys for keys in query.values()):
        return [passages[i] for i in section_positions if passages[i].item][:MOST_SHOWN]
    # Other passages of the section with nearly the same score belong to the answer; those of other sections do not.
    ties = [passages[i] for i in section_positions if i != at and scores[i] >= best_score - 0.02]
    # Tied rows of a table answer different questions, unless they have the name that the question asks for.
    tied_passages = [chosen, *ties]
    named_rows = (
        [passage for passage in tied_passages if _is_named(query, passage)] if chosen.row and not chosen.item else []
    )
    answer = sorted((named_rows or tied_passages)[: MOST_SHOWN if chosen.row else 3], key=lambda passage: passage.place)
    if (
        shapes.NAMES_WHICH.search(plain(question))
        and chosen.item
        and not keys_in(chosen.heading) & frozenset().union(*query.values())
    ):
        # A list item says what, its heading of which.
        return [
            replace(passage, text=f"{passage.heading}: {passage.text}") if passage.heading else passage
            for passage in answer
        ]
    return answer


def has_name(query: Query, passage: Excerpt) -> bool:
    """Whether it is a table row whose name contains every word that the question is about."""
    name_keys = keys_in(f"{passage.text.partition(':')[0]} {passage.column}")
    topic_words = [word for word in query if word[0] != "=" and not query[word] & shapes.PRICE]
    topic_words = [word for word in specific_words(query) if word in topic_words] or topic_words
    return (
        passage.row and not passage.item and bool(topic_words) and all(query[word] & name_keys for word in topic_words)
    )


def _is_named(query: Query, row: Excerpt) -> bool:
    """Whether a row's name contains a word that the question is about."""
    name_keys = keys_in(row.text.partition(":")[0])
    return any(query[word] & name_keys for word in specific_words(query))


def _rows_of_kind(query: Query, passages: Sequence[Excerpt], coverages: Sequence[float]) -> list[Excerpt]:
    """The rows of a table if the question names only what the table calls its rows ("what is a course?")."""
    kind_keys = [query[word] for word in specific_words(query) if not query[word] & shapes.BARE]
    rows = [
        passage
        for passage, coverage in zip(passages, coverages, strict=True)
        if coverage and passage.row and _are(passage.column, kind_keys)
    ]
    other_keys = [
        keys for word, keys in query.items() if not (word[0] == "=" or keys in kind_keys or keys & shapes.BARE)
    ]
    is_named = any(keys & keys_in(passage.text.partition(":")[0]) for keys in other_keys for passage in rows)
    return rows[:MOST_SHOWN] if kind_keys and not is_named and len(rows) > 1 else []


def _are(column: str, kind_keys: Sequence[frozenset[str]]) -> bool:
    column_keys = keys_in(column)
    return all(keys & column_keys for keys in kind_keys)


def about(pages: Sequence[SitePage]) -> list[Excerpt]:
    """How the first page of the site begins: what the company says it is."""
    return [passage for page in pages[:1] for passage in passages_of(page)][:1]


def _asked(question: str, antecedent: str, passages: Sequence[Excerpt]) -> dict[str, frozenset[str]]:
    row_names = [name_of(passage) for passage in passages if passage.row and not passage.item]
    if query := terms(question):
        return _names_said(question, row_names) | query
    names = [*row_names, *(name for passage in passages for name in (passage.heading, *passage.columns))]
    return _names_said(question, names) if antecedent else {}


def _names_said(question: str, whole: Sequence[str]) -> dict[str, frozenset[str]]:
    """The words of a question that are a whole name, as "Business" of a plan, although elsewhere the word is common."""
    one_word_names = {stem(word) for name in whole for word in _only_word(name)}
    return {
        stem(word): keys_of(word) for word in words_of(question) if stem(word) in one_word_names and len(word) > SHORT
    }


def is_row_name(question: str, passage: Excerpt) -> bool:
    """Whether a question contains the one-word name of this table row."""
    return passage.row and not passage.item and bool(_names_said(question, [name_of(passage)]))


def _only_word(name: str) -> list[str]:
    words = words_of(name)
    return words if len(words) == 1 else []
