"""A replica's embeddings: a question's vector in time or not at all; the vectors of texts in batches in the background.
If anything fails, searches use words alone."""

import asyncio
import contextlib
import time
from typing import Any

import structlog

from memory.embeddings.neighbours import Key, Nearness, Neighbours, UsualQuestions
from memory.embeddings.ports import Embedder, EmbeddingError, Vectors
from memory.metrics import EMBEDDED, EMBEDDINGS_FAILED
from memory.settings import EmbeddingSettings

PAUSE_AFTER_FAILURE_SECONDS = 5.0
"""Seconds without embedding questions after one failed or was late."""
FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 1.0, 60.0
"""The first and the longest pause between two batches while they fail."""
MIN_CHARACTERS = 200
"""A text that is refused in this length stays without a vector."""

EVERYDAY_QUESTIONS = (
    "what time do you open", "how much does it cost", "can I pay by card", "where are you", "do you have parking",
    "can I bring my dog", "how do I cancel", "can I come on Sunday",
    "a qué hora abrís", "cuánto cuesta", "puedo pagar con tarjeta", "dónde estáis", "tenéis aparcamiento",
    "puedo llevar al perro", "cómo lo cancelo", "puedo ir el domingo",
)  # fmt: skip
"""Everyday questions, which show what questions have in common."""

_log = structlog.get_logger(__name__)


async def usual_questions(embedder: Embedder) -> UsualQuestions:
    """Returns what everyday questions have in common; raises EmbeddingError."""
    question_vectors, passage_vectors = (
        [await embedder.question(text) for text in EVERYDAY_QUESTIONS],
        await embedder.passages(EVERYDAY_QUESTIONS),
    )
    mean = (sum(question_vectors[1:], question_vectors[0]) / len(question_vectors)).astype(question_vectors[0].dtype)
    return UsualQuestions(mean, passage_vectors.mean(axis=0, keepdims=True))


class Embeddings:
    """The embeddings of one replica. `embedder` None: there are none."""

    def __init__(self, embedder: Embedder | None, seconds: float) -> None:
        self._embedder = embedder
        self._seconds = seconds
        self._rests_until = 0.0
        self._waiting: dict[int, Neighbours[Any]] = {}
        self._task: asyncio.Task[None] | None = None
        self.usual: UsualQuestions | None = None
        """None until they are known."""

    @property
    def enabled(self) -> bool:
        """Whether texts are embedded."""
        return self._embedder is not None

    async def question(self, text: str) -> Vectors | None:
        """Returns the question's vector; None if unavailable or not in time."""
        if self._embedder is None or time.monotonic() < self._rests_until:
            return None
        try:
            async with asyncio.timeout(self._seconds):
                return await self._embedder.question(text)
        except (TimeoutError, EmbeddingError) as error:
            if not (isinstance(error, EmbeddingError) and error.refused):
                self._rests_until = time.monotonic() + PAUSE_AFTER_FAILURE_SECONDS
            EMBEDDINGS_FAILED.labels("question").inc()
            _log.warning("embeddings.question_failed", error=repr(error)[:200])
            return None

    def nearness(self, neighbours: Neighbours[Key], question: Vectors) -> Nearness[Key] | None:
        """Returns how near the texts are to a question; None if no text has a vector, or vectors of another size, which
        are then made anew."""
        compared = neighbours.nearness_to(question, self.usual)
        if compared is None:
            self.fill(neighbours)
        return compared

    def fill(self, neighbours: Neighbours[Any]) -> None:
        """Requests the missing vectors in the background."""
        if self._embedder is None:
            return
        self._waiting[id(neighbours)] = neighbours
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._fill(self._embedder), name="embeddings")

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        if self._embedder is not None:
            await self._embedder.close()

    async def _fill(self, embedder: Embedder) -> None:
        pause, size, done, done_before = FIRST_PAUSE_SECONDS, embedder.batch, 0, -1
        done_at_failure: dict[tuple[int, Any], int] = {}
        while self._waiting:
            name, neighbours = next(iter(self._waiting.items()))
            texts = {} if neighbours.closed else neighbours.wanted(size)
            if not texts:
                del self._waiting[name]
                continue
            # Take turns: one person's long history must not keep the others waiting.
            self._waiting[name] = self._waiting.pop(name)
            try:
                vectors = await _vectors(embedder, list(texts.values()))
                if self.usual is None or self.usual.as_questions.shape[1] != vectors.shape[1]:
                    self.usual = await usual_questions(embedder)
            except EmbeddingError as error:
                EMBEDDINGS_FAILED.labels("passages").inc()
                # One text may be the cause: fewer at once are tried. A single one stands back, and stays without a
                # vector if it fails again after others have succeeded.
                if len(texts) == 1:
                    key = next(iter(texts))
                    others_succeeded = done > done_at_failure.setdefault((name, key), done)
                    neighbours.put_off(key, for_good=others_succeeded)
                size = max(len(texts) // 2, 1)
                if not error.refused or done == done_before:
                    _log.warning("embeddings.failed", error=str(error)[:200], again_in=pause)
                    await asyncio.sleep(pause)
                    pause = min(pause * 2, MAX_PAUSE_SECONDS)
                done_before = done
                continue
            pause, size, done = FIRST_PAUSE_SECONDS, min(size * 2, embedder.batch), done + 1
            EMBEDDED.inc(len(texts))
            neighbours.take(texts, vectors)


async def _vectors(embedder: Embedder, texts: list[str]) -> Vectors:
    """Returns the vectors of texts; of a single one that is refused, the vector of as much of its beginning as the
    server takes. Raises EmbeddingError."""
    while True:
        try:
            return await embedder.passages(texts)
        except EmbeddingError as error:
            if not error.refused or len(texts) > 1 or len(texts[0]) <= MIN_CHARACTERS:
                raise
            texts = [texts[0][: len(texts[0]) // 2]]


def embedder_of(settings: EmbeddingSettings) -> Embedder | None:
    """Returns the embedder set in the environment; None if none is set. Raises ImportError or EmbeddingError if it is
    not installed."""
    if settings.kind == "none":
        return None
    from memory.embeddings.embedder import HttpEmbedder, WheelEmbedder

    if settings.kind == "wheel":
        return WheelEmbedder()
    key = settings.api_key.get_secret_value() if settings.api_key else None
    return HttpEmbedder(settings.base_url, key, settings.model)


def configured(settings: EmbeddingSettings) -> Embeddings:
    """Returns the embeddings set in the environment; if they are unavailable, this is logged once, and searches use
    words alone."""
    embedder: Embedder | None = None
    try:
        embedder = embedder_of(settings)
    except (ImportError, EmbeddingError) as error:
        EMBEDDINGS_FAILED.labels("start").inc()
        _log.error("embeddings.unavailable", error=str(error)[:300], install="nexus-memory[vectors]")
    return Embeddings(embedder, settings.seconds)
