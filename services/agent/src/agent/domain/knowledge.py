"""The company's knowledge in a prompt: numbered passages, and which of them an answer is based on.

The passages of the prompt come first, then those of `search_knowledge`. A citation in an answer counts only if the
number was given, and if the figures beside it are in that passage.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from agent.domain.text_features import number_of, one_line, plain, within_fence
from agent.texts import TEXTS
from contracts.events.chat import Citation
from contracts.json_values import JsonObject
from contracts.knowledge import KnowledgeFound, PageRef, PassageSection
from contracts.languages import Language

SEARCH_TOOL = "search_knowledge"
MAX_TOKENS = 1_200
"""The most tokens of passages and pages together."""
_FENCE = "company_data"
MARK = re.compile(r"(?<![ \t])[ \t]*+\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\](?!\()")
_SENTENCE_END = re.compile(r"(?<=[.!?])(?=\s)|\n")
_WORD = re.compile(r"\w+")
_FIGURE = re.compile(r"\d+(?:[.,\u00a0 ]\d{3})*(?:[.,]\d+)?")
_ADDRESS = re.compile(r"https?://\S+")
_BULLET = re.compile(r"^\s*\d{1,2}[.)]\s")


@dataclass(frozen=True, slots=True)
class GivenPassage:
    """A passage in the prompt, as far as an answer can be based on it."""

    citation: Citation
    text: str
    sections: tuple[PassageSection, ...] = ()

    @property
    def place(self) -> tuple[str, tuple[str, ...]]:
        """Page and heading: passages that share them are one source to a reader."""
        return self.citation.url, tuple(self.citation.heading or ())

    def quoted(self, said: str) -> Citation:
        """The citation for words that are based on the passage: the section that shares most with them."""
        if not self.sections:
            return self.citation
        ends = [*(one.start for one in self.sections[1:]), len(self.text)]
        told = [
            _word_set(" ".join([*one.heading, self.text[one.start : end]]))
            for one, end in zip(self.sections, ends, strict=True)
        ]
        # A word that several sections hold tells less of where it comes from.
        weights = {word: 1 / count for word in _word_set(said) if (count := sum(word in one for one in told))}
        shares = [round(sum(weights[word] for word in weights.keys() & one), 6) for one in told]
        mine = [one.heading == (self.citation.heading or []) for one in self.sections]
        _, _, best = max(zip(shares, mine, self.sections, strict=True), key=lambda one: one[:2])
        return self.citation.model_copy(update={"url": best.url or "", "heading": best.heading or None})


def best_within_budget(found: KnowledgeFound, count: Callable[[str], int]) -> KnowledgeFound:
    """The best passages, then the pages, that have room in so many tokens."""
    room = MAX_TOKENS - count(TEXTS["prompt.knowledge"].in_language("es"))
    kept: list[Any] = []
    for one in [*found.passages, *found.pages]:
        size = count(
            _page_line(one)
            if isinstance(one, PageRef)
            else _passage_text(len(found.passages), one.title, one.heading, one.url, one.text)
        )
        if size <= room:
            kept.append(one)
            room -= size
    passages = [one for one in found.passages if one in kept]
    pages = [one for one in found.pages if one in kept]
    return found.model_copy(update={"passages": passages, "pages": pages})


def knowledge_section(found: KnowledgeFound | None, language: Language, *, pages: bool) -> str:
    """The prompt's section; empty without anything to say. `pages`: they can be fetched."""
    if found is None or not (found.passages or (pages and found.pages)):
        return ""
    parts: list[str] = []
    if found.passages:
        numbered = [
            _passage_text(number, one.title, one.heading, one.url, one.text)
            for number, one in enumerate(found.passages, start=1)
        ]
        parts = [TEXTS["prompt.knowledge"].in_language(language), f"<{_FENCE}>", *numbered, f"</{_FENCE}>"]
    if pages and found.pages:
        parts += [TEXTS["prompt.knowledge_pages"].in_language(language), *map(_page_line, found.pages)]
    return "\n".join(parts)


def sources(found: KnowledgeFound | None, results: Iterable[Mapping[str, Any]]) -> list[GivenPassage]:
    """All that was given, in the order of its numbers. `results`: the data of the searches that the model made."""
    given = [
        GivenPassage(
            Citation(
                url=one.url or "",
                title=one.title,
                heading=list(one.heading) or None,
                passage_id=one.id,
                hash=one.hash,
                read_at=one.read_at,
            ),
            one.text,
            tuple(one.sections or ()),
        )
        for one in (found.passages if found else ())
    ]
    for data in results:
        with_numbers(given, data)
    return given


def with_numbers(given: list[GivenPassage], data: Mapping[str, Any]) -> JsonObject:
    """A search's data with a number for each passage; new passages are added to those already given."""
    results: list[JsonObject] = []
    listed = data.get("passages")
    for one in cast("list[JsonObject]", listed) if isinstance(listed, list) else []:
        source = _passage_of_result(one)
        known = next(
            (at for at, other in enumerate(given) if (other.place, other.text) == (source.place, source.text)), None
        )
        if known is None:
            known = len(given)
            given.append(source)
        results.append({"number": known + 1, **one})
    return {**data, "passages": results} if results else dict(data)


class Numbers:
    """The citation numbers of an answer, renumbered in the order in which they appear; each page and heading has
    one."""

    def __init__(self, given: Sequence[GivenPassage]) -> None:
        self.given = given
        self.cited: list[GivenPassage] = []

    def named(self, match: re.Match[str]) -> list[int]:
        """The sources that a mark names, as far as they were given."""
        return [at for one in re.findall(r"\d+", match[1]) if 0 <= (at := int(one) - 1) < len(self.given)]

    def shown(self, match: re.Match[str], backed: bool = True) -> str:
        """The mark as it is shown; empty if it names nothing that was given."""
        if not (backed and (known := self.named(match))):
            return ""
        blank = match[0][: match[0].index("[")]
        return blank + "".join(f"[{one}]" for one in dict.fromkeys(map(self._number, known)))

    def _number(self, at: int) -> int:
        source = self.given[at]
        places = [one.place for one in self.cited]
        if source.place not in places:
            self.cited.append(source)
            return len(self.cited)
        return places.index(source.place) + 1


def with_valid_citations(
    text: str, given: Sequence[GivenPassage], others: Iterable[str] = ()
) -> tuple[str, tuple[Citation, ...]]:
    """The text with only valid citation numbers, renumbered, and their sources. `others`: other places that figures
    may come from, such as the question and the results of other tools."""
    if "[" not in text:
        return text, ()
    numbers = Numbers(given)
    beside = numbers_in_text("\n".join(others))
    quotes: defaultdict[int, str] = defaultdict(str)
    unmarked = ""

    def checked(sentence: str) -> str:
        nonlocal unmarked
        named = [at for match in MARK.finditer(sentence) for at in numbers.named(match)]
        said = numbers_in_text(_ADDRESS.sub("", MARK.sub("", _BULLET.sub("", sentence))))
        backed = said <= beside.union(
            *(numbers_in_text(f"{given[at].citation.title} {given[at].text}") for at in named)
        )
        unmarked += MARK.sub("", sentence)
        if named:
            for at in named if backed else ():
                quotes[at] += unmarked
            unmarked = ""
        return MARK.sub(lambda match: numbers.shown(match, backed), sentence)

    told = "".join(map(checked, _sentences_with_marks(text)))
    return told, tuple(one.quoted(quotes[given.index(one)]) for one in numbers.cited)


def numbers_in_text(text: str) -> frozenset[float]:
    """The numbers of a text: 1,000 and 1.000 and 1 000 are one."""
    return frozenset(number_of(re.sub(r"\s", "", match[0])) for match in _FIGURE.finditer(text))


def _word_set(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(plain(text)))


def _sentences_with_marks(text: str) -> list[str]:
    """Splits into whole sentences: a number behind the full stop belongs to the sentence before it."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    starts = [0]
    for end in ends:
        behind = MARK.match(text, end)
        starts.append(behind.end() if behind else end)
    starts = sorted(set(starts))
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


def _passage_of_result(result: Mapping[str, Any]) -> GivenPassage:
    heading, read_at = result.get("heading"), result.get("read_at")
    headings = (
        [str(one) for one in cast("list[Any]", heading)]
        if isinstance(heading, list)
        else [str(heading)]
        if heading
        else []
    )
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
    # Titles, headings and words come from outside: they can pose neither as a layer nor as the end of the data.
    head = one_line(" › ".join(filter(None, [title, *heading])))
    said = "\n".join(filter(None, map(str.rstrip, text.splitlines())))
    return within_fence(f"[{number}] {head}{f' — {url}' if url else ''}\n{said}", _FENCE)


def _page_line(page: PageRef) -> str:
    return within_fence(f"- {one_line(page.title, 120)}: {one_line(page.url)}", _FENCE)
