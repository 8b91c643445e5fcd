"""Spells out chat shorthand, and mistyped words of asking and names of shares, before anything is read: "q significa
macd", "the diffrence", "microsft"."""

from functools import lru_cache

from agent.domain.number_words import with_days_in_figures
from agent.domain.offline.colloquial import in_known_words
from agent.domain.text_features import is_one_letter_apart, is_transposed, long_names_like, plain, word_set
from agent.domain.tickers import NAMES
from contracts.expressions import expression
from contracts.languages import Language

_SHORTHAND: dict[Language, dict[str, str]] = {
    "es": {
        "kiero": "quiero",
        "q": "que",
        "k": "que",
        "ke": "que",
        "xq": "por que",
        "pq": "por que",
        "tb": "también",
        "tmb": "también",
        "d": "de",
        "dl": "del",
        "pa": "para",
        "acer": "hacer",
        "aki": "aquí",
        "ste": "este",
        "ta": "está",
        "xfa": "por favor",
        "porfa": "por favor",
    },
    "en": {
        "u": "you",
        "ur": "your",
        "r": "are",
        "pls": "please",
        "plz": "please",
        "wat": "what",
        "n": "and",
        "rn": "right now",
        "2day": "today",
        "2moro": "tomorrow",
        "rm": "remove",
        "gimme": "give me",
        "lemme": "let me",
        "wanna": "want to",
        "ya": "you",
        "hv": "have",
        "mk": "make",
        "del": "delete",
        "abt": "about",
        "hows": "how's",
        "whats": "what's",
        "yday": "yesterday",
        "tmr": "tomorrow",
    },
}
_TRADING_SHORTHAND: dict[str, str] = {
    "vta": "vende",
    "cpa": "compra",
    "px": "price",
    "perf": "performance",
    "lmt": "limit",
    "lim": "limit",
    "mv": "moving",
    "er": "earnings",
    "mkt": "market",
    "acc": "acciones",
    "avg vol": "average volume",
    "vol medio": "volumen medio",
    "avg": "average",
    "sl": "stop loss",
    "mth": "month",
    "yr": "year",
    "wk": "week",
    "ords": "orders",
    "ops": "operaciones",
    "cxl": "cancel",
    "chg": "change",
    "bal": "balance",
    "divs": "dividends",
    "mktcap": "market cap",
    "lmk": "let me know",
    "rr": "risk/reward",
    "obj": "objetivo",
    "hi/lo": "high and low",
    "pos": "posiciones",
}
"""Shorthand of customers who trade, in both languages."""
_WORD = {
    # A capital is a ticker, and the k of "20 k" a thousand.
    language: expression(rf"(?<![\w$€'’/])(?<!\d )(?:{'|'.join(words)})(?![\w'’/])")
    for language, words in _SHORTHAND.items()
}
_TRADED = expression(rf"(?<![\w$€'’/])(?:{'|'.join(_TRADING_SHORTHAND)})(?![\w'’/])")
_LENGTH = expression(
    r"(?<=\d)(?:(?P<months>mo|mth)|(?P<years>y|yr)|(?P<weeks>wk)|(?P<days>(?<=[2-9])d|(?<=\d\d)d))s?(?!\w)"
)
"""After a number: 3mo, 10y."""


_NAMED = tuple(name for name in NAMES if name.isalpha() and len(name) > 4)
_ASKING = word_set(
    "what when where which much many cost difference differences different compare cheaper cheapest expensive include "
    "includes included cual cuales cuando cuanto cuanta cuantos cuantas cuesta cuestan donde quien diferencia "
    "diferencias diferente barato barata incluye incluyen incluido incluida"
)
"""Words by which it is recognised what a question asks for."""
_MIN_MISSPELT_LETTERS = 7
"""Minimum letters of a name that may have one wrong; a shorter one may only lack or double one, or have two swapped."""
_LETTERS = expression(r"(?<![\w$])[^\W\d_]{4,}(?!\w)")


def spelled_out(text: str, language: Language, *, is_trading: bool = True) -> str:
    """The text with its shorthand written as words. `is_trading` is true on a trading platform."""
    spelled = _WORD[language].sub(lambda match: _SHORTHAND[language][match[0]], text)
    if is_trading:
        spelled = with_days_in_figures(spelled)
        spelled = _LENGTH.sub(lambda match: f" {match.lastgroup}", spelled)
        spelled = in_known_words(_TRADED.sub(lambda match: _TRADING_SHORTHAND[match[0]], spelled), language)
    return _LETTERS.sub(lambda match: _asking(match[0]) or _name(match[0]), spelled)


@lru_cache(maxsize=8_192)
def _asking(word: str) -> str | None:
    """The word of asking that this word is a misspelling of; None if it is none."""
    lowered = plain(word)
    if lowered in _ASKING:
        return None
    return next(
        (
            known
            for known in sorted(_ASKING)
            if is_transposed(lowered, known)
            or (len(known) > _MIN_MISSPELT_LETTERS and lowered[0] == known[0] and is_one_letter_apart(lowered, known))
        ),
        None,
    )


@lru_cache(maxsize=8_192)
def _name(word: str) -> str:
    lowered = word.lower()
    if lowered in NAMES or lowered.endswith("s"):
        return word
    similar = [
        name
        for name in _NAMED
        if is_one_letter_apart(lowered, name)
        and (len(name) >= _MIN_MISSPELT_LETTERS or len(name) != len(lowered) or is_transposed(lowered, name))
    ]
    return next(iter(similar or long_names_like(lowered)), word)
