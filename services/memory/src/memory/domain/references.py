"""What part of a memory a user's words refer to: "my car" refers to a fact about driving a Corolla, "my risk" to the
profile.

Facts are found by their words; if no fact contains them, by the kind of thing that they are about. If several facts are
of that kind, it is unknown which is meant, unless all of them are.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from contracts.memory_rpc import LongTermMemory, MeantReply, fact_id
from memory.domain.fact_parts import without_part
from memory.domain.long_term.concepts import concept, concepts_of, normalize, significant_words
from memory.domain.recall.words import words
from memory.domain.relevant_facts import facets, kinds
from memory.domain.remembered import FACT_LISTS, current_facts

MIN_COVERAGE = 0.6
"""Share of the user's significant words that a fact must contain to be meant."""
MIN_COMMON_LETTERS = 5
"""Letters that two forms of a word have in common at their beginning."""
_MADE_OF = re.compile(r"^(?:ar|en|des|a)(?=\w{4})")
"""Prefix of a Spanish verb that is derived from a noun: "riesgo" is in "arriesgar"."""
LIVING = re.compile(r"\b(?:what i do )?for a living\b")
_ASKS = re.compile(r"\b(?:where|who|what|how|when|which|donde|quien|que|como|cuando|cual|cuant[oa]s?)\b")
_EVERY = re.compile(r"\b(?:everything|all|todo|toda|todos|todas)\b")
_SAYS_NOTHING = concepts_of(
    "be have like prefer want trade thing things stuff matter cosa cosas tema asunto fact facts dato datos everything "
    "name called number user customer client usuario usuaria cliente wants remember that says said le dice es tiene "
    "her his their anymore more i my do use"
) | frozenset(("be", "have", "like", "prefer", "want", "trade", "name", "use"))
"""Words that ask for a fact but do not distinguish one from another."""
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
_CODE_WORDS: dict[str, tuple[str, ...]] = {
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
_FACT_FIELDS = tuple(FACT_LISTS.values())
PEOPLE_CONCEPTS = frozenset(
    concept(word)
    for word in words(
        "brother sister mother father mom dad son daughter kid wife husband boss friend partner hermano hermana madre "
        "padre hijo hija mujer marido esposa esposo jefe amigo amiga novia parents grandmother grandfather uncle aunt "
        "cousin nephew niece padres tio tia primo prima sobrino sobrina suegro suegra"
    )
)
"""People whom words may name: then only facts about them are meant."""
CHILDREN = re.compile(r"\b(?:kids?|child(?:ren)?|hijos)\b")
"""Names sons and daughters alike."""
_KINDS_OF_PEOPLE = frozenset(("spouse", "children", "relatives"))
_MY = re.compile(r"(?:my|mis?)\b")
_ONE_THING = re.compile(r"\b(?:the|that) (?:\w+ ){0,3}(?:thing|bit|part|note|fact)\b|\b(?:lo|eso) del?\b")
_OF_ANOTHER = re.compile(r"'s\b|\b(?:of|de|del) (?:my|mi|mis)\b")


@dataclass(slots=True)
class _Removal:
    patch: dict[str, Any] = field(default_factory=dict[str, Any])
    texts: list[str] = field(default_factory=list[str])


def referred_part(memory: LongTermMemory, about: str, symbols: Collection[str] = ()) -> MeantReply:
    """Returns what the words refer to, with the merge patch that removes it; nothing if they fit nothing; or the
    several facts that they may mean. `symbols`: those named in the words."""
    if past := referred_history(memory, about):
        return MeantReply(texts=past, past=past)
    wire, about_words, removal = memory.to_wire(), frozenset(words(about)), _Removal()
    for name, field_words in _FIELDS:
        if (
            about_words & field_words
            and len(about_words) <= len(_FIELDS) // 2
            and not _OF_ANOTHER.search(normalize(about))
            and wire.get(name)
        ):
            removal.patch[name] = None
            removal.texts += _as_texts(wire[name])
    remaining = [symbol for symbol in memory.favorite_symbols if symbol not in symbols]
    if len(remaining) < len(memory.favorite_symbols):
        removal.patch.setdefault("favoriteSymbols", remaining)
        removal.texts += [symbol for symbol in memory.favorite_symbols if symbol in symbols]
    for name in ("tradingStyle", "riskProfile", "experience", "name"):
        value = wire.get(name)
        if value and name not in removal.patch and _names_value(normalize(about), value):
            removal.patch[name] = None
            removal.texts.append(value)
    facts_held = [fact for name in _FACT_FIELDS if name not in removal.patch for fact in wire.get(name, ())]
    facts, ambiguous = referred_facts(facts_held, about)
    if ambiguous and removal.patch:
        ambiguous = ()
    _remove_facts(removal, wire, {fact: referred_clause(fact, about) for fact in facts})
    _remove_questions_and_strategies(removal, wire, about)
    return MeantReply(
        patch=removal.patch,
        texts=list(dict.fromkeys(removal.texts)),
        several=list(ambiguous),
        past=fitting_history(memory, about) if facts else [],
    )


def fitting_history(memory: LongTermMemory, about: str) -> list[str]:
    """Returns the values of the history that the words refer to beside current facts: what was so before is forgotten
    with what is so now."""
    past_values = [past.value for past in memory.superseded if past.field in _FACT_FIELDS]
    matching, possible = referred_facts(list(dict.fromkeys(past_values)), about)
    normalized = LIVING.sub("job", normalize(about))
    return [*(matching or (value for value in possible if _only_says_what_kind(normalized, value)))]


def referred_history(memory: LongTermMemory, about: str) -> list[str]:
    """Returns what the words refer to in the history, if they fit no current value as well."""
    past_values = list(dict.fromkeys(past.value for past in memory.superseded))
    current = current_facts(memory)
    if by_id := [value for value in past_values if fact_id(value) == about.strip()]:
        return [value for value in by_id if value not in current]
    normalized, telling = normalize(about), reference_words(LIVING.sub("job", normalize(about)))
    fields = [getattr(memory, name) for name in ("trading_style", "risk_profile", "experience", "name")]
    if any(_names_value(normalized, str(value)) for value in fields if value):
        return []
    if all(facets(word, forms=False) for word in telling) and _facts_of_kind(current, normalized):
        return []  # "where I live" means the place of now, in whatever words
    codes = [past.value for past in memory.superseded if past.field not in _FACT_FIELDS]
    if named_codes := [code for code in codes if _names_value(normalized, code)]:
        return list(dict.fromkeys(named_codes))
    best_share = max((_share(telling, value) for value in past_values), default=0.0) if telling else 0.0
    if best_share < MIN_COVERAGE or best_share <= max((_share(telling, value) for value in current), default=0.0):
        return []
    return [value for value in past_values if _share(telling, value) == best_share]


def _names_value(normalized: str, value: str) -> bool:
    """Whether a normalized text names a value that is stored as a code."""
    return any(word in normalized for word in _CODE_WORDS.get(value, (normalize(value),)))


def referred_facts(facts: Sequence[str], about: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the facts that the words (or an id) refer to; otherwise, second, the facts that they may refer to, if
    there are several."""
    if by_id := tuple(fact for fact in facts if fact_id(fact) == about.strip()):
        return by_id, ()
    normalized = LIVING.sub("job", normalize(about))
    telling = reference_words(normalized)
    people = concepts_of(CHILDREN.sub("", normalized)) & PEOPLE_CONCEPTS
    facts = [fact for fact in facts if people <= concepts_of(fact)] or facts
    matching = [fact for fact in facts if telling and _share(telling, fact) >= MIN_COVERAGE]
    if matching and len(telling) == 1 and _ASKS.search(normalized):
        # "Where I work" means facts about working, not about the way to work.
        first_index = min(_word_index(telling, fact) for fact in matching)
        matching = [fact for fact in matching if _word_index(telling, fact) == first_index]
    candidates = matching or _facts_of_kind(facts, normalized)
    is_own = not people and _MY.match(normalized) and not kinds(normalized) & _KINDS_OF_PEOPLE
    if is_own and all(map(_is_about_another, candidates)):
        return (), tuple(candidates)  # "my motorbike" is not the one that a brother has
    if matching and (len(telling) > 1 or _share(telling, matching[0]) == 1) and not _is_ambiguous(matching, normalized):
        return tuple(matching), ()
    if _EVERY.search(normalized) or (
        len(candidates) == 1 and (matching or _only_says_what_kind(normalized, candidates[0]))
    ):
        return tuple(candidates), ()
    return (), tuple(candidates)


def referred_clause(fact: str, about: str) -> tuple[str, str]:
    """Returns the part of a fact that the words refer to, and the remainder: empty if they refer to all of it."""
    return without_part(fact, reference_words(normalize(about))) or (fact, "")


def _only_says_what_kind(normalized: str, fact: str) -> bool:
    """Whether the words contain nothing that a fact of their kind lacks: "Paris" does not fit somebody who lives in
    Cusco."""
    fact_facets = facets(fact) | {"goal"}
    return all(
        facets(word) & fact_facets or not (telling := reference_words(word)) or _share(telling, fact)
        for word in words(normalized)
    )


def _is_ambiguous(facts: Sequence[str], normalized: str) -> bool:
    """Whether several facts match what asks for one: "my wife's name", with two facts about her; "the car thing"."""
    asks_for_one = _OF_ANOTHER.search(normalized) or _ONE_THING.search(normalized)
    return len(facts) > 1 and bool(asks_for_one) and not _EVERY.search(normalized)


def _is_about_another(fact: str) -> bool:
    """Whether a fact begins with another person as what it is about."""
    return bool(concepts_of(" ".join(words(normalize(fact))[:2])) & PEOPLE_CONCEPTS) and bool(
        _MY.match(normalize(fact))
    )


def _facts_of_kind(facts: Sequence[str], normalized: str) -> list[str]:
    """Returns the facts of the kinds that the words name; only the one that all of them fit, if they fit no other fact
    as well. Facts about other people count if the words name people, or if there is no fact about the user."""
    wanted_kinds = kinds(normalized)
    of_kind = [fact for fact in facts if wanted_kinds & kinds(fact)]
    if not concepts_of(normalized) & PEOPLE_CONCEPTS and not wanted_kinds & _KINDS_OF_PEOPLE:
        of_kind = [fact for fact in of_kind if not concepts_of(fact) & PEOPLE_CONCEPTS] or of_kind
    fits = {fact: _fit(normalized, fact) for fact in of_kind}
    best = [fact for fact in of_kind if fits[fact] == max(fits.values())]
    return best if len(best) == 1 and _only_says_what_kind(normalized, best[0]) else of_kind


def _fit(normalized: str, fact: str) -> int:
    """How well words fit a fact: a word of its own counts twice, one that only names its kind once."""
    fact_facets = facets(fact)
    return sum(
        2 if (telling := reference_words(word)) and _share(telling, fact) else bool(facets(word) & fact_facets)
        for word in words(normalized)
    )


def reference_words(normalized: str) -> frozenset[str]:
    return concepts_of(normalized) - _SAYS_NOTHING


def _share(telling: frozenset[str], fact: str) -> float:
    """The share of the significant words that a fact contains, in whatever form."""
    fact_words = concepts_of(fact)
    return sum(any(_are_same_word(word, fact_word) for fact_word in fact_words) for word in telling) / len(telling)


def _word_index(telling: frozenset[str], fact: str) -> int:
    return next(
        (
            index
            for index, word in enumerate(significant_words(fact))
            if any(_are_same_word(word, wanted) for wanted in telling)
        ),
        99,
    )


def _are_same_word(word: str, other: str) -> bool:
    has_common_beginning = len(word) >= MIN_COMMON_LETTERS and word[:MIN_COMMON_LETTERS] == other[:MIN_COMMON_LETTERS]
    return word == other or has_common_beginning or word == _MADE_OF.sub("", other)


def _remove_facts(removal: _Removal, wire: dict[str, Any], facts: Mapping[str, tuple[str, str]]) -> None:
    """Removes facts from the lists. `facts`: for each, the part that is removed, and the remainder, which stays."""
    for name in _FACT_FIELDS:
        texts: list[str] = wire.get(name) or []
        if name not in removal.patch and any(text in facts for text in texts):
            remainders = (facts[text][1] if text in facts else text for text in texts)
            removal.patch[name] = [remainder for remainder in remainders if remainder]
            removal.texts += [facts[text][0] for text in texts if text in facts]


def _remove_questions_and_strategies(removal: _Removal, wire: dict[str, Any], about: str) -> None:
    """Removes questions and strategies that the words refer to."""
    telling = reference_words(normalize(about))
    for name in ("frequentQuestions", "recentStrategies"):
        values: list[Any] = wire.get(name) or []
        removed = [value for value in values if telling and _share(telling, _as_texts([value])[0]) >= MIN_COVERAGE]
        if name not in removal.patch and removed:
            removal.patch[name] = [value for value in values if value not in removed]
            removal.texts += _as_texts(removed)


def _as_texts(value: Any) -> list[str]:
    """Returns a wire value as texts."""
    entries: list[Any] = value if isinstance(value, list) else [value]  # pyright: ignore[reportUnknownVariableType]
    return [
        f"{entry['name']} {entry.get('symbol') or ''}".strip() if isinstance(entry, dict) else str(entry)  # pyright: ignore[reportUnknownMemberType]
        for entry in entries
    ]
