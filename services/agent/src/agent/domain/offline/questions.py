"""What a question asks for, as keys to find passages by, and what a passage must contain to be an answer.

"What time do you open on Sunday?" is found by the keys of "open" and "Sunday", and only a passage with a time of day
(=clock) can answer it. A key that begins with = is a meaning, any other a stem.
"""

import re
from collections.abc import Iterator, Mapping

from agent.domain.offline import constraints, shapes
from agent.domain.offline.common_words import ASKING, COMMON, is_common, significant_words
from agent.domain.offline.constraints import states_length, without_how_long, without_length
from agent.domain.offline.evidence import ONLY_HOW_MANY, PARTY
from agent.domain.offline.lexicon import keys_in, keys_of, meanings_of, words_of
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

_WHEN = frozenset(("=when",))
_NEEDED: tuple[tuple[re.Pattern[str], frozenset[str]], ...] = (
    (shapes.WHAT_TIME, shapes.CLOCK),
    (shapes.WHEN, _WHEN),
    (shapes.WHO, frozenset(("=name",))),
    (shapes.MADE_OF, frozenset(("=include",))),
    (shapes.HOW_PRICED, shapes.PRICE | shapes.FIGURE | {"=percent"}),
    (shapes.COSTS, shapes.PRICE | {"=percent", "=free"}),
    (constraints.HOW_BIG, constraints.MEASURE),
    (constraints.ASKS_OPINION, constraints.WORTH),
    *constraints.CONTACTS,
)
"""What a question asks for, by its words alone, and what a passage that answers it tells."""
_NEEDED_AS_WRITTEN: tuple[tuple[re.Pattern[str], frozenset[str]], ...] = (
    (constraints.TOLD_CLOCK, shapes.CLOCK),
    (constraints.AGE, frozenset(("=age",))),
    *((shape, frozenset((key,))) for key, shape in shapes.PHRASES if key in shapes.TOLD_ITSELF),
)
"""The same, by the question as it is written: 9:30 and 4-year-old are no words."""
_SHORTEST = 3
"""Letters of a word that says what a question is about: shorter ones are "m" and "ke"."""


def is_day(word: str) -> bool:
    """Whether a stem is that of a day of the week."""
    return word in _DAYS


def lacks_subject(text: str) -> bool:
    """Whether a question is for a price, or how long, and does not say of what."""
    return is_bare(terms(text))


def is_for_several(question: str, before: str) -> bool:
    """Whether a question says for how many the price is that was asked for before, and nothing else: "and for two?"."""
    priced = any(keys & shapes.PRICE for keys in terms(before).values())
    return priced and bool(ONLY_HOW_MANY.fullmatch(plain(question)))


def is_of_leaving(heading: str, question: str) -> bool:
    """Whether a heading, or a row's name, is about cancelling and nothing beside it, which the question is not."""
    return "=cancel" in keys_in(heading) - keys_in(question) and not shapes.TWO.search(plain(heading))


def is_bare(asked: Mapping[str, frozenset[str]]) -> bool:
    """Whether that is all that a question's terms ask for."""
    said = asked.values()
    return any(keys & shapes.BARE for keys in said) and all(
        keys & (shapes.BARE | shapes.BEGIN) or keys & COMMON for keys in said
    )


def is_vague(asked: Mapping[str, frozenset[str]]) -> bool:
    """Whether a question has nothing but words that anybody says about anything."""
    bare = [keys & COMMON and not any(key.startswith("=") for key in keys - COMMON) for keys in asked.values()]
    return bool(bare) and all(bare)


def needed(question: str) -> list[frozenset[str]]:
    """What a passage must tell to be an answer at all, however much else it shares with the question: a time of day,
    where that is asked; of what may be done, the doing, where other words for it are known."""
    said, written = " ".join(words_of(question)), plain(question)
    found = [keys for asks, keys in _NEEDED if asks.search(said)]
    found += [keys for asks, keys in _NEEDED_AS_WRITTEN if asks.search(written)]
    if constraints.HOW_LONG_IT_TAKES.search(said):
        found.append(constraints.TAKES)
    elif shapes.HOW_LONG.search(said):
        found.append(shapes.DURATION | _WHEN if shapes.UNTIL_WHEN.search(said) else shapes.DURATION)
    if states_length(said):
        found.append(constraints.LENGTH)
    if shapes.WHERE_IS.search(said):
        found.append(shapes.PLACE)
    elif shapes.WHERE.search(said):
        found.append(SOMEWHERE)
    obliged = shapes.OBLIGED.search(said)
    if obliged is not None and not shapes.ASKS_WHICH.search(said, 0, obliged.start()):
        found.append(frozenset(("=need",)))
    if shapes.CHEAPER.search(said) and not shapes.TWO.search(said):
        found.append(frozenset(("=discount",)))
    return [*found, *filter(None, _allowed(said))]


def _allowed(said: str) -> Iterator[frozenset[str]]:
    """What tells whether one may do what a question asks about: "can I bring a dog?", "can I go from Pro to Basic?"."""
    may = shapes.MAY.search(said)
    if may is None:
        return
    begun = may.end()
    if bringing := shapes.BRINGING.match(said, begun):
        yield _BROUGHT
        begun = bringing.end()
    doing = next(iter(significant_words(said[begun:])), "")
    meant = {"change"} if shapes.TO_ANOTHER.match(said, may.end()) else meanings_of(doing)
    done = frozenset(f"={name}" for name in meant)
    yield frozenset() if done & shapes.TOLD_OTHERWISE else done


def terms(text: str) -> dict[str, frozenset[str]]:
    """By word or shape of a question: the keys by which passages have it."""
    shaped: dict[str, frozenset[str]] = {}
    for aside in (constraints.NEXT, constraints.AGE, PARTY):
        if aside.search(plain(text)) and (aside is not PARTY or significant_words(PARTY.sub(" ", plain(text)))):
            text = aside.sub(" ", plain(text))
    text = shapes.ASIDE.sub(" ", shapes.FOR_WHOM.sub(" ", shapes.FREE_OF.sub(r"\1", text)))
    if shapes.WHERE_IS.search(plain(text)):
        shaped["=where"], text = shapes.PLACE, shapes.THE_PLACE.sub(" ", shapes.WHERE_IS.sub(" ", plain(text)))
    if shapes.WHAT_TIME.search(plain(text)):
        shaped["=clock"], text = shapes.CLOCK, shapes.WHAT_TIME.sub(" ", plain(text))
    if constraints.HOW_LONG_IT_TAKES.search(plain(text)):
        shaped["=takes"], text = constraints.TAKES, without_how_long(text)
    if constraints.TOLD_CLOCK.search(plain(text)):
        shaped["=clock"], text = shapes.CLOCK, constraints.TOLD_CLOCK.sub(" ", plain(text))
    if states_length(plain(text)):
        shaped["=length"], text = constraints.LENGTH, without_length(plain(text))
    if shapes.WHICH_DAYS.search(plain(text)):
        shaped["=when"], text = _WHEN, shapes.WHICH_DAYS.sub(" ", plain(text))
    for key, shape in shapes.PHRASES:
        if shape.search(text):
            shaped[key], text = frozenset((key,)), shape.sub(" ", text)
    if shapes.HOW_MUCH.search(" ".join(words_of(text))):
        # "How much is it?" alone is for its price.
        priced = not significant_words(text) or shapes.HOW_PRICED.search(" ".join(words_of(text)))
        shaped["=figure"] = shapes.PRICE if priced else shapes.FIGURE
    word_of = {stem(word): word for word in significant_words(text)}
    keys = {stem(word): keys_of(word) | {f"={name}" for name in meanings_of(word)} for word in significant_words(text)}
    # "Open" in a question for hours is not the one of "open your account", nor "where" all of "where do I sign up".
    telling_more = {word: found for word, found in keys.items() if word not in _WHERE}
    keys = telling_more if telling_more or shaped else keys
    if way := constraints.BY_WAY_OF.search(plain(text)):
        keys = {word: found - {"=contact"} if word == stem(way["way"]) else found for word, found in keys.items()}
    looked_for = {"=hours", "=contact"}
    keys = {word: found - {word} if looked_for & found else found for word, found in keys.items()}
    if not shapes.HOW_MUCH.search(plain(text)):
        # Who asks whether a child pays is told that it travels free.
        keys = {word: found | {"=free"} if shapes.PAYS.fullmatch(word_of.get(word, "")) else found
                for word, found in keys.items()}  # fmt: skip
    asks_whether = shapes.MAY.search(plain(text)) or shapes.DO_YOU.search(plain(text)) or all(map(is_day, keys))
    if asks_whether or "=hours" in {key for found in keys.values() for key in found}:
        # What hours are told for other days says of this one that there are none.
        keys = {word: found | {"=weekday"} if is_day(word) else found for word, found in keys.items()}
    keys = {
        word: found | {"=month"} if shapes.A_MONTH.fullmatch(word_of.get(word, "")) else found
        for word, found in keys.items()
    }
    return shaped | keys


def specific_words(asked: Mapping[str, frozenset[str]]) -> list[str]:
    """The words of a question that say what it is about."""
    return [
        word
        for word, keys in asked.items()
        if not (word[0] == "=" or word.isdigit() or len(word) < _SHORTEST or is_common(keys))
    ]
