"""Synonyms in English and Spanish: words that people use in questions to companies, and words that pages use.

Each line of vocabulary.txt is one meaning: English words, "=", Spanish words; without accents, in a base form that a
stemmer can inflect. A word may be in several lines. Written for this project; nothing is specific to one company.
"""

from importlib.resources import files

_LINES = (files("contracts") / "vocabulary.txt").read_text(encoding="utf-8").splitlines()
SAME_MEANING = tuple(tuple(line.replace("=", " ").split()) for line in _LINES)
"""The words of each meaning, in both languages."""


def forms_of(word: str) -> frozenset[str]:
    """Forms in which a word occurs: its plural, its forms as an English verb, its other gender."""
    made = {word, f"{word}s", f"{word}es", f"{word}ing", f"{word}ed"}
    if word.endswith("e"):
        made |= {f"{word[:-1]}ing", f"{word}d"}
    if word.endswith("y"):
        made |= {f"{word[:-1]}ies"}
    if word.endswith("o"):
        made |= {f"{word[:-1]}{end}" for end in ("a", "os", "as")}
    return frozenset(made)
