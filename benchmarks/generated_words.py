"""Words of no language, as unevenly frequent as a language's."""

import itertools
import random

VOCABULARY = 40_000


class GeneratedWords:
    """The words, the most frequent one first; `evenness` makes the most frequent ones less so: 3 leaves stop words."""

    def __init__(self, chance: random.Random, *, evenness: int) -> None:
        syllables = [consonant + vowel for consonant in "bcdfglmnprst" for vowel in "aeiou"]
        self.words = ["".join(chance.choices(syllables, k=chance.randint(2, 4))) for _ in range(VOCABULARY)]
        self._weights = list(itertools.accumulate(1 / (rank + evenness) for rank in range(VOCABULARY)))
        self._chance = chance

    def text(self, count: int) -> str:
        """Returns a text of so many words."""
        return " ".join(self._chance.choices(self.words, cum_weights=self._weights, k=count))

    def question(self, number: int) -> str:
        """Returns 3 to 9 words, and for one number in five a misspelt one."""
        question = self.text(self._chance.randint(3, 9))
        return question if number % 5 else f"{question} {self._chance.choice(self.words)[:-1]}x"
