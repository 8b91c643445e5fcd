"""Notes, preferences and plain facts: what a user states, and what of it takes the place of something older.

Nothing is deleted here: what is true no longer becomes history, with its dates and the words that ended it, and what
no list has room for is kept among the older notes.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from contracts.memory_rpc import LongTermMemory, Superseded
from memory.domain.claims import (
    Claims,
    claims,
    ends_only,
    has_named_replacement,
    is_attitude,
    may_replace,
    replaces,
)
from memory.domain.compatible_facts import both_stay, is_over
from memory.domain.corrections import corrected, joked_about, past_correction
from memory.domain.forgotten import is_forgotten
from memory.domain.long_term.asked_notes import requested_notes
from memory.domain.long_term.attributes import says_change
from memory.domain.long_term.concepts import concepts_of, normalize
from memory.domain.long_term.endings import endings
from memory.domain.long_term.own_words import IS_MINE, is_about_writer
from memory.domain.long_term.plain_facts import clauses, is_plain_fact
from memory.domain.long_term.speech import own_speech, statements, unquoted
from memory.domain.long_term.standing_orders import is_standing_order
from memory.domain.permanence import is_of_the_moment, is_passing
from memory.domain.relevant_facts import kinds
from memory.domain.remembered import LONGEST, NOTES, OLDER, PREFERENCES, Remembered, with_superseded

_LEAD = (
    r"(?:now|actually|lately|nowadays|these days|from now on"
    r"|ahora|ahora s[ií]|[uú]ltimamente|a partir de ahora|desde ahora),?"
)
_PREFERENCE = re.compile(
    rf"(?:^|[.,;:!¡]\s*|\b(?:and|y|pero|but)\s+)(?:{_LEAD}\s+)?"
    r"((?:I(?:'d)? (?:always |really |now |actually )?(?:prefer|rather)\b|I (?:always |really |now |also |don'?t |"
    r"do not )?(?:like|love|enjoy|hate|dislike)\b|(?:instead of|rather than|en vez de|"
    r"en lugar de) [^.!?,;\n]{2,40},? (?:I prefer|prefiero)\b|always\b|I always\b|(?:yo )?(?:siempre |ahora |"
    r"(?:ya )?no )?(?:prefiero|odio|detesto|adoro)\b|(?:a m[ií] )?(?:ahora |no )?(?:me gustan?|me encantan?)\b|"
    r"siempre\b)"
    r"(?:[^.!?\n;]|[.](?=\d)){2,300})",
    re.I,
)
_FIELDS = (("user_notes", "userNotes"), ("preferences", "preferences"), ("older_notes", "olderNotes"))
"""Attribute, and name on the wire."""
_NAMES = frozenset(name for _, name in _FIELDS)
_MOST = {"user_notes": NOTES, "preferences": PREFERENCES, "older_notes": OLDER}
_FIGURE = re.compile(r"\d")
_STOPS = re.compile(r"[.,;:!?]+(?=\s|$)|[¡¿]")
_PRONOUN = re.compile(r"\b(?:it|them|those|one|lo|los|las)\b(?! (?:que|de)\b)", re.I)
"""What of it is meant stands in another clause of its sentence."""
CLAUSE = re.compile(r"[,;:—–(]\s*|\b(?:and|but|y|pero)\b\s*", re.I)
_COMES = re.compile(r"(?:only|just|now|instead|solo|solamente|ahora) \w")
_INSTEAD = re.compile(
    r"(?:i|we) (?:\w+ )?(?:switched|changed|moved|went|gone) (?:over )?to\b|(?:ya )?(?:me|nos) (?:cambi|pas)\w+ al?\b"
)
_SLOTS = ("prefer length", "prefer tone", "prefer answers in")

Known = Callable[[str], bool]
"""Whether all that a clause says is remembered elsewhere, as a field of its own."""


@dataclass(frozen=True, slots=True)
class _Statement:
    """What a sentence states. `attribute` None: it is remembered only in the place of what it replaces. `sentence`: in
    which it stands, where it is one of several clauses."""

    text: str
    attribute: str | None
    said: Claims
    sentence: str = ""


def with_statements(state: Remembered, text: str, now: datetime, known: Known = lambda _: False) -> Remembered:
    """With what a text states. What it replaces, corrects, or says is true no longer, becomes history."""
    corrects = False
    if joke := joked_about([one for one in current_facts(state.memory) if state.since.get(one, now) <= now], text):
        state = with_ended(state, joke[0], joke[1][:LONGEST], now)
    for sentence in statements(text):
        mistaken, rest = past_correction(sentence)
        corrects = corrects or mistaken
        stated = list(_stated(rest, known))
        if mistaken and not any(one.attribute for one in stated):
            stated = list(_stated(sentence, known))  # what it corrects is not told: kept as it was said
        for statement in stated:
            state = _with_statement(state, replace(statement, sentence=rest), now)
            if corrects and statement.attribute:
                state = state.correcting(statement.text[:LONGEST], now)
    return _with_corrections(state, now)


def _with_corrections(state: Remembered, now: datetime) -> Remembered:
    """With what the corrections said since `now` take back: of what was said before each, in whatever order it was
    learned, the one fact that says most of the same words."""
    for text, at in sorted(state.corrections.items(), key=lambda one: one[1]):
        if at < now:
            continue
        past = [one for one in state.memory.superseded if one.field in _NAMES and (one.since or at) <= at]
        standing = [one for one in current_facts(state.memory) if state.since.get(one, at) <= at]
        standing += [one.value for one in past if one.until > at or (one.until, one.by) == (at, text)]
        wrong = corrected([one for one in standing if state.corrections.get(one) != at], text)
        for one in past:
            if (one.until, one.by) == (at, text) and one.value != wrong and not _ends_by_rule(text, one.value):
                history = [other for other in state.memory.superseded if other is not one]
                state = state.changed(at, superseded=history)
                attribute = next(attribute for attribute, name in _FIELDS if name == one.field)
                state = _with_statement(state, _Statement(one.value, attribute, claims(one.value)), one.since or at)
        if wrong is not None:
            state = with_ended(state, wrong, text, at)
    return state


def _ends_by_rule(text: str, fact: str) -> bool:
    said, held = claims(text), claims(fact)
    return replaces(said, held) or may_replace(said, held) or is_over(text, fact)


def with_note(state: Remembered, text: str, now: datetime, *, instead_of: str | None = None) -> Remembered:
    """With a fact that the user wants remembered. `instead_of`: one that it corrects, which becomes history; not where
    it says nothing of that one and replaces another, since then the wrong one was named."""
    statement = _Statement(text, "user_notes", claims(text))
    gone = [one for _, one in _replaced(state, statement, now)]
    if instead_of is not None and gone and instead_of not in gone and not concepts_of(instead_of) & concepts_of(text):
        instead_of = None
    if instead_of is not None and _other(instead_of, text):
        where = next(name for name, _ in _FIELDS if instead_of in getattr(state.memory, name))
        state = _past(state, where, instead_of, now, text)
        statement = replace(statement, attribute="user_notes" if where == "older_notes" else where)
    state = _without(state, _replaced(state, statement, now), text, now)
    return _with(state, statement.attribute or "user_notes", text, now)


def with_fact(state: Remembered, text: str, now: datetime) -> Remembered:
    """With one statement of the user's own as a fact; what it replaces by the rules becomes history."""
    attribute = "preferences" if preferences_in(text) else "user_notes"
    return _with_statement(state, _Statement(text, attribute, claims(text)), now)


def with_ended(state: Remembered, fact: str, by: str, now: datetime) -> Remembered:
    """Without a fact that is so no longer since `now`, or has been history only since later: it keeps its dates."""
    for attribute, name in _FIELDS:
        if fact in getattr(state.memory, attribute):
            return _past(state, attribute, fact, now, by)
        history = [
            past.model_copy(update={"until": now, "by": by})
            if (past.field, past.value) == (name, fact)
            and now < past.until
            and (past.since is None or past.since < now)
            else past
            for past in state.memory.superseded
        ]
        if history != state.memory.superseded:
            return state.changed(now, superseded=history)
    return state


def current_facts(memory: LongTermMemory) -> list[str]:
    """All facts that stand as true."""
    return [*memory.user_notes, *memory.preferences, *memory.older_notes]


def preferences_in(text: str) -> list[str]:
    """What the text states as preferences, in its own words."""
    return [one for match in _PREFERENCE.finditer(text) if not _tells_nothing(one := match[1].strip(" ,"))]


def _tells_nothing(text: str) -> bool:
    return is_passing(text) or is_of_the_moment(text)


def _stated(written: str, known: Known) -> Iterator[_Statement]:
    if notes := requested_notes(written):
        yield from (_Statement(note, "user_notes", claims(note)) for note in notes)
        return
    sentence = own_speech(unquoted(written))
    if is_standing_order(sentence):
        order = sentence.strip(" .!¡")
        yield _Statement(order, "preferences", claims(order))
        return
    preferred: list[str] = []
    for match in _PREFERENCE.finditer(sentence):
        if not _tells_nothing(one := match[1].strip(" ,")):
            preferred.append(one)
            about = sentence if _PRONOUN.search(one) else match[0]
            yield _Statement(one, "preferences", claims(about))
    found = [one for one in clauses(sentence) if not any(one in other or other in one for other in preferred)]
    before = sentence.partition(found[0])[0] if found else ""
    if before and (head := claims(before)).ended:
        yield _Statement(sentence.rstrip(" .!"), None, head)
    whole = claims(sentence) if found else None
    for clause in found:
        about = before + clause if clause is found[0] and says_change(normalize(before)) else clause
        said = whole if whole and _PRONOUN.search(clause) else claims(about)
        if whole and clause is found[-1]:  # "I moved house, I'm in York now" says it in two
            said = replace(
                said,
                attributes=tuple(dict.fromkeys([*said.attributes, *whole.attributes])),
                sentence_values=whole.values_by_kind,
                sentence_denies=whole.sentence_denies,
            )
        worth = is_plain_fact(clause) and not _tells_nothing(clause) and not known(clause)
        prefers = _is_about_answers(said) or (worth and preferences_in(clause))
        yield _Statement(
            _with_what_is_over(sentence, found, clause),
            "preferences" if prefers else "user_notes" if worth else None,
            said,
        )
    if not found and not preferred:
        said = claims(sentence)
        lasts = _says_something_lasting(sentence) and not ends_only(said) and not known(sentence)
        lasting = "user_notes" if lasts else None
        attribute = "preferences" if _is_about_answers(said) else lasting
        yield _Statement(" ".join(sentence.split()).rstrip(" .!"), attribute, said)


def _with_what_is_over(sentence: str, clauses: Sequence[str], clause: str) -> str:
    """A clause that says what comes instead, with the one before it that says what is over: "my bank is not Kappa any
    more, I switched to Delta"."""
    before = clauses[clauses.index(clause) - 1]
    start, end = sentence.find(before), sentence.find(clause) + len(clause)
    if before == clause or not 0 <= start < end - len(clause) or not _INSTEAD.match(normalize(clause)):
        return clause
    return sentence[start:end] if claims(before).ended else clause


def _says_something_lasting(sentence: str) -> bool:
    """Whether a sentence that no rule knows speaks of its writer, and of a matter or a figure, or says what something
    is to them: "I live off 900 euros"."""
    about = kinds(sentence) or _FIGURE.search(sentence) or IS_MINE.match(normalize(sentence))
    return is_about_writer(sentence) and bool(about) and not is_of_the_moment(sentence)


def _is_about_answers(said: Claims) -> bool:
    return any(value.attribute in _SLOTS for value in said.attributes)


def _with_statement(state: Remembered, statement: _Statement, now: datetime) -> Remembered:
    said = statement.said
    if is_forgotten(statement.text, state.gone, now):
        return state
    state = _ended_earlier(state, statement, now)
    if newer := _newer_that_replaces(state, statement, now):
        by, until = newer
        return _ended_by_newer(state, statement, now, by, until)
    gone = _replaced(state, statement, now)
    state = _without(state, gone, statement.text, now)
    past = [claims(text) for _, text in gone]
    only = (
        ends_only(said)
        and not (has_named_replacement(said, past) or _goes_on(statement.text))
        and not any(map(is_attitude, (said, *past)))
    )
    attribute = statement.attribute
    if only and (gone or _has_ended_something(state, statement.text)):
        attribute = None
    elif gone and attribute is None:
        attribute = "user_notes" if gone[0][0] == "older_notes" else gone[0][0]
    if attribute is None or not statement.text:
        return state
    return _with(state, attribute, statement.text[:LONGEST], now)


def _goes_on(text: str) -> bool:
    """Whether a clause beside the one that says what is over says what is so: "…, only on weekdays"."""
    others = [one for one in CLAUSE.split(text) if not endings(one)]
    return any(is_about_writer(one) or _COMES.match(normalize(one)) or claims(one).values_by_kind for one in others)


def _without(state: Remembered, gone: list[tuple[str, str]], by: str, now: datetime) -> Remembered:
    """Without facts, each with the list that holds it, that what is said makes untrue."""
    for attribute, text in gone:
        state = _past(state, attribute, text, now, by[:LONGEST])
    return state


def _replaced(state: Remembered, statement: _Statement, now: datetime) -> list[tuple[str, str]]:
    said = statement.said
    sentence = statement.sentence or statement.text
    held = [
        (attribute, one, claims(one))
        for attribute, _ in _FIELDS
        for one in getattr(state.memory, attribute)
        if _other(one, statement.text) and state.since.get(one, now) <= now and not both_stay(sentence, one)
    ]
    gone = [(attribute, one) for attribute, one, meant in held if replaces(said, meant)]
    if not gone:
        meant = [(attribute, one) for attribute, one, meant in held if may_replace(said, meant)]
        gone = meant if len(meant) == 1 else []
    has_ended = any(past.until == now and past.by and past.by in sentence for past in state.memory.superseded)
    if not gone and not has_ended:
        older = [(attribute, one) for attribute, one, _ in held if state.since.get(one) != now]
        over = [(attribute, one) for attribute, one in older if is_over(sentence, one)]
        gone = over if len(over) == 1 else []
    return gone


def _newer_that_replaces(state: Remembered, statement: _Statement, now: datetime) -> tuple[str, datetime] | None:
    """What was said after this and makes it untrue, where turns are learned in another order than they were said."""
    if all(since <= now for since in state.since.values()) and all(
        past.until <= now for past in state.memory.superseded
    ):
        return None
    later = [
        (one, state.since[one])
        for attribute, _ in _FIELDS
        for one in getattr(state.memory, attribute)
        if state.since.get(one, now) > now and _other(one, statement.text)
    ]
    for past in state.memory.superseded:
        if past.by and past.until > now:
            later.append((past.by, past.until))
        if past.field in _NAMES and past.since is not None and past.since > now:
            later.append((past.value, past.since))
    later.sort(key=lambda one: one[1])
    said = statement.text
    return next((one for one in later if replaces(claims(one[0]), statement.said) or is_over(one[0], said)), None)


def _ended_earlier(state: Remembered, statement: _Statement, now: datetime) -> Remembered:
    """With what this ended already, before the statement that seemed to end it."""
    history = [
        past.model_copy(update={"until": now, "by": statement.text[:LONGEST]})
        if now < past.until
        and (past.since is None or past.since < now)
        and past.field in _NAMES
        and _other(past.value, statement.text)
        and replaces(statement.said, claims(past.value))
        else past
        for past in state.memory.superseded
    ]
    return state if history == state.memory.superseded else state.changed(now, superseded=history)


def _ended_by_newer(state: Remembered, statement: _Statement, now: datetime, by: str, until: datetime) -> Remembered:
    if statement.attribute is None:
        return state
    name = dict(_FIELDS)[statement.attribute]
    text = statement.text[:LONGEST]
    past = Superseded(field=name, value=text, since=now, until=until, by=by)
    if any((one.field, one.value, one.until) == (name, text, until) for one in state.memory.superseded):
        return state
    history = with_superseded(list(state.memory.superseded), past)
    state = state.changed(until, superseded=history)
    if ends_only(claims(by)):
        # It stood as a fact of its own as long as nothing was known that it ends.
        for attribute, _ in _FIELDS:
            held: list[str] = getattr(state.memory, attribute)
            if by in held:
                state = state.changed(until, **{attribute: [one for one in held if one != by]})
    return state


def _has_ended_something(state: Remembered, text: str) -> bool:
    return any(past.by and not _other(past.by, text) for past in state.memory.superseded)


def _past(state: Remembered, attribute: str, text: str, now: datetime, by: str) -> Remembered:
    name = dict(_FIELDS)[attribute]
    past = Superseded(field=name, value=text, since=state.since.get(text), until=now, by=by)
    kept = [one for one in getattr(state.memory, attribute) if one != text]
    history = with_superseded(list(state.memory.superseded), past)
    since = {one: at for one, at in state.since.items() if one != text}
    return replace(state.changed(now, **{attribute: kept}, superseded=history), since=since)


def _with(state: Remembered, attribute: str, text: str, now: datetime) -> Remembered:
    """With one more of a list, newest first; what is said again comes first again and keeps its date. What the list
    has no room for goes to the older notes."""
    before = {name: list(getattr(state.memory, name)) for name, _ in _FIELDS}
    lists = {name: [one for one in held if _other(one, text)] for name, held in before.items()}
    known = [one for held in before.values() for one in held if not _other(one, text)]
    since = dict(state.since)
    newer = sum(since.get(one, now) > now for one in lists[attribute])
    lists[attribute].insert(newer, text)
    most = _MOST[attribute]
    lists["older_notes"] = [*lists[attribute][most:], *lists["older_notes"]][:OLDER]
    lists[attribute] = lists[attribute][:most]
    if lists == before:
        return state
    since[text] = since.get(known[0], now) if known else now
    every = {one for held in lists.values() for one in held}
    state = state.changed(now, **lists)
    return replace(state, since={one: at for one, at in since.items() if one in every})


def _other(one: str, text: str) -> bool:
    """Whether two texts are two facts; "my dentist is Dr Paz" is "My dentist is Dr. Paz."."""
    return _STOPS.sub("", one.casefold()) != _STOPS.sub("", text.casefold())
