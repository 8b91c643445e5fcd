"""What does a search in a person's 50,000 messages cost the replica that serves it, by words alone and with vectors?

The conversations are generated, with word frequencies as uneven as a language's; questions have 3 to 9 words, one in
five with a misspelt one. Vectors are random: only their number and length matter. It measures CPU, since the machine
may be busy.
"""

import random
import time
from datetime import UTC, datetime, timedelta

import numpy as np

from benchmarks.generated_words import GeneratedWords
from benchmarks.report import Figure, median, percentile
from memory.application.message_search import MAX_MESSAGES
from memory.domain.recall.index import IndexedMessage, RecallIndex
from memory.embeddings.fusion import fused_messages
from memory.embeddings.neighbours import MAX_NEAREST, Neighbours, UsualQuestions

QUESTION = "memory search"
QUESTIONS = 300
MESSAGES_PER_CONVERSATION, WORDS, DIMENSIONS = 40, 14, 256
"""Messages in a conversation, words in a message, numbers in a vector (as the wheel's model has)."""
FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)


def generated(words: GeneratedWords) -> list[IndexedMessage]:
    """Returns generated messages, as many as are searched, in conversations."""
    texts = (words.text(WORDS) for _ in range(MAX_MESSAGES))
    times = [FIRST_DAY + number * timedelta(minutes=9) for number in range(MAX_MESSAGES)]
    return [
        IndexedMessage(
            f"m{n}", f"c{n // MESSAGES_PER_CONVERSATION}", n, "user" if n % 2 == 0 else "assistant", text, times[n]
        )
        for n, text in enumerate(texts)
    ]


async def run() -> list[Figure]:
    """Returns milliseconds of CPU."""
    words, numbers = GeneratedWords(random.Random(1), evenness=60), np.random.default_rng(1)
    messages, index, neighbours = generated(words), RecallIndex(), Neighbours[str]()
    started = time.process_time()
    index.add(messages)
    load_seconds = time.process_time() - started
    texts = {message.id: message.text for message in messages}
    for key, text in texts.items():
        neighbours.put(key, text)
    vectors = numbers.normal(size=(MAX_MESSAGES + 2 + QUESTIONS, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    neighbours.take(texts, vectors[:MAX_MESSAGES])
    usual = UsualQuestions(vectors[MAX_MESSAGES : MAX_MESSAGES + 1], vectors[MAX_MESSAGES + 1 : MAX_MESSAGES + 2])
    by_words: list[float] = []
    with_vectors: list[float] = []
    for number in range(QUESTIONS):
        question = words.question(number)
        started = time.process_time()
        found = index.search(question, MAX_NEAREST, messages[-1].at)
        matches = [(match.passage.id, match.score) for match in found]
        words_done = time.process_time()
        nearness = neighbours.nearness_to(vectors[MAX_MESSAGES + 2 + number : MAX_MESSAGES + 3 + number], usual)
        assert nearness is not None
        fused_messages(matches, nearness, (), index.nearby)
        by_words.append((words_done - started) * 1000)
        with_vectors.append((time.process_time() - started) * 1000)
    note = f"{MAX_MESSAGES:,} messages of {WORDS} words"
    return [
        Figure(QUESTION, "own work by words, median", median(by_words), "ms", note=note),
        Figure(QUESTION, "own work by words, 95 of 100", percentile(by_words, 0.95), "ms", 30.0),
        Figure(QUESTION, "own work with vectors, median", median(with_vectors), "ms", note=note),
        Figure(QUESTION, "own work with vectors, 95 of 100", percentile(with_vectors, 0.95), "ms", 30.0),
        Figure(QUESTION, "reading them, once a process", load_seconds, "s"),
    ]
