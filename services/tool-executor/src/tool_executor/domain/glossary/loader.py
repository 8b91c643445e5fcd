"""Reads the glossary's files, and reports place and reason of every mistake in them.

A file of `data` holds the concepts of one theme, in TOML:

    [drawdown]                      the id
    related = ["volatility"]        ids of other concepts
    lookalikes = ["drawbridge"]     optional: words that resemble a name but mean something else
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
_MAX_SENTENCES = 4
_CONCEPT_ENTRIES = frozenset({"related", "lookalikes", *LANGUAGES})
_LANGUAGE_ENTRIES = frozenset({"name", "synonyms", *LEVELS})

Table = Mapping[str, Any]


class GlossaryError(ValueError):
    """The glossary's files cannot be used. The message has one line for each mistake: file, concept, reason."""


class _ConceptError(Exception):
    """One mistake in a concept; the message does not say in which file and concept."""


def packaged_files() -> Traversable:
    return files("tool_executor.domain.glossary") / "data"


def load_concepts(folder: Traversable) -> tuple[Concept, ...]:
    """Returns the concepts of a folder's .toml files, sorted by file name, then in the order of the file.

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
            except _ConceptError as error:
                mistakes.append(f"{place}: {error}")
    mistakes.extend(_mistakes_between(concepts) if not mistakes else ())
    if not concepts and not mistakes:
        mistakes.append(f"{folder.name}: no concept in any .toml file")
    if mistakes:
        raise GlossaryError("\n".join(mistakes))
    return tuple(concept for _, concept in concepts)


def _concept(name: str, value: Any) -> Concept:
    if not _ID.fullmatch(name):
        raise _ConceptError("an id is made of a-z, 0-9 and single _")
    table = _table(value, _CONCEPT_ENTRIES, "")
    texts = {language: _table(table.get(language), _LANGUAGE_ENTRIES, language) for language in LANGUAGES}
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
        raise _ConceptError(_with_place(place, "is missing" if place else "must be a table"))
    table = cast("JsonObject", value)
    if unknown := sorted(table.keys() - known):
        raise _ConceptError(_with_place(place, f"unknown entry {unknown[0]!r}; known are {', '.join(sorted(known))}"))
    return table


def _text(table: Table, entry: str, place: str) -> str:
    value = table.get(entry)
    if not isinstance(value, str) or not value.strip():
        raise _ConceptError(_with_place(place, f"{entry} must be a text that is not empty"))
    return " ".join(value.split())


def _list(table: Table, entry: str, place: str) -> tuple[str, ...]:
    value = table.get(entry)
    items = cast("list[Any]", value) if isinstance(value, list) else None
    if items is None or not all(isinstance(item, str) and item.strip() for item in items):
        raise _ConceptError(_with_place(place, f"{entry} must be a list of texts that are not empty"))
    return tuple(items)


def _explanation(table: Table, level: str, language: Language) -> str:
    text = _text(table, level, language)
    if not text.endswith((".", "!", "?", "…", ")")):
        raise _ConceptError(_with_place(language, f"{level} must end as a sentence does"))
    if not 1 <= (sentences := len(_SENTENCE_END.findall(text))) <= _MAX_SENTENCES:
        raise _ConceptError(
            _with_place(language, f"{level} has {sentences} sentences, must have 1 to {_MAX_SENTENCES}")
        )
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
        for related_id in concept.related:
            if related_id == concept.id or related_id not in first_with_id:
                yield f"{place}: related {related_id!r} is {'itself' if related_id == concept.id else 'no concept'}"
        if len(set(concept.related)) < len(concept.related):
            yield f"{place}: related has the same id twice"


def _with_place(place: str, mistake: str) -> str:
    return f"{place}: {mistake}" if place else mistake
