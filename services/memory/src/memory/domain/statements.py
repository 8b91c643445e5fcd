"""Notes, preferences and plain facts: what a user states, and which older facts it replaces.

Nothing is deleted here: what is no longer true becomes history, what does not fit into a list is an older note.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from operator import itemgetter

from contracts.calendar_names import NUMBERS
from contracts.memory_rpc import Superseded
from memory.domain.claims import Claims, claims
from memory.domain.compatible_facts import both_stay, is_over, names_part
from memory.domain.corrections import corrected_fact, joked_about, past_correction
from memory.domain.forgotten import is_forgotten
from memory.domain.long_term.asked_notes import requested_notes
from memory.domain.long_term.concepts import concepts_of, normalize
from memory.domain.long_term.course import has_ended, says_change
from memory.domain.long_term.endings import endings
from memory.domain.long_term.own_words import IS_MINE, may_state_fact
from memory.domain.long_term.pasted import unquoted
from memory.domain.long_term.plain_facts import clauses, is_plain_fact
from memory.domain.long_term.speech import own_speech, statements
from memory.domain.long_term.standing_orders import is_standing_order
from memory.domain.permanence import is_of_the_moment
from memory.domain.preferences import PREFERENCE, is_momentary, preferences_in
from memory.domain.relevant_facts import kinds
from memory.domain.remembered import FACT_LISTS, MAX_ENTRIES, MAX_TEXT_LENGTH, Remembered, are_different, current_facts
from memory.domain.replacement import (
    ends_only,
    has_named_replacement,
    is_attitude,
    may_replace,
    replaces,
    revalues_thing,
)

_NAMES = frozenset(FACT_LISTS.values())
_SOLD_NUMBER = re.compile(r"\b(?:sold|vend\w+) \d", re.I)
_PRONOUN = re.compile(r"\b(?:it|them|those|one|lo|los|las)\b(?! (?:que|de)\b)", re.I)
"""Refers to something in another clause of the sentence."""
CLAUSE = re.compile(
    r"[,;:—–(]\s*|\b(?:and|but|y|pero|now that|because|since|ahora que|porque|ya que|desde que)\b\s*", re.I
)
_CONTINUES = re.compile(r"(?:only|just|now|instead|solo|solamente|ahora) \w")
_INSTEAD = re.compile(
    r"(?:i|we) (?:\w+ )?(?:switched|changed|moved|went|gone) (?:over )?to\b|(?:ya )?(?:me|nos) (?:cambi|pas)\w+ al?\b"
)
_REMAINS = re.compile(
    r"(?:(?:i|we) (?:only |just |now )?have (?:only |just )?|(?:ya )?(?:solo )?(?:me|nos) quedan? (?:solo )?|"
    rf"(?:ya )?solo (?:tengo|tenemos) )(?:\d[\d.,]*|una?|{'|'.join(NUMBERS)})(?: now| left| ahora)?"
)
"""How many are left of what the rest of the sentence names."""
_ANSWER_ATTRIBUTES = ("prefer length", "prefer tone", "prefer answers in")

IsKnown = Callable[[str], bool]
"""Whether everything that a clause says is already remembered in fields of its own."""


@dataclass(frozen=True, slots=True)
class _Statement:
    """Something that a sentence states, with its claims. `attribute` None: it is remembered only in place of what it
    replaces. `sentence`: the sentence, if this is one of its clauses."""

    text: str
    attribute: str | None
    said: Claims
    sentence: str = ""


def with_statements(state: Remembered, text: str, now: datetime, known: IsKnown = lambda _: False) -> Remembered:
    """Returns the state with what a text states; what this replaces, corrects or ends becomes history."""
    has_correction = False
    if joke := joked_about({fact: state.since.get(fact, now) for fact in current_facts(state.memory)}, text, now):
        state = with_ended(state, joke[0], joke[1][:MAX_TEXT_LENGTH], now)
    for sentence in statements(text):
        is_correction, claim = past_correction(sentence)
        has_correction = has_correction or is_correction
        stated = list(_statements_in(claim, known))
        if is_correction and not any(statement.attribute for statement in stated):
            stated = list(_statements_in(sentence, known))  # it does not say what is right: kept as it was said
        for statement in stated:
            state = _with_statement(state, replace(statement, sentence=claim), now)
            if has_correction and statement.attribute:
                state = state.with_correction(statement.text[:MAX_TEXT_LENGTH], now)
    return _with_corrections(state, now)


def _with_corrections(state: Remembered, now: datetime) -> Remembered:
    """Applies the corrections said at or after `now`: of the facts said before each of them, in whatever order they
    were learned, the single fact that shares most words with it becomes history."""
    for text, time in sorted(state.corrections.items(), key=itemgetter(1)):
        if time < now:
            continue
        past_facts = [past for past in state.memory.superseded if past.field in _NAMES and (past.since or time) <= time]
        current = [fact for fact in current_facts(state.memory) if state.since.get(fact, time) <= time]
        current += [past.value for past in past_facts if past.until > time or (past.until, past.by) == (time, text)]
        wrong = corrected_fact([fact for fact in current if state.corrections.get(fact) != time], text)
        for past in past_facts:
            if (past.until, past.by) == (time, text) and past.value != wrong and not _ends_by_rule(text, past.value):
                history = [past_fact for past_fact in state.memory.superseded if past_fact is not past]
                state = state.with_fields(time, superseded=history)
                attribute = next(attribute for attribute, name in FACT_LISTS.items() if name == past.field)
                state = _with_statement(
                    state, _Statement(past.value, attribute, claims(past.value)), past.since or time
                )
        if wrong is not None:
            state = with_ended(state, wrong, text, time)
    return state


def _ends_by_rule(text: str, fact: str) -> bool:
    new, old = claims(text), claims(fact)
    return replaces(new, old) or may_replace(new, old) or is_over(text, fact)


def with_note(state: Remembered, text: str, now: datetime, *, instead_of: str | None = None) -> Remembered:
    """Returns the state with a fact that the user wants remembered.

    `instead_of`: the fact that it corrects, which becomes history; unless the new one says nothing about it and
    replaces another, since then the wrong one was named.
    """
    statement = _Statement(text, "user_notes", claims(text))
    replaced = [fact for _, fact in _replaced_facts(state, statement, now)]
    if instead_of is not None and replaced and instead_of not in replaced:
        instead_of = instead_of if concepts_of(instead_of) & concepts_of(text) else None
    if instead_of is not None and are_different(instead_of, text):
        attribute = next(name for name in FACT_LISTS if instead_of in getattr(state.memory, name))
        state = _moved_to_history(state, attribute, instead_of, now, text)
        statement = replace(statement, attribute="user_notes" if attribute == "older_notes" else attribute)
    state = _without_facts(state, _replaced_facts(state, statement, now), text, now)
    return _with_listed_fact(state, statement.attribute or "user_notes", text, now)


def with_fact(state: Remembered, text: str, now: datetime) -> Remembered:
    """Returns the state with one statement of the user's own as a fact; what the rules say it replaces becomes
    history."""
    attribute = "preferences" if preferences_in(text) else "user_notes"
    return _with_statement(state, _Statement(text, attribute, claims(text)), now)


def with_ended(state: Remembered, fact: str, by: str, now: datetime) -> Remembered:
    """Returns the state without a fact that ended at `now`, or, if it is history with a later end, with the earlier
    end. It keeps its dates."""
    for attribute, name in FACT_LISTS.items():
        if fact in getattr(state.memory, attribute):
            return _moved_to_history(state, attribute, fact, now, by)
        history = [
            past.model_copy(update={"until": now, "by": by})
            if (past.field, past.value) == (name, fact)
            and now < past.until
            and (past.since is None or past.since < now)
            else past
            for past in state.memory.superseded
        ]
        if history != state.memory.superseded:
            return state.with_fields(now, superseded=history)
    return state


def _statements_in(text: str, is_known: IsKnown) -> Iterator[_Statement]:
    sentence = own_speech(unquoted(text))
    if sentence.strip() and (notes := requested_notes(text)):
        yield from (_Statement(note, "user_notes", claims(note)) for note in notes)
        return
    if is_standing_order(sentence):
        order = sentence.strip(" .!¡")
        yield _Statement(order, "preferences", claims(order))
        return
    preferences: list[str] = []
    for match in PREFERENCE.finditer(sentence):
        if not is_momentary(preference := match[1].strip(" ,")):
            preferences.append(preference)
            context = sentence if _PRONOUN.search(preference) else match[0]
            yield _Statement(preference, "preferences", claims(context))
    clause_texts = [
        clause for clause in clauses(sentence) if not any(clause in other or other in clause for other in preferences)
    ]
    if any(_REMAINS.fullmatch(normalize(clause)) for clause in clause_texts):
        yield _Statement(" ".join(sentence.split()).rstrip(" .!"), None, claims(sentence))
        return
    before = sentence.partition(clause_texts[0])[0] if clause_texts else ""
    if before and (first_claims := claims(before)).ended:
        yield _Statement(sentence.rstrip(" .!"), None, first_claims)
    sentence_claims = claims(sentence) if clause_texts else None
    for clause in clause_texts:
        context = before + clause if clause is clause_texts[0] and says_change(normalize(before)) else clause
        clause_claims = sentence_claims if sentence_claims and _PRONOUN.search(clause) else claims(context)
        if sentence_claims and clause is clause_texts[-1]:  # "I moved house, I'm in York now" says it in two
            clause_claims = replace(
                clause_claims,
                attributes=tuple(dict.fromkeys([*clause_claims.attributes, *sentence_claims.attributes])),
                sentence_values=sentence_claims.values_by_kind,
                things=sentence_claims.things,
                sets_value=sentence_claims.sets_value,
                is_too_much=sentence_claims.is_too_much,
                sentence_denies=sentence_claims.sentence_denies,
            )
        is_fact = is_plain_fact(clause) and not is_momentary(clause) and not is_known(clause)
        is_preference = _is_about_answers(clause_claims) or (is_fact and preferences_in(clause))
        yield _Statement(
            _with_ended_clause(sentence, clause_texts, clause),
            "preferences" if is_preference else "user_notes" if is_fact else None,
            clause_claims,
        )
    if not clause_texts and not preferences:
        clause_claims = claims(sentence)
        is_lasting = _says_something_lasting(sentence) and not ends_only(clause_claims) and not is_known(sentence)
        lasting = "user_notes" if is_lasting else None
        attribute = "preferences" if _is_about_answers(clause_claims) else lasting
        yield _Statement(" ".join(sentence.split()).rstrip(" .!"), attribute, clause_claims)


def _with_ended_clause(sentence: str, clauses: Sequence[str], clause: str) -> str:
    """Returns a clause that says what comes instead, together with the one before it if that says what is over: "my
    bank is not Kappa any more, I switched to Delta"."""
    before = clauses[clauses.index(clause) - 1]
    start, end = sentence.find(before), sentence.find(clause) + len(clause)
    if before == clause or not 0 <= start < end - len(clause) or not _INSTEAD.match(normalize(clause)):
        return clause
    return sentence[start:end] if claims(before).ended else clause


def _says_something_lasting(sentence: str) -> bool:
    """Whether a sentence that no rule covers is about its writer and names a subject or a figure, or says what
    something is to them: "I live off 900 euros"."""
    about = kinds(sentence) or re.search(r"\d", sentence) or IS_MINE.match(normalize(sentence))
    return may_state_fact(sentence) and bool(about) and not is_of_the_moment(sentence)


def _is_about_answers(statement_claims: Claims) -> bool:
    return any(value.attribute in _ANSWER_ATTRIBUTES for value in statement_claims.attributes)


def _with_statement(state: Remembered, statement: _Statement, now: datetime) -> Remembered:
    new_claims = statement.said
    if is_forgotten(statement.text, state.forgotten_facts, now):
        return state
    state = _with_earlier_endings(state, statement, now)
    if newer := _newer_replacement(state, statement, now):
        by, until = newer
        return _as_history(state, statement, now, by, until)
    replaced = _replaced_facts(state, statement, now)
    state = _without_facts(state, replaced, statement.text, now)
    replaced_claims = [claims(text) for _, text in replaced]
    is_only_ending = (
        ends_only(new_claims)
        and not (has_named_replacement(new_claims, replaced_claims) or _states_more(statement.text))
        and not any(map(is_attitude, (new_claims, *replaced_claims)))
    )
    attribute = statement.attribute
    if is_only_ending and (
        replaced or any(past.by and not are_different(past.by, statement.text) for past in state.memory.superseded)
    ):
        attribute = None
    elif replaced and attribute is None:
        attribute = "user_notes" if replaced[0][0] == "older_notes" else replaced[0][0]
    elif attribute is None and (new_claims.ended or has_ended(normalize(statement.text))):
        # Of what a fact combines only a part is over: both are remembered.
        is_part = any(names_part(normalize(statement.text), fact) for fact in current_facts(state.memory))
        attribute = "user_notes" if is_part else None
    if attribute is None or not statement.text:
        return state
    return _with_listed_fact(state, attribute, statement.text[:MAX_TEXT_LENGTH], now)


def _states_more(text: str) -> bool:
    """Whether a clause beside the one that says what is over says what is true: "…, only on weekdays"."""
    clauses_left = [clause for clause in CLAUSE.split(text) if _SOLD_NUMBER.search(clause) or not endings(clause)]
    return any(
        may_state_fact(clause) or _CONTINUES.match(normalize(clause)) or claims(clause).values_by_kind
        for clause in clauses_left
    )


def _without_facts(state: Remembered, facts: list[tuple[str, str]], by: str, now: datetime) -> Remembered:
    """Returns the state without facts (each with its list) that a statement makes untrue."""
    for attribute, text in facts:
        state = _moved_to_history(state, attribute, text, now, by[:MAX_TEXT_LENGTH])
    return state


def _replaced_facts(state: Remembered, statement: _Statement, now: datetime) -> list[tuple[str, str]]:
    said, sentence = statement.said, statement.sentence or statement.text
    candidates = [
        (attribute, fact, claims(fact))
        for attribute in FACT_LISTS
        for fact in getattr(state.memory, attribute)
        if are_different(fact, statement.text) and state.since.get(fact, now) <= now
    ]

    def untrue_by(rule: Callable[[Claims, Claims], bool]) -> list[tuple[str, str]]:
        return [(name, fact) for name, fact, old in candidates if rule(said, old) and not both_stay(sentence, fact)]

    replaced = untrue_by(replaces)
    for rule in (revalues_thing, may_replace):
        if not replaced:
            possible = untrue_by(rule)
            replaced = possible if len(possible) == 1 else []
    has_ended = any(past.until == now and past.by and past.by in sentence for past in state.memory.superseded)
    if not replaced and not has_ended:
        older = [(attribute, fact) for attribute, fact, _ in candidates if state.since.get(fact) != now]
        ended = [(attribute, fact) for attribute, fact in older if is_over(sentence, fact)]
        replaced = ended if len(ended) == 1 else []
    return replaced


def _newer_replacement(state: Remembered, statement: _Statement, now: datetime) -> tuple[str, datetime] | None:
    """Returns what was said after this and makes it untrue, and when; turns may be learned in another order than they
    were said."""
    if all(since <= now for since in state.since.values()) and all(
        past.until <= now for past in state.memory.superseded
    ):
        return None
    later = [
        (fact, state.since[fact])
        for fact in current_facts(state.memory)
        if state.since.get(fact, now) > now and are_different(fact, statement.text)
    ]
    for past in state.memory.superseded:
        if past.by and past.until > now:
            later.append((past.by, past.until))
        if past.field in _NAMES and past.since is not None and past.since > now:
            later.append((past.value, past.since))
    for text, date in sorted(later, key=itemgetter(1)):
        if replaces(claims(text), statement.said) or is_over(text, statement.text):
            return text, date
    return None


def _with_earlier_endings(state: Remembered, statement: _Statement, now: datetime) -> Remembered:
    """Returns the state in which this statement has ended what it ends, if that was ended by a later one so far."""
    history = [
        past.model_copy(update={"until": now, "by": statement.text[:MAX_TEXT_LENGTH]})
        if now < past.until
        and (past.since is None or past.since < now)
        and past.field in _NAMES
        and are_different(past.value, statement.text)
        and replaces(statement.said, claims(past.value))
        else past
        for past in state.memory.superseded
    ]
    return state if history == state.memory.superseded else state.with_fields(now, superseded=history)


def _as_history(state: Remembered, statement: _Statement, now: datetime, by: str, until: datetime) -> Remembered:
    if statement.attribute is None:
        return state
    name = FACT_LISTS[statement.attribute]
    text = statement.text[:MAX_TEXT_LENGTH]
    past = Superseded(field=name, value=text, since=now, until=until, by=by)
    if any((known.field, known.value, known.until) == (name, text, until) for known in state.memory.superseded):
        return state
    state = state.with_past(past)
    if ends_only(claims(by)) and not _SOLD_NUMBER.search(by):
        # It was kept as a fact as long as nothing was known that it ends.
        for attribute in FACT_LISTS:
            facts: list[str] = getattr(state.memory, attribute)
            if by in facts:
                state = state.with_fields(until, **{attribute: [fact for fact in facts if fact != by]})
    return state


def _moved_to_history(state: Remembered, attribute: str, text: str, now: datetime, by: str) -> Remembered:
    name = FACT_LISTS[attribute]
    past = Superseded(field=name, value=text, since=state.since.get(text), until=now, by=by)
    facts = [fact for fact in getattr(state.memory, attribute) if fact != text]
    since = {fact: date for fact, date in state.since.items() if fact != text}
    return replace(state.with_past(past, **{attribute: facts}), since=since)


def _with_listed_fact(state: Remembered, attribute: str, text: str, now: datetime) -> Remembered:
    """Returns the state with one more fact in a list, newest first. A repeated fact moves to the front and keeps its
    date. What the list has no room for moves to the older notes."""
    before = {name: list(getattr(state.memory, name)) for name in FACT_LISTS}
    lists = {name: [fact for fact in facts if are_different(fact, text)] for name, facts in before.items()}
    same = [fact for facts in before.values() for fact in facts if not are_different(fact, text)]
    since = dict(state.since)
    newer = sum(since.get(fact, now) > now for fact in lists[attribute])
    lists[attribute].insert(newer, text)
    limit = MAX_ENTRIES[FACT_LISTS[attribute]]
    lists["older_notes"] = [*lists[attribute][limit:], *lists["older_notes"]][: MAX_ENTRIES["olderNotes"]]
    lists[attribute] = lists[attribute][:limit]
    if lists == before:
        return state
    since[text] = since.get(same[0], now) if same else now
    all_facts = {fact for facts in lists.values() for fact in facts}
    state = state.with_fields(now, **lists)
    return replace(state, since={fact: date for fact, date in since.items() if fact in all_facts})
