"""Measures how much of the evidence for a question is found among the first passages.

The ranking `search_memory` is the tool's own code (memory.domain.recall), with vectors if an embedder is configured.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memory.domain.recall.index import IndexedMessage, RecallIndex
from memory.embeddings.fusion import fused_messages
from memory.embeddings.neighbours import MAX_NEAREST
from nexus_cli.evaluation.baselines import PlainBm25, WordOverlap
from nexus_cli.evaluation.dataset import DatasetCase

if TYPE_CHECKING:
    from nexus_cli.evaluation.vectors import EvaluationVectors

DEPTHS = (5, 10, 25, 50)
RANKINGS = ("search_memory", "bm25", "overlap")
Ranking = Callable[[str, int], list[str]]


@dataclass(slots=True)
class RecallCounts:
    """For each ranking and depth, the sum over all questions of the share of their evidence that was found."""

    questions: int = 0
    found_shares: dict[str, dict[int, float]] = field(
        default_factory=lambda: {name: dict.fromkeys(DEPTHS, 0.0) for name in RANKINGS}
    )

    def add(self, ranking: str, ids: list[str], evidence: frozenset[str]) -> None:
        """Counts the ids that one ranking found for a question."""
        for depth in DEPTHS:
            self.found_shares[ranking][depth] += len(evidence.intersection(ids[:depth])) / len(evidence)

    def recall(self, ranking: str, depth: int) -> float:
        """Mean share of the evidence found, 0 to 1."""
        return self.found_shares[ranking][depth] / self.questions if self.questions else 0.0

    def view(self) -> dict[str, dict[str, float]]:
        """The shares by ranking and depth, for JSON."""
        return {
            name: {str(depth): round(self.recall(name, depth), 4) for depth in DEPTHS} for name in RANKINGS
        }  # fmt: skip


@dataclass(slots=True)
class RecallReport:
    """The counts of all questions, and those of each category."""

    total: RecallCounts = field(default_factory=RecallCounts)
    categories: defaultdict[str, RecallCounts] = field(default_factory=lambda: defaultdict(RecallCounts))


def measure(
    cases: Iterable[DatasetCase], on_question: Callable[[], None], vectors: EvaluationVectors | None = None
) -> RecallReport:
    """Ranks every question's conversation three ways. Calls `on_question` after each question."""
    report = RecallReport()
    for case in cases:
        rankings = _rankings(case, vectors)
        for question in case.questions:
            counts_to_update = (report.total, report.categories[question.category])
            for counts in counts_to_update:
                counts.questions += 1
            for name in RANKINGS:
                ids = rankings[name](question.text, DEPTHS[-1])
                for counts in counts_to_update:
                    counts.add(name, ids, question.evidence)
            on_question()
    return report


def _rankings(case: DatasetCase, vectors: EvaluationVectors | None) -> dict[str, Ranking]:
    index = RecallIndex()
    messages = [message for session in case.sessions for message in session]
    for number, session in enumerate(case.sessions):
        index.add(
            IndexedMessage(message.id, str(number), place, message.speaker, message.text, message.at)
            for place, message in enumerate(session)
        )
    now = max((message.at for message in messages), default=None)
    neighbours = vectors.neighbours({message.id: message.text for message in messages}) if vectors else None

    def rank_by_search(question: str, limit: int) -> list[str]:
        if now is None:
            return []
        by_words = [(hit.passage.id, hit.score) for hit in index.search(question, max(limit, MAX_NEAREST), now)]
        if vectors is None or neighbours is None:
            return [name for name, _ in by_words[:limit]]
        nearness = vectors.nearness(neighbours, question)
        ranked = fused_messages(by_words, nearness, (), index.nearby) if nearness else by_words
        return [name for name, _ in ranked[:limit]]

    texts = [message.text for message in messages]
    bm25, overlap = PlainBm25(texts), WordOverlap(texts)
    return {
        "search_memory": rank_by_search,
        "bm25": lambda question, limit: [messages[number].id for number in bm25.rank(question, limit)],
        "overlap": lambda question, limit: [messages[number].id for number in overlap.rank(question, limit)],
    }
