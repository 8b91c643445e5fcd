"""What a finished turn teaches about its user: from the user's own messages alone, Spanish and English."""

import re
from dataclasses import dataclass, replace
from datetime import datetime

from contracts.calendar_names import FORGETTING
from contracts.memory_rpc import Strategy
from memory.domain.long_term.concepts import concepts_of
from memory.domain.long_term.speech import own_speech, statements, unquoted
from memory.domain.mentions import mentioned
from memory.domain.profile import described, undescribed
from memory.domain.questions import questions, same, template
from memory.domain.recall.words import folded
from memory.domain.remembered import (
    FAVOURITES,
    QUESTIONS,
    STRATEGIES,
    Remembered,
    restyled,
)
from memory.domain.statements import with_statements

FAVOURITE_AFTER = 3
"""Turns that ask about a symbol before it is a favourite."""
ASKED = 200
"""Symbols that are counted."""

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
    r" does| do| es| son| hacen?)|s?he(?:'s| is| does)|they(?:'re| are| do)|[eé]l|ella) (?:(?!\b(?:and|but|y|pero|i|"
    r"yo)\b)[^.,;:])*$",
    re.I,
)
"""Of whom a style is said that is none of the writer's: "my flatmate's a day trader"."""
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
    rf"i(?:'d| would) like you to|i want you to|quiero que|prefiero que)[, ]+)*(?:{FORGETTING}\b"
    r"|(?:lo|eso|(?:the|that) (?:thing|bit|part|note)) (?:del?|sobre|about)\b.*?(?:no lo (?:recuerdes|guardes)|"
    r"olvid[ae]lo|borr[ae]lo|(?:forget|delete|scrap) it)\W*$|(?:delete|erase|clear) my memory\b|what (?:do|did|"
    r"have) you (?:know|remember)|(?:que|lo que) (?:recuerdas|sabes) (?:de|sobre) mi)"
)
_SYMBOLS = re.compile(r"\$?\b[A-Z]{1,5}\b|\b(?:btc|eth|sol|ada|xrp)\b")
_SAYS_NOTHING = concepts_of(
    "I am a we go do make switched moved changed investor trader trading hago pasé cambié soy inversor"
)


@dataclass(frozen=True, slots=True)
class FinishedTurn:
    """A finished turn: what its user wrote, and which of the symbols named there exist."""

    turn_id: str
    at: datetime
    texts: tuple[str, ...]
    known: frozenset[str]


def about_memory(text: str) -> bool:
    """Whether a text asks for something to be forgotten, or what is remembered."""
    return bool(_ABOUT_MEMORY.match(folded(text.replace("’", "'"))))


def learned(state: Remembered, lesson: FinishedTurn) -> Remembered:
    """With the lesson; the same object when it has been learned before."""
    if lesson.turn_id in state.learned:
        return state
    before = state.memory
    # What the user wants forgotten must not be learned from the very words that ask for it.
    lesson = replace(lesson, texts=tuple(text for text in lesson.texts if not about_memory(text)))
    for text in lesson.texts:
        own = unquoted(text)
        state = _style(state, own, lesson.at)
        state = with_statements(state, text, lesson.at, is_kept_in_fields)
        state = described(state, own, lesson.at)
        state = _questions(state, text, lesson.at)
        state = _strategies(state, text, lesson)
    state = _symbols(state, lesson)
    unchanged = state.memory.model_copy(update={"updated_at": before.updated_at}) == before
    return replace(state, memory=before if unchanged else state.memory).marked(lesson.turn_id)


def favoured(state: Remembered, symbol: str, source: str, now: datetime) -> Remembered:
    """With one more favourite, newest first; the same object when `source` has been learned before."""
    if source in state.learned:
        return state
    return _favourite(state, symbol, now).marked(source)


def _favourite(state: Remembered, symbol: str, now: datetime) -> Remembered:
    names = [symbol, *(name for name in state.memory.favorite_symbols if name != symbol)]
    asked = {name: count for name, count in state.asked.items() if name != symbol}
    if names == state.memory.favorite_symbols:
        return replace(state, asked=asked)
    return replace(state.changed(now, favorite_symbols=names[:FAVOURITES]), asked=asked)


def _symbols(state: Remembered, lesson: FinishedTurn) -> Remembered:
    named = dict.fromkeys(name for text in lesson.texts for name in mentioned(text) if name in lesson.known)
    for name in named:
        if name in state.memory.favorite_symbols:
            continue
        count = state.asked.get(name, 0) + 1
        if count >= FAVOURITE_AFTER:
            state = _favourite(state, name, lesson.at)
        else:
            others = [(known, n) for known, n in state.asked.items() if known != name]
            state = replace(state, asked=dict([*others, (name, count)][-ASKED:]))
    return state


def style_in(text: str) -> str | None:
    """The last style that the text names and does not leave behind; a question states none."""
    taken = [style for style, left in _styles(text) if not left]
    return taken[-1] if taken else None


def is_kept_in_fields(clause: str) -> bool:
    """Whether a clause is all style and profile, which are kept as fields of their own."""
    rest = _STYLE.sub(" ", undescribed(clause))
    return rest != clause and not _says_more(rest)


def _says_more(rest: str) -> bool:
    """Whether what is left of a clause says anything but symbols and that its writer is or does something."""
    return not concepts_of(_SYMBOLS.sub(" ", rest)) <= _SAYS_NOTHING


def _styles(text: str) -> list[tuple[str | None, bool]]:
    """Each style that is named, and whether it is left behind."""
    said = " ".join(map(own_speech, statements(text)))
    found = [(match, said[: match.start()]) for match in _STYLE.finditer(said)]
    return [
        (match.lastgroup, bool(_LEFT_BEHIND.search(before)))
        for match, before in found
        if not _SOMEBODY_ELSE.search(before)
    ]


def _style(state: Remembered, text: str, now: datetime) -> Remembered:
    """The style that the text states; none, if the present one is left behind for no other."""
    if style := style_in(text):
        return restyled(state, style, now)
    return restyled(state, None, now) if (state.memory.trading_style, True) in _styles(text) else state


def _questions(state: Remembered, text: str, now: datetime) -> Remembered:
    held = state.memory.frequent_questions
    for question in questions(text):
        asked = template(question)
        known = next((other for other in held if same(asked, other)), None)
        held = [known or asked, *(other for other in held if other != known)][:QUESTIONS]
    return state if held == state.memory.frequent_questions else state.changed(now, frequent_questions=held)


def _strategies(state: Remembered, text: str, lesson: FinishedTurn) -> Remembered:
    held = state.memory.recent_strategies
    symbols = [name for name in mentioned(text) if name in lesson.known]
    for name in dict.fromkeys(match[1].lower() for match in _STRATEGIES.finditer(text)):
        symbol = symbols[0] if symbols else None
        new = Strategy(name=name, symbol=symbol, description=" ".join(text.split())[:300], date=lesson.at.date())
        held = [new, *(old for old in held if (old.name, old.symbol) != (name, symbol))][:STRATEGIES]
    return state if held == state.memory.recent_strategies else state.changed(lesson.at, recent_strategies=held)
