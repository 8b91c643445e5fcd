"""What does a search in a company's 100,000 conversations cost the replica that is asked, and what do they weigh?

Made words, as unevenly common as a language; questions of 1 to 3 of them, half of them only begun. By the processor's
clock: the machine may be busy with other things.
"""

import itertools
import random
import time
import tracemalloc
from datetime import UTC, datetime, timedelta

from benchmarks.report import Figure, median, percentile
from memory.domain.inbox_index import Findable, InboxIndex, InboxQuery
from memory.domain.keys import LogPosition

QUESTION = "inbox search"
CONVERSATIONS, WORDS, VOCABULARY, QUESTIONS = 100_000, 40, 40_000, 300
BEGUN = datetime(2026, 1, 1, tzinfo=UTC)


def made(chance: random.Random, number: int, words: list[str], weights: list[float]) -> Findable:
    """A conversation as the store has it."""
    said = " ".join(chance.choices(words, cum_weights=weights, k=WORDS))
    state = chance.choice(("ai", "ai", "resolved", "resolved", "needs_human"))
    latest = f"{LogPosition(1, number)}/c{number}"
    labels = (chance.choice(("billing", "vip", "bug")),) if number % 5 == 0 else ()
    at = BEGUN + timedelta(minutes=number)
    return Findable(f"c{number}", latest, state, None, f"visitor-{number}", labels, None, at, said, number)


async def run() -> list[Figure]:
    """Milliseconds of own work, bytes."""
    chance = random.Random(1)
    syllables = [one + other for one in "bcdfglmnprst" for other in "aeiou"]
    words = ["".join(chance.choices(syllables, k=chance.randint(2, 4))) for _ in range(VOCABULARY)]
    weights = list(itertools.accumulate(1 / (place + 3) for place in range(VOCABULARY)))
    rows = [made(chance, number, words, weights) for number in range(CONVERSATIONS)]
    tracemalloc.start()
    index = InboxIndex()
    index.put(rows)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    began = time.process_time()
    InboxIndex().put(rows)
    reading = time.process_time() - began
    index.find(InboxQuery(query=words[0][:2]))
    costs: list[float] = []
    for number in range(QUESTIONS):
        asked = chance.choices(words, cum_weights=weights, k=chance.randint(1, 3))
        if number % 2:
            asked[-1] = asked[-1][: max(3, len(asked[-1]) - 2)]
        began = time.process_time()
        index.find(InboxQuery(query=" ".join(asked), label="vip" if number % 10 == 0 else None))
        costs.append((time.process_time() - began) * 1000)
    note = f"{CONVERSATIONS:,} conversations of {WORDS} words"
    return [
        Figure(QUESTION, "own work of a search, median", median(costs), "ms", note=note),
        Figure(QUESTION, "own work of a search, 95 of 100", percentile(costs, 0.95), "ms", 300.0),
        Figure(QUESTION, "own work of the most costly one", max(costs), "ms", 300.0),
        Figure(QUESTION, "memory a conversation", held / CONVERSATIONS, "bytes"),
        Figure(QUESTION, "own work of taking them all in", reading, "s"),
    ]
