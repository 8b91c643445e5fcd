"""What a question asks for: the keys by which passages are found, and the keys that an answer must have.

"What time do you open on Sunday?" is found by the keys of "open" and "Sunday", and only a passage with a time of day
(=clock) can answer it. A key that begins with = is a meaning, any other a stem.
"""

import re
from collections.abc import Iterator, Mapping

from agent.domain.offline import constraints, shapes
from agent.domain.offline.common_words import ASKING, COMMON, is_common, significant_words
from agent.domain.offline.constraints import states_length, without_how_long, without_length
from agent.domain.offline.evidence import ONLY_HOW_MANY, ONLY_PARTY, PARTY
from agent.domain.offline.lexicon import keys_in, keys_of, meanings_of, words_of
from agent.domain.text_features import plain, stem, word_set

Query = Mapping[str, frozenset[str]]
"""The terms of a question: by stem of a word, or by meaning (=price), the keys of which a passage must have one to
contain it. A key is a stem or a meaning."""
_QUESTION_WORDS = frozenset(map(stem, ASKING))
ANY_PLACE = frozenset(("=place",))
_BRINGING_STEMS = frozenset(map(stem, word_set(
    "bring trae traer llevar welcome allow allowed permitted accept admit bienvenido bienvenidos admitimos "
    "permitido permite prohibido prohibida prohibidos prohibited forbidden"
)))  # fmt: skip
"""Stems that say whether something may be brought."""
_DAYS = frozenset(map(stem, word_set(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays "
    "sundays weekend weekends lunes martes miercoles jueves viernes sabado sabados domingo domingos finde"
)))  # fmt: skip

_WHEN = frozenset(("=when",))
_REQUIRED_BY_WORDS: tuple[tuple[re.Pattern[str], frozenset[str]], ...] = (
    (shapes.WHAT_TIME, shapes.CLOCK),
    (shapes.WHEN, _WHEN),
    (shapes.WHICH_DAYS, frozenset(("=weekday", "=month"))),
    (shapes.WHO, frozenset(("=name",))),
    (shapes.INGREDIENTS, frozenset(("=include",))),
    (shapes.HOW_PRICED, shapes.PRICE | shapes.FIGURE | {"=percent"}),
    (shapes.COSTS, shapes.PRICE | {"=percent", "=free"}),
    (constraints.HOW_BIG, constraints.MEASURE),
    (constraints.ASKS_OPINION, constraints.WORTH),
    *constraints.CONTACTS,
)
"""What a question asks for, by pattern of its words, with the keys of which an answer must have one."""
_REQUIRED_BY_TEXT: tuple[tuple[re.Pattern[str], frozenset[str]], ...] = (
    (constraints.STATED_TIME, shapes.CLOCK),
    (constraints.AGE, frozenset(("=age",))),
    *((shape, frozenset((key,))) for key, shape in shapes.PHRASES if key in shapes.ANSWERED_BY_HEADING),
)
"""The same, by pattern of the normalized question: 9:30 and 4-year-old are not words."""
_MIN_TOPIC_LETTERS = 3
"""Minimum letters of a word that says what a question is about; shorter ones are "m" and "ke"."""


def is_day(word: str) -> bool:
    """Whether a stem is that of a day of the week."""
    return word in _DAYS


def lacks_subject(text: str) -> bool:
    """Whether a question asks for a price or a duration without saying of what."""
    return names_nothing(terms(text))


def only_gives_people(question: str, antecedent: str) -> bool:
    """Whether a question only says for how many people it repeats the earlier question for a price: "and for two?"."""
    asked_price = any(keys & shapes.PRICE for keys in terms(antecedent).values())
    return asked_price and bool(ONLY_HOW_MANY.fullmatch(plain(question)))


def only_gives_party(question: str) -> bool:
    """Whether a question only says that more people come: "and if we are three in the company?"."""
    return ONLY_PARTY.fullmatch(plain(question)) is not None


def is_other_cancellation(heading: str, question: str) -> bool:
    """Whether a heading, or a row's name, is about cancelling and nothing else, and the question is not."""
    return "=cancel" in keys_in(heading) - keys_in(question) and not shapes.CONJUNCTION.search(plain(heading))


def names_nothing(query: Query) -> bool:
    """Whether a question's terms ask for a price, a time or the like, and name nothing else."""
    keys_of_terms = query.values()
    return any(keys & shapes.PRICE_OR_TIME for keys in keys_of_terms) and all(
        keys & (shapes.PRICE_OR_TIME | shapes.BEGIN) or keys & COMMON for keys in keys_of_terms
    )


def is_vague(query: Query) -> bool:
    """Whether a question has only words that are common in any question."""
    common_flags = [keys & COMMON and not any(key.startswith("=") for key in keys - COMMON) for keys in query.values()]
    return bool(common_flags) and all(common_flags)


def required_keys(question: str) -> list[frozenset[str]]:
    """For each kind of information that the question asks for, the keys of which an answer must have at least one,
    whatever else it shares with the question: a time of day; for a permission, the verb, if other words for it are
    known."""
    normalized_words, normalized = " ".join(words_of(question)), plain(question)
    required = [keys for pattern, keys in _REQUIRED_BY_WORDS if pattern.search(normalized_words)]
    required += [keys for pattern, keys in _REQUIRED_BY_TEXT if pattern.search(normalized)]
    if constraints.HOW_LONG_IT_TAKES.search(normalized_words):
        required.append(constraints.TAKES)
    elif shapes.HOW_LONG.search(normalized_words):
        required.append(shapes.DURATION | _WHEN if shapes.UNTIL_WHEN.search(normalized_words) else shapes.DURATION)
    if states_length(normalized_words):
        required.append(constraints.LENGTH)
    if shapes.WHERE_IS.search(normalized_words):
        required.append(shapes.PLACE)
    elif shapes.WHERE.search(normalized_words):
        required.append(ANY_PLACE)
    obligation = shapes.OBLIGED.search(normalized_words)
    if obligation is not None and not shapes.ASKS_WHICH.search(normalized_words, 0, obligation.start()):
        # That one pays says whether it has to be paid, and nothing else.
        is_about_paying = any(map(shapes.PAYS.fullmatch, words_of(question)))
        required.append(frozenset(("=need", "=payment")) if is_about_paying else frozenset(("=need",)))
    if shapes.CHEAPER.search(normalized_words) and not shapes.CONJUNCTION.search(normalized_words):
        required.append(frozenset(("=discount",)))
    return [*required, *filter(None, _permission_keys(normalized_words))]


def _permission_keys(words: str) -> Iterator[frozenset[str]]:
    """The keys of which an answer to a question for permission must have one: "can I bring a dog?", "can I go from Pro
    to Basic?"."""
    permission = shapes.MAY.search(words)
    if permission is None:
        return
    verb_start = permission.end()
    if bring_phrase := shapes.BRINGING.match(words, verb_start):
        yield _BRINGING_STEMS
        verb_start = bring_phrase.end()
    verb = next(iter(significant_words(words[verb_start:])), "")
    verb_meanings = {"change"} if shapes.TO_ANOTHER.match(words, permission.end()) else meanings_of(verb)
    verb_keys = frozenset(f"={name}" for name in verb_meanings)
    yield frozenset() if verb_keys & shapes.ANSWERED_IMPLICITLY else verb_keys


def terms(text: str) -> dict[str, frozenset[str]]:
    """The terms of a question, as `Query`."""
    shaped: dict[str, frozenset[str]] = {}
    for pattern in (constraints.NEXT_PERIOD, constraints.AGE, PARTY):
        if pattern.search(plain(text)) and (pattern is not PARTY or significant_words(PARTY.sub(" ", plain(text)))):
            text = pattern.sub(" ", plain(text))
    text = shapes.FOR_FREE.sub(" ", shapes.FOR_WHOM.sub(" ", shapes.FREE_OF.sub(r"\1", text)))
    if shapes.WHERE_IS.search(plain(text)):
        shaped["=where"], text = shapes.PLACE, shapes.THE_PLACE.sub(" ", shapes.WHERE_IS.sub(" ", plain(text)))
    if shapes.WHAT_TIME.search(plain(text)):
        shaped["=clock"], text = shapes.CLOCK, shapes.WHAT_TIME.sub(" ", plain(text))
    if constraints.HOW_LONG_IT_TAKES.search(plain(text)):
        shaped["=takes"], text = constraints.TAKES, without_how_long(text)
    if constraints.STATED_TIME.search(plain(text)):
        shaped["=clock"], text = shapes.CLOCK, constraints.STATED_TIME.sub(" ", plain(text))
    if states_length(plain(text)):
        shaped["=length"], text = constraints.LENGTH, without_length(plain(text))
    if shapes.WHICH_DAYS.search(plain(text)):
        shaped["=when"], text = _WHEN, shapes.WHICH_DAYS.sub(" ", plain(text))
    for key, pattern in shapes.PHRASES:
        if pattern.search(text):
            shaped[key], text = frozenset((key,)), pattern.sub(" ", text)
    if shapes.HOW_MUCH.search(" ".join(words_of(text))):
        # "How much is it?" alone is for its price.
        asks_price = not significant_words(text) or shapes.HOW_PRICED.search(" ".join(words_of(text)))
        shaped["=figure"] = shapes.PRICE if asks_price else shapes.FIGURE
    word_of = {stem(word): word for word in significant_words(text)}
    keys = {stem(word): _keys_of_asked(word) for word in significant_words(text)}
    # "Open" in a question for hours is not the one of "open your account", nor "where" all of "where do I sign up".
    without_question_words = {word: word_keys for word, word_keys in keys.items() if word not in _QUESTION_WORDS}
    keys = without_question_words if without_question_words or shaped else keys
    if contact_way := constraints.CONTACT_WAY.search(plain(text)):
        keys = {
            word: word_keys - {"=contact"} if word == stem(contact_way["way"]) else word_keys
            for word, word_keys in keys.items()
        }
    looked_up = {"=hours", "=contact"}
    keys = {word: word_keys - {word} if looked_up & word_keys else word_keys for word, word_keys in keys.items()}
    if not shapes.HOW_MUCH.search(plain(text)):
        # Who asks whether a child pays is told that it travels free.
        keys = {word: word_keys | {"=free"} if shapes.PAYS.fullmatch(word_of.get(word, "")) else word_keys
                for word, word_keys in keys.items()}  # fmt: skip
    asks_whether = shapes.MAY.search(plain(text)) or shapes.DO_YOU.search(plain(text)) or all(map(is_day, keys))
    if asks_whether or "=hours" in {key for word_keys in keys.values() for key in word_keys}:
        # What hours are told for other days says of this one that there are none.
        keys = {word: word_keys | {"=weekday"} if is_day(word) else word_keys for word, word_keys in keys.items()}
    keys = {
        word: word_keys | {"=month"} if shapes.A_MONTH.fullmatch(word_of.get(word, "")) else word_keys
        for word, word_keys in keys.items()
    }
    return shaped | keys


def _keys_of_asked(word: str) -> frozenset[str]:
    """The keys of a question's word; a word that neither the lexicon nor everyday speech has is looked up as
    misspelt."""
    keys = keys_of(word)
    return keys if is_common(keys) else keys | {f"={name}" for name in meanings_of(word)}


def topic_words(query: Query) -> list[str]:
    """The words of a question that say what it is about: no meanings, numbers, short or common words."""
    return [
        word
        for word, keys in query.items()
        if not (word[0] == "=" or word.isdigit() or len(word) < _MIN_TOPIC_LETTERS or is_common(keys))
    ]
