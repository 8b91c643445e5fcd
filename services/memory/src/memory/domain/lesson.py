"""What a finished turn teaches about its user: from the user's own messages alone, in Spanish and English."""

import re
from dataclasses import dataclass, replace
from datetime import datetime

from contracts.calendar_names import FORGET_PATTERN
from contracts.memory_rpc import Strategy
from memory.domain.long_term.concepts import concepts_of
from memory.domain.long_term.pasted import unquoted, without_pasted_text
from memory.domain.long_term.speech import own_speech, statements
from memory.domain.mentions import mentioned_symbols
from memory.domain.profile import FIELDS, states_other, with_profile, without_profile
from memory.domain.questions import are_same_question, questions, template
from memory.domain.recall.words import folded
from memory.domain.remembered import (
    MAX_FAVOURITES,
    MAX_QUESTIONS,
    MAX_STRATEGIES,
    MAX_TEXT_LENGTH,
    Remembered,
    current_facts,
    with_trading_style,
)
from memory.domain.statements import with_ended, with_statements

MIN_TURNS_FOR_FAVOURITE = 3
"""Turns that must ask about a symbol before it is a favourite."""
MAX_COUNTED_SYMBOLS = 200
"""Symbols that are counted, at most."""

_STYLES = (
    ("day_trading", r"day[ -]?trad(?:e|es|ing|er)|intrad[ií]a|intraday|operar en el d[ií]a"),
    ("scalping", r"scalp(?:ing|er|s)?|scalpear"),
    ("swing", r"swing(?: trad(?:e|es|ing|er))?"),
    ("long_term", r"long[ -]term|buy and hold|largo plazo"),
)
_STYLE = re.compile("|".join(rf"(?P<{name}>\b(?:{words})\b)" for name, words in _STYLES), re.I)
_LEFT_BEHIND = re.compile(
    r"(?:\bfrom|\bno longer|\bnot|\bdon'?t|\bstopped|\bno more|\binstead of|\bquit|\bleft|\bya no|\bno"
    r"|\bgiven up|\bgave up|\bdone with|\bdej[eéo](?: de)?|\bdej(?:[oó]|ado)(?: de)?|\ben vez de|\ben lugar de|"
    r"\bpas[eé] del?|\bdesde|\bdel)\s+"
    r"(?:(?:(?:being|doing) )?an?\s+|una?\s+)?(?:(?!(?:to|a|al|hacia|but|pero|now|ahora)\b)\w+\s+){0,3}$",
    re.I,
)
_SOMEBODY_ELSE = re.compile(
    r"\b(?:(?:my|our|mi|mis|nuestr[oa]s?|el|la|un|una) (?!(?:style|estilo|thing|lo)\b)[\w-]+(?: \w+)?(?:'s| is| are|"
    r" does| do| es| son| hacen?)|s?he(?:'s| is| does)|they(?:'re| are| do)|"
    r"él|el(?= (?:es|hace|opera|practica|prefiere|sigue|usa|va)\b)|ella) (?:(?!\b(?:and|but|y|pero|i|yo)\b)[^.,;:])*$",
    re.I,
)
"""Another person as the subject of a style: "my flatmate's a day trader"."""
_STRATEGIES = re.compile(
    r"\b(covered calls?|protective puts?|iron condors?|straddles?|strangles?|bull call spreads?|bear put spreads?"
    r"|collars?|dollar[- ]cost averaging|DCA|mean reversion|momentum|breakouts?|pairs trading|grid trading"
    r"|carry trade|moving average crossovers?|trend following|value investing|dividend investing"
    r"|cruces? de medias(?: m[oó]viles)?|reversi[oó]n a la media|ruptura|seguimiento de tendencia"
    r"|compra(?:s)? peri[oó]dicas?|inversi[oó]n en valor|inversi[oó]n en dividendos)\b",
    re.I,
)


_ABOUT_MEMORY = re.compile(
    r"\W*(?:(?:please|por favor|ok|hey|oye|can you|could you|puedes|podrias|you (?:can|may|should)|"
    rf"i(?:'d| would) like you to|i want you to|quiero que|prefiero que)[, ]+)*(?:{FORGET_PATTERN}\b"
    r"|(?:lo|eso|(?:the|that) (?:thing|bit|part|note)) (?:del?|sobre|about)\b.*?(?:no lo (?:recuerdes|guardes)|"
    r"olvid[ae]lo|borr[ae]lo|(?:forget|delete|scrap) it)\W*$|(?:delete|erase|clear) my memory\b|what (?:do|did|"
    r"have) you (?:know|remember)|(?:que|lo que) (?:recuerdas|sabes) (?:de|sobre) mi)"
)
_SYMBOLS = re.compile(r"\$?\b[A-Z]{1,5}\b|\b(?:btc|eth|sol|ada|xrp)\b")
_FILLER_CONCEPTS = concepts_of(
    "I am a we go do make switched moved changed investor trader trading hago pasé cambié soy inversor"
)


@dataclass(frozen=True, slots=True)
class FinishedTurn:
    """A finished turn: what its user wrote, and which of the symbols named in it exist."""

    turn_id: str
    at: datetime
    texts: tuple[str, ...]
    known: frozenset[str]


def is_about_memory(text: str) -> bool:
    """Whether a text asks to forget something, or asks what is remembered."""
    return bool(_ABOUT_MEMORY.match(folded(text.replace("’", "'"))))


def with_lesson(state: Remembered, lesson: FinishedTurn) -> Remembered:
    """Returns the state with the lesson of a turn; the same object if it has been learned before."""
    if lesson.turn_id in state.learned:
        return state
    memory_before = state.memory
    # What the user wants forgotten must not be learned from the very words that ask for it.
    lesson = replace(lesson, texts=tuple(text for text in lesson.texts if not is_about_memory(text)))
    for text in lesson.texts:
        own_text = unquoted(without_pasted_text(text))
        state = _with_style(state, own_text, lesson.at)
        state = with_statements(state, text, lesson.at, is_kept_in_fields)
        state = _with_profile(state, own_text, lesson.at)
        state = _with_questions(state, text, lesson.at)
        state = _with_strategies(state, text, lesson)
    state = _with_symbols(state, lesson)
    unchanged = state.memory.model_copy(update={"updated_at": memory_before.updated_at}) == memory_before
    return replace(state, memory=memory_before if unchanged else state.memory).with_learned(lesson.turn_id)


def with_favourite(state: Remembered, symbol: str, source: str, now: datetime) -> Remembered:
    """Returns the state with one more favourite, newest first; the same object if `source` has been learned before."""
    if source in state.learned:
        return state
    return _with_newest_favourite(state, symbol, now).with_learned(source)


def _with_newest_favourite(state: Remembered, symbol: str, now: datetime) -> Remembered:
    names = [symbol, *(name for name in state.memory.favorite_symbols if name != symbol)]
    counts = {name: count for name, count in state.symbol_counts.items() if name != symbol}
    if names == state.memory.favorite_symbols:
        return replace(state, symbol_counts=counts)
    return replace(state.with_fields(now, favorite_symbols=names[:MAX_FAVOURITES]), symbol_counts=counts)


def _with_symbols(state: Remembered, lesson: FinishedTurn) -> Remembered:
    names = dict.fromkeys(name for text in lesson.texts for name in mentioned_symbols(text) if name in lesson.known)
    for name in names:
        if name in state.memory.favorite_symbols:
            continue
        count = state.symbol_counts.get(name, 0) + 1
        if count >= MIN_TURNS_FOR_FAVOURITE:
            state = _with_newest_favourite(state, name, lesson.at)
        else:
            others = [(other, other_count) for other, other_count in state.symbol_counts.items() if other != name]
            state = replace(state, symbol_counts=dict([*others, (name, count)][-MAX_COUNTED_SYMBOLS:]))
    return state


def style_in(text: str) -> str | None:
    """Returns the last trading style that the text names without leaving it behind; a question states none."""
    styles = [style for style, is_left in _styles(text) if not is_left]
    return styles[-1] if styles else None


def is_kept_in_fields(clause: str) -> bool:
    """Whether a clause consists of style and profile, which are kept in fields of their own."""
    remainder = _STYLE.sub(" ", without_profile(clause))
    return remainder != clause and not _says_more(remainder)


def _says_more(remainder: str) -> bool:
    """Whether the remainder of a clause says anything besides symbols and that its writer is or does something."""
    return not concepts_of(_SYMBOLS.sub(" ", remainder)) <= _FILLER_CONCEPTS


def _styles(text: str) -> list[tuple[str | None, bool]]:
    """Returns each style that is named, and whether it is left behind."""
    spoken = " ".join(map(own_speech, statements(text)))
    matches = [(match, spoken[: match.start()]) for match in _STYLE.finditer(spoken)]
    return [
        (match.lastgroup, bool(_LEFT_BEHIND.search(before)))
        for match, before in matches
        if not _SOMEBODY_ELSE.search(before)
    ]


def _with_style(state: Remembered, text: str, now: datetime) -> Remembered:
    """Returns the state with the style that the text states, or without one if the current style is left behind for no
    other."""
    if style := style_in(text):
        return with_trading_style(state, style, now)
    return with_trading_style(state, None, now) if (state.memory.trading_style, True) in _styles(text) else state


def _with_profile(state: Remembered, text: str, now: datetime) -> Remembered:
    """Returns the state with the profile that the text states, without the facts that say the same of before."""
    changed = with_profile(state, text, now)
    for field in FIELDS:
        if (value := getattr(changed.memory, field)) != getattr(state.memory, field):
            for fact in current_facts(changed.memory):
                if states_other(fact, field, value):
                    changed = with_ended(changed, fact, text[:MAX_TEXT_LENGTH], now)
    return changed


def _with_questions(state: Remembered, text: str, now: datetime) -> Remembered:
    known = state.memory.frequent_questions
    for question in questions(text):
        asked = template(question)
        same = next((other for other in known if are_same_question(asked, other)), None)
        known = [
            same or asked,
            *(other for other in known if other != same),
        ][:MAX_QUESTIONS]
    return state if known == state.memory.frequent_questions else state.with_fields(now, frequent_questions=known)


def _with_strategies(state: Remembered, text: str, lesson: FinishedTurn) -> Remembered:
    recent = state.memory.recent_strategies
    symbols = [name for name in mentioned_symbols(text) if name in lesson.known]
    for name in dict.fromkeys(match[1].lower() for match in _STRATEGIES.finditer(text)):
        symbol = symbols[0] if symbols else None
        new = Strategy(name=name, symbol=symbol, description=" ".join(text.split())[:300], date=lesson.at.date())
        recent = [
            new,
            *(old for old in recent if (old.name, old.symbol) != (name, symbol)),
        ][:MAX_STRATEGIES]
    return state if recent == state.memory.recent_strategies else state.with_fields(lesson.at, recent_strategies=recent)
