"""Measures how often the page that answers a question is found, and how often unanswerable questions are recognised.

The dataset: {site: a folder or an address, cases: [{question, language, pages: [paths or addresses] or none}]}. Pages
are read by the tool-executor's own readers and ranked by memory's search, with vectors where an embedder is configured.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlsplit

from contracts.json_values import is_list, is_object, list_of, object_of
from memory.knowledge.index import CompanyIndex
from memory.knowledge.indexes import SectionKey, nearest_passages, section_texts_of
from memory.knowledge.passages import passages
from memory.knowledge.question import parsed_question
from memory.knowledge.texts import StemmedDocument, stemmed_passage
from nexus_cli.evaluation.baselines import PlainBm25, WordOverlap
from nexus_cli.evaluation.dataset import BadDatasetError
from nexus_cli.evaluation.vectors import EvaluationVectors
from tool_executor.extraction.document import Extracted, UnreadableError
from tool_executor.extraction.formats import extract

PAGE_SUFFIXES = frozenset({".html", ".htm", ".md", ".markdown", ".txt", ".pdf", ".docx"})
MAX_PAGES = 5_000
MAX_BYTES = 2 * 1024 * 1024
SEARCHED_PASSAGES = 30
"""Passages searched to find the first pages."""
MIN_ANSWERED = 0.95
"""Share of the answerable questions that the threshold lets through; the same for all rankings, so that their traps can
be compared."""
FETCH_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class KnowledgeCase:
    """A question with the pages that answer it. No pages: the site does not answer it (a trap)."""

    text: str
    language: str | None
    pages: frozenset[str]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A site's pages by name (a path in the folder, or an address), and the questions."""

    pages: Mapping[str, Extracted]
    cases: Sequence[KnowledgeCase]


@dataclass(slots=True)
class RankingCounts:
    """Counts of one ranking: how often a right page was first and among the first three, and the best score of each
    question, in `answered` or `traps`."""

    first: int = 0
    in_three: int = 0
    answered: list[float] = field(default_factory=list[float])
    traps: list[float] = field(default_factory=list[float])

    @property
    def refused(self) -> float | None:
        """Share of the traps that score below the threshold. None if there are no traps or no answerable questions."""
        if not self.traps or not self.answered:
            return None
        ordered = sorted(self.answered)
        threshold = ordered[int((1 - MIN_ANSWERED) * len(ordered))]
        return sum(score < threshold for score in self.traps) / len(self.traps)

    def view(self) -> dict[str, float | None]:
        """The counts as shares, for JSON."""
        count = len(self.answered)
        return {
            "first": round(self.first / count, 4) if count else None,
            "inFirstThree": round(self.in_three / count, 4) if count else None,
            "trapsRefused": None if self.refused is None else round(self.refused, 4),
        }


Ranking = Callable[[KnowledgeCase], list[tuple[str, float]]]
RANKINGS = ("overlap", "plain BM25", "knowledge")


def read(path: Path) -> Dataset:
    """Reads a dataset and the pages of its site. Raises BadDatasetError."""
    try:
        data: object = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise BadDatasetError(f"{path} cannot be read as JSON: {error}") from error
    if not is_object(data):
        raise BadDatasetError(f"{path} must be an object with site and cases")
    fields = object_of(data)
    site, cases = fields.get("site"), fields.get("cases")
    if not isinstance(site, str) or not is_list(cases) or not cases:
        raise BadDatasetError(f"{path} must have a site (a folder or an address) and a list of cases")
    is_remote = site.startswith(("http://", "https://"))
    pages = _fetch_site(site) if is_remote else _read_folder(path.parent / site)
    questions = [_case(number, case, pages) for number, case in enumerate(list_of(cases), 1)]
    return Dataset(pages, questions)


def measure(
    data: Dataset, on_question: Callable[[], None], vectors: EvaluationVectors | None = None
) -> dict[str, RankingCounts]:
    counts_by_ranking = {name: RankingCounts() for name in RANKINGS}
    rankings = _rankings(data.pages, vectors)
    for case in data.cases:
        for name in RANKINGS:
            ranked, counts = rankings[name](case), counts_by_ranking[name]
            best_score = ranked[0][1] if ranked else 0.0
            if not case.pages:
                counts.traps.append(best_score)
                continue
            counts.answered.append(best_score)
            names = list(dict.fromkeys(page for page, _ in ranked))
            counts.first += bool(names) and names[0] in case.pages
            counts.in_three += any(page in case.pages for page in names[:3])
        on_question()
    return counts_by_ranking


def _rankings(pages: Mapping[str, Extracted], vectors: EvaluationVectors | None) -> dict[str, Ranking]:
    index, now = CompanyIndex(), datetime.now(UTC)
    texts: list[str] = []
    owners: list[str] = []
    meanings: dict[SectionKey, str] = {}
    for name, page in pages.items():
        sections = passages(page.blocks)
        document = StemmedDocument(name, "site", page.title, name, page.language, page.hash(), now)
        section_texts = [stemmed_passage(section, page.title) for section in sections]
        index.put(document, section_texts)
        if vectors:
            meanings |= section_texts_of(document, section_texts)
        texts += [f"{page.title} {section.text}" for section in sections]
        owners += [name] * len(sections)
    overlap, bm25 = WordOverlap(texts), PlainBm25(texts)
    neighbours = vectors.neighbours(meanings) if vectors else None

    def rank_by_search(case: KnowledgeCase) -> list[tuple[str, float]]:
        nearness = vectors.nearness(neighbours, case.text) if vectors and neighbours else None
        nearest = nearest_passages(nearness) if nearness else None
        hits = index.search(parsed_question(case.text, language=case.language), case.text, SEARCHED_PASSAGES, nearest)
        return [(hit.document.id, hit.score) for hit in hits]

    def ranking_by(ranking: WordOverlap | PlainBm25) -> Ranking:
        def rank(case: KnowledgeCase) -> list[tuple[str, float]]:
            return [
                (owners[number], ranking.score(case.text, number))
                for number in ranking.rank(case.text, SEARCHED_PASSAGES)
            ]

        return rank

    return {"overlap": ranking_by(overlap), "plain BM25": ranking_by(bm25), "knowledge": rank_by_search}


def _case(number: int, case: object, pages: Mapping[str, Extracted]) -> KnowledgeCase:
    if not is_object(case) or not str(object_of(case).get("question") or "").strip():
        raise BadDatasetError(f"case {number} has no question")
    fields = object_of(case)
    references: object = fields.get("pages") or []
    if not is_list(references):
        raise BadDatasetError(f"case {number}: pages must be a list, or left out for a trap")
    answering_pages = frozenset(str(page).removeprefix("./") for page in references)
    if unknown := answering_pages - pages.keys():
        raise BadDatasetError(f"case {number} names a page that the site does not have: {sorted(unknown)[0]}")
    language = fields.get("language")
    return KnowledgeCase(str(fields["question"]), language if isinstance(language, str) else None, answering_pages)


def _read_folder(folder: Path) -> dict[str, Extracted]:
    if not folder.is_dir():
        raise BadDatasetError(f"{folder} is not a folder with a site's pages")
    pages: dict[str, Extracted] = {}
    for file in sorted(path for path in folder.rglob("*") if path.suffix.lower() in PAGE_SUFFIXES)[:MAX_PAGES]:
        try:
            pages[file.relative_to(folder).as_posix()] = extract(file.read_bytes(), name=file.name)
        except (UnreadableError, OSError):
            continue
    if not pages:
        raise BadDatasetError(f"{folder} holds no readable page")
    return pages


def _fetch_site(site: str) -> dict[str, Extracted]:
    """Reads the pages of a site one after the other, by following its links."""
    import urllib.request

    origin, pages = urlsplit(site)[:2], dict[str, Extracted]()
    queue, known_addresses = [urldefrag(site).url], {urldefrag(site).url}
    while queue and len(known_addresses) < MAX_PAGES:
        url = queue.pop(0)
        try:
            with urllib.request.urlopen(url, timeout=FETCH_SECONDS) as response:  # noqa: S310 - http(s), as the dataset says
                page = extract(response.read(MAX_BYTES), response.headers.get("Content-Type", ""), name=url)
        except (OSError, ValueError, UnreadableError):
            continue
        pages[url] = page
        for link in page.links:
            address = urldefrag(urljoin(page.base or url, link)).url
            if address not in known_addresses and urlsplit(address)[:2] == origin:
                known_addresses.add(address)
                queue.append(address)
    if not pages:
        raise BadDatasetError(f"nothing could be read at {site}")
    return pages
