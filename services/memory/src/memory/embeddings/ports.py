"""What makes vectors of texts, as the searches know it. Only who has vectors needs numpy."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
else:
    Vectors = Any
"""One row a text, each of length 1, so that a product of two is their cosine."""


class EmbeddingError(Exception):
    """No vectors were made of these texts."""


class Embedder(Protocol):
    """Makes vectors. `batch`: texts that it takes at once and a question may have to wait for."""

    @property
    def batch(self) -> int: ...

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Of texts that are searched; raises EmbeddingError."""
        ...

    async def question(self, text: str) -> Vectors:
        """Of what is looked for: one row; raises EmbeddingError."""
        ...

    async def close(self) -> None:
        """Lets go of everything."""
        ...
