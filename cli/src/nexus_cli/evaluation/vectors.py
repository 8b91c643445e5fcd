"""The vectors of an evaluation's texts and questions, by the embedder that `NEXUS_EMBEDDINGS` names."""

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
    """Waits for every vector, however long it takes: what is measured is the ranking."""

    def __init__(self, embedder: Embedder, runner: asyncio.Runner) -> None:
        self._embedder = embedder
        self._runner = runner
        self._usual = runner.run(usual_questions(embedder))

    def neighbours(self, texts: Mapping[Name, str]) -> Neighbours[Name]:
        """The texts with their vectors; raises EmbeddingError."""
        made = Neighbours[Name]()
        for name, text in texts.items():
            made.put(name, text)
        while wanted := made.wanted(self._embedder.batch):
            made.take(wanted, self._runner.run(self._embedder.passages(list(wanted.values()))))
        return made

    def nearness(self, texts: Neighbours[Name], question: str) -> Nearness[Name] | None:
        """Returns how near the texts are to a question; raises EmbeddingError."""
        return texts.to(self._runner.run(self._embedder.question(question)), self._usual)


@contextmanager
def evaluation_vectors() -> Generator[EvaluationVectors | None]:
    """None: no embedder is configured. Raises ImportError or EmbeddingError: it is not installed."""
    embedder = embedder_of(EmbeddingSettings())
    if embedder is None:
        yield None
        return
    with asyncio.Runner() as runner:
        try:
            yield EvaluationVectors(embedder, runner)
        finally:
            runner.run(embedder.close())
