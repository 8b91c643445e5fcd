"""Baselines for recall: word overlap, and plain BM25."""

from __future__ import annotations

import math
import re
from collections import Counter

_WORD = re.compile(r"\w+")
K1 = 1.5
B = 0.75


class WordOverlap:
    """Jaccard: words in common over words in either."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = [set(_words(text)) for text in texts]

    def rank(self, question: str, limit: int) -> list[int]:
        """The numbers of the best texts, best first; equal ones in order."""
        return _best([self.score(question, number) for number in range(len(self._texts))], limit)

    def score(self, question: str, number: int) -> float:
        """Returns how much a text has in common with the question, 0 to 1."""
        asked, text = set(_words(question)), self._texts[number]
        return len(asked & text) / (len(asked | text) or 1)


class PlainBm25:
    """Okapi BM25 (k1 1.5, b 0.75) over words in small letters; no stemmer, no stop words."""

    def __init__(self, texts: list[str]) -> None:
        self._counts = [Counter(_words(text)) for text in texts]
        self._lengths = [sum(counts.values()) for counts in self._counts]
        self._average = sum(self._lengths) / max(len(texts), 1) or 1.0
        self._in = Counter(word for counts in self._counts for word in counts)

    def rank(self, question: str, limit: int) -> list[int]:
        """The numbers of the best texts, best first; equal ones in order."""
        return _best([self.score(question, number) for number in range(len(self._counts))], limit)

    def score(self, question: str, number: int) -> float:
        """A text's score for the question."""
        asked = _words(question)
        counts, total = self._counts[number], len(self._counts)
        norm = K1 * (1 - B + B * self._lengths[number] / self._average)
        score = 0.0
        for word in asked:
            if count := counts[word]:
                idf = math.log(1 + (total - self._in[word] + 0.5) / (self._in[word] + 0.5))
                score += idf * count * (K1 + 1) / (count + norm)
        return score


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _best(scores: list[float], limit: int) -> list[int]:
    ranked = sorted(range(len(scores)), key=lambda number: (-scores[number], number))
    return [number for number in ranked[:limit] if scores[number] > 0]
