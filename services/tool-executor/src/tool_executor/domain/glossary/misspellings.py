"""Decides how many mistakes a misspelled name may have: the shorter the name, the fewer.

Near misses of short words are more often other words than mistakes (martin is not margin, ETH is not ETF, quite is not
quote). Most mistakes that people make keep the sound or swap two neighbouring letters; any other mistake is only
accepted in names that are long enough not to resemble other words of the dictionary.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rapidfuzz import process
from rapidfuzz.distance import OSA

from tool_executor.domain.glossary.concept import Concept
from tool_executor.domain.glossary.name_keys import key_of, stems_of

_MAX_ACRONYM_LENGTH = 3
_SWAP_ONLY_UP_TO = 4
_NO_OTHER_VOWEL_UP_TO = 5
_NO_OTHER_LETTER_UP_TO = 7
_ANY_INITIAL_FROM = 9
_TWO_MISTAKES_FROM = 8
_TWO_MISTAKES_UP_TO = 17
_ANY_TWO_FROM = 13
_MAX_MISTAKES = 3
_SAME_CONSONANT = str.maketrans("vkqsxzjn", "bcccccgm")
_SAME_VOWEL = str.maketrans("eiouy", "aaaaa")
_DOUBLED = re.compile(r"(.)\1+")


@dataclass(frozen=True, slots=True)
class NameKey:
    """`text`: a name without spaces; `acronyms`: its words of up to three letters, which must be spelled exactly."""

    text: str
    acronyms: str
    concept: Concept


def acronyms_of(words: tuple[str, ...]) -> str:
    """Returns the significant words of up to three letters, joined: "P/E ratio" and "PE ratio" → pe."""
    return "".join(stem for stem in stems_of(words) if len(stem) <= _MAX_ACRONYM_LENGTH)


class Misspellings:
    """The names of a glossary, to find the ones that a text misspells."""

    def __init__(self, keys: Iterable[NameKey]) -> None:
        self._keys = [key for key in keys if len(key.text) > _MAX_ACRONYM_LENGTH]
        self._texts = [key.text for key in self._keys]

    def nearest(self, words: tuple[str, ...]) -> list[Concept]:
        """Returns the concepts whose name the words misspell with the fewest mistakes: often none, several if tied."""
        spelling, acronyms = key_of(words), acronyms_of(words)
        if len(spelling) <= _MAX_ACRONYM_LENGTH:
            return []
        matches = process.extract(spelling, self._texts, scorer=OSA.distance, score_cutoff=_MAX_MISTAKES, limit=None)
        accepted = [
            (int(mistakes), self._keys[position].concept)
            for _, mistakes, position in matches
            if self._keys[position].acronyms in ("", acronyms)
            and is_misspelling(spelling, self._keys[position].text, int(mistakes))
        ]
        fewest = min((mistakes for mistakes, _ in accepted), default=0)
        return list({concept.id: concept for mistakes, concept in accepted if mistakes == fewest}.values())


def is_misspelling(spelling: str, name: str, mistakes: int) -> bool:
    """Whether `spelling` may stand for `name`. `mistakes`: the letters that were added, left out, changed or swapped.

    What is accepted depends on the length of the name: up to 4 letters, two swapped; 5, one mistake that keeps the
    sound; 6 and 7, one, but no letter changed into one of another sound; 8 to 12, any one, or two that keep the sound;
    13 to 17, any two; from 18, any three. The first letter may only be wrong if it is the only mistake in 9 letters or
    more, or swapped with the next.
    """
    length = len(name)
    if length <= _SWAP_ONLY_UP_TO:
        return mistakes == 1 and sorted(spelling) == sorted(name)
    if length <= _NO_OTHER_VOWEL_UP_TO:
        return mistakes == 1 and _sound_the_same(spelling, name, vowels_matter=True)
    if mistakes > 1 and length < _ANY_TWO_FROM:
        return length >= _TWO_MISTAKES_FROM and mistakes == 2 and _sound_the_same(spelling, name)
    if mistakes > (2 if length <= _TWO_MISTAKES_UP_TO else _MAX_MISTAKES):
        return False
    if spelling[0] != name[0] and spelling[:2] != name[1::-1]:
        return mistakes == 1 and length >= _ANY_INITIAL_FROM
    if length <= _NO_OTHER_LETTER_UP_TO and len(spelling) == length:
        return _sound_the_same(spelling, name)
    return True


def _sound_the_same(spelling: str, name: str, *, vowels_matter: bool = False) -> bool:
    """Whether both sound the same, or would if two neighbouring letters were swapped."""
    sound, name_sound = (_sound(text, vowels_matter=vowels_matter) for text in (spelling, name))
    return sound == name_sound or (sorted(sound) == sorted(name_sound) and OSA.distance(sound, name_sound) == 1)


def _sound(text: str, *, vowels_matter: bool) -> str:
    """Returns the text with letters that sound alike made equal, and doubled letters made single."""
    consonants = text.translate(_SAME_CONSONANT)
    return _DOUBLED.sub(r"\1", consonants if vowels_matter else consonants.translate(_SAME_VOWEL))
