"""Words that mean the same, in English and Spanish: what people ask of any company, and what pages say of it.

Each line of vocabulary.txt is a meaning: English words, "=", Spanish words; without accents, in the form from which a
stemmer makes the others. A word may stand in several lines. Written for this project; nothing of one company is in it.
"""

from importlib.resources import files

_LINES = (files("contracts") / "vocabulary.txt").read_text(encoding="utf-8").splitlines()
SAME_MEANING = tuple(tuple(line.replace("=", " ").split()) for line in _LINES)
"""Each meaning's words, of both languages."""


def forms_of(word: str) -> frozenset[str]:
    """The word as it is met: in the plural, as an English verb, of the other gender."""
    made = {word, f"{word}s", f"{word}es", f"{word}ing", f"{word}ed"}
    if word.endswith("e"):
        made |= {f"{word[:-1]}ing", f"{word}d"}
    if word.endswith("y"):
        made |= {f"{word[:-1]}ies"}
    if word.endswith("o"):
        made |= {f"{word[:-1]}{end}" for end in ("a", "os", "as")}
    return frozenset(made)
