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
"""Pages read side by side."""
MOST = 5
"""Pages read for one question."""
SURE = 0.8
"""Of a question's weight, what a passage must cover for nothing more to be read."""
_NO_CHANCE = 5
_OF_A_PERSON = re.compile(
    r"\b(?:he(?! \w+(?:[ai]do|to|cho)\b)|she)\b|(?<!para )(?<!con )(?<!de )(?<!a )\b(?:él|ella)\b|\b(?:está|esta|"
    r"viene|atiende|trabaja) el\W*$|\bqu[eé] (?:d[ií]as|horas?) (?:viene|est[aá]|atiende|trabaja)\b|\b(?:viene|"
    r"atiende|pasa consulta)\W*$",
    re.IGNORECASE,
)
"""Of somebody who was spoken of: nobody else is meant."""
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
"""A question, of a message that says more."""
_YES_OR_NO = re.compile(r"(?:yes|no|s[ií])\b(?=[,.;:!])", re.IGNORECASE)
_NAME = 3
"""Words of a heading that is what its list is of."""
_FEW = 3
"""Words that do not say by themselves of what they are."""
_QUOTED = 3
"""Sections of an answer, of one of which a question such as "which days?" is."""
_LONG, _AROUND = 8, 2
"""Sentences from which on a section is long, and how many around another are of the same."""
_OTHER: dict[Language, Language] = {"es": "en", "en": "es"}
_SERVING = frozenset(("=help", "=begin", "=contact", "=price"))
"""What pages are about that answer questions of any kind."""


@dataclass(frozen=True, slots=True)
class SiteQuestion:
    """A question of the site; `before`: the one that it leans on; `about`: it asks what the company is; `missed`: an
    earlier one found no answer."""

    question: str
    before: str
    language: Language
    page_url: str | None
    about: bool
    missed: bool
    answered: str = ""
    """What was said last, if it was an answer: a question that leans on it is of the same section first."""
    away: bool = False
    """Not all that the company says could be searched: what is not found may be there all the same."""
    earlier: str = ""
    """What the question leans on, or else what was asked last."""
    told: str = ""
    """What was quoted last."""

    def unknown(self, near: Sequence[Excerpt] = (), around: Sequence[Excerpt] = (), word: str = "") -> SayText:
        """That nothing is found, or that nobody could look; with what may be meant, or else stands around it, and the
        word that nothing is found about."""
        if self.away:
            return SayText(not_searched(self.language))
        return SayText(unknown(self.language, missed=self.missed, nearest=near, around=around, word=word))


def from_knowledge(asked: SiteQuestion, found: KnowledgeFound) -> SayText:
    """The answer that the company's own words hold: a pair's as it is written, or the sentences that say it."""
    exact = next((at for at, one in enumerate(found.passages, start=1) if one.exact), 0)
    if exact:
        return SayText(f"{found.passages[exact - 1].text} [{exact}]")
    spoken: list[Excerpt] = []
    others: list[Excerpt] = []
    read: set[str] = set()
    for number, one in enumerate(found.passages, start=1):
        if one.text in read:
            continue  # the same page at another address, as "/" and "/index.html" are
        read.add(one.text)
        # Its heading is that of the section that fits best; a passage of several sections tells the later ones itself.
        heading = one.heading[-1] if one.heading and f"# {one.heading[-1]}" not in one.text else ""
        mine = one.language is None or one.language[:2].lower() == asked.language
        above = one.heading[:-1] if heading else ()
        said = sentences_of(one.text, heading, one.url or one.id, one.title, number, above)
        near = _nearness(one)
        (spoken if mine else others).extend(
            replace(each, near=near.get(each.heading, 0.0))
            for each in said
            if not each.row or is_for_age(asked.question, each.text)
        )
    if rows := follow_up_rows(asked.question, bool(asked.before), asked.answered, [*spoken, *others]):
        return asked.unknown(rows) if is_unknown(asked.answered) else SayText(quoted(rows, asked.language))
    if asked.about and (begins := _beginning(found, spoken or others)):
        return SayText(quoted(begins, asked.language))
    named = with_names(asked.question, asked.answered, spoken)
    if named is None:
        return asked.unknown()
    asked = replace(asked, question=named)
    mine, foreign_ones = Candidates(spoken, found.documents), Candidates(others, found.documents)
    foreign = {one.number for one in others}
    everything = Candidates([*spoken, *others], found.documents, foreign) if others else mine
    chosen = _answering(asked, mine, foreign_ones)
    if not chosen:
        if _of_a_person(asked):
            return asked.unknown()
        if sure := surely(asked.question, asked.earlier, asked.told, everything):
            return SayText(quoted(sure, asked.language))
        near, may = nearest(asked.question, asked.earlier, asked.told, everything)
        if may:
            return asked.unknown(near)
        # What a question is about stands behind what is said of it in English, before it in Spanish.
        missing = [word for word in nowhere(asked.question, everything) if len(word) >= TELLING] or [""]
        return asked.unknown((), near, missing[-1 if asked.language == "en" else 0])
    shown, certain = quotes_with_certainty(asked.question, asked.before, asked.earlier, chosen, everything, asked.told)
    if not certain:
        return asked.unknown(shown)
    if len({one.heading for one in shown}) == 1:  # of several, each is quoted with its own
        shown = [_named(one, asked.question) for one in shown[:1]] + shown[1:]
    if len(shown) == 1:
        shown = [_of_what(shown[0])]
    shown = in_columns_named(asked.question, asked.before, shown)
    return SayText(quoted(shown, asked.language))


def _beginning(found: KnowledgeFound, said: Sequence[Excerpt]) -> list[Excerpt]:
    """What the first page of the site, which has the shortest address, says first: its first paragraph in `said`."""
    numbers = {one.number for one in said if not one.row and len(words_of(one.text)) > _FEW}
    pages = [
        (len(INDEX_PAGE.sub("", one.url.partition("#")[0])), one.id, number)
        for number, one in enumerate(found.passages, start=1)
        if number in numbers and one.source == "site" and one.url
    ]
    prose = [one for one in said if pages and one.number == min(pages)[2] and not one.row]
    first = next((one.paragraph for one in prose if len(words_of(one.text)) > _FEW), 0)
    return [one for one in prose if one.paragraph == first][:AT_ONCE]


def _nearness(found: Passage) -> dict[str, float]:
    """By heading, how near in meaning to the question its section is."""
    headings = [one.heading for one in found.sections] if found.sections else [found.heading]
    return {path[-1] if path else "": near for path, near in zip(headings, found.near or (), strict=False)}


def _answering(asked: SiteQuestion, mine: Candidates, others: Candidates) -> list[Excerpt]:
    """What answers the question, of what is written in its language and in `others`."""
    same = _same_section(asked, [*mine.passages, *others.passages])
    same = same if answers(asked.question, asked.before, same) and not _lacks_price(asked.question, same, mine) else []
    if same or _of_a_person(asked):
        return same
    # What follows a question that was not answered is answered where that one is, or not at all.
    of_it = OF_IT if asked.answered else ENOUGH
    chosen = rank(asked.question, asked.before, mine, of_it=of_it)
    nearer = asked.before.rpartition("\n")[2]
    if not chosen and nearer != asked.before:
        chosen = rank(asked.question, nearer, mine, of_it=of_it)
    if not chosen and asked.before and any(key in TOLD_ITSELF for key in terms(asked.question)):
        chosen = rank(asked.question, "", mine)
    words = significant_words(asked.question)
    place = WHERE_IS.search(plain(asked.question))
    leaning = bool(asked.before) and lacks_subject(asked.question)
    if not chosen and (place or leaning or len(words) > 1 or any(_is_said(word, others.passages) for word in words)):
        # Words of two languages look alike by chance: the stem of one alone proves nothing.
        chosen = rank(asked.question, asked.before, others, SURE, of_it)
    for clause in _CLAUSE.findall(asked.question):
        # What is said beside a question may be nothing that the pages speak of.
        chosen = chosen or ([] if lacks_subject(clause) else rank(clause, "", mine, SURE))
    return chosen if answers(asked.question, asked.before, chosen) else []


def _lacks_price(question: str, chosen: Sequence[Excerpt], among: Candidates) -> bool:
    """Whether a price is asked for that what was chosen lacks, where pages show some: another figure is none."""
    priced = [keys for keys in needed(question) if keys & PRICE]
    places = [at for at, one in enumerate(among.passages) if one in chosen]
    return bool(priced and places) and not any(among.index.covers(priced, at) for at in places)


def _of_a_person(asked: SiteQuestion) -> bool:
    """Whether somebody is meant whom the last answer named, and no relative whom the question names itself."""
    named = FULL_NAME.search(asked.answered)
    return bool(named and _OF_A_PERSON.search(asked.question)) and not _OWN_RELATIVE.search(asked.question)


def _same_section(asked: SiteQuestion, passages: Sequence[Excerpt]) -> list[Excerpt]:
    """What the section that was quoted last says of a question that leans on it."""
    person = _of_a_person(asked)
    if not (asked.answered and (asked.before or person)) or is_superlative(asked.question):
        return []
    if person:
        names = [set(words_of(name)) for name in FULL_NAME.findall(asked.answered)]
        of_them = [one for one in passages if any(name <= set(words_of(one.heading)) for name in names)]
        if found := rank(asked.question, "", Candidates(of_them)):
            return found
    told = [one for one in passages if one.is_in(asked.answered)]
    places = {(one.url, one.heading) for one in told}
    places = {one for one in places if not is_of_leaving(one[1], f"{asked.question} {asked.before}")} or places
    if 1 < len(places) <= _QUOTED and lacks_subject(asked.question):
        of_them = Candidates([one for one in passages if (one.url, one.heading) in places])
        return rank(asked.question, asked.before, of_them) or rank(asked.question, "", of_them)
    if len(places) != 1 or any(is_row_name(asked.question, one) for one in passages if one not in told):
        return []
    beside = [one for one in passages if (one.url, one.heading) == (told[0].url, told[0].heading) and not one.row]
    if len(beside) > _LONG:
        # A document without headings is about many things: what stands around it is of it.
        beside = [one for one in beside if any(abs(one.place - other.place) <= _AROUND for other in told)]
    if _WHAT_IT_HAS.search(plain(asked.question)):
        return [one for one in beside if one not in told] or told
    of_month = any("=month" in keys for keys in terms(asked.question).values())
    if (of_month or A_DAY.search(plain(asked.question))) and told[0].row:
        return []  # of another day or month another row tells
    return rank(asked.question, "", Candidates(told)) or rank(asked.question, "", Candidates(beside))


def _named(one: Excerpt, question: str) -> Excerpt:
    """A sentence about a person says about whom; a yes or a no to the question above it, to which."""
    if _YES_OR_NO.match(one.text) and one.heading:
        asked = keys_in(question)
        alike = all(keys_of(word) & asked for word in significant_words(one.heading))
        return one if alike else replace(one, text=f"{one.heading} {one.text}")
    heading = significant_words(one.heading)
    if (
        one.item
        and 0 < len(words_of(one.heading)) <= _NAME
        and any(not keys_of(word) & keys_in(question) for word in heading)
    ):
        return replace(one, text=f"{one.heading}: {one.text}")  # "Not allowed" says what the list is of
    told = FULL_NAME.search(one.heading)
    if told is None or any(word in plain(question) for word in words_of(one.heading)) or one.row:
        return one
    return replace(one, text=f"{one.heading}: {one.text}")


def _of_what(one: Excerpt) -> Excerpt:
    """What is no sentence, such as a price alone, with the heading that says of what it is."""
    short = not one.row and (len(words_of(one.text)) <= _FEW or one.text[:1].islower())
    return replace(one, text=f"{one.heading}: {one.text}") if short and one.heading and one.heading[-1] != "?" else one


def _is_said(word: str, passages: Sequence[Excerpt]) -> bool:
    """Whether a word that is long enough to be no chance stands there as it is, or one that means the same."""
    meant = {f"={name}" for name in meanings_of(word)}
    return any(
        (len(word) >= _NO_CHANCE and word == said) or meant & keys_of(said)
        for one in passages
        for said in words_of(f"{one.heading} {one.text}")
    )


def from_site(asked: SiteQuestion, results: Sequence[Result], *, last: bool) -> SayText | UseTools:
    """The answer, or the pages to read for it."""
    fetched = [(str(arguments.get("path")), body) for tool, arguments, body in results if tool == TOOL]
    tried = [path for path, _ in fetched]
    pages = [_page(path, body) for path, body in fetched if "error" not in body]
    question, before, language = asked.question, asked.before, asked.language
    start = "/" if asked.about else first_page(asked.page_url)
    more: tuple[str, ...] = () if tried else (start,)
    if tried and not pages and "/" not in tried:
        more = ("/",)
    more = more or translations(language, pages, tried)
    if more and not last:
        return UseTools(tuple((TOOL, {"path": path}) for path in more))
    own = [page for page in pages if not foreign(page.path, None, language)] or pages
    found = about(own[-1:]) if asked.about else best_passages(question, before, own, SURE)
    if not found and not last and len(tried) < MOST and (more := next_pages(question, before, language, pages, tried)):
        return UseTools(tuple((TOOL, {"path": path}) for path in more))
    found = found or best_passages(question, before, own) or best_passages(question, before, pages)
    if found and (asked.about or answers(question, before, found)):
        return SayText(quoted(found, language))
    if fetched and not pages:
        error = cast("dict[str, Any]", fetched[0][1].get("error") or {})
        return SayText(unread(str(error.get("message") or error.get("code") or "?"), language))
    return asked.unknown()


def _page(path: str, body: Mapping[str, Any]) -> SitePage:
    links = cast("list[Mapping[str, Any]]", body.get("links") or [])
    return SitePage(
        path,
        str(body.get("url") or path),
        str(body.get("title") or ""),
        str(body.get("text") or ""),
        tuple((str(one.get("path")), str(one.get("text") or ""), one.get("language")) for one in links),
    )


def first_page(page_url: str | None) -> str:
    """Where reading begins: the page that the person is on, or the first of the site."""
    return path_of(page_url) if page_url else "/"


def next_pages(
    question: str, before: str, language: Language, read: Sequence[SitePage], tried: Collection[str]
) -> tuple[str, ...]:
    """The paths to read next: of what the pages read so far lead to, what promises most for the question."""
    asked = {key for word in (*significant_words(question), *significant_words(before)) for key in keys_of(word)}
    ranked: dict[str, tuple[float, int]] = {}
    for page in read:
        for path, words, spoken in page.links:
            if path in tried or path in ranked:
                continue
            leads = {key for word in words_of(f"{words} {path}") for key in keys_of(word)}
            if foreign(path, spoken, language):
                continue
            # Where a language has its own branch of the site, what hangs on it comes first.
            mine = foreign(path, spoken, _OTHER[language])
            score = 2.0 * len(asked & leads) + bool(leads & _SERVING) + 3.0 * mine
            ranked[path] = (score, -len(ranked))
    order = sorted(ranked, key=lambda path: ranked[path], reverse=True)
    return tuple(order[:AT_ONCE])


def foreign(path: str, spoken: str | None, language: Language) -> bool:
    """Whether the page is said to be in another language than the question's."""
    first = path.strip("/").split("/")[0].split("?")[0].lower()
    named = (spoken or (first if first in ("es", "en") else "")).lower()[:2]
    return bool(named) and named != language


def translations(language: Language, read: Sequence[SitePage], tried: Collection[str]) -> tuple[str, ...]:
    """The page in the question's language, where the first page that was read says there is one."""
    if any(not foreign(page.path, None, language) and foreign(page.path, None, _OTHER[language]) for page in read):
        return ()
    # A page that is only said to be in the language ("see our manual, in English") is no translation of this one.
    paths = [path for page in read[:1] for path, words, spoken in page.links
             if spoken and spoken.lower().startswith(language)
             and (not words or foreign(path, None, _OTHER[language]))]  # fmt: skip
    return tuple(path for path in paths if path not in tried)[:1]
