"""Vectors of the texts and questions of an evaluation, from the embedder that `NEXUS_EMBEDDINGS` names."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Hashable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from memory.embeddings.embeddings import embedder_of, usual_questions
from memory.embeddings.neighbours import Nearness, Neighbours
from memory.settings import EmbeddingSettings

if TYPE_CHECKING:
    from memory.embeddings.ports import Embedder

Name = TypeVar("Name", bound=Hashable)


class EvaluationVectors:
    """Computes vectors and waits for each, however long it takes, since only the ranking is measured."""

    def __init__(self, embedder: Embedder, runner: asyncio.Runner) -> None:
        self._embedder = embedder
        self._runner = runner
        self._usual = runner.run(usual_questions(embedder))

    def neighbours(self, texts: Mapping[Name, str]) -> Neighbours[Name]:
        """An index of the texts by their vectors. Raises EmbeddingError."""
        neighbours = Neighbours[Name]()
        for name, text in texts.items():
            neighbours.put(name, text)
        while batch := neighbours.wanted(self._embedder.batch):
            neighbours.take(batch, self._runner.run(self._embedder.passages(list(batch.values()))))
        return neighbours

    def nearness(self, texts: Neighbours[Name], question: str) -> Nearness[Name] | None:
        """How near the texts are to a question. Raises EmbeddingError."""
        return texts.nearness_to(self._runner.run(self._embedder.question(question)), self._usual)


@contextmanager
def evaluation_vectors() -> Generator[EvaluationVectors | None]:
    """Yields None if no embedder is configured. Raises ImportError or EmbeddingError if it is not installed."""
    embedder = embedder_of(EmbeddingSettings())
    if embedder is None:
        yield None
        return
    with asyncio.Runner() as runner:
        try:
            yield EvaluationVectors(embedder, runner)
        finally:
            runner.run(embedder.close())
