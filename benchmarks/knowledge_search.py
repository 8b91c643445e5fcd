"""What does a search in a company's 20,000 passages cost its process, and what do they weigh?

Made words, as unevenly common as a language without its stop words; questions of 3 to 9 of them, one in five with one
that is misspelt. By the processor's clock: the machine may be busy with other things.
"""

import itertools
import random
import time
import tracemalloc
from datetime import UTC, datetime

from benchmarks.report import Figure, median, percentile
from contracts.knowledge import Block
from memory.knowledge.index import MAX_COMPANY_PASSAGES, CompanyIndex
from memory.knowledge.passages import passages
from memory.knowledge.question import parsed_question
from memory.knowledge.texts import StemmedDocument, packed, stemmed_passage, unpacked

QUESTION = "knowledge search"
VOCABULARY, QUESTIONS = 40_000, 500
SECTIONS, WORDS = 8, 120
"""Of a document; of a section, which is a passage."""
Stored = tuple[StemmedDocument, bytes]


def made_documents(chance: random.Random, words: list[str], weights: list[float]) -> list[Stored]:
    """As many as hold the passages, as the store has them."""

    def text(count: int) -> str:
        return " ".join(chance.choices(words, cum_weights=weights, k=count))

    found: list[Stored] = []
    for number in range(MAX_COMPANY_PASSAGES // SECTIONS):
        title = text(3)
        cuts = passages([Block(headings=[text(3)], text=text(WORDS)) for _ in range(SECTIONS)])
        document = StemmedDocument(
            f"d{number}", "site", title, f"https://a.example/{number}", "en", "h", datetime.now(UTC)
        )
        found.append((document, packed([stemmed_passage(cut, title) for cut in cuts])))
    return found


async def run() -> list[Figure]:
    """Milliseconds of own work, bytes."""
    chance = random.Random(1)
    syllables = [one + other for one in "bcdfglmnprst" for other in "aeiou"]
    words = ["".join(chance.choices(syllables, k=chance.randint(2, 4))) for _ in range(VOCABULARY)]
    weights = list(itertools.accumulate(1 / (place + 60) for place in range(VOCABULARY)))
    stored = made_documents(chance, words, weights)
    tracemalloc.start()
    index = CompanyIndex()
    postings = 0
    for document, texts in stored:
        taken = unpacked(texts)
        postings += sum(len(text.counts) for text in taken)
        index.put(document, taken)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    began = time.process_time()
    again = CompanyIndex()
    for document, texts in stored:
        again.put(document, unpacked(texts))
    reading = time.process_time() - began
    costs: list[float] = []
    for number in range(QUESTIONS):
        asked = " ".join(chance.choices(words, cum_weights=weights, k=chance.randint(3, 9)))
        if number % 5 == 0:
            asked += f" {chance.choice(words)[:-1]}x"
        began = time.process_time()
        index.search(parsed_question(asked), asked, 8)
        costs.append((time.process_time() - began) * 1000)
    note = f"{len(index):,} passages, {postings:,} postings"
    return [
        Figure(QUESTION, "own work of a search, median", median(costs), "ms", note=note),
        Figure(QUESTION, "own work of a search, 95 of 100", percentile(costs, 0.95), "ms", 10.0),
        Figure(QUESTION, "memory a posting, texts and all", held / postings, "bytes", 200.0),
        Figure(QUESTION, "memory a passage", held / len(index), "bytes"),
        Figure(QUESTION, "own work of reading them all anew", reading, "s"),
    ]
