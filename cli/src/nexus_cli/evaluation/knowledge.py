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
from nexus_cli.evaluation.vectors import EvaluationVectors
from tool_executor.extraction.document import Extracted, UnreadableError
from tool_executor.extraction.formats import extract

ENDINGS = frozenset({".html", ".htm", ".md", ".markdown", ".txt", ".pdf", ".docx"})
MOST_PAGES = 5_000
MOST_BYTES = 2 * 1024 * 1024
DEEP = 30
"""Passages that are looked at for the first pages."""
ANSWERED = 0.95
"""Share of the questions with an answer that a threshold lets through: by it, each ranking's traps are judged alike."""
SECONDS = 10.0


class BadDatasetError(Exception):
    """The file is no dataset, or its site cannot be read; the message says what to do."""


@dataclass(frozen=True, slots=True)
class KnowledgeCase:
    """A question; no pages: the site does not answer it."""

    text: str
    language: str | None
    pages: frozenset[str]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A site's pages by name (a path in the folder, or an address), and what is asked."""

    pages: Mapping[str, Extracted]
    cases: Sequence[KnowledgeCase]


@dataclass(slots=True)
class RankingCounts:
    """The counts of one ranking: how often the right page was first and among the first three, and each question's best
    score."""

    first: int = 0
    in_three: int = 0
    answered: list[float] = field(default_factory=list[float])
    traps: list[float] = field(default_factory=list[float])

    @property
    def refused(self) -> float | None:
        """Share of the traps that score less than nearly all questions with an answer do; None: there are none."""
        if not self.traps or not self.answered:
            return None
        ordered = sorted(self.answered)
        threshold = ordered[int((1 - ANSWERED) * len(ordered))]
        return sum(score < threshold for score in self.traps) / len(self.traps)

    def view(self) -> dict[str, float | None]:
        """Returns the counts as shares, for JSON."""
        count = len(self.answered)
        return {
            "first": round(self.first / count, 4) if count else None,
            "inFirstThree": round(self.in_three / count, 4) if count else None,
            "trapsRefused": None if self.refused is None else round(self.refused, 4),
        }


Ranking = Callable[[KnowledgeCase], list[tuple[str, float]]]
RANKINGS = ("overlap", "plain BM25", "knowledge")


def read(path: Path) -> Dataset:
    """The dataset of a file; raises BadDatasetError."""
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
    remote = site.startswith(("http://", "https://"))
    pages = _fetched(site) if remote else _in_folder(path.parent / site)
    asked = [_case(number, case, pages) for number, case in enumerate(list_of(cases), 1)]
    return Dataset(pages, asked)


def measure(
    data: Dataset, on_question: Callable[[], None], vectors: EvaluationVectors | None = None
) -> dict[str, RankingCounts]:
    found = {name: RankingCounts() for name in RANKINGS}
    rankings = _rankings(data.pages, vectors)
    for case in data.cases:
        for name in RANKINGS:
            ranked, measured = rankings[name](case), found[name]
            best = ranked[0][1] if ranked else 0.0
            if not case.pages:
                measured.traps.append(best)
                continue
            measured.answered.append(best)
            names = list(dict.fromkeys(page for page, _ in ranked))
            measured.first += bool(names) and names[0] in case.pages
            measured.in_three += any(page in case.pages for page in names[:3])
        on_question()
    return found


def _rankings(pages: Mapping[str, Extracted], vectors: EvaluationVectors | None) -> dict[str, Ranking]:
    index, now = CompanyIndex(), datetime.now(UTC)
    texts: list[str] = []
    owners: list[str] = []
    meanings: dict[SectionKey, str] = {}
    for name, page in pages.items():
        cuts = passages(page.blocks)
        document = StemmedDocument(name, "site", page.title, name, page.language, page.hash, now)
        held = [stemmed_passage(cut, page.title) for cut in cuts]
        index.put(document, held)
        if vectors:
            meanings |= section_texts_of(document, held)
        texts += [f"{page.title} {cut.text}" for cut in cuts]
        owners += [name] * len(cuts)
    overlap, bm25 = WordOverlap(texts), PlainBm25(texts)
    near = vectors.neighbours(meanings) if vectors else None

    def ours(case: KnowledgeCase) -> list[tuple[str, float]]:
        nearness = vectors.nearness(near, case.text) if vectors and near else None
        nearest = nearest_passages(nearness) if nearness else None
        hits = index.search(parsed_question(case.text, language=case.language), case.text, DEEP, nearest)
        return [(hit.document.id, hit.score) for hit in hits]

    def by(ranking: WordOverlap | PlainBm25) -> Ranking:
        def rank(case: KnowledgeCase) -> list[tuple[str, float]]:
            return [(owners[number], ranking.score(case.text, number)) for number in ranking.rank(case.text, DEEP)]

        return rank

    return {"overlap": by(overlap), "plain BM25": by(bm25), "knowledge": ours}


def _case(number: int, case: object, pages: Mapping[str, Extracted]) -> KnowledgeCase:
    if not is_object(case) or not str(object_of(case).get("question") or "").strip():
        raise BadDatasetError(f"case {number} has no question")
    fields = object_of(case)
    named: object = fields.get("pages") or []
    if not is_list(named):
        raise BadDatasetError(f"case {number}: pages must be a list, or left out for a trap")
    wanted = frozenset(str(page).removeprefix("./") for page in named)
    if unknown := wanted - pages.keys():
        raise BadDatasetError(f"case {number} names a page that the site does not have: {sorted(unknown)[0]}")
    language = fields.get("language")
    return KnowledgeCase(str(fields["question"]), language if isinstance(language, str) else None, wanted)


def _in_folder(folder: Path) -> dict[str, Extracted]:
    if not folder.is_dir():
        raise BadDatasetError(f"{folder} is not a folder with a site's pages")
    found: dict[str, Extracted] = {}
    for file in sorted(one for one in folder.rglob("*") if one.suffix.lower() in ENDINGS)[:MOST_PAGES]:
        try:
            found[file.relative_to(folder).as_posix()] = extract(file.read_bytes(), name=file.name)
        except (UnreadableError, OSError):
            continue
    if not found:
        raise BadDatasetError(f"{folder} holds no readable page")
    return found


def _fetched(site: str) -> dict[str, Extracted]:
    """The pages of a site that its links lead to, read one after the other."""
    import urllib.request

    origin, found = urlsplit(site)[:2], dict[str, Extracted]()
    queue, seen = [urldefrag(site).url], {urldefrag(site).url}
    while queue and len(seen) < MOST_PAGES:
        url = queue.pop(0)
        try:
            with urllib.request.urlopen(url, timeout=SECONDS) as answer:  # noqa: S310 - http(s), as the dataset says
                page = extract(answer.read(MOST_BYTES), answer.headers.get("Content-Type", ""), name=url)
        except (OSError, ValueError, UnreadableError):
            continue
        found[url] = page
        for link in page.links:
            address = urldefrag(urljoin(page.base or url, link)).url
            if address not in seen and urlsplit(address)[:2] == origin:
                seen.add(address)
                queue.append(address)
    if not found:
        raise BadDatasetError(f"nothing could be read at {site}")
    return found
