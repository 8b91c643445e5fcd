"""Baselines for recall: word overlap, and plain BM25."""

from __future__ import annotations

import math
import re
from collections import Counter

_WORD = re.compile(r"\w+")
K1 = 1.5
B = 0.75


class WordOverlap:
    """Jaccard similarity: the words in both texts over the words in either."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = [set(_words(text)) for text in texts]

    def rank(self, question: str, limit: int) -> list[int]:
        """The numbers of the best texts, best first; equal ones in order."""
        return _best([self.score(question, number) for number in range(len(self._texts))], limit)

    def score(self, question: str, number: int) -> float:
        """Similarity of a text to the question, 0 to 1."""
        words, text = set(_words(question)), self._texts[number]
        return len(words & text) / (len(words | text) or 1)


class PlainBm25:
    """Okapi BM25 (k1 1.5, b 0.75) over words in lower case; no stemmer, no stop words."""

    def __init__(self, texts: list[str]) -> None:
        self._counts = [Counter(_words(text)) for text in texts]
        self._lengths = [sum(counts.values()) for counts in self._counts]
        self._average = sum(self._lengths) / max(len(texts), 1) or 1.0
        self._document_frequency = Counter(word for counts in self._counts for word in counts)

    def rank(self, question: str, limit: int) -> list[int]:
        """The numbers of the best texts, best first; equal ones in order."""
        return _best([self.score(question, number) for number in range(len(self._counts))], limit)

    def score(self, question: str, number: int) -> float:
        """Score of a text for the question."""
        words = _words(question)
        counts, total = self._counts[number], len(self._counts)
        norm = K1 * (1 - B + B * self._lengths[number] / self._average)
        score = 0.0
        for word in words:
            if count := counts[word]:
                idf = math.log(
                    1 + (total - self._document_frequency[word] + 0.5) / (self._document_frequency[word] + 0.5)
                )
                score += idf * count * (K1 + 1) / (count + norm)
        return score


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _best(scores: list[float], limit: int) -> list[int]:
    ranked = sorted(range(len(scores)), key=lambda number: (-scores[number], number))
    return [number for number in ranked[:limit] if scores[number] > 0]
