"""Notes and preferences: what a user states, and what of it takes the place of something older."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from contracts.memory_rpc import Superseded
from memory.domain.claims import Claims, claims, replaces, statements
from memory.domain.remembered import LONGEST, NOTES, PREFERENCES, Remembered, superseding

_LEAD = (
    r"(?:now|actually|lately|nowadays|these days|from now on"
    r"|ahora|ahora s[ií]|[uú]ltimamente|a partir de ahora|desde ahora),?"
)
_PREFERENCE = re.compile(
    rf"(?:^|[.,;:!¡]\s*|\b(?:and|y|pero|but)\s+)(?:{_LEAD}\s+)?"
    r"((?:I(?:'d)? (?:always |really |now |actually )?(?:prefer|rather)\b|I (?:always |really |now )?(?:like|love)\b"
    r"|always\b|I always\b"
    r"|(?:yo )?(?:siempre |ahora )?prefiero\b|(?:a m[ií] )?(?:ahora )?me gustan?\b|siempre\b)"
    r"(?:[^.!?\n;]|[.](?=\d)){2,300})",
    re.I,
)
_NOTE = re.compile(
    r"(?:^|[.,;:!¡?]\s*|\bplease\s+|\bpor favor,?\s+)"
    r"(?:remember|keep in mind|don'?t forget|make a note"
    r"|recu[eé]rda(?:me)?|acu[eé]rdate(?: de)?|ten en cuenta|no olvides"
    r"|no te olvides de|anota|toma nota)(?:\s+de)?(?:\s+(?:that|que)|:|,)\s*((?:[^\n?.!]|[.!](?=\S)){2,500})",
    re.I,
)

_FIELDS = (("user_notes", "userNotes", NOTES), ("preferences", "preferences", PREFERENCES))
"""Attribute, name on the wire, most that are kept."""


def told(state: Remembered, text: str, now: datetime) -> Remembered:
    """With the notes and preferences of a text. What they replace, or what the text says is true no longer, becomes
    history; a sentence that replaces something remembered is remembered in its place."""
    for sentence in statements(text):
        found = {"user_notes": notes_in(sentence), "preferences": preferences_in(sentence)}
        for statement in (*found["user_notes"], *found["preferences"]):
            state = _without_replaced(state, claims(statement, short=True), statement, now, in_its_place=False)
        if not found["user_notes"]:
            state = _without_replaced(state, claims(sentence), sentence, now, in_its_place=not found["preferences"])
        for attribute, _, most in _FIELDS:
            state = _with(state, attribute, found[attribute], most, now)
    return state


def preferences_in(text: str) -> list[str]:
    """What the text states as preferences, in its own words."""
    return [match[1].strip(" ,") for match in _PREFERENCE.finditer(text)]


def notes_in(text: str) -> list[str]:
    """What the text asks to remember."""
    return [match[1].strip(" .,") for match in _NOTE.finditer(text)]


def _without_replaced(
    state: Remembered, said: Claims, statement: str, now: datetime, *, in_its_place: bool
) -> Remembered:
    if not said.made and not said.ended:
        return state
    for attribute, name, _ in _FIELDS:
        held: list[str] = getattr(state.memory, attribute)
        gone = [one for one in held if _other(one, statement) and replaces(said, claims(one, short=True))]
        if not gone:
            continue
        kept = [one for one in held if one not in gone]
        history = list(state.memory.superseded)
        for one in reversed(gone):
            by = statement[:LONGEST] if said.made or not in_its_place else None
            past = Superseded(field=name, value=one, since=state.since.get(one), until=now, by=by)
            history = superseding(history, past)
        since = {text: at for text, at in state.since.items() if text not in gone}
        state = replace(state.changed(now, **{attribute: kept}, superseded=history), since=since)
        if in_its_place and said.made:
            state = _with(state, attribute, [statement.rstrip(" .!")], len(held), now)
    return state


def _with(state: Remembered, attribute: str, found: Sequence[str], most: int, now: datetime) -> Remembered:
    """With more of a list, newest first; what is said again comes first again and keeps its date."""
    before: list[str] = getattr(state.memory, attribute)
    held = before
    for one in found:
        text = one[:LONGEST]
        if text:
            held = [text, *(other for other in held if _other(other, text))]
    held = held[:most]
    if held == before:
        return state
    state = state.changed(now, **{attribute: held})
    dated = {*state.memory.user_notes, *state.memory.preferences}
    since = {text: at for text, at in state.since.items() if text in dated}
    return replace(state, since={**dict.fromkeys((one for one in held if one not in before), now), **since})


def _other(one: str, text: str) -> bool:
    return one.casefold() != text.casefold()
