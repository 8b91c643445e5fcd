"""Answers a question from the company's own words: the passages that were found, or pages of its site that are read
now.

First come follow-ups to a table row and "the second one"; then the passage that answers for certain; then what may
answer, quoted as uncertain; at last "I do not know". `next_pages` says which page to read next, following links.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from agent.domain.offline.ages import is_for_age
from agent.domain.offline.answers import is_unknown, not_searched, unknown, unread
from agent.domain.offline.closest import TELLING, nearest, nowhere, surely
from agent.domain.offline.common_words import significant_words
from agent.domain.offline.constraints import A_DAY
from agent.domain.offline.doubts import quotes_with_certainty
from agent.domain.offline.evidence import answers
from agent.domain.offline.excerpts import Excerpt, SitePage, sentences_of
from agent.domain.offline.follow_up_rows import follow_up_rows
from agent.domain.offline.kinds import with_names
from agent.domain.offline.lexicon import keys_in, keys_of, meanings_of, words_of
from agent.domain.offline.passage_index import Candidates
from agent.domain.offline.passages import ENOUGH, about, best_passages, is_row_name, rank
from agent.domain.offline.questions import is_of_leaving, lacks_subject, needed, terms
from agent.domain.offline.quotations import quoted
from agent.domain.offline.sections import in_columns_named
from agent.domain.offline.shapes import FULL_NAME, OF_IT, PRICE, TOLD_ITSELF, WHERE_IS
from agent.domain.offline.steps import Result, SayText, UseTools
from agent.domain.offline.superlatives import is_superlative
from agent.domain.text_features import plain
from contracts.knowledge import INDEX_PAGE, KnowledgeFound, Passage
from contracts.languages import Language
from contracts.person_rules import path_of

TOOL = "fetch_page"
AT_ONCE = 3
"""Pages read at the same time."""
MOST = 5
"""Maximum pages read for one question."""
SURE = 0.8
"""Minimum share (0 to 1) of a question's weight that a passage must cover for no further page to be read, and for
passages in another language or parts of a message to answer."""
_NO_CHANCE = 5
"""Minimum letters of a word that can match another language's text as it stands."""
_OF_A_PERSON = re.compile(
    r"\b(?:he(?! \w+(?:[ai]do|to|cho)\b)|she)\b|(?<!para )(?<!con )(?<!de )(?<!a )\b(?:él|ella)\b|\b(?:está|esta|"
    r"viene|atiende|trabaja) el\W*$|\bqu[eé] (?:d[ií]as|horas?) (?:viene|est[aá]|atiende|trabaja)\b|\b(?:viene|"
    r"atiende|pasa consulta)\W*$",
    re.IGNORECASE,
)
"""Refers to a person mentioned before."""
_OWN_RELATIVE = re.compile(r"\b(?:my|our|mi|nuestr[oa]) \w+", re.IGNORECASE)
_WHAT_IT_HAS = re.compile(
    r"\bwhat (?:does|do) (?:it|that(?: one)?|this(?: one)?|they) (?:have|include|offer|come with|give)|"
    r"\bque (?:trae|incluye|lleva|tiene|ofrece)n?\W*$"
)
_CLAUSE = re.compile(
    r"(?:^|(?<=[.,;:!?¿]))(?:[^.,;:!?¿]{6,}\?|\s*(?:and |y )?(?:how|what|where|when|can|do|does|c[oó]mo|qu[eé]|"
    r"d[oó]nde|cu[aá]ndo|cu[aá]nt[oa]s?|puedo|hay|ten[eé]is)\b[^.,;:!?¿]{6,})",
    re.IGNORECASE,
)
"""A question within a longer message."""
_YES_OR_NO = re.compile(r"(?:yes|no|s[ií])\b(?=[,.;:!])", re.IGNORECASE)
_NAME = 3
"""Maximum words of a heading that is put before its list item."""
_FEW = 3
"""Maximum words of a text that does not say by itself what it is about."""
_QUOTED = 3
"""Maximum sections of an answer for "which days?" to be asked about one of them."""
_LONG, _AROUND = 8, 2
"""A section with more sentences than the first figure is long; the second is how far from a quoted sentence, in
sentences, a follow-up may be answered in it."""
_OTHER: dict[Language, Language] = {"es": "en", "en": "es"}
_SERVING = frozenset(("=help", "=begin", "=contact", "=price"))
"""Meanings of pages that answer questions of any kind."""


@dataclass(frozen=True, slots=True)
class SiteQuestion:
    """A question to be answered from the site. `antecedent` holds the earlier questions that it refers to, "" if it is
    complete; `about` is true if it asks what the company is; `missed` if an earlier question found no answer."""

    question: str
    before: str
    language: Language
    page_url: str | None
    about: bool
    missed: bool
    answered: str = ""
    """The last reply, if it was an answer: a question that refers to it is first asked of the same section."""
    away: bool = False
    """Whether the search was incomplete, so that something not found may exist."""
    earlier: str = ""
    """The questions that it refers to, or else the previous question."""
    told: str = ""
    """What was quoted last."""

    def unknown(
        self, possible_answers: Sequence[Excerpt] = (), related: Sequence[Excerpt] = (), unknown_word: str = ""
    ) -> SayText:
        """The reply that nothing was found, or that the search was incomplete; with what may answer, or else what is
        related, and the word that no page contains."""
        if self.away:
            return SayText(not_searched(self.language))
        return SayText(
            unknown(
                self.language, missed=self.missed, nearest=possible_answers, related=related, unknown_word=unknown_word
            )
        )


def from_knowledge(request: SiteQuestion, knowledge: KnowledgeFound) -> SayText:
    """Return the answer from the passages that were found: a question-and-answer pair as it is written, or the
    sentences that answer."""
    exact_number = next((number for number, passage in enumerate(knowledge.passages, start=1) if passage.exact), 0)
    if exact_number:
        return SayText(f"{knowledge.passages[exact_number - 1].text} [{exact_number}]")
    own_language: list[Excerpt] = []
    other_languages: list[Excerpt] = []
    seen_texts: set[str] = set()
    for number, passage in enumerate(knowledge.passages, start=1):
        if passage.text in seen_texts:
            continue  # the same page at another address, such as "/" and "/index.html"
        seen_texts.add(passage.text)
        # The passage's heading is that of its best section; a passage of several sections contains the later headings.
        heading = passage.heading[-1] if passage.heading and f"# {passage.heading[-1]}" not in passage.text else ""
        candidates = passage.language is None or passage.language[:2].lower() == request.language
        above = passage.heading[:-1] if heading else ()
        excerpts = sentences_of(passage.text, heading, passage.url or passage.id, passage.title, number, above)
        nearest_excerpts = _nearness(passage)
        (own_language if candidates else other_languages).extend(
            replace(excerpt, near=nearest_excerpts.get(excerpt.heading, 0.0))
            for excerpt in excerpts
            if not excerpt.row or is_for_age(request.question, excerpt.text)
        )
    if rows := follow_up_rows(
        request.question, bool(request.before), request.answered, [*own_language, *other_languages]
    ):
        return request.unknown(rows) if is_unknown(request.answered) else SayText(quoted(rows, request.language))
    if request.about and (introduction := _beginning(knowledge, own_language or other_languages)):
        return SayText(quoted(introduction, request.language))
    named_question = with_names(request.question, request.answered, own_language)
    if named_question is None:
        return request.unknown()
    request = replace(request, question=named_question)
    candidates, foreign_candidates = (
        Candidates(own_language, knowledge.documents),
        Candidates(other_languages, knowledge.documents),
    )
    foreign_numbers = {excerpt.number for excerpt in other_languages}
    all_candidates = (
        Candidates([*own_language, *other_languages], knowledge.documents, foreign_numbers)
        if other_languages
        else candidates
    )
    answer = _answering(request, candidates, foreign_candidates)
    if not answer:
        if _of_a_person(request):
            return request.unknown()
        if certain_answer := surely(request.question, request.earlier, request.told, all_candidates):
            return SayText(quoted(certain_answer, request.language))
        nearest_excerpts, may_answer = nearest(request.question, request.earlier, request.told, all_candidates)
        if may_answer:
            return request.unknown(nearest_excerpts)
        # In English, what a question is about comes after its attributes; in Spanish, before them.
        unknown_words = [word for word in nowhere(request.question, all_candidates) if len(word) >= TELLING] or [""]
        return request.unknown((), nearest_excerpts, unknown_words[-1 if request.language == "en" else 0])
    quotes, is_certain = quotes_with_certainty(
        request.question, request.before, request.earlier, answer, all_candidates, request.told
    )
    if not is_certain:
        return request.unknown(quotes)
    if len({excerpt.heading for excerpt in quotes}) == 1:  # excerpts of several sections are quoted with their headings
        quotes = [_named(excerpt, request.question) for excerpt in quotes[:1]] + quotes[1:]
    if len(quotes) == 1:
        quotes = [_of_what(quotes[0])]
    quotes = in_columns_named(request.question, request.before, quotes)
    return SayText(quoted(quotes, request.language))


def _beginning(knowledge: KnowledgeFound, excerpts: Sequence[Excerpt]) -> list[Excerpt]:
    """The first paragraph, among these excerpts, of the site's first page, which has the shortest address."""
    numbers = {excerpt.number for excerpt in excerpts if not excerpt.row and len(words_of(excerpt.text)) > _FEW}
    pages = [
        (len(INDEX_PAGE.sub("", excerpt.url.partition("#")[0])), excerpt.id, number)
        for number, excerpt in enumerate(knowledge.passages, start=1)
        if number in numbers and excerpt.source == "site" and excerpt.url
    ]
    prose = [excerpt for excerpt in excerpts if pages and excerpt.number == min(pages)[2] and not excerpt.row]
    first_paragraph = next((excerpt.paragraph for excerpt in prose if len(words_of(excerpt.text)) > _FEW), 0)
    return [excerpt for excerpt in prose if excerpt.paragraph == first_paragraph][:AT_ONCE]


def _nearness(passage: Passage) -> dict[str, float]:
    """The similarity in meaning of each section to the question, by heading."""
    headings = [section.heading for section in passage.sections] if passage.sections else [passage.heading]
    return {
        heading_path[-1] if heading_path else "": similarity
        for heading_path, similarity in zip(headings, passage.near or (), strict=False)
    }


def _answering(request: SiteQuestion, candidates: Candidates, foreign_candidates: Candidates) -> list[Excerpt]:
    """The excerpts that answer the question, from passages in its language or, with stricter conditions, in others."""
    same_section = _same_section(request, [*candidates.passages, *foreign_candidates.passages])
    same_section = (
        same_section
        if answers(request.question, request.before, same_section)
        and not _lacks_price(request.question, same_section, candidates)
        else []
    )
    if same_section or _of_a_person(request):
        return same_section
    # A follow-up of an unanswered question must cover that one to be answered.
    min_antecedent_coverage = OF_IT if request.answered else ENOUGH
    chosen = rank(request.question, request.before, candidates, of_it=min_antecedent_coverage)
    last_antecedent = request.before.rpartition("\n")[2]
    if not chosen and last_antecedent != request.before:
        chosen = rank(request.question, last_antecedent, candidates, of_it=min_antecedent_coverage)
    if not chosen and request.before and any(key in TOLD_ITSELF for key in terms(request.question)):
        chosen = rank(request.question, "", candidates)
    words = significant_words(request.question)
    asks_place = WHERE_IS.search(plain(request.question))
    is_dependent = bool(request.before) and lacks_subject(request.question)
    if not chosen and (
        asks_place
        or is_dependent
        or len(words) > 1
        or any(_is_said(word, foreign_candidates.passages) for word in words)
    ):
        # Words of two languages look alike by chance, so a single shared stem proves nothing.
        chosen = rank(request.question, request.before, foreign_candidates, SURE, min_antecedent_coverage)
    for clause in _CLAUSE.findall(request.question):
        # The pages may lack what a message says beside its question.
        chosen = chosen or ([] if lacks_subject(clause) else rank(clause, "", candidates, SURE))
    return chosen if answers(request.question, request.before, chosen) else []


def _lacks_price(question: str, chosen: Sequence[Excerpt], candidates: Candidates) -> bool:
    """Whether a price is asked for and the chosen passages have none, although other passages have."""
    price_keys = [keys for keys in needed(question) if keys & PRICE]
    positions = [i for i, passage in enumerate(candidates.passages) if passage in chosen]
    return bool(price_keys and positions) and not any(
        candidates.index.covers(price_keys, position) for position in positions
    )


def _of_a_person(request: SiteQuestion) -> bool:
    """Whether the question is about a person whom the last answer named, and not about the asker's relative."""
    name = FULL_NAME.search(request.answered)
    return bool(name and _OF_A_PERSON.search(request.question)) and not _OWN_RELATIVE.search(request.question)


def _same_section(request: SiteQuestion, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """The passages of the section quoted last that answer a question that refers to it."""
    asks_about_person = _of_a_person(request)
    if not (request.answered and (request.before or asks_about_person)) or is_superlative(request.question):
        return []
    if asks_about_person:
        names = [set(words_of(name)) for name in FULL_NAME.findall(request.answered)]
        subset = [passage for passage in passages if any(name <= set(words_of(passage.heading)) for name in names)]
        if answer := rank(request.question, "", Candidates(subset)):
            return answer
    quoted = [passage for passage in passages if passage.is_in(request.answered)]
    locations = {(passage.url, passage.heading) for passage in quoted}
    locations = {
        location for location in locations if not is_of_leaving(location[1], f"{request.question} {request.before}")
    } or locations
    if 1 < len(locations) <= _QUOTED and lacks_subject(request.question):
        subset = Candidates([passage for passage in passages if (passage.url, passage.heading) in locations])
        return rank(request.question, request.before, subset) or rank(request.question, "", subset)
    if len(locations) != 1 or any(
        is_row_name(request.question, passage) for passage in passages if passage not in quoted
    ):
        return []
    section_passages = [
        passage
        for passage in passages
        if (passage.url, passage.heading) == (quoted[0].url, quoted[0].heading) and not passage.row
    ]
    if len(section_passages) > _LONG:
        # A document without headings has many topics: only sentences near the quoted one are on the same.
        section_passages = [
            passage
            for passage in section_passages
            if any(abs(passage.place - other.place) <= _AROUND for other in quoted)
        ]
    if _WHAT_IT_HAS.search(plain(request.question)):
        return [passage for passage in section_passages if passage not in quoted] or quoted
    asks_month = any("=month" in keys for keys in terms(request.question).values())
    if (asks_month or A_DAY.search(plain(request.question))) and quoted[0].row:
        return []  # another row is about the other day or month
    return rank(request.question, "", Candidates(quoted)) or rank(request.question, "", Candidates(section_passages))


def _named(excerpt: Excerpt, question: str) -> Excerpt:
    """An excerpt with its heading put before it if that says whom or what it is about: for a person, a list item, or a
    yes or no to the question in the heading."""
    if _YES_OR_NO.match(excerpt.text) and excerpt.heading:
        question_keys = keys_in(question)
        is_repeated = all(keys_of(word) & question_keys for word in significant_words(excerpt.heading))
        return excerpt if is_repeated else replace(excerpt, text=f"{excerpt.heading} {excerpt.text}")
    heading_words = significant_words(excerpt.heading)
    if (
        excerpt.item
        and 0 < len(words_of(excerpt.heading)) <= _NAME
        and any(not keys_of(word) & keys_in(question) for word in heading_words)
    ):
        return replace(excerpt, text=f"{excerpt.heading}: {excerpt.text}")  # "Not allowed" says what the list is about
    name = FULL_NAME.search(excerpt.heading)
    if name is None or any(word in plain(question) for word in words_of(excerpt.heading)) or excerpt.row:
        return excerpt
    return replace(excerpt, text=f"{excerpt.heading}: {excerpt.text}")


def _of_what(excerpt: Excerpt) -> Excerpt:
    """A text that is not a sentence, such as a price alone, with its heading put before it."""
    is_fragment = not excerpt.row and (len(words_of(excerpt.text)) <= _FEW or excerpt.text[:1].islower())
    return (
        replace(excerpt, text=f"{excerpt.heading}: {excerpt.text}")
        if is_fragment and excerpt.heading and excerpt.heading[-1] != "?"
        else excerpt
    )


def _is_said(word: str, passages: Sequence[Excerpt]) -> bool:
    """Whether a word of at least `_MIN_MATCHED_LETTERS` letters, or a synonym, is in these passages."""
    meanings = {f"={name}" for name in meanings_of(word)}
    return any(
        (len(word) >= _NO_CHANCE and word == passage_word) or meanings & keys_of(passage_word)
        for passage in passages
        for passage_word in words_of(f"{passage.heading} {passage.text}")
    )


def from_site(request: SiteQuestion, results: Sequence[Result], *, last: bool) -> SayText | UseTools:
    """Return the answer, or the pages to read for it."""
    fetched_pages = [(str(arguments.get("path")), body) for tool, arguments, body in results if tool == TOOL]
    tried_paths = [path for path, _ in fetched_pages]
    pages = [_page(path, body) for path, body in fetched_pages if "error" not in body]
    question, antecedent, language = request.question, request.before, request.language
    start = "/" if request.about else first_page(request.page_url)
    next_paths: tuple[str, ...] = () if tried_paths else (start,)
    if tried_paths and not pages and "/" not in tried_paths:
        next_paths = ("/",)
    next_paths = next_paths or translations(language, pages, tried_paths)
    if next_paths and not last:
        return UseTools(tuple((TOOL, {"path": path}) for path in next_paths))
    own_language_pages = [page for page in pages if not foreign(page.path, None, language)] or pages
    answer = (
        about(own_language_pages[-1:])
        if request.about
        else best_passages(question, antecedent, own_language_pages, SURE)
    )
    if (
        not answer
        and not last
        and len(tried_paths) < MOST
        and (next_paths := next_pages(question, antecedent, language, pages, tried_paths))
    ):
        return UseTools(tuple((TOOL, {"path": path}) for path in next_paths))
    answer = (
        answer or best_passages(question, antecedent, own_language_pages) or best_passages(question, antecedent, pages)
    )
    if answer and (request.about or answers(question, antecedent, answer)):
        return SayText(quoted(answer, language))
    if fetched_pages and not pages:
        error = cast("dict[str, Any]", fetched_pages[0][1].get("error") or {})
        return SayText(unread(str(error.get("message") or error.get("code") or "?"), language))
    return request.unknown()


def _page(path: str, body: Mapping[str, Any]) -> SitePage:
    links = cast("list[Mapping[str, Any]]", body.get("links") or [])
    return SitePage(
        path,
        str(body.get("url") or path),
        str(body.get("title") or ""),
        str(body.get("text") or ""),
        tuple((str(link.get("path")), str(link.get("text") or ""), link.get("language")) for link in links),
    )


def first_page(page_url: str | None) -> str:
    """The page to read first: the one that the person is on, or the site's start page."""
    return path_of(page_url) if page_url else "/"


def next_pages(
    question: str, antecedent: str, language: Language, pages: Sequence[SitePage], tried_paths: Collection[str]
) -> tuple[str, ...]:
    """The paths to read next: the most promising links of the pages read so far, up to `MAX_PAGES_AT_ONCE`."""
    query_keys = {
        key for word in (*significant_words(question), *significant_words(antecedent)) for key in keys_of(word)
    }
    ranked: dict[str, tuple[float, int]] = {}
    for page in pages:
        for path, link_text, link_language in page.links:
            if path in tried_paths or path in ranked:
                continue
            link_keys = {key for word in words_of(f"{link_text} {path}") for key in keys_of(word)}
            if foreign(path, link_language, language):
                continue
            # Links into the branch of the site in the question's language come first.
            is_own_branch = foreign(path, link_language, _OTHER[language])
            score = 2.0 * len(query_keys & link_keys) + bool(link_keys & _SERVING) + 3.0 * is_own_branch
            ranked[path] = (score, -len(ranked))
    paths = sorted(ranked, key=lambda path: ranked[path], reverse=True)
    return tuple(paths[:AT_ONCE])


def foreign(path: str, declared_language: str | None, language: Language) -> bool:
    """Whether a page is declared, by link or by path, to be in another language than the question's."""
    first_segment = path.strip("/").split("/")[0].split("?")[0].lower()
    page_language = (declared_language or (first_segment if first_segment in ("es", "en") else "")).lower()[:2]
    return bool(page_language) and page_language != language


def translations(language: Language, pages: Sequence[SitePage], tried_paths: Collection[str]) -> tuple[str, ...]:
    """The path of the page in the question's language, if the first page links to one."""
    if any(not foreign(page.path, None, language) and foreign(page.path, None, _OTHER[language]) for page in pages):
        return ()
    # A link to another page in the language ("see our manual, in English") is not a translation.
    paths = [path for page in pages[:1] for path, link_text, link_language in page.links
             if link_language and link_language.lower().startswith(language)
             and (not link_text or foreign(path, None, _OTHER[language]))]  # fmt: skip
    return tuple(path for path in paths if path not in tried_paths)[:1]
