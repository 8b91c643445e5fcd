"""Reads the glossary's files, and refuses them with the place and the reason if anything in them is wrong.

A file of `data` holds the concepts of one theme, in TOML:

    [drawdown]                      the id
    related = ["volatility"]        ids of other concepts
    lookalikes = ["drawbridge"]     optional: words that a name is near to, but that mean something else
    [drawdown.es]                   and the same for en
    name = "Drawdown"
    synonyms = ["caída máxima"]
    beginner = '''…'''              1 to 4 sentences; line breaks count as spaces
    intermediate = '''…'''
    advanced = '''…'''
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, cast

from contracts.json_values import JsonObject
from contracts.languages import LANGUAGES, Language
from tool_executor.domain.glossary.concept import LEVELS, Concept
from tool_executor.domain.glossary.name_keys import key_of, unordered_key_of, words_of

_ID = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_SENTENCE_END = re.compile(r"(?<!EE)[.!?…](?=\s+[¿¡“«(]?[^\W_a-z]|$)")
_MOST_SENTENCES = 4
_OF_CONCEPT = frozenset({"related", "lookalikes", *LANGUAGES})
_OF_LANGUAGE = frozenset({"name", "synonyms", *LEVELS})

Table = Mapping[str, Any]


class GlossaryError(ValueError):
    """The glossary's files cannot be used. The message has one line a mistake: file, concept, what is wrong."""


class _WrongConceptError(Exception):
    """One mistake, without its place."""


def packaged_files() -> Traversable:
    return files("tool_executor.domain.glossary") / "data"


def load_concepts(folder: Traversable) -> tuple[Concept, ...]:
    """All concepts of a folder's .toml files, by file name and then in their order.

    Raises:
        GlossaryError: with every mistake found.
    """
    mistakes: list[str] = []
    concepts: list[tuple[str, Concept]] = []
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if not file.name.endswith(".toml"):
            continue
        try:
            tables = tomllib.loads(file.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            mistakes.append(f"{file.name}: not TOML in UTF-8: {error}")
            continue
        for name, table in tables.items():
            place = f"{file.name}: {name}"
            try:
                concepts.append((place, _concept(name, table)))
            except _WrongConceptError as wrong:
                mistakes.append(f"{place}: {wrong}")
    mistakes.extend(_mistakes_between(concepts) if not mistakes else ())
    if not concepts and not mistakes:
        mistakes.append(f"{folder.name}: no concept in any .toml file")
    if mistakes:
        raise GlossaryError("\n".join(mistakes))
    return tuple(concept for _, concept in concepts)


def _concept(name: str, value: Any) -> Concept:
    if not _ID.fullmatch(name):
        raise _WrongConceptError("an id is made of a-z, 0-9 and single _")
    table = _table(value, _OF_CONCEPT, "")
    texts = {language: _table(table.get(language), _OF_LANGUAGE, language) for language in LANGUAGES}
    return Concept(
        id=name,
        names={language: _text(texts[language], "name", language) for language in LANGUAGES},
        synonyms={language: _list(texts[language], "synonyms", language) for language in LANGUAGES},
        explanations={
            language: {level: _explanation(texts[language], level, language) for level in LEVELS}
            for language in LANGUAGES
        },
        related=_list(table, "related", ""),
        lookalikes=_list(table, "lookalikes", "") if "lookalikes" in table else (),
    )


def _table(value: Any, known: frozenset[str], place: str) -> Table:
    if not isinstance(value, dict):
        raise _WrongConceptError(_at(place, "is missing" if place else "must be a table"))
    table = cast("JsonObject", value)
    if unknown := sorted(table.keys() - known):
        raise _WrongConceptError(_at(place, f"unknown entry {unknown[0]!r}; known are {', '.join(sorted(known))}"))
    return table


def _text(table: Table, entry: str, place: str) -> str:
    value = table.get(entry)
    if not isinstance(value, str) or not value.strip():
        raise _WrongConceptError(_at(place, f"{entry} must be a text that is not empty"))
    return " ".join(value.split())


def _list(table: Table, entry: str, place: str) -> tuple[str, ...]:
    value = table.get(entry)
    items = cast("list[Any]", value) if isinstance(value, list) else None
    if items is None or not all(isinstance(item, str) and item.strip() for item in items):
        raise _WrongConceptError(_at(place, f"{entry} must be a list of texts that are not empty"))
    return tuple(items)


def _explanation(table: Table, level: str, language: Language) -> str:
    text = _text(table, level, language)
    if not text.endswith((".", "!", "?", "…", ")")):
        raise _WrongConceptError(_at(language, f"{level} must end as a sentence does"))
    if not 1 <= (sentences := len(_SENTENCE_END.findall(text))) <= _MOST_SENTENCES:
        raise _WrongConceptError(_at(language, f"{level} has {sentences} sentences, must have 1 to {_MOST_SENTENCES}"))
    return text


def _mistakes_between(concepts: list[tuple[str, Concept]]) -> Iterator[str]:
    """Finds mistakes that only show when all concepts are known: ids and names used twice, related concepts that do not
    exist."""
    first_with_id: dict[str, str] = {}
    owner_of_key: dict[str, Concept] = {}
    for place, concept in concepts:
        if concept.id in first_with_id:
            yield f"{place}: this id is also in {first_with_id[concept.id]}"
        first_with_id.setdefault(concept.id, place)
    for place, concept in concepts:
        for phrase in concept.phrases():
            words = words_of(phrase)
            if not words:
                yield f"{place}: {phrase!r} has neither letters nor digits"
            for key in sorted({key_of(words), unordered_key_of(words)}):
                owner = owner_of_key.setdefault(key, concept)
                if owner.id != concept.id:
                    yield f"{place}: {phrase!r} also names {owner.id}"
        for other in concept.related:
            if other == concept.id or other not in first_with_id:
                yield f"{place}: related {other!r} is {'itself' if other == concept.id else 'no concept'}"
        if len(set(concept.related)) < len(concept.related):
            yield f"{place}: related has the same id twice"


def _at(place: str, what: str) -> str:
    return f"{place}: {what}" if place else what
