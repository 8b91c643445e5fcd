"""The keys of passages: stems and meanings of their words, and meanings recognised by form, such as =price."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from agent.domain.offline import constraints, shapes
from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.lexicon import keys_in, words_of
from agent.domain.offline.questions import ANY_PLACE
from agent.domain.text_features import plain

_CACHED_TEXTS = 4_096
"""Texts, over all companies, whose words, keys and shapes are cached."""
_MAX_SECTION_SENTENCES = 8
"""In a section of more sentences than this, the other sentences do not count for a sentence."""
_WEEKDAY = frozenset(("=weekday",))


def text_keys(passages: Sequence[Excerpt]) -> list[set[str]]:
    """By passage: the keys of its own text."""
    shown = frozenset[str]().union(*(_shapes(passage.text) for passage in passages))
    return [_keys_of_text(passage, shown) for passage in passages]


def _keys_of_text(passage: Excerpt, shown: frozenset[str]) -> set[str]:
    """The keys of a passage's own text; `shown` are the shapes that any passage has."""
    text, normalized, own_shapes = passage.text, plain(passage.text), _shapes(passage.text)
    keys = {*_keys(shapes.THE_WORD_WHERE.sub(" ", text)), *own_shapes}
    # If some passage shows hours, "open" elsewhere means something else.
    keys -= shown - own_shapes
    if passage.row and not shapes.FULL_NAME.search(text):
        keys.discard("=name")  # every cell begins with a capital letter
    keys |= _said_as(f"{passage.heading} {text}") | constraints.contacts_in(text)
    keys |= constraints.TAKES if constraints.states_duration(text) else set()
    keys |= constraints.LENGTH if constraints.CONTAINS_LENGTH.search(normalized) else set()
    keys |= constraints.WORTH if constraints.SAYS_WORTH.search(normalized) else set()
    keys |= _WEEKDAY if constraints.A_DAY.search(normalized) else set()
    keys |= constraints.MEASURE if constraints.has_measure(text) else set()
    keys |= ANY_PLACE if shapes.SAYS_WHERE.search(text) else set()
    return keys


def asked_in_heading(heading: str) -> set[str]:
    """The keys of questions that a heading asks in other words, such as =bring for "What to wear"."""
    return {key for key, pattern in shapes.SAID_AS if key in shapes.ANSWERED_BY_HEADING and pattern.search(heading)}


def section_texts(passages: Sequence[Excerpt]) -> list[str]:
    """By passage: its section's heading and text."""
    texts: dict[tuple[str, str, int], str] = {}
    for passage in passages:
        texts[passage.section_id] = f"{texts.get(passage.section_id, passage.heading)}\n{passage.text}"
    return [texts[passage.section_id] for passage in passages]


def keys_of_sections(passages: Sequence[Excerpt], keys_of_texts: Sequence[set[str]]) -> list[set[str]]:
    """By passage: the keys of all sentences of its section; empty for rows and in long sections."""
    keys_by_section: dict[tuple[str, str, int], set[str]] = {}
    lengths = Counter(passage.section_id for passage in passages)
    for passage, keys in zip(passages, keys_of_texts, strict=True):
        if not passage.row:
            keys_by_section.setdefault(passage.section_id, set()).update(keys)
    return [
        set[str]()
        if passage.row or lengths[passage.section_id] > _MAX_SECTION_SENTENCES
        else keys_by_section[passage.section_id]
        for passage in passages
    ]


@lru_cache(maxsize=_CACHED_TEXTS)
def words_in(text: str) -> tuple[str, ...]:
    """A text's words, normalized."""
    return tuple(words_of(text))


@lru_cache(maxsize=_CACHED_TEXTS)
def _keys(text: str) -> frozenset[str]:
    return frozenset(keys_in(text))


@lru_cache(maxsize=_CACHED_TEXTS)
def _shapes(text: str) -> frozenset[str]:
    return frozenset(key for key, pattern in shapes.SHAPES if pattern.search(text))


@lru_cache(maxsize=_CACHED_TEXTS)
def _said_as(text: str) -> frozenset[str]:
    return frozenset(key for key, pattern in shapes.SAID_AS if pattern.search(text))
