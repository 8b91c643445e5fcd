"""An inverted index: which text holds which stem how often, and BM25 over it.

BM25 is Okapi's (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, eq. 3.15) with
Lucene's IDF, log(1 + (N - n + 0.5) / (n + 0.5)), which is never negative.
"""

import math
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping

from memory.domain.recall.words import english, near, spanish

SATURATION = 0.9
LENGTH = 0.4
"""BM25's k1 and b."""
MOST_TIMES = 65_535


class Postings:
    """Texts, numbered from 0 in the order of addition. Takes six bytes a posting, plus each stem."""

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
        """Adds a text by its stems; returns its number. `length`: in words, if some count more than once."""
        number = len(self._lengths)
        for stem, count in counts.items():
            held = self._terms.get(stem)
            if held is None:
                held = self._terms[stem] = (array("I"), array("H"))
                self._spelt[stem[:2], len(stem)].append(stem)
            held[0].append(number)
            held[1].append(min(count, MOST_TIMES))
        words = sum(counts.values()) if length is None else length
        self._lengths.append(words)
        self._words += words
        return number

    def holders(self, stem: str) -> int:
        """Counts the texts that contain the stem."""
        held = self._terms.get(stem)
        return len(held[0]) if held else 0

    def idf(self, holders: int) -> float:
        """The weight of a stem that this many texts contain."""
        return math.log(1 + (len(self._lengths) - holders + 0.5) / (holders + 0.5))

    def bm25(self, stem: str) -> dict[int, float]:
        """The score of every text that contains the stem."""
        numbers, times = self._terms[stem]
        idf = self.idf(len(numbers))
        average = self._words / len(self._lengths) or 1.0
        lengths, least, slope = self._lengths, SATURATION * (1 - LENGTH), SATURATION * LENGTH / average
        gain = idf * (SATURATION + 1)
        return {
            number: gain * count / (count + least + slope * lengths[number])
            for number, count in zip(numbers, times, strict=True)
        }

    def bm25_of(self, stem: str, number: int) -> float:
        """The score of one text; 0 if it does not contain the stem."""
        numbers, times = self._terms[stem]
        place = bisect_left(numbers, number)
        if place == len(numbers) or numbers[place] != number:
            return 0.0
        count, average = times[place], self._words / len(self._lengths) or 1.0
        room = SATURATION * (1 - LENGTH + LENGTH * self._lengths[number] / average)
        return self.idf(len(numbers)) * count * (SATURATION + 1) / (count + room)

    def misspelt(self, word: str) -> list[str]:
        """The stems of which an unknown word may be a misspelling."""
        found: dict[str, None] = {}
        for stem in {english(word), spanish(word)}:
            alike = [
                term
                for length in range(len(stem) - 2, len(stem) + 3)
                for term in self._spelt.get((stem[:2], length), ())
            ]
            found |= dict.fromkeys(near(stem, alike))
        return list(found)
