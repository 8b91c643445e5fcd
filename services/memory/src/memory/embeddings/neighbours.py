"""Texts with their vectors, and the nearest to a question by meaning, in any language."""

from collections.abc import Collection, Hashable, Mapping
from typing import Generic, TypeVar

from memory.embeddings.ports import Vectors

Key = TypeVar("Key", bound=Hashable)
POOL = 100
"""How many of the best by words, and of the nearest by meaning, are ranked together."""


class Neighbours(Generic[Key]):
    """One person's messages, or one company's passages. A text has no vector until it has been embedded."""

    def __init__(self) -> None:
        self._wanted: dict[Key, str] = {}
        self._rows: dict[Key, int] = {}
        self._keys: list[Key | None] = []
        self._vectors: Vectors | None = None
        self.closed = False
        """It is no longer searched."""

    def __len__(self) -> int:
        return len(self._rows)

    def put(self, key: Key, text: str) -> None:
        """Adds a text, replacing the one under its key."""
        self.drop(key)
        self._wanted[key] = text

    def drop(self, key: Key) -> None:
        self._wanted.pop(key, None)
        row = self._rows.pop(key, None)
        if row is not None:
            self._keys[row] = None

    def wanted(self, most: int) -> dict[Key, str]:
        """Texts without a vector, at most this many."""
        return {key: self._wanted[key] for key in list(self._wanted)[:most]}

    def take(self, texts: Mapping[Key, str], vectors: Vectors) -> None:
        """Stores the vectors of texts, except of those that have gone or changed meanwhile."""
        import numpy as np

        for (key, text), vector in zip(texts.items(), vectors, strict=True):
            if self._wanted.get(key) != text:
                continue
            del self._wanted[key]
            row = len(self._keys)
            held = self._vectors
            if held is None or held.shape[1] != vector.shape[0]:
                held = np.zeros((256, vector.shape[0]), dtype=np.float32)
                self._keys, self._rows, row = [], {}, 0
            elif row == held.shape[0]:
                held = np.concatenate([held, np.zeros_like(held)])
            held[row] = vector
            self._vectors = held
            self._keys.append(key)
            self._rows[key] = row

    def nearest(self, question: Vectors, most: int = POOL, without: Collection[Key] = ()) -> dict[Key, float]:
        """The nearest texts with their nearness, from 1 for the nearest to 0 for the last."""
        held, count = self._vectors, len(self._keys)
        if held is None or not self._rows or held.shape[1] != question.shape[1]:
            return {}
        cosines = held[:count] @ question[0]
        found: list[tuple[Key, float]] = []
        for row in (-cosines).argsort(kind="stable"):
            key = self._keys[int(row)]
            if key is not None and key not in without:
                found.append((key, float(cosines[int(row)])))
                if len(found) >= most:
                    break
        if not found:
            return {}
        first, last = found[0][1], found[-1][1]
        spread = first - last or 1.0
        return {key: (cosine - last) / spread if len(found) > 1 else 1.0 for key, cosine in found}
