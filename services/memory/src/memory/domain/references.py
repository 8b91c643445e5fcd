"""What of a memory a user's words are about: "my car" is a fact about driving a Corolla, "my risk" a profile.

Facts are meant by their words; where none has them, by the kind of thing that they are about. Of several facts of that
kind nobody can tell which is meant, unless all of them are.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from contracts.memory_rpc import LongTermMemory, MeantReply, fact_id
from memory.domain.fact_parts import without_part
from memory.domain.long_term.concepts import concepts_of, normalize, significant_words
from memory.domain.recall.words import words
from memory.domain.relevant_facts import facets, kinds

ENOUGH = 0.6
"""Of the telling words that the user says, the share that a fact must hold to be meant."""
SAME = 5
"""Letters with which two forms of a word begin alike."""
_MADE_OF = re.compile(r"^(?:ar|en|des|a)(?=\w{4})")
"""Before a noun that a Spanish verb is made of: "riesgo" is in "arriesgar"."""
LIVING = re.compile(r"\b(?:what i do )?for a living\b")
_ASKS = re.compile(r"\b(?:where|who|what|how|when|which|donde|quien|que|como|cuando|cual|cuant[oa]s?)\b")
_EVERY = re.compile(r"\b(?:everything|all|todo|toda|todos|todas)\b")
_SAYS_NOTHING = concepts_of(
    "be have like prefer want trade thing things stuff matter cosa cosas tema asunto fact facts dato datos everything "
    "name called number user customer client usuario usuaria cliente wants remember that says said le dice es tiene "
    "her his their anymore more i my do"
) | frozenset(("be", "have", "like", "prefer", "want", "trade", "name"))
"""What asks for a fact and tells none apart."""
_FIELDS: tuple[tuple[str, frozenset[str]], ...] = tuple(
    (name, frozenset(listed.split()))
    for name, listed in (
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
_MARKS: dict[str, tuple[str, ...]] = {
    "swing": ("swing",),
    "day_trading": ("day trad", "intradia", "intraday"),
    "scalping": ("scalp",),
    "long_term": ("long term", "long-term", "largo plazo"),
    "conservative": ("conservative", "conservador"),
    "moderate": ("moderate", "moderad"),
    "aggressive": ("aggressive", "agresiv"),
    "beginner": ("beginner", "principiante"),
    "intermediate": ("intermediate", "intermedio"),
    "advanced": ("advanced", "avanzad"),
}
_FACTS = ("userNotes", "preferences", "olderNotes")
_OF_ANOTHER = re.compile(r"'s\b|\b(?:of|de|del) (?:my|mi|mis)\b")


@dataclass(slots=True)
class _Removal:
    patch: dict[str, Any] = field(default_factory=dict[str, Any])
    texts: list[str] = field(default_factory=list[str])


def referred_part(memory: LongTermMemory, about: str, symbols: Collection[str] = ()) -> MeantReply:
    """What the words are about, with the merge patch that takes it out; nothing, or several that they may mean.
    `symbols`: those that the words name."""
    if past := _past_meant(memory, about):
        return MeantReply(texts=past, past=past)
    wire, said, found = memory.to_wire(), frozenset(words(about)), _Removal()
    for name, names in _FIELDS:
        if (
            said & names
            and len(said) <= len(_FIELDS) // 2
            and not _OF_ANOTHER.search(normalize(about))
            and wire.get(name)
        ):
            found.patch[name] = None
            found.texts += _told(wire[name])
    kept = [one for one in memory.favorite_symbols if one not in symbols]
    if len(kept) < len(memory.favorite_symbols):
        found.patch.setdefault("favoriteSymbols", kept)
        found.texts += [one for one in memory.favorite_symbols if one in symbols]
    for name in ("tradingStyle", "riskProfile", "experience", "name"):
        value = wire.get(name)
        if value and name not in found.patch and _names(normalize(about), value):
            found.patch[name] = None
            found.texts.append(value)
    held = [one for name in _FACTS if name not in found.patch for one in wire.get(name, ())]
    facts, several = referred_facts(held, about)
    if several and found.patch:
        several = ()
    _without(found, wire, {fact: referred_clause(fact, about) for fact in facts})
    _without_words(found, wire, about)
    return MeantReply(patch=found.patch, texts=list(dict.fromkeys(found.texts)), several=list(several))


def _past_meant(memory: LongTermMemory, about: str) -> list[str]:
    """What of the history the words are about, if they fit nothing as well that is so now."""
    past = list(dict.fromkeys(one.value for one in memory.superseded))
    now = [*memory.user_notes, *memory.preferences, *memory.older_notes]
    if by_id := [one for one in past if fact_id(one) == about.strip()]:
        return [one for one in by_id if one not in now]
    said, telling = normalize(about), reference_words(LIVING.sub("job", normalize(about)))
    held = [getattr(memory, name) for name in ("trading_style", "risk_profile", "experience", "name")]
    if any(_names(said, str(one)) for one in held if one):
        return []
    if coded := [one.value for one in memory.superseded if one.field not in _FACTS and _names(said, one.value)]:
        return list(dict.fromkeys(coded))
    best = max((_share(telling, one) for one in past), default=0.0) if telling else 0.0
    if best < ENOUGH or best <= max((_share(telling, one) for one in now), default=0.0):
        return []
    return [one for one in past if _share(telling, one) == best]


def _names(said: str, value: str) -> bool:
    """Whether a plain text names a value that is kept as a code."""
    return any(one in said for one in _MARKS.get(value, (normalize(value),)))


def referred_facts(facts: Sequence[str], about: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The facts that the words (or an id) are about; else those that they may be about, if there are several."""
    if by_id := tuple(one for one in facts if fact_id(one) == about.strip()):
        return by_id, ()
    bare = LIVING.sub("job", normalize(about))
    telling = reference_words(bare)
    named = [one for one in facts if telling and _share(telling, one) >= ENOUGH]
    if named and len(telling) == 1 and _ASKS.search(bare):
        # "Where I work": what speaks of working, and not of the way to work.
        first = min(_place(telling, one) for one in named)
        named = [one for one in named if _place(telling, one) == first]
    if named and (len(telling) > 1 or _share(telling, named[0]) == 1) and not _is_torn(named, bare):
        return tuple(named), ()
    alike = named or _of_kind(facts, bare)
    if _EVERY.search(bare) or (len(alike) == 1 and (named or _only_says_what_kind(bare, alike[0]))):
        return tuple(alike), ()
    return (), tuple(alike)


def referred_clause(fact: str, about: str) -> tuple[str, str]:
    """What of a fact the words are about, and what is left of it: nothing, if they are about all of it."""
    return without_part(fact, reference_words(normalize(about))) or (fact, "")


def _only_says_what_kind(bare: str, fact: str) -> bool:
    """Whether the words say nothing that a fact of their kind does not: Paris is none of who lives in Cusco."""
    kind = facets(fact)
    return all(
        facets(one) & kind or not (telling := reference_words(one)) or _share(telling, fact) for one in words(bare)
    )


def _is_torn(named: Sequence[str], bare: str) -> bool:
    """Whether one word of a longer wish is all that several facts have of it: "my wife's name", of two about her."""
    return len(named) > 1 and bool(_OF_ANOTHER.search(bare)) and not _EVERY.search(bare)


def _of_kind(facts: Sequence[str], bare: str) -> list[str]:
    asked = kinds(bare)
    return [one for one in facts if asked & kinds(one)]


def reference_words(bare: str) -> frozenset[str]:
    return concepts_of(bare) - _SAYS_NOTHING


def _share(telling: frozenset[str], fact: str) -> float:
    """Of the telling words, how many a fact has, in whatever form."""
    said = concepts_of(fact)
    return sum(any(_alike(one, other) for other in said) for one in telling) / len(telling)


def _place(telling: frozenset[str], fact: str) -> int:
    return next(
        (at for at, one in enumerate(significant_words(fact)) if any(_alike(one, asked) for asked in telling)), 99
    )


def _alike(one: str, other: str) -> bool:
    return one == other or (len(one) >= SAME and one[:SAME] == other[:SAME]) or one == _MADE_OF.sub("", other)


def _without(found: _Removal, wire: dict[str, Any], facts: Mapping[str, tuple[str, str]]) -> None:
    """`facts`: of each the part that goes, and the rest, which stays."""
    for name in _FACTS:
        held: list[str] = wire.get(name) or []
        if name not in found.patch and any(one in facts for one in held):
            rests = (facts[one][1] if one in facts else one for one in held)
            found.patch[name] = [rest for rest in rests if rest]
            found.texts += [facts[one][0] for one in held if one in facts]


def _without_words(found: _Removal, wire: dict[str, Any], about: str) -> None:
    """Questions and strategies that the words are about."""
    telling = reference_words(normalize(about))
    for name in ("frequentQuestions", "recentStrategies"):
        held: list[Any] = wire.get(name) or []
        gone = [one for one in held if telling and _share(telling, _told([one])[0]) >= ENOUGH]
        if name not in found.patch and gone:
            found.patch[name] = [one for one in held if one not in gone]
            found.texts += _told(gone)


def _told(value: Any) -> list[str]:
    """A value of the wire form in words."""
    entries: list[Any] = value if isinstance(value, list) else [value]  # pyright: ignore[reportUnknownVariableType]
    return [
        f"{one['name']} {one.get('symbol') or ''}".strip() if isinstance(one, dict) else str(one)  # pyright: ignore[reportUnknownMemberType]
        for one in entries
    ]
