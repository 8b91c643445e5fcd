"""What of a memory a user's words are about: the merge patch that forgets it, and the texts that go."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agent.domain.text_features import plain, stems, symbols_in
from contracts.memory_rpc import LongTermMemory

ENOUGH = 0.6
"""Of the telling words that the user says, the share that an entry must hold to be meant."""
SAME = 5
"""Letters with which two forms of a word begin alike."""
_ASKED = re.compile(
    r"\b(?:any ?more|where|who|what|how|when|which|much|donde|quien|que|como|cuando|cual|cuanto|cuanta|name|nombre|"
    r"called|llama|number|numero|my|mi|mis|i|the|about|that|ya|lo)\b|'s\b"
)
"""What asks for a fact and stands in none of them."""
_MADE_OF = re.compile(r"^(?:ar|en|des|a)(?=\w{4})")
_FIELDS: tuple[tuple[str, frozenset[str]], ...] = tuple(
    (name, frozenset(words.split()))
    for name, words in (
        ("favoriteSymbols", "favourites favorites favoritos"),
        ("tradingStyle", "style estilo"),
        ("frequentQuestions", "questions preguntas"),
        ("recentStrategies", "strategies estrategias"),
        ("userNotes", "notes notas"),
        ("preferences", "preferences preferencias"),
        ("riskProfile", "risk riesgo"),
        ("experience", "experience experiencia level nivel"),
        ("name", "name nombre"),
        ("language", "language idioma"),
        ("timezone", "timezone zone horaria"),
    )
)
_STYLE_WORDS: dict[str, tuple[str, ...]] = {
    "swing": ("swing",),
    "day_trading": ("day trad", "intradia", "intraday"),
    "scalping": ("scalp",),
    "long_term": ("long term", "long-term", "largo plazo"),
}
_LEVELS = {
    "conservative": ("conservative", "conservador"),
    "moderate": ("moderate", "moderad"),
    "aggressive": ("aggressive", "agresiv"),
    "beginner": ("beginner", "principiante"),
    "intermediate": ("intermediate", "intermedio"),
    "advanced": ("advanced", "avanzad"),
}
_SMALL = frozenset(
    [
        "my",
        "mi",
        "mis",
        "all",
        "todo",
        "toda",
        "todos",
        "todas",
        "the",
        "trading",
        "like",
        "gusta",
        "gustan",
        "prefer",
        "prefiero",
        "i",
        "am",
        "soy",
        "ser",
    ]
)


@dataclass(frozen=True, slots=True)
class MemoryRemoval:
    """A merge patch for the memory, and what it takes out, in words."""

    patch: dict[str, Any] = field(default_factory=dict[str, Any])
    texts: tuple[str, ...] = ()


def forgetting(memory: LongTermMemory, about: str) -> MemoryRemoval:
    """What the words are about; an empty patch when nothing is."""
    patch: dict[str, Any] = {}
    gone: list[str] = []
    said, words = plain(about), frozenset(plain(about).split())
    telling = stems(about) - {stem for word in _SMALL for stem in stems(word)}
    symbols = set(symbols_in(about)) | set(symbols_in(about.upper()))
    for name, names in _FIELDS:
        if words & names and len(words) <= 5:
            kept = _value(memory, name)
            if kept:
                patch[name] = None
                gone.extend(kept)
    kept_symbols = [one for one in memory.favorite_symbols if one not in symbols]
    if len(kept_symbols) < len(memory.favorite_symbols):
        patch.setdefault("favoriteSymbols", kept_symbols)
        gone.extend(one for one in memory.favorite_symbols if one in symbols)
    single = (
        ("tradingStyle", memory.trading_style),
        ("riskProfile", memory.risk_profile),
        ("experience", memory.experience),
    )
    for name, value in single:
        marks = (_STYLE_WORDS | _LEVELS).get(value or "", ())
        if value and name not in patch and any(mark in said for mark in marks):
            patch[name] = None
            gone.append(value)
    if memory.name and plain(memory.name) in said and "name" not in patch:
        patch["name"] = None
        gone.append(memory.name)
    _drop(patch, gone, "userNotes", memory.user_notes, str, telling)
    _drop(patch, gone, "preferences", memory.preferences, str, telling)
    _drop(patch, gone, "olderNotes", memory.older_notes, str, telling)
    _drop(patch, gone, "frequentQuestions", memory.frequent_questions, str, telling)
    strategies = [strategy.to_wire() for strategy in memory.recent_strategies]
    _drop(patch, gone, "recentStrategies", strategies, lambda one: f"{one['name']} {one.get('symbol') or ''}", telling)
    if not patch:
        _drop_only(patch, gone, memory, about)
    return MemoryRemoval(patch, tuple(dict.fromkeys(gone)))


def _drop_only(patch: dict[str, Any], gone: list[str], memory: LongTermMemory, about: str) -> None:
    """The one fact that has a telling word of theirs, in whatever form ("my allergy": "I'm allergic to nuts"). Of two
    that have one, it cannot be told which is meant."""
    telling = stems(_ASKED.sub(" ", plain(about))) - {stem for word in _SMALL for stem in stems(word)}
    lists = {"userNotes": memory.user_notes, "preferences": memory.preferences, "olderNotes": memory.older_notes}
    meant = [(name, one) for name, held in lists.items() for one in held if _alike(telling, stems(plain(one)))]
    if telling and len(meant) == 1:
        name, fact = meant[0]
        patch[name] = [one for one in lists[name] if one != fact]
        gone.append(fact)


def _alike(telling: set[str], said: set[str]) -> bool:
    return all(
        any(one == other or (one[:SAME] == other[:SAME] and len(one) >= SAME) for other in said) for one in telling
    )


def _drop(
    patch: dict[str, Any], gone: list[str], name: str, held: list[Any], text_of: Callable[[Any], str], telling: set[str]
) -> None:
    if name in patch or not telling:
        return
    meant = [one for one in held if _share(telling, text_of(one)) >= ENOUGH]
    if meant:
        patch[name] = [one for one in held if one not in meant]
        gone.extend(text_of(one).strip() for one in meant)


def _share(telling: set[str], text: str) -> float:
    """Of the telling words, how many a text has, also in verbs made of them, as "riesgo" is in "arriesgar"."""
    said = stems(text) | {without for one in stems(text) if (without := _MADE_OF.sub("", one)) != one}
    return len(telling & said) / len(telling)


def _value(memory: LongTermMemory, name: str) -> list[str]:
    value = memory.to_wire().get(name)
    if isinstance(value, list):
        entries: list[Any] = value  # pyright: ignore[reportUnknownVariableType]
        return [str(one.get("name")) if isinstance(one, dict) else str(one) for one in entries]  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    return [str(value)] if value else []
