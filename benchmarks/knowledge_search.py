"""What does a search in a company's 20,000 passages cost its process, and how much memory do they need?

The words are generated, with frequencies as uneven as a language's without stop words; questions have 3 to 9 of them,
one in five with a misspelt word. It measures CPU, since the machine may be busy.
"""

import random
import time
import tracemalloc
from datetime import UTC, datetime

from benchmarks.generated_words import GeneratedWords
from benchmarks.report import Figure, median, percentile
from contracts.knowledge import Block
from memory.knowledge.index import MAX_COMPANY_PASSAGES, CompanyIndex
from memory.knowledge.passages import passages
from memory.knowledge.question import parsed_question
from memory.knowledge.texts import StemmedDocument, packed, stemmed_passage, unpacked

QUESTION = "knowledge search"
QUESTIONS = 500
SECTIONS, WORDS = 8, 120
"""Sections of a document; words of a section, which is one passage."""
Stored = tuple[StemmedDocument, bytes]


def generated_documents(words: GeneratedWords) -> list[Stored]:
    """Returns enough generated documents for all passages, as the store has them."""
    documents: list[Stored] = []
    for number in range(MAX_COMPANY_PASSAGES // SECTIONS):
        title = words.text(3)
        cuts = passages([Block(headings=[words.text(3)], text=words.text(WORDS)) for _ in range(SECTIONS)])
        document = StemmedDocument(
            f"d{number}", "site", title, f"https://a.example/{number}", "en", "h", datetime.now(UTC)
        )
        documents.append((document, packed([stemmed_passage(cut, title) for cut in cuts])))
    return documents


async def run() -> list[Figure]:
    """Returns milliseconds of CPU, and bytes."""
    words = GeneratedWords(random.Random(1), evenness=60)
    stored = generated_documents(words)
    tracemalloc.start()
    index = CompanyIndex()
    postings = 0
    for document, texts in stored:
        document_texts = unpacked(texts)
        postings += sum(len(text.counts) for text in document_texts)
        index.put(document, document_texts)
    memory, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    started = time.process_time()
    second_index = CompanyIndex()
    for document, texts in stored:
        second_index.put(document, unpacked(texts))
    load_seconds = time.process_time() - started
    costs: list[float] = []
    for number in range(QUESTIONS):
        question = words.question(number)
        started = time.process_time()
        index.search(parsed_question(question), question, 8)
        costs.append((time.process_time() - started) * 1000)
    note = f"{len(index):,} passages, {postings:,} postings"
    return [
        Figure(QUESTION, "own work of a search, median", median(costs), "ms", note=note),
        Figure(QUESTION, "own work of a search, 95 of 100", percentile(costs, 0.95), "ms", 10.0),
        Figure(QUESTION, "memory a posting, texts and all", memory / postings, "bytes", 200.0),
        Figure(QUESTION, "memory a passage", memory / len(index), "bytes"),
        Figure(QUESTION, "own work of reading them all anew", load_seconds, "s"),
    ]
