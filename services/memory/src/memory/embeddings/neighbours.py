"""Texts with their vectors, and the nearest to a question by meaning, in any language."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, TypeVar

from memory.embeddings.ports import Vectors

Key = TypeVar("Key", bound=Hashable)
MAX_NEAREST = 100
"""How many of the best by words, and of the nearest by meaning, are ranked together."""
MIN_TEXTS = 8
"""Texts below which their mean says nothing about any of them."""


SHARED_PART = 0.5
"""The share of what the texts have in common that questions about them have too (decisions 0153 and 0158)."""


@dataclass(frozen=True, slots=True)
class UsualQuestions:
    """The mean of everyday questions, embedded as questions and as texts; one row each."""

    as_questions: Vectors
    as_texts: Vectors


@dataclass(frozen=True, slots=True)
class Nearness(Generic[Key]):
    """How near each text is to one question, by row. `centred`: measured from the mean of the texts and that of
    everyday questions, so that what all of them have in common does not count; 0.2 is near, 0.4 very near."""

    cosines: Any
    keys: Sequence[Key | None]
    rows: Mapping[Key, int]
    centred: bool

    def of(self, key: Key) -> float:
        """Returns a text's nearness; 0 if it has no vector or too little is known to compare."""
        row = self.rows.get(key)
        return round(float(self.cosines[row]), 3) if self.centred and row is not None else 0.0

    def nearest(self, limit: int = MAX_NEAREST, without: Collection[Key] = ()) -> dict[Key, float]:
        """Returns the nearest texts with their nearness, from 1 for the nearest to 0 for the last."""
        import numpy as np

        nearest: list[tuple[Key, float]] = []
        count = limit + len(without) + len(self.keys) - len(self.rows)
        rows = np.arange(len(self.keys))
        if count < len(rows):
            rows = (-self.cosines).argpartition(count)[:count]
        for row in rows[np.lexsort((rows, -self.cosines[rows]))]:
            key = self.keys[int(row)]
            if key is not None and key not in without:
                nearest.append((key, float(self.cosines[int(row)])))
                if len(nearest) >= limit:
                    break
        if not nearest:
            return {}
        count, last = nearest[0][1], nearest[-1][1]
        spread = count - last or 1.0
        return {key: (cosine - last) / spread if len(nearest) > 1 else 1.0 for key, cosine in nearest}


class Neighbours(Generic[Key]):
    """One person's messages, or one company's passages. A text has no vector until it has been embedded."""

    def __init__(self) -> None:
        self._texts: dict[Key, str] = {}
        self._wanted: dict[Key, None] = {}
        self._rows: dict[Key, int] = {}
        self._keys: list[Key | None] = []
        self._vectors: Vectors | None = None
        self._sum: Any = 0.0
        self._centre: tuple[Any, Any] | None = None
        self.closed = False
        """It is no longer searched."""

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def complete(self) -> bool:
        """Whether every text has its vector: until then the nearest is only the nearest of those that have one."""
        return bool(self._rows) and not self._wanted

    @property
    def size(self) -> int:
        """The number of texts with and without a vector."""
        return len(self._texts)

    def put(self, key: Key, text: str) -> None:
        """Adds a text, replacing the one with its key."""
        self.drop(key)
        self._texts[key] = text
        self._wanted[key] = None

    def drop(self, key: Key) -> None:
        self._texts.pop(key, None)
        self._wanted.pop(key, None)
        row = self._rows.pop(key, None)
        if row is not None and self._vectors is not None:
            self._keys[row] = None
            self._sum = self._sum - self._vectors[row]
            self._centre = None

    def wanted(self, limit: int) -> dict[Key, str]:
        """Returns texts without a vector, at most this many."""
        return {key: self._texts[key] for key in islice(self._wanted, limit)}

    def put_off(self, key: Key, *, for_good: bool) -> None:
        """Embeds a text after all others; `for_good`: leaves it without a vector."""
        if key in self._wanted:
            del self._wanted[key]
            if not for_good:
                self._wanted[key] = None

    def start_over(self) -> None:
        """Wants new vectors of all texts, because the embedder's have another size now."""
        self._wanted = dict.fromkeys(self._texts)
        self._rows, self._keys, self._vectors, self._sum, self._centre = {}, [], None, 0.0, None

    def take(self, texts: Mapping[Key, str], vectors: Vectors) -> None:
        """Stores the vectors of texts, except of those that were removed or changed meanwhile."""
        import numpy as np

        self._centre = None
        if self._vectors is not None and self._vectors.shape[1] != vectors.shape[1]:
            self.start_over()
        for (key, text), vector in zip(texts.items(), vectors, strict=True):
            if key not in self._wanted or self._texts[key] != text:
                continue
            del self._wanted[key]
            row = len(self._keys)
            vectors_held = self._vectors
            if vectors_held is None:
                vectors_held = np.zeros((256, vector.shape[0]), dtype=np.float32)
            elif row == vectors_held.shape[0]:
                vectors_held = np.concatenate([vectors_held, np.zeros_like(vectors_held)])
            vectors_held[row] = vector
            self._sum = self._sum + vector
            self._vectors = vectors_held
            self._keys.append(key)
            self._rows[key] = row

    def nearness_to(self, question: Vectors, usual: UsualQuestions | None = None) -> Nearness[Key] | None:
        """Returns how near the texts are to a question; None if no text has a vector."""
        import numpy as np

        vectors, count = self._vectors, len(self._keys)
        if vectors is not None and vectors.shape[1] != question.shape[1]:
            self.start_over()
            return None
        if vectors is None or not self._rows:
            return None
        if usual is None or usual.as_questions.shape != question.shape or len(self._rows) < MIN_TEXTS:
            return Nearness(np.vecdot(vectors[:count], question[0]), self._keys, self._rows, centred=False)
        if self._centre is None:
            mean = self._sum / len(self._rows)
            lengths = np.sqrt(np.maximum(1.0 - 2.0 * np.vecdot(vectors[:count], mean) + mean @ mean, 1e-6))
            self._centre = mean, lengths
        mean, lengths = self._centre
        # Questions about these texts share a part of what the texts have in common.
        direction = (question - usual.as_questions)[0] - SHARED_PART * (mean - usual.as_texts[0])
        direction = direction / (np.linalg.norm(direction) or 1.0)
        # `@` would start a thread for each core, which costs three times as much processor time.
        cosines = (np.vecdot(vectors[:count], direction) - mean @ direction) / lengths
        return Nearness(cosines, self._keys, self._rows, centred=True)
