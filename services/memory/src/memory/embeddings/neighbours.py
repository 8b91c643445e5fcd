"""Texts with their vectors, and the nearest to a question by meaning, in any language."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from memory.embeddings.ports import Vectors

Key = TypeVar("Key", bound=Hashable)
POOL = 100
"""How many of the best by words, and of the nearest by meaning, are ranked together."""
FEW = 8
"""Below this number of texts their mean says nothing about any of them."""


HERE = 0.5
"""How much of what the texts have in common their questions have too (decisions 0153 and 0158)."""


@dataclass(frozen=True, slots=True)
class UsualQuestions:
    """The mean of everyday questions, as questions and as texts; one row each."""

    asked: Vectors
    told: Vectors


@dataclass(frozen=True, slots=True)
class Nearness(Generic[Key]):
    """How near each text is to one question, by row. `centred`: measured from the mean of the texts and that of
    everyday questions, so that what all of them have in common counts for nothing; 0.2 is near, 0.4 very near."""

    cosines: Any
    keys: Sequence[Key | None]
    rows: Mapping[Key, int]
    centred: bool

    def of(self, key: Key) -> float:
        """A text's; 0 for one that has no vector, or where too little is known to compare."""
        row = self.rows.get(key)
        return round(float(self.cosines[row]), 3) if self.centred and row is not None else 0.0

    def nearest(self, most: int = POOL, without: Collection[Key] = ()) -> dict[Key, float]:
        """The nearest texts with their nearness, from 1 for the nearest to 0 for the last."""
        import numpy as np

        found: list[tuple[Key, float]] = []
        first = most + len(without) + len(self.keys) - len(self.rows)
        rows = np.arange(len(self.keys))
        if first < len(rows):
            rows = (-self.cosines).argpartition(first)[:first]
        for row in rows[np.lexsort((rows, -self.cosines[rows]))]:
            key = self.keys[int(row)]
            if key is not None and key not in without:
                found.append((key, float(self.cosines[int(row)])))
                if len(found) >= most:
                    break
        if not found:
            return {}
        first, last = found[0][1], found[-1][1]
        spread = first - last or 1.0
        return {key: (cosine - last) / spread if len(found) > 1 else 1.0 for key, cosine in found}


class Neighbours(Generic[Key]):
    """One person's messages, or one company's passages. A text has no vector until it has been embedded."""

    def __init__(self) -> None:
        self._wanted: dict[Key, str] = {}
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
        """Texts with a vector and without."""
        return len(self._rows) + len(self._wanted)

    def put(self, key: Key, text: str) -> None:
        """Adds a text, replacing the one under its key."""
        self.drop(key)
        self._wanted[key] = text

    def drop(self, key: Key) -> None:
        self._wanted.pop(key, None)
        row = self._rows.pop(key, None)
        if row is not None and self._vectors is not None:
            self._keys[row] = None
            self._sum = self._sum - self._vectors[row]
            self._centre = None

    def wanted(self, most: int) -> dict[Key, str]:
        """Texts without a vector, at most this many."""
        return {key: self._wanted[key] for key in list(self._wanted)[:most]}

    def take(self, texts: Mapping[Key, str], vectors: Vectors) -> None:
        """Stores the vectors of texts, except of those that have gone or changed meanwhile."""
        import numpy as np

        self._centre = None
        for (key, text), vector in zip(texts.items(), vectors, strict=True):
            if self._wanted.get(key) != text:
                continue
            del self._wanted[key]
            row = len(self._keys)
            held = self._vectors
            if held is None or held.shape[1] != vector.shape[0]:
                held = np.zeros((256, vector.shape[0]), dtype=np.float32)
                self._keys, self._rows, self._sum, row = [], {}, 0.0, 0
            elif row == held.shape[0]:
                held = np.concatenate([held, np.zeros_like(held)])
            held[row] = vector
            self._sum = self._sum + vector
            self._vectors = held
            self._keys.append(key)
            self._rows[key] = row

    def to(self, question: Vectors, usual: UsualQuestions | None = None) -> Nearness[Key] | None:
        """How near the texts are to a question. None: no text has a vector."""
        import numpy as np

        held, count = self._vectors, len(self._keys)
        if held is None or not self._rows or held.shape[1] != question.shape[1]:
            return None
        if usual is None or usual.asked.shape != question.shape or len(self._rows) < FEW:
            return Nearness(np.vecdot(held[:count], question[0]), self._keys, self._rows, centred=False)
        if self._centre is None:
            mean = self._sum / len(self._rows)
            lengths = np.sqrt(np.maximum(1.0 - 2.0 * np.vecdot(held[:count], mean) + mean @ mean, 1e-6))
            self._centre = mean, lengths
        mean, lengths = self._centre
        # What is asked here has something of what is told here.
        asked = (question - usual.asked)[0] - HERE * (mean - usual.told[0])
        asked = asked / (np.linalg.norm(asked) or 1.0)
        # `@` would wake a thread for each core, which costs the processor three times as much.
        cosines = (np.vecdot(held[:count], asked) - mean @ asked) / lengths
        return Nearness(cosines, self._keys, self._rows, centred=True)
