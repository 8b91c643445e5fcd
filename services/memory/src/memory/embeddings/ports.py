"""The embedder's port. Only implementations need numpy."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
else:
    Vectors = Any
"""One row for each text, normalised to length 1, so that a dot product is the cosine."""


class EmbeddingError(Exception):
    """These texts could not be embedded. `refused`: because of what they are, for example too long or too many at
    once."""

    def __init__(self, message: str, *, refused: bool = False) -> None:
        super().__init__(message)
        self.refused = refused


class Embedder(Protocol):
    """Computes vectors. `batch`: texts embedded at once, for which a question may have to wait."""

    @property
    def batch(self) -> int: ...

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Returns the vectors of texts to search in; raises EmbeddingError."""
        ...

    async def question(self, text: str) -> Vectors:
        """Returns the vector of a question, as one row; raises EmbeddingError."""
        ...

    async def close(self) -> None:
        """Releases all resources."""
        ...
