"""The company's knowledge in a prompt: numbered passages, and which of them an answer is based on.

The passages of the prompt come first, then those of `search_knowledge`. A citation in an answer only counts if its
number was given and the passage contains the figures beside it.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agent.domain.text_features import number_of, one_line, plain, within_fence
from agent.texts import TEXTS
from contracts.events.chat import Citation
from contracts.expressions import expression
from contracts.json_values import JsonObject, is_list, objects_of
from contracts.knowledge import KnowledgeFound, PageRef, PassageSection
from contracts.languages import Language

SEARCH_TOOL = "search_knowledge"
MAX_TOKENS = 1_200
"""Tokens of all passages and pages together."""
_FENCE = "company_data"
MARK = expression(r"(?<![ \t])[ \t]*+\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\](?!\()")
_SENTENCE_END = expression(r"(?<=[.!?])(?=\s)|\n")
_WORD = expression(r"\w+")
_FIGURE = expression(r"\d+(?:[.,\u00a0 ]\d{3})*(?:[.,]\d+)?")
_ADDRESS = expression(r"https?://\S+")
_BULLET = expression(r"^\s*\d{1,2}[.)]\s")


@dataclass(frozen=True, slots=True)
class GivenPassage:
    """A passage in the prompt that an answer can cite."""

    citation: Citation
    text: str
    sections: tuple[PassageSection, ...] = ()

    @property
    def place(self) -> tuple[str, tuple[str, ...]]:
        """Page and heading. Passages that share them are one source for a reader."""
        return self.citation.url, tuple(self.citation.heading or ())

    def quoted(self, statement: str) -> Citation:
        """The citation for a statement based on the passage: the section that shares most words with it."""
        if not self.sections:
            return self.citation
        ends = [*(section.start for section in self.sections[1:]), len(self.text)]
        section_words = [
            _word_set(" ".join([*section.heading, self.text[section.start : end]]))
            for section, end in zip(self.sections, ends, strict=True)
        ]
        # A word in several sections says less about its origin.
        weights = {
            word: 1 / count for word in _word_set(statement) if (count := sum(word in words for words in section_words))
        }
        shares = [round(sum(weights[word] for word in weights.keys() & words), 6) for words in section_words]
        is_own_section = [section.heading == (self.citation.heading or []) for section in self.sections]
        _, _, best = max(zip(shares, is_own_section, self.sections, strict=True), key=lambda candidate: candidate[:2])
        return self.citation.model_copy(update={"url": best.url or "", "heading": best.heading or None})


def best_within_budget(knowledge: KnowledgeFound, count: Callable[[str], int]) -> KnowledgeFound:
    """The best passages, then the pages, that fit into `MAX_TOKENS`. `count`: tokens of a text."""
    room = MAX_TOKENS - count(TEXTS["prompt.knowledge"].in_language("es"))
    fitting: list[Any] = []
    for entry in [*knowledge.passages, *knowledge.pages]:
        size = count(
            _page_line(entry)
            if isinstance(entry, PageRef)
            else _passage_text(len(knowledge.passages), entry.title, entry.heading, entry.url, entry.text)
        )
        if size <= room:
            fitting.append(entry)
            room -= size
    passages = [passage for passage in knowledge.passages if passage in fitting]
    pages = [page for page in knowledge.pages if page in fitting]
    return knowledge.model_copy(update={"passages": passages, "pages": pages})


def knowledge_section(knowledge: KnowledgeFound | None, language: Language, *, pages: bool) -> str:
    """The prompt's section; empty if there is nothing to list. `pages`: whether pages can be fetched."""
    if knowledge is None or not (knowledge.passages or knowledge.reading or (pages and knowledge.pages)):
        return ""
    lines: list[str] = []
    if knowledge.passages:
        numbered = [
            _passage_text(number, passage.title, passage.heading, passage.url, passage.text)
            for number, passage in enumerate(knowledge.passages, start=1)
        ]
        lines = [TEXTS["prompt.knowledge"].in_language(language), f"<{_FENCE}>", *numbered, f"</{_FENCE}>"]
    if pages and knowledge.pages:
        lines += [TEXTS["prompt.knowledge_pages"].in_language(language), *map(_page_line, knowledge.pages)]
    if knowledge.reading:
        lines.append(TEXTS["prompt.knowledge_reading"].in_language(language))
    return "\n".join(lines)


def given_passages(knowledge: KnowledgeFound | None, results: Iterable[Mapping[str, Any]]) -> list[GivenPassage]:
    """All passages that the model received, in the order of their numbers. `results`: the data of its searches."""
    given = [
        GivenPassage(
            Citation(
                url=passage.url or "",
                title=passage.title,
                heading=list(passage.heading) or None,
                passage_id=passage.id,
                hash=passage.hash,
                read_at=passage.read_at,
            ),
            passage.text,
            tuple(passage.sections or ()),
        )
        for passage in (knowledge.passages if knowledge else ())
    ]
    for data in results:
        with_numbers(given, data)
    return given


def with_numbers(given: list[GivenPassage], data: Mapping[str, Any]) -> JsonObject:
    """Adds a number to each passage of a search's data; new passages are appended to `given`."""
    results: list[JsonObject] = []
    numbers = {(passage.place, passage.text): number for number, passage in reversed([*enumerate(given, start=1)])}
    for result in objects_of(data.get("passages")):
        source = _passage_of_result(result)
        number = numbers.setdefault((source.place, source.text), len(given) + 1)
        if number > len(given):
            given.append(source)
        results.append({"number": number, **result})
    return {**data, "passages": results} if results else dict(data)


class CitationNumbers:
    """The citation numbers of an answer, renumbered in the order in which they appear; each page and heading has
    one."""

    def __init__(self, given: Sequence[GivenPassage]) -> None:
        self.given = given
        self.cited: list[GivenPassage] = []

    def cited_indexes(self, match: re.Match[str]) -> list[int]:
        """The indexes of the given passages that a mark names."""
        return [index for digits in re.findall(r"\d+", match[1]) if 0 <= (index := int(digits) - 1) < len(self.given)]

    def shown(self, match: re.Match[str], backed: bool = True) -> str:
        """The mark with renumbered citations; empty if it names no given passage."""
        if not (backed and (indexes := self.cited_indexes(match))):
            return ""
        blank = match[0][: match[0].index("[")]
        return blank + "".join(f"[{number}]" for number in dict.fromkeys(map(self._number, indexes)))

    def _number(self, index: int) -> int:
        source = self.given[index]
        places = [cited_passage.place for cited_passage in self.cited]
        if source.place not in places:
            self.cited.append(source)
            return len(self.cited)
        return places.index(source.place) + 1


def with_valid_citations(
    text: str, given: Sequence[GivenPassage], others: Iterable[str] = ()
) -> tuple[str, tuple[Citation, ...]]:
    """The text with only valid citation numbers, renumbered, and their citations. `others`: other texts that may
    contain the figures, such as the question and the results of other tools."""
    if "[" not in text:
        return text, ()
    numbers = CitationNumbers(given)
    other_numbers = numbers_in_text("\n".join(others))
    quotes: defaultdict[int, str] = defaultdict(str)
    unmarked = ""

    def checked(sentence: str) -> str:
        nonlocal unmarked
        cited_indexes = [index for match in MARK.finditer(sentence) for index in numbers.cited_indexes(match)]
        sentence_numbers = numbers_in_text(_ADDRESS.sub("", MARK.sub("", _BULLET.sub("", sentence))))
        backed = sentence_numbers <= other_numbers.union(
            *(numbers_in_text(f"{given[index].citation.title} {given[index].text}") for index in cited_indexes)
        )
        unmarked += MARK.sub("", sentence)
        if cited_indexes:
            for index in cited_indexes if backed else ():
                quotes[index] += unmarked
            unmarked = ""
        return MARK.sub(lambda match: numbers.shown(match, backed), sentence)

    checked_text = "".join(map(checked, _sentences_with_marks(text)))
    return checked_text, tuple(passage.quoted(quotes[given.index(passage)]) for passage in numbers.cited)


def numbers_in_text(text: str) -> frozenset[float]:
    """The numbers in a text; 1,000, 1.000 and 1 000 are the same."""
    return frozenset(number_of(re.sub(r"\s", "", match[0])) for match in _FIGURE.finditer(text))


def _word_set(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(plain(text)))


def _sentences_with_marks(text: str) -> list[str]:
    """Splits a text into sentences. A citation after the full stop belongs to the sentence before it."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    starts = [0]
    for end in ends:
        mark = MARK.match(text, end)
        starts.append(mark.end() if mark else end)
    starts = sorted(set(starts))
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


def _passage_of_result(result: Mapping[str, Any]) -> GivenPassage:
    heading, read_at = result.get("heading"), result.get("read_at")
    headings = [str(part) for part in (heading if is_list(heading) else [heading] if heading else ())]
    name, hashed = result.get("id"), result.get("hash")
    return GivenPassage(
        Citation(
            url=str(result.get("url") or ""),
            title=str(result.get("title") or ""),
            heading=headings or None,
            passage_id=str(name) if name else None,
            hash=str(hashed) if hashed else None,
            read_at=datetime.fromisoformat(str(read_at)) if read_at else None,
        ),
        str(result.get("text") or ""),
    )


def _passage_text(number: int, title: str, heading: Sequence[str], url: str | None, text: str) -> str:
    # Titles, headings and text are foreign: they must not imitate a layer or the end of the data.
    head = one_line(" › ".join(filter(None, [title, *heading])))
    body = "\n".join(filter(None, map(str.rstrip, text.splitlines())))
    return within_fence(f"[{number}] {head}{f' — {url}' if url else ''}\n{body}", _FENCE)


def _page_line(page: PageRef) -> str:
    return within_fence(f"- {one_line(page.title, 120)}: {one_line(page.url)}", _FENCE)
