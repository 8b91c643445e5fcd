"""Answers a question from the company's own words: the passages that were found, or pages of its site that are read
now.

First come follow-ups to a table row and "the second one"; then the passage that answers for certain; then what may
answer, quoted as uncertain; at last "I do not know". `next_pages` says which page to read next, following links.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.domain.offline.ages import is_for_age
from agent.domain.offline.answers import after_statement, is_unknown, unknown
from agent.domain.offline.branches import asked_of_branch, for_each_branch
from agent.domain.offline.certainty import ChosenAnswer
from agent.domain.offline.closest import MIN_REPORTED_LETTERS, certain_section_quote, nearest_excerpts, unknown_words
from agent.domain.offline.common_words import significant_words
from agent.domain.offline.constraints import A_DAY, meets_constraints
from agent.domain.offline.evidence import answers, has_evidence, text_of
from agent.domain.offline.excerpts import Excerpt, sentences_of
from agent.domain.offline.follow_up_rows import follow_up_rows
from agent.domain.offline.kinds import with_ordinals_named
from agent.domain.offline.lexicon import keys_in, keys_of, meanings_of, words_of
from agent.domain.offline.passage_index import MAX_NAME_WORDS, Candidates
from agent.domain.offline.passages import MIN_COVERAGE, find_answer, introduction_of, is_row_name
from agent.domain.offline.questions import is_other_cancellation, lacks_subject, required_keys, terms, topic_words
from agent.domain.offline.quotations import quoted
from agent.domain.offline.section_quotes import in_paragraphs
from agent.domain.offline.sections import with_named_columns
from agent.domain.offline.shapes import (
    ANSWERED_BY_HEADING,
    FULL_NAME,
    MIN_ANTECEDENT_COVERAGE,
    NEGATION,
    PRICE,
    WHERE_IS,
)
from agent.domain.offline.small_talk import is_visitors_statement
from agent.domain.offline.step_results import SayText
from agent.domain.offline.superlatives import is_superlative
from agent.domain.text_features import plain
from contracts.expressions import expression
from contracts.knowledge import KnowledgeFound, Passage
from contracts.languages import Language

SURE_COVERAGE = 0.8
"""Minimum share (0 to 1) of a question's weight that a passage must cover for no further page to be read, and for
passages in another language or parts of a message to answer."""
_MIN_MATCHED_LETTERS = 5
"""Minimum letters of a word that can match another language's text as it stands."""
_ABOUT_PERSON = expression(
    r"\b(?:he(?! \w+(?:[ai]do|to|cho)\b)|she)\b|(?<!para )(?<!con )(?<!de )(?<!a )\b(?:él|ella)\b|\b(?:está|esta|"
    r"viene|atiende|trabaja) el\W*$|\bqu[eé] (?:d[ií]as|horas?) (?:viene|est[aá]|atiende|trabaja)\b|\b(?:viene|"
    r"atiende|pasa consulta)\W*$",
    re.IGNORECASE,
)
"""Refers to a person mentioned before."""
_OWN_RELATIVE = expression(r"\b(?:my|our|mi|nuestr[oa]) \w+", re.IGNORECASE)
_WHAT_IT_HAS = expression(
    r"\bwhat (?:does|do) (?:it|that(?: one)?|this(?: one)?|they) (?:have|include|offer|come with|give)|"
    r"\bque (?:trae|incluye|lleva|tiene|ofrece)n?\W*$"
)
_CLAUSE = expression(
    r"(?:^|(?<=[.,;:!?¿]))(?:[^.,;:!?¿]{6,}\?|\s*(?:and |y )?(?:how|what|where|when|can|do|does|c[oó]mo|qu[eé]|"
    r"d[oó]nde|cu[aá]ndo|cu[aá]nt[oa]s?|puedo|hay|ten[eé]is)\b[^.,;:!?¿]{6,})",
    re.IGNORECASE,
)
"""A question within a longer message."""
_YES_OR_NO = expression(r"(?:yes|no|s[ií])\b(?=[,.;:!])", re.IGNORECASE)
_MAX_HEADING_WORDS = 3
"""Maximum words of a heading that is put before its list item."""
_MAX_QUOTED_SECTIONS = 3
"""Maximum sections of an answer for "which days?" to be asked about one of them."""
_LONG_SECTION_SENTENCES = 8
"""In a section of more sentences than this, a follow-up is answered only near the sentence quoted last."""
_MAX_SENTENCE_DISTANCE = 2
"""How many sentences away from it, at most."""


@dataclass(frozen=True, slots=True)
class SiteQuestion:
    """A question to be answered from the site.

    `antecedent` holds the earlier questions that it refers to, one per line; "" if it is complete. `missed_before` is
    true if an earlier question found no answer.
    """

    question: str
    antecedent: str
    language: Language
    page_url: str | None
    asks_about_company: bool
    missed_before: bool
    last_answer: str = ""
    """The last reply, if it was an answer: a question that refers to it is first asked of the same section."""
    unavailable: str = ""
    """The reply instead of "I do not know" if the search was incomplete, so that something not found may exist."""
    previous_question: str = ""
    """The questions that it refers to, or else the previous question."""
    last_quote: str = ""
    """What was quoted last."""

    def unknown(
        self, possible_answers: Sequence[Excerpt] = (), related: Sequence[Excerpt] = (), unknown_word: str = ""
    ) -> SayText:
        """The reply that nothing was found, or that the search was incomplete; with what may answer, or else what is
        related, and the word that no page contains. A statement is no question, so nothing is unknown."""
        if self.unavailable:
            return SayText(self.unavailable)
        if is_visitors_statement(self.question):
            return SayText(after_statement(self._about_topic([*possible_answers, *related]), self.language))
        return SayText(
            unknown(
                self.language,
                missed_before=self.missed_before,
                possible_answers=possible_answers,
                related=related,
                unknown_word=unknown_word,
            )
        )

    def _about_topic(self, excerpts: Sequence[Excerpt]) -> list[Excerpt]:
        """The excerpts that have a word which the message is about."""
        query = terms(self.question)
        topic = frozenset[str]().union(*(query[word] for word in topic_words(query)))
        return [excerpt for excerpt in excerpts if topic & keys_in(f"{excerpt.heading} {excerpt.text}")]


def from_knowledge(request: SiteQuestion, knowledge: KnowledgeFound) -> SayText:
    """Return the answer from the passages that were found: a question-and-answer pair as it is written, or the
    sentences that answer."""
    exact_number = next((number for number, passage in enumerate(knowledge.passages, start=1) if passage.exact), 0)
    if exact_number:
        return SayText(f"{knowledge.passages[exact_number - 1].text} [{exact_number}]")
    own_language, other_languages = _excerpts_by_language(request, knowledge)
    if of_day := _of_that_day(request, own_language):
        return SayText(quoted(of_day, request.language))
    if rows := follow_up_rows(
        request.question, bool(request.antecedent), request.last_answer, [*own_language, *other_languages]
    ):
        rows = with_named_columns(request.question, request.antecedent, rows)
        rows = for_each_branch(request.question, request.antecedent, rows, [*own_language, *other_languages])
        return request.unknown(rows) if is_unknown(request.last_answer) else SayText(quoted(rows, request.language))
    if asked := asked_of_branch(request.question, request.antecedent, own_language or other_languages):
        request = replace(request, question=asked, antecedent="", previous_question="")
    if request.asks_about_company and (introduction := introduction_of(knowledge, own_language or other_languages)):
        return SayText(quoted(introduction, request.language))
    named_question = with_ordinals_named(request.question, request.last_answer, own_language)
    if named_question is None:
        return request.unknown()
    request = replace(request, question=named_question)
    candidates = Candidates(own_language, knowledge.documents)
    foreign_candidates = Candidates(other_languages, knowledge.documents)
    foreign_numbers = {excerpt.number for excerpt in other_languages}
    all_candidates = (
        Candidates([*own_language, *other_languages], knowledge.documents, foreign_numbers)
        if other_languages
        else candidates
    )
    answer = _find_answer(request, candidates, foreign_candidates)
    if not answer:
        return _nearest_answer(request, all_candidates)
    chosen = ChosenAnswer(
        request.question, request.antecedent, request.previous_question, answer, all_candidates, request.last_quote
    )
    quotes = chosen.certain_quote()
    if _is_one_of_several(request, quotes, all_candidates.passages) or not answers(
        request.question, request.antecedent, quotes
    ):
        return request.unknown(quotes or chosen.doubtful_quote())
    if len({excerpt.heading for excerpt in quotes}) == 1:  # excerpts of several sections are quoted with their headings
        quotes = [_with_heading(excerpt, request.question) for excerpt in quotes[:1]] + quotes[1:]
    if len(quotes) == 1:
        quotes = [_fragment_with_heading(quotes[0])]
    quotes = with_named_columns(request.question, request.antecedent, quotes)
    quotes = for_each_branch(request.question, request.antecedent, quotes, all_candidates.passages)
    return SayText(quoted(quotes, request.language))


def _excerpts_by_language(request: SiteQuestion, knowledge: KnowledgeFound) -> tuple[list[Excerpt], list[Excerpt]]:
    """The excerpts in the question's language, and those in others; rows for other ages than the question's are left
    out."""
    own_language: list[Excerpt] = []
    other_languages: list[Excerpt] = []
    seen_texts: set[str] = set()
    for number, passage in enumerate(knowledge.passages, start=1):
        if passage.text in seen_texts:
            continue  # the same page at another address, such as "/" and "/index.html"
        seen_texts.add(passage.text)
        # The passage's heading is that of its best section; a passage of several sections contains the later headings.
        heading = passage.heading[-1] if passage.heading and f"# {passage.heading[-1]}" not in passage.text else ""
        is_own = passage.language is None or passage.language[:2].lower() == request.language
        above = passage.heading[:-1] if heading else ()
        excerpts = sentences_of(passage.text, heading, passage.url or passage.id, passage.title, number, above)
        similarities = _similarities(passage)
        (own_language if is_own else other_languages).extend(
            replace(excerpt, near=similarities.get(excerpt.heading, 0.0))
            for excerpt in excerpts
            if not excerpt.row or is_for_age(request.question, excerpt.text)
        )
    return own_language, other_languages


def _nearest_answer(request: SiteQuestion, candidates: Candidates) -> SayText:
    """The answer if no sentence was chosen: the section that answers for certain, what comes closest, or the word of
    the question that no page contains."""
    if _asks_about_person(request):
        return request.unknown()
    certain_answer = certain_section_quote(request.question, request.previous_question, request.last_quote, candidates)
    if answers(request.question, "", certain_answer):
        return SayText(quoted(certain_answer, request.language))
    closest_excerpts, may_answer = nearest_excerpts(
        request.question, request.previous_question, request.last_quote, candidates
    )
    if may_answer:
        return request.unknown(closest_excerpts)
    # In English, what a question is about comes after its attributes; in Spanish, before them.
    missing_words = [
        word for word in unknown_words(request.question, candidates) if len(word) >= MIN_REPORTED_LETTERS
    ] or [""]
    return request.unknown((), closest_excerpts, missing_words[-1 if request.language == "en" else 0])


def _similarities(passage: Passage) -> dict[str, float]:
    """The similarity in meaning of each section to the question, by heading."""
    headings = [section.heading for section in passage.sections] if passage.sections else [passage.heading]
    return {
        heading_path[-1] if heading_path else "": similarity
        for heading_path, similarity in zip(headings, passage.near or (), strict=False)
    }


def _find_answer(request: SiteQuestion, candidates: Candidates, foreign_candidates: Candidates) -> list[Excerpt]:
    """The excerpts that answer the question, from passages in its language or, with stricter conditions, in others."""
    same_section = _answer_in_same_section(request, [*candidates.passages, *foreign_candidates.passages])
    same_section = (
        same_section
        if answers(request.question, request.antecedent, same_section)
        and not _lacks_price(request.question, same_section, candidates)
        else []
    )
    if same_section or _asks_about_person(request):
        return same_section
    # A follow-up of an unanswered question must cover that one to be answered.
    min_antecedent_coverage = MIN_ANTECEDENT_COVERAGE if request.last_answer else MIN_COVERAGE
    chosen = find_answer(
        request.question, request.antecedent, candidates, min_antecedent_coverage=min_antecedent_coverage
    )
    last_antecedent = request.antecedent.rpartition("\n")[2]
    if not chosen and last_antecedent != request.antecedent:
        chosen = find_answer(
            request.question, last_antecedent, candidates, min_antecedent_coverage=min_antecedent_coverage
        )
    if not chosen and request.antecedent and any(key in ANSWERED_BY_HEADING for key in terms(request.question)):
        chosen = find_answer(request.question, "", candidates)
    words = significant_words(request.question)
    asks_place = WHERE_IS.search(plain(request.question))
    is_dependent = bool(request.antecedent) and lacks_subject(request.question)
    if not chosen and (
        asks_place
        or is_dependent
        or len(words) > 1
        or any(_is_word_in(word, foreign_candidates.passages) for word in words)
    ):
        # Words of two languages look alike by chance, so a single shared stem proves nothing.
        chosen = find_answer(
            request.question, request.antecedent, foreign_candidates, SURE_COVERAGE, min_antecedent_coverage
        )
    for clause in _CLAUSE.findall(request.question):
        # The pages may lack what a message says beside its question.
        chosen = chosen or ([] if lacks_subject(clause) else find_answer(clause, "", candidates, SURE_COVERAGE))
    # What an answer of this kind contains may stand beside the chosen sentence, which is quoted with its paragraph.
    text = text_of(in_paragraphs(chosen, candidates) or chosen)
    is_answer = has_evidence(request.question, text) and meets_constraints(request.question, request.antecedent, chosen)
    return chosen if chosen and is_answer else []


def _of_that_day(request: SiteQuestion, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """What each of several sections that were quoted last says of the day that a follow-up asks for; empty if only one
    of them names it."""
    if not (request.antecedent and A_DAY.search(plain(request.question))) or is_superlative(request.question):
        return []
    query, locations = terms(request.question), {p.location for p in passages if p.is_in(request.last_answer)}
    sections = Candidates([passage for passage in passages if passage.location in locations])
    of_day = [passage for i, passage in enumerate(sections.passages) if sections.index.names_day(query, i)]
    return of_day if len({passage.location for passage in of_day}) > 1 else []


def _is_one_of_several(request: SiteQuestion, quotes: Sequence[Excerpt], passages: Sequence[Excerpt]) -> bool:
    """Whether a follow-up for a day ("and on Sundays?") would be answered for certain from one of several sections that
    were quoted with a doubt."""
    quoted_sections = {passage.location for passage in passages if passage.is_in(request.last_answer)}
    return (
        bool(request.antecedent and A_DAY.search(plain(request.question)))
        and is_unknown(request.last_answer)
        and len(quoted_sections) > 1
        and all(excerpt.is_in(request.last_answer) for excerpt in quotes)
    )


def _lacks_price(question: str, chosen: Sequence[Excerpt], candidates: Candidates) -> bool:
    """Whether a price is asked for and the chosen passages have none, although other passages have."""
    price_keys = [keys for keys in required_keys(question) if keys & PRICE]
    positions = [i for i, passage in enumerate(candidates.passages) if passage in chosen]
    return bool(price_keys and positions) and not any(
        candidates.index.has_all(price_keys, position) for position in positions
    )


def _asks_about_person(request: SiteQuestion) -> bool:
    """Whether the question is about a person whom the last answer named, and not about the asker's relative."""
    name = FULL_NAME.search(request.last_answer)
    return bool(name and _ABOUT_PERSON.search(request.question)) and not _OWN_RELATIVE.search(request.question)


def _answer_in_same_section(request: SiteQuestion, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The passages of the section quoted last that answer a question that refers to it."""
    asks_about_person = _asks_about_person(request)
    if not (request.last_answer and (request.antecedent or asks_about_person)) or is_superlative(request.question):
        return []
    if asks_about_person:
        names = [set(words_of(name)) for name in FULL_NAME.findall(request.last_answer)]
        subset = [passage for passage in passages if any(name <= set(words_of(passage.heading)) for name in names)]
        if answer := find_answer(request.question, "", Candidates(subset)):
            return answer
    quoted = [passage for passage in passages if passage.is_in(request.last_answer)]
    locations = {passage.location for passage in quoted}
    locations = {
        location
        for location in locations
        if not is_other_cancellation(location[1], f"{request.question} {request.antecedent}")
    } or locations
    if any(is_row_name(request.question, passage) for passage in passages if passage not in quoted):
        return []
    if 1 < len(locations) <= _MAX_QUOTED_SECTIONS and lacks_subject(request.question):
        subset = Candidates([passage for passage in passages if passage.location in locations])
        return find_answer(request.question, request.antecedent, subset) or find_answer(request.question, "", subset)
    if len(locations) != 1:
        return []
    section_passages = [passage for passage in passages if passage.location == quoted[0].location and not passage.row]
    if len(section_passages) > _LONG_SECTION_SENTENCES:
        # A document without headings has many topics: only sentences near the quoted one are on the same.
        section_passages = [
            passage
            for passage in section_passages
            if any(abs(passage.page_position - other.page_position) <= _MAX_SENTENCE_DISTANCE for other in quoted)
        ]
    if _WHAT_IT_HAS.search(plain(request.question)):
        return [passage for passage in section_passages if passage not in quoted] or [
            passage for passage in quoted if not passage.row
        ]
    asks_month = any("=month" in keys for keys in terms(request.question).values())
    if (asks_month or A_DAY.search(plain(request.question))) and quoted[0].row:
        return []  # another row is about the other day or month
    return find_answer(request.question, "", Candidates(quoted)) or find_answer(
        request.question, "", Candidates(section_passages)
    )


def _with_heading(excerpt: Excerpt, question: str) -> Excerpt:
    """An excerpt with its heading put before it if that says whom or what it is about: for a person, a list item, or a
    yes or no to the question in the heading."""
    if _YES_OR_NO.match(excerpt.text) and excerpt.heading:
        question_keys = keys_in(question)
        is_repeated = all(keys_of(word) & question_keys for word in significant_words(excerpt.heading))
        return excerpt if is_repeated else replace(excerpt, text=f"{excerpt.heading} {excerpt.text}")
    is_short_and_new = 0 < len(words_of(excerpt.heading)) <= _MAX_HEADING_WORDS and any(
        not keys_of(word) & keys_in(question) for word in significant_words(excerpt.heading)
    )
    if excerpt.item and (is_short_and_new or NEGATION.search(plain(excerpt.heading))):
        return replace(excerpt, text=f"{excerpt.heading}: {excerpt.text}")  # "Not allowed" says what the list is about
    query = terms(question)
    is_about_heading = any(
        query[word] & keys_in(excerpt.heading) and not query[word] & keys_in(excerpt.text)
        for word in topic_words(query)
    )
    if is_about_heading and not excerpt.row and not excerpt.heading.endswith("?"):
        return replace(excerpt, text=f"{excerpt.heading}: {excerpt.text}")
    name = FULL_NAME.search(excerpt.heading)
    if name is None or any(word in plain(question) for word in words_of(excerpt.heading)) or excerpt.row:
        return excerpt
    return replace(excerpt, text=f"{excerpt.heading}: {excerpt.text}")


def _fragment_with_heading(excerpt: Excerpt) -> Excerpt:
    """A text that is not a sentence, such as a price alone, with its heading put before it."""
    is_fragment = not excerpt.row and (len(words_of(excerpt.text)) <= MAX_NAME_WORDS or excerpt.text[:1].islower())
    if is_fragment and excerpt.heading and excerpt.heading[-1] != "?":
        return replace(excerpt, text=f"{excerpt.heading}: {excerpt.text}")
    return excerpt


def _is_word_in(word: str, passages: Sequence[Excerpt]) -> bool:
    """Whether a word of at least `_MIN_MATCHED_LETTERS` letters, or a synonym, is in these passages."""
    meanings = {f"={name}" for name in meanings_of(word)}
    return any(
        (len(word) >= _MIN_MATCHED_LETTERS and word == passage_word) or meanings & keys_of(passage_word)
        for passage in passages
        for passage_word in words_of(f"{passage.heading} {passage.text}")
    )
