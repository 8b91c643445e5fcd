"""How many mistakes a spelling may have and still count as a name: the shorter the name, the fewer.

Near misses of short words are more often other words than mistakes (martin is not margin, ETH is not ETF, quite is not
quote). Mistakes that keep the sound or swap two neighbouring letters are the ones that people make; any other mistake
is only accepted in names that are long enough to have no neighbours in the dictionary.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rapidfuzz import process
from rapidfuzz.distance import OSA

from tool_executor.domain.glossary.concept import Concept
from tool_executor.domain.glossary.name_keys import key_of, stems_of

_ACRONYM = 3
_SWAP_ONLY_UP_TO = 4
_NO_OTHER_VOWEL_UP_TO = 5
_NO_OTHER_LETTER_UP_TO = 7
_ANY_INITIAL_FROM = 9
_TWO_MISTAKES_FROM = 8
_TWO_MISTAKES_UP_TO = 17
_ANY_TWO_FROM = 13
_MOST_MISTAKES = 3
_SAME_CONSONANT = str.maketrans("vkqsxzjn", "bcccccgm")
_SAME_VOWEL = str.maketrans("eiouy", "aaaaa")
_DOUBLED = re.compile(r"(.)\1+")


@dataclass(frozen=True, slots=True)
class NameKey:
    """`text` is a name run together; `acronyms` its words of up to three letters, which take no mistake at all."""

    text: str
    acronyms: str
    concept: Concept


def acronyms_of(words: tuple[str, ...]) -> str:
    """The words of up to three letters that count, run together: "P/E ratio" and "PE ratio" → pe."""
    return "".join(stem for stem in stems_of(words) if len(stem) <= _ACRONYM)


class Misspellings:
    """All names of a glossary, for comparison with a text that is not one of them."""

    def __init__(self, keys: Iterable[NameKey]) -> None:
        self._keys = [key for key in keys if len(key.text) > _ACRONYM]
        self._texts = [key.text for key in self._keys]

    def nearest(self, words: tuple[str, ...]) -> list[Concept]:
        """The concepts with a name that the words misspell least; more than one if it may be either; often none."""
        asked, acronyms = key_of(words), acronyms_of(words)
        if len(asked) <= _ACRONYM:
            return []
        within_reach = process.extract(asked, self._texts, scorer=OSA.distance, score_cutoff=_MOST_MISTAKES, limit=None)
        accepted = [
            (int(mistakes), self._keys[position].concept)
            for _, mistakes, position in within_reach
            if self._keys[position].acronyms in ("", acronyms)
            and is_misspelling(asked, self._keys[position].text, int(mistakes))
        ]
        fewest = min((mistakes for mistakes, _ in accepted), default=0)
        return list({concept.id: concept for mistakes, concept in accepted if mistakes == fewest}.values())


def is_misspelling(asked: str, name: str, mistakes: int) -> bool:
    """Whether `asked`, so many letters (added, missing, changed, swapped) away, may be meant as `name`.

    Letters of the name: up to 4, two swapped; 5, one mistake that sounds the same; 6 and 7, one, but no letter changed
    for one of another sound; 8 to 12, any one, or two that sound the same; 13 to 17, any two; from 18, any three.
    The initial may only be wrong if it is the one mistake in 9 letters or more, or swapped with the next.
    """
    length = len(name)
    if length <= _SWAP_ONLY_UP_TO:
        return mistakes == 1 and sorted(asked) == sorted(name)
    if length <= _NO_OTHER_VOWEL_UP_TO:
        return mistakes == 1 and _sound_the_same(asked, name, vowels_matter=True)
    if mistakes > 1 and length < _ANY_TWO_FROM:
        return length >= _TWO_MISTAKES_FROM and mistakes == 2 and _sound_the_same(asked, name)
    if mistakes > (2 if length <= _TWO_MISTAKES_UP_TO else _MOST_MISTAKES):
        return False
    if asked[0] != name[0] and asked[:2] != name[1::-1]:
        return mistakes == 1 and length >= _ANY_INITIAL_FROM
    if length <= _NO_OTHER_LETTER_UP_TO and len(asked) == length:
        return _sound_the_same(asked, name)
    return True


def _sound_the_same(asked: str, name: str, *, vowels_matter: bool = False) -> bool:
    """Whether both have the same sound, or one but for two neighbours that are swapped."""
    heard, right = (_sound(text, vowels_matter=vowels_matter) for text in (asked, name))
    return heard == right or (sorted(heard) == sorted(right) and OSA.distance(heard, right) == 1)


def _sound(text: str, *, vowels_matter: bool) -> str:
    """The text with one letter for those that are mistaken for each other, and none doubled."""
    consonants = text.translate(_SAME_CONSONANT)
    return _DOUBLED.sub(r"\1", consonants if vowels_matter else consonants.translate(_SAME_VOWEL))
