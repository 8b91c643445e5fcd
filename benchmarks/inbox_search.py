"""What does a search in a company's 100,000 conversations cost the replica that serves it, and how much memory do they
need?

The words are generated, with frequencies as uneven as a language's; queries have 1 to 3 of them, half with an
incomplete last word. It measures CPU, since the machine may be busy.
"""

import random
import time
import tracemalloc
from datetime import UTC, datetime, timedelta

from benchmarks.generated_words import GeneratedWords
from benchmarks.report import Figure, median, percentile
from memory.domain.inbox_index import Findable, InboxIndex, InboxQuery
from memory.domain.keys import LogPosition

QUESTION = "inbox search"
CONVERSATIONS, WORDS, QUESTIONS = 100_000, 40, 300
FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)


def generated(chance: random.Random, number: int, words: GeneratedWords) -> Findable:
    """Returns a generated conversation as the store has it."""
    text = words.text(WORDS)
    state = chance.choice(("ai", "ai", "resolved", "resolved", "needs_human"))
    latest = f"{LogPosition(1, number)}/c{number}"
    labels = (chance.choice(("billing", "vip", "bug")),) if number % 5 == 0 else ()
    changed_at = FIRST_DAY + timedelta(minutes=number)
    return Findable(
        f"c{number}", latest, state, None, f"visitor-{number}", None, labels, None, changed_at, text, number
    )


async def run() -> list[Figure]:
    """Returns milliseconds of CPU, and bytes."""
    generator = random.Random(1)
    words = GeneratedWords(generator, evenness=3)
    rows = [generated(generator, number, words) for number in range(CONVERSATIONS)]
    tracemalloc.start()
    index = InboxIndex()
    index.put(rows)
    memory, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    started = time.process_time()
    InboxIndex().put(rows)
    put_seconds = time.process_time() - started
    index.find(InboxQuery(query=words.words[0][:2]))
    costs: list[float] = []
    for number in range(QUESTIONS):
        words_asked = words.text(generator.randint(1, 3)).split()
        if number % 2:
            words_asked[-1] = words_asked[-1][: max(3, len(words_asked[-1]) - 2)]
        started = time.process_time()
        index.find(InboxQuery(query=" ".join(words_asked), label="vip" if number % 10 == 0 else None))
        costs.append((time.process_time() - started) * 1000)
    note = f"{CONVERSATIONS:,} conversations of {WORDS} words"
    return [
        Figure(QUESTION, "own work of a search, median", median(costs), "ms", note=note),
        Figure(QUESTION, "own work of a search, 95 of 100", percentile(costs, 0.95), "ms", 300.0),
        Figure(QUESTION, "own work of the most costly one", max(costs), "ms", 300.0),
        Figure(QUESTION, "memory a conversation", memory / CONVERSATIONS, "bytes"),
        Figure(QUESTION, "own work of taking them all in", put_seconds, "s"),
    ]
