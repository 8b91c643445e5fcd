"""Finds the sentence or table row that answers a question, or nothing.

Sentences are ranked as in BM25: a word counts more if fewer passages contain it. In the end, the share of the question
that a passage covers decides. A word that no page contains counts most, so a question about something else ("do you
sell boats?") finds nothing, whatever its other words are.
"""

from collections.abc import Sequence
from dataclasses import replace

from agent.domain.offline import constraints, shapes
from agent.domain.offline.common_words import COMMON, significant_words
from agent.domain.offline.constraints import gives_count, inherited_keys, is_part_of_price, without_how_long
from agent.domain.offline.evidence import HOW_TO, has_evidence
from agent.domain.offline.excerpts import Excerpt, SitePage, excerpts_of_page
from agent.domain.offline.kinds import MAX_SHOWN, can_list, listed_members, name_of
from agent.domain.offline.lexicon import keys_in, keys_of, words_of
from agent.domain.offline.passage_index import MAX_NAME_WORDS, TERMS_BY_FORM, Candidates
from agent.domain.offline.questions import (
    Query,
    is_day,
    is_other_cancellation,
    is_vague,
    names_nothing,
    required_keys,
    terms,
    topic_words,
)
from agent.domain.offline.sections import all_of_shape, compared_passages, included_passages
from agent.domain.offline.superlatives import is_superlative, passages_of_thing, superlative_passages
from agent.domain.text_features import plain, stem
from contracts.knowledge import INDEX_PAGE, KnowledgeFound

MIN_COVERAGE = 0.6
"""Minimum share (0 to 1) of a question's weight that a passage must cover to answer it."""
_MAX_INTRODUCTION_SENTENCES = 3
"""Sentences of the first page that say what the company is."""
_MONEY = dict(shapes.SHAPES)["=price"]
_STATEMENT_BONUS = 0.03
"""Bonus of a sentence that says what the company does or does not do, for "do you …?"."""
_MONEY_BONUS = 0.5
"""Bonus of a price in money, so that it precedes a free trial as the answer of a follow-up for a price."""


def answer_from_pages(
    question: str, antecedent: str, pages: Sequence[SitePage], min_coverage: float = MIN_COVERAGE
) -> list[Excerpt]:
    """The passages of the pages that answer the question; empty if none does."""
    return find_answer(
        question,
        antecedent,
        Candidates([passage for page in pages for passage in excerpts_of_page(page)]),
        min_coverage,
    )


def complete_answer(question: str, antecedent: str, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The answer to a question about everything of a kind: its members, a difference, what something includes."""
    question = constraints.FREE_OR_PAID.sub(" ", question)
    query = _query(question, antecedent, passages)
    complete = listed_members(question, passages)
    if not complete and not constraints.ASKS_OPINION.search(plain(question)):
        complete = compared_passages(question, antecedent, passages)
    if not complete and is_superlative(question):
        superlative = superlative_passages(question, antecedent, passages)
        question_words, last_words = (" ".join(words_of(text)) for text in (question, antecedent.rpartition("\n")[2]))
        asks_contents = shapes.INCLUDED.search(question_words) or (
            shapes.INCLUDED.search(last_words) and not shapes.HOW_MUCH.search(question_words)
        )
        return passages_of_thing(superlative[0], passages) if superlative and asks_contents else superlative
    complete = complete or included_passages(question, passages)
    return complete or ([] if antecedent else all_of_shape(question, query, passages))


def find_answer(
    question: str,
    antecedent: str,
    candidates: Candidates,
    min_coverage: float = MIN_COVERAGE,
    min_antecedent_coverage: float = shapes.MIN_ANTECEDENT_COVERAGE,
) -> list[Excerpt]:
    """Return the passages of one section that answer the question, in page order; empty if none does.

    `antecedent` holds the questions that this one refers to. `min_antecedent_coverage` is the share of them that a
    passage must cover to answer a question for a price or a duration that names nothing ("how much is it?").
    """
    passages, index = candidates.passages, candidates.index
    complete = complete_answer(question, antecedent, passages)
    question = constraints.FREE_OR_PAID.sub(" ", question)
    query, antecedent_terms = _query(question, antecedent, passages), terms(antecedent)
    if (
        complete
        or is_superlative(question)
        or not passages
        or not query
        or not (antecedent or significant_words(question) or query.keys() & {"=directions", "=bring"})
    ):
        return complete
    if all(keys & shapes.PRICE for keys in query.values()) and shapes.OBLIGED.search(plain(question)):
        return []  # whether it has to be paid, or when
    if not antecedent_terms and names_nothing(query) and not any(key in query for key in shapes.ANSWERED_BY_HEADING):
        return []  # it asks when, or for how much, without saying of what
    coverages = _coverages(question, antecedent, query, candidates, min_antecedent_coverage)
    # How to leave is under "Cancelling"; how to join is elsewhere.
    without_cancelling = [
        0.0 if is_other_cancellation(name_of(passage), f"{question} {antecedent}") else coverage
        for coverage, passage in zip(coverages, passages, strict=True)
    ]
    coverages = without_cancelling if max(without_cancelling) >= min_coverage else coverages
    if max(coverages) < min_coverage:
        return []
    asks_whether = shapes.DO_YOU.search(plain(question))
    asks_same_price = bool(antecedent) and shapes.COST in inherited_keys(question, antecedent)
    question_stems = {stem(word) for word in words_of(question) if len(word) > MAX_NAME_WORDS}
    scores = [
        coverage
        + index.tie_break_score(query, antecedent_terms, question_stems, i)
        + (_STATEMENT_BONUS if asks_whether and shapes.DOES_OR_NOT.search(passage.text) else 0)
        + (_MONEY_BONUS if asks_same_price and _MONEY.search(passage.text) else 0)
        for i, (coverage, passage) in enumerate(zip(coverages, passages, strict=True))
    ]
    chosen = passages[scores.index(max(scores))]
    if chosen.row and (rows_of_kind := _rows_of_kind(query, passages, coverages)):
        return rows_of_kind
    if not chosen.row and (asks_same_price or shapes.COSTS.search(plain(question))):
        # The price is in the table row of that name; a sentence beside it is about one case.
        rows_of_name = [
            passage
            for passage, coverage in zip(passages, coverages, strict=True)
            if coverage >= min_coverage and is_row_named(query, passage)
        ]
        if rows_of_name:
            return rows_of_name[:MAX_SHOWN]
    return _with_section(question, query, candidates, scores)


def _coverages(
    question: str, antecedent: str, query: Query, candidates: Candidates, min_antecedent_coverage: float
) -> list[float]:
    """By passage: the share of the question that it covers; 0 if it lacks what an answer must have."""
    passages, index, normalized = candidates.passages, candidates.index, plain(question)
    antecedent_terms, inherited = terms(antecedent), inherited_keys(question, antecedent) if antecedent else []
    required = [*required_keys(question), *inherited]
    asks_price = any(keys & shapes.PRICE for keys in query.values())
    excludes_parts = asks_price and not constraints.PART_OF_PRICE.search(normalized)
    count_question = shapes.HOW_MANY.search(normalized)
    counted_keys = keys_of(count_question["what"]) if count_question else COMMON
    # "And on Pro?" asks of Pro what was asked of Premium.
    continues_topic = inherited or (antecedent_terms and index.is_name_alone(query))
    topic = index.terms_without_names(terms(without_how_long(antecedent))) if continues_topic else []
    # Under "Trial and refunds", each sentence has its own time.
    asks_own_time = constraints.TAKES in required or shapes.CLOCK in required
    timed_topic = [keys for keys in query.values() if keys not in TERMS_BY_FORM] if asks_own_time else []
    # "And how much is it?" is about the antecedent only, as is "Can I add more?".
    repeats_antecedent = bool(antecedent_terms) and names_nothing(query)
    needs_antecedent = bool(antecedent) and is_vague(query)

    def can_answer(i: int) -> bool:
        return (
            index.has_all(required, i)
            and (repeats_antecedent or index.has_more_words(query, i))
            and (not topic or index.has_any_word(topic, i))
            and (not timed_topic or index.has_word_itself(timed_topic, i))
            and (not needs_antecedent or index.coverage(antecedent_terms, i) >= min_antecedent_coverage)
            and has_evidence(question, index.section_text(i))
            and can_list(question, passages[i])
            and not ("=bring" in query and shapes.MAY.search(" ".join(words_of(passages[i].heading))))
            and not (excludes_parts and is_part_of_price(passages[i].text))
            and (bool(counted_keys & COMMON) or gives_count(passages[i], counted_keys))
        )

    def coverage(i: int) -> float:
        if repeats_antecedent:
            return index.antecedent_coverage(query, antecedent_terms, i, min_antecedent_coverage)
        return index.coverage(query, i)

    return [coverage(i) if can_answer(i) else 0.0 for i in range(len(passages))]


def _with_section(question: str, query: Query, candidates: Candidates, scores: Sequence[float]) -> list[Excerpt]:
    """The passage with the best score, with what belongs to the answer in its section."""
    passages, index, best_score = candidates.passages, candidates.index, max(scores)
    best = scores.index(best_score)
    chosen = passages[best]
    section_positions = [i for i, passage in enumerate(passages) if passage.location == chosen.location]
    if index.matches_heading_only(query, best):
        # The heading asks the question, so what is below it is the answer: its beginning, or the whole list.
        return [passages[i] for i in section_positions[: MAX_SHOWN if chosen.item else 3]]
    if chosen.row and index.is_about_another_day(query, best):
        # All days together show that the day is not among them.
        return [passages[i] for i in section_positions if passages[i].row or index.names_day(query, i)][:MAX_SHOWN]
    if _is_of_day(name_of(chosen)) and chosen.is_table_row and not any(map(is_day, query)):
        return [passages[i] for i in section_positions if passages[i].is_table_row][:MAX_SHOWN]
    title_keys = keys_in(f"{chosen.title} {chosen.heading}")
    if chosen.item and HOW_TO.search(plain(question)) and any(keys & title_keys for keys in query.values()):
        return [passages[i] for i in section_positions if passages[i].item][:MAX_SHOWN]
    # Other passages of the section with nearly the same score belong to the answer; those of other sections do not.
    tied_passages = [
        chosen,
        *(
            passages[i]
            for i in section_positions
            if i != best and scores[i] >= best_score - 0.02 and passages[i].is_table_row == chosen.is_table_row
        ),
    ]
    # Tied rows of a table answer different questions, unless they have the name that the question asks for.
    named_rows = [passage for passage in tied_passages if _names_topic(query, passage)] if chosen.is_table_row else []
    answer = sorted(
        (named_rows or tied_passages)[: MAX_SHOWN if chosen.row else 3], key=lambda passage: passage.page_position
    )
    asks_which = chosen.item and shapes.NAMES_WHICH.search(plain(question))
    if asks_which and chosen.heading and not keys_in(chosen.heading) & frozenset().union(*query.values()):
        # A list item says what, its heading of which.
        return [replace(passage, text=f"{passage.heading}: {passage.text}") for passage in answer]
    return answer


def _is_of_day(name: str) -> bool:
    """Whether a row's name has a day of the week: such a row alone does not tell when it is open."""
    return any(is_day(stem(word)) for word in words_of(name))


def is_row_named(query: Query, passage: Excerpt, *, by_columns: bool = False) -> bool:
    """Whether it is a table row whose name contains every word that the question is about; `by_columns`: its name, with
    the headers of its prices, since plans may be the rows of a table, or its columns."""
    headers = zip(passage.columns, passage.cells, strict=False) if by_columns else ()
    priced = [name for name, cell in headers if _MONEY.search(cell)]
    name_keys = keys_in(" ".join((passage.text.partition(":")[0], passage.column, *priced)))
    topic = [word for word in query if word[0] != "=" and not query[word] & shapes.PRICE]
    topic = [word for word in topic_words(query) if word in topic] or topic
    return passage.is_table_row and bool(topic) and all(query[word] & name_keys for word in topic)


def _names_topic(query: Query, row: Excerpt) -> bool:
    """Whether a row's name contains a word that the question is about."""
    name_keys = keys_in(name_of(row))
    return any(query[word] & name_keys for word in topic_words(query))


def _rows_of_kind(query: Query, passages: Sequence[Excerpt], coverages: Sequence[float]) -> list[Excerpt]:
    """The rows of a table if the question names only what the table calls its rows ("what is a course?")."""
    kind_keys = [query[word] for word in topic_words(query) if not query[word] & shapes.PRICE_OR_TIME]
    rows = [
        passage
        for passage, coverage in zip(passages, coverages, strict=True)
        if coverage and passage.row and all(keys & keys_in(passage.column) for keys in kind_keys)
    ]
    other_keys = [
        keys for word, keys in query.items() if not (word[0] == "=" or keys in kind_keys or keys & shapes.PRICE_OR_TIME)
    ]
    is_named = any(keys & keys_in(name_of(passage)) for keys in other_keys for passage in rows)
    return rows[:MAX_SHOWN] if kind_keys and not is_named and len(rows) > 1 else []


def introduction(pages: Sequence[SitePage]) -> list[Excerpt]:
    """How the first page of the site begins: what the company says it is."""
    return [passage for page in pages[:1] for passage in excerpts_of_page(page)][:1]


def introduction_of(knowledge: KnowledgeFound, excerpts: Sequence[Excerpt]) -> list[Excerpt]:
    """The first paragraph, among these excerpts, of the site's first page, which has the shortest address."""
    excerpts = [excerpt for excerpt in excerpts if "©" not in excerpt.text]
    numbers = {
        excerpt.number for excerpt in excerpts if not excerpt.row and len(words_of(excerpt.text)) > MAX_NAME_WORDS
    }
    pages = [
        (len(INDEX_PAGE.sub("", excerpt.url.partition("#")[0])), excerpt.id, number)
        for number, excerpt in enumerate(knowledge.passages, start=1)
        if number in numbers and excerpt.source == "site" and excerpt.url
    ]
    prose = [excerpt for excerpt in excerpts if pages and excerpt.number == min(pages)[2] and not excerpt.row]
    first_paragraph = next((excerpt.paragraph for excerpt in prose if len(words_of(excerpt.text)) > MAX_NAME_WORDS), 0)
    return [excerpt for excerpt in prose if excerpt.paragraph == first_paragraph][:_MAX_INTRODUCTION_SENTENCES]


def _query(question: str, antecedent: str, passages: Sequence[Excerpt]) -> dict[str, frozenset[str]]:
    row_names = [name_of(passage) for passage in passages if passage.is_table_row]
    if query := terms(question):
        return _words_of_names(question, row_names) | query
    names = [*row_names, *(name for passage in passages for name in (passage.heading, *passage.columns))]
    return _words_of_names(question, names) if antecedent else {}


def _words_of_names(question: str, names: Sequence[str]) -> dict[str, frozenset[str]]:
    """The words of a question that are a whole name, as "Business" of a plan or "Full service", although elsewhere they
    are common."""
    asked_words = words_of(question)
    asked_stems = [stem(word) for word in asked_words]
    stems_of_names = {tuple(map(stem, words_of(name))) for name in names}
    found: dict[str, frozenset[str]] = {}
    for start, asked in enumerate(asked_words):
        for length in range(1, MAX_NAME_WORDS + 1):
            words = asked_words[start : start + length]
            if (length > 1 or len(asked) > MAX_NAME_WORDS) and tuple(
                asked_stems[start : start + length]
            ) in stems_of_names:
                found |= {stem(word): keys_of(word) for word in words}
    return found


def is_row_name(question: str, passage: Excerpt) -> bool:
    """Whether a question contains the name of this table row."""
    return passage.is_table_row and bool(_words_of_names(question, [name_of(passage)]))
