"""Synonyms in English and Spanish: words that people use in questions to companies, and words that pages use.

Each line of vocabulary.txt is one meaning: English words, "=", Spanish words; without accents, in a base form that a
stemmer can inflect. A word may be in several lines. Written for this project; nothing is specific to one company.
"""

import re
from importlib.resources import files

_LINES = (files("contracts") / "vocabulary.txt").read_text(encoding="utf-8").splitlines()
SYNONYMS = tuple(tuple(line.replace("=", " ").split()) for line in _LINES)
"""The words of each meaning, in both languages."""

_HOMOGRAPHS = (
    (re.compile(r"\bu(?:ñ|n\u0303)as?\b|\b((?:las|mis|tus|sus) )unas\b|\bunas(?=\W*$)"), "nail"),
    (re.compile(r"\bt(?:é|e\u0301)s?\b|\b((?:el|un|del|al|de) )te\b|\bte(?=\W*$)"), "tea"),
    (re.compile(r"\b((?:the|my|your|our|any|an?(?! (?:donde|que|cual|quien)\b)) (?:\w+ )?)vans?\b"), "lorry"),
    (re.compile(r"\b(?:log|sign)(?:ging|ing|ged|ed)?[ -](?:in|on)(?!\w)()"), "login"),
    (re.compile(r"\brate[ -]limit(?:s|ed|ing)?(?!\w)()"), "ratelimit"),
)
"""Nouns that differ by an accent alone from words of grammar, and the English word that is searched for in their place.
Without the accent, an article before the word or its place at the end shows the noun. And the words of signing in,
which are not those of signing up, nor a log; and of a rate limit, which is no price."""


def with_distinct_nouns(text: str) -> str:
    """Returns a text in lower case with such nouns replaced: "uñas" by "nail", "té" by "tea"."""
    for pattern, noun in _HOMOGRAPHS:
        text = pattern.sub(rf"\g<1>{noun}", text)
    return text


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
