"""Synonyms in English and Spanish: words that people use in questions to companies, and words that pages use.

Each line of vocabulary.txt is one meaning: English words, "=", Spanish words; without accents, in a base form that a
stemmer can inflect. A word may be in several lines. Written for this project; nothing is specific to one company.
"""

from importlib.resources import files

_LINES = (files("contracts") / "vocabulary.txt").read_text(encoding="utf-8").splitlines()
SYNONYMS = tuple(tuple(line.replace("=", " ").split()) for line in _LINES)
"""The words of each meaning, in both languages."""


def forms_of(word: str) -> frozenset[str]:
    """Returns the forms in which a word occurs: its plural, its forms as an English verb, its other gender."""
    forms = {word, f"{word}s", f"{word}es", f"{word}ing", f"{word}ed"}
    if word.endswith("e"):
        forms |= {f"{word[:-1]}ing", f"{word}d"}
    if word.endswith("y"):
        forms |= {f"{word[:-1]}ies"}
    if word.endswith("o"):
        forms |= {f"{word[:-1]}{ending}" for ending in ("a", "os", "as")}
    return frozenset(forms)
