"""An inverted index: which text contains which stem how often, and BM25 over it.

BM25 is Okapi's (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, eq. 3.15) with
Lucene's IDF, log(1 + (N - n + 0.5) / (n + 0.5)), which is never negative.
"""

import math
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping

from memory.domain.recall.words import english, similar_terms, spanish

SATURATION = 0.9
LENGTH_WEIGHT = 0.4
"""SATURATION and LENGTH are BM25's k1 and b."""
MAX_COUNT = 65_535


class Postings:
    """Texts, numbered from 0 in the order of addition. Uses six bytes for each posting, plus each stem."""

    def __init__(self) -> None:
        self._terms: dict[str, tuple[array[int], array[int]]] = {}
        self._spelt: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
        self._lengths: array[int] = array("I")
        self._words = 0

    def __len__(self) -> int:
        return len(self._lengths)

    def __contains__(self, stem: str) -> bool:
        return stem in self._terms

    def add(self, counts: Mapping[str, int], length: int | None = None) -> int:
        """Adds a text by its stems; returns its number. `length`: in words, if some stems count more than once."""
        number = len(self._lengths)
        for stem, count in counts.items():
            posting = self._terms.get(stem)
            if posting is None:
                posting = self._terms[stem] = (array("I"), array("H"))
                self._spelt[stem[:2], len(stem)].append(stem)
            posting[0].append(number)
            posting[1].append(min(count, MAX_COUNT))
        total = sum(counts.values()) if length is None else length
        self._lengths.append(total)
        self._words += total
        return number

    def holders(self, stem: str) -> int:
        """Returns the number of texts that contain the stem."""
        posting = self._terms.get(stem)
        return len(posting[0]) if posting else 0

    def idf(self, holders: int) -> float:
        """Returns the weight of a stem that this many texts contain."""
        return math.log(1 + (len(self._lengths) - holders + 0.5) / (holders + 0.5))

    def bm25(self, stem: str) -> dict[int, float]:
        """Returns the score of every text that contains the stem."""
        numbers, times = self._terms[stem]
        idf = self.idf(len(numbers))
        average = self._words / len(self._lengths) or 1.0
        lengths, base, slope = self._lengths, SATURATION * (1 - LENGTH_WEIGHT), SATURATION * LENGTH_WEIGHT / average
        gain = idf * (SATURATION + 1)
        return {
            number: gain * count / (count + base + slope * lengths[number])
            for number, count in zip(numbers, times, strict=True)
        }

    def bm25_of(self, stem: str, number: int) -> float:
        """Returns the score of one text; 0 if it does not contain the stem."""
        numbers, times = self._terms[stem]
        index = bisect_left(numbers, number)
        if index == len(numbers) or numbers[index] != number:
            return 0.0
        count, average = times[index], self._words / len(self._lengths) or 1.0
        saturation = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * self._lengths[number] / average)
        return self.idf(len(numbers)) * count * (SATURATION + 1) / (count + saturation)

    def misspelt(self, word: str) -> list[str]:
        """Returns the stems that an unknown word may be a misspelling of."""
        stems: dict[str, None] = {}
        for stem in {english(word), spanish(word)}:
            similar = [
                term
                for length in range(len(stem) - 2, len(stem) + 3)
                for term in self._spelt.get((stem[:2], length), ())
            ]
            stems |= dict.fromkeys(similar_terms(stem, similar))
        return list(stems)
