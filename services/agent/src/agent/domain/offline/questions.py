"""What a question asks for, as keys to find passages by, and what a passage must contain to be an answer."""

from collections.abc import Mapping

from agent.domain.offline.common_words import ASKING, COMMON, is_common, telling
from agent.domain.offline.constraints import (
    AGE,
    ASKS_OPINION,
    BY_WAY_OF,
    CONTACTS,
    HOW_BIG,
    HOW_LONG_IT_TAKES,
    LENGTH,
    MEASURE,
    NEXT,
    TAKES,
    TOLD_CLOCK,
    WORTH,
    states_length,
    without_how_long,
    without_length,
)
from agent.domain.offline.lexicon import keys_of, meanings_of, words_of
from agent.domain.offline.shapes import (
    A_MONTH,
    ASIDE,
    ASKS_WHICH,
    BARE,
    BEGIN,
    BRINGING,
    CHEAPER,
    CLOCK,
    COSTS,
    DO_YOU,
    DURATION,
    FIGURE,
    FOR_WHOM,
    FREE_OF,
    HOW_LONG,
    HOW_MUCH,
    HOW_PRICED,
    MADE_OF,
    MAY,
    OBLIGED,
    PHRASES,
    PLACE,
    PRICE,
    THE_PLACE,
    TO_ANOTHER,
    TOLD_ITSELF,
    TOLD_OTHERWISE,
    TWO,
    UNTIL_WHEN,
    WHAT_TIME,
    WHEN,
    WHERE,
    WHERE_IS,
    WHICH_DAYS,
    WHO,
)
from agent.domain.text_features import plain, stem, word_set

_WHERE = frozenset(map(stem, ASKING))
SOMEWHERE = frozenset(("=place",))
_BROUGHT = frozenset(map(stem, word_set(
    "bring trae traer llevar welcome allow allowed permitted accept admit bienvenido bienvenidos admitimos "
    "permitido permite"
)))  # fmt: skip
"""What tells whether something may be brought."""
_DAYS = frozenset(map(stem, word_set(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays "
    "sundays weekend weekends lunes martes miercoles jueves viernes sabado sabados domingo domingos finde"
)))  # fmt: skip

_SHORTEST = 3
"""Letters of a word that says what a question is about: shorter ones are "m" and "ke"."""


def is_day(word: str) -> bool:
    """Whether a stem is that of a day of the week."""
    return word in _DAYS


def leans(text: str) -> bool:
    """Whether a question is for a price, or how long, and does not say of what."""
    return is_bare(terms(text))


def is_bare(asked: Mapping[str, frozenset[str]]) -> bool:
    """Whether that is all that a question's terms ask for."""
    said = asked.values()
    return any(keys & BARE for keys in said) and all(keys & (BARE | BEGIN) or keys & COMMON for keys in said)


def is_vague(asked: Mapping[str, frozenset[str]]) -> bool:
    """Whether a question has nothing but words that anybody says about anything."""
    bare = [keys & COMMON and not any(key.startswith("=") for key in keys - COMMON) for keys in asked.values()]
    return bool(bare) and all(bare)


def needed(question: str) -> list[frozenset[str]]:
    """What a passage must tell to be an answer at all, however much else it shares with the question: a time of day,
    where that is asked; of what may be done, the doing, where other words for it are known."""
    said = " ".join(words_of(question))
    found: list[frozenset[str]] = [CLOCK] if WHAT_TIME.search(said) or TOLD_CLOCK.search(plain(question)) else []
    how_long = DURATION | {"=when"} if UNTIL_WHEN.search(said) else DURATION
    found += [TAKES] if HOW_LONG_IT_TAKES.search(said) else [how_long] if HOW_LONG.search(said) else []
    found += [LENGTH] if states_length(said) else []
    found += [MEASURE] if HOW_BIG.search(said) else []
    found += [keys for asks, keys in CONTACTS if asks.search(said)]
    found += [WORTH] if ASKS_OPINION.search(said) else []
    found += [frozenset(("=when",))] if WHEN.search(said) else []
    found += [PLACE] if WHERE_IS.search(said) else [SOMEWHERE] if WHERE.search(said) else []
    found += [frozenset((key,)) for key, shape in PHRASES if key in TOLD_ITSELF and shape.search(plain(question))]
    found += [frozenset(("=age",))] if AGE.search(plain(question)) else []
    found += [frozenset(("=include",))] if MADE_OF.search(said) else []
    found += [frozenset(("=name",))] if WHO.search(said) else []
    found += [PRICE | FIGURE | {"=percent"}] if HOW_PRICED.search(said) else []
    found += [PRICE | {"=percent", "=free"}] if COSTS.search(said) else []
    obliged = OBLIGED.search(said)
    if obliged is not None and not ASKS_WHICH.search(said, 0, obliged.start()):
        found.append(frozenset(("=need",)))
    found += [frozenset(("=discount",))] if CHEAPER.search(said) and not TWO.search(said) else []
    if may := MAY.search(said):
        doing = next(iter(telling(said[may.end() :])), "")
        if bringing := BRINGING.match(said, may.end()):
            found.append(_BROUGHT)
            doing = next(iter(telling(said[bringing.end() :])), "")
        another = TO_ANOTHER.match(said, may.end())
        meant = {"change"} if another else meanings_of(doing)
        done = frozenset(f"={name}" for name in meant)
        found.append(frozenset() if done & TOLD_OTHERWISE else done)
    return [keys for keys in found if keys]


def terms(text: str) -> dict[str, frozenset[str]]:
    """By word or shape of a question: the keys by which passages have it."""
    shaped: dict[str, frozenset[str]] = {}
    for aside in (NEXT, AGE):
        text = aside.sub(" ", plain(text)) if aside.search(plain(text)) else text
    text = ASIDE.sub(" ", FOR_WHOM.sub(" ", FREE_OF.sub(r"\1", text)))
    if WHERE_IS.search(plain(text)):
        shaped["=where"], text = PLACE, THE_PLACE.sub(" ", WHERE_IS.sub(" ", plain(text)))
    if WHAT_TIME.search(plain(text)):
        shaped["=clock"], text = CLOCK, WHAT_TIME.sub(" ", plain(text))
    if HOW_LONG_IT_TAKES.search(plain(text)):
        shaped["=takes"], text = TAKES, without_how_long(text)
    if TOLD_CLOCK.search(plain(text)):
        shaped["=clock"], text = CLOCK, TOLD_CLOCK.sub(" ", plain(text))
    if states_length(plain(text)):
        shaped["=length"], text = LENGTH, without_length(plain(text))
    if WHICH_DAYS.search(plain(text)):
        shaped["=when"], text = frozenset(("=when",)), WHICH_DAYS.sub(" ", plain(text))
    for key, shape in PHRASES:
        if shape.search(text):
            shaped[key], text = frozenset((key,)), shape.sub(" ", text)
    if HOW_MUCH.search(" ".join(words_of(text))):
        # "How much is it?" alone is for its price.
        priced = not telling(text) or HOW_PRICED.search(" ".join(words_of(text)))
        shaped["=figure"] = PRICE if priced else FIGURE
    word_of = {stem(word): word for word in telling(text)}
    keys = {stem(word): keys_of(word) | {f"={name}" for name in meanings_of(word)} for word in telling(text)}
    # "Open" in a question for hours is not the one of "open your account", nor "where" all of "where do I sign up".
    telling_more = {word: found for word, found in keys.items() if word not in _WHERE}
    keys = telling_more if telling_more or shaped else keys
    if way := BY_WAY_OF.search(plain(text)):
        keys = {word: found - {"=contact"} if word == stem(way["way"]) else found for word, found in keys.items()}
    looked_for = {"=hours", "=contact"}
    keys = {word: found - {word} if looked_for & found else found for word, found in keys.items()}
    asks_whether = MAY.search(plain(text)) or DO_YOU.search(plain(text)) or all(map(is_day, keys))
    if asks_whether or "=hours" in {key for found in keys.values() for key in found}:
        # What hours are told for other days says of this one that there are none.
        keys = {word: found | {"=weekday"} if is_day(word) else found for word, found in keys.items()}
    keys = {
        word: found | {"=month"} if A_MONTH.fullmatch(word_of.get(word, "")) else found for word, found in keys.items()
    }
    return shaped | keys


def specific_words(asked: Mapping[str, frozenset[str]]) -> list[str]:
    """The words of a question that say what it is about."""
    return [
        word
        for word, keys in asked.items()
        if not (word[0] == "=" or word.isdigit() or len(word) < _SHORTEST or is_common(keys))
    ]
