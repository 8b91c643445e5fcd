"""The features of a person's text that rules can see: its language, numbers, symbols and words."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from agent.domain.tickers import KNOWN_IN_LOWER_CASE, NAMES, without_dotted_abbreviations
from contracts.expressions import expression
from contracts.languages import MAX_CHARS_READ, Language, detected_language


def word_set(text: str) -> frozenset[str]:
    """The words of a text, each once."""
    return frozenset(text.split())


_CRYPTO = expression(r"\b(BTC|ETH|SOL|ADA|XRP)(?:[/-]?(USDT?))?\b", re.IGNORECASE)
_TICKER = expression(r"(?<![\w/&'’])\$?([A-Z]{1,5}(?:\.[A-Z])?)(?![\w/&]|['’](?!s\b))")
"""A whole word; neither the C of Cómo nor a letter of P/E or I'm."""
_NO_TICKERS = word_set(
    "I A THE AND OR FOR IS IT MY OK USD EUR MXN AI IA FAQ PRO EL LA LOS LAS UN UNA DE DEL QUE Y O EN ES MI SI NO POR "
    "CON PARA HOLA HI WHAT HOW API TV PC US UK EU ETF CEO ML PDF "
    "RSI MACD BB SMA EMA ATR VWAP OBV ADX EPS ROI IPO PER BPA PIB IPC EE UU NYSE NASDAQ"
)
_NUMBER = expression(r"\d[\d.,]*(?:\s?[kK]\b)?")
_WORD = expression(r"[^\W_]+")
_NAME_OR_WORD = expression(rf"(?<!\w)(?:{'|'.join(map(re.escape, NAMES))})(?!\w)|{_WORD.pattern}")
"""A well-known name, or a word."""
_STOP_WORDS = word_set(
    "what which how much many does do did is are was the a an of for to in on at and or it its you your my me i can "
    "please tell about have has there any with from by that this que cual cuales cuanto cuanta cuantos como donde "
    "cuando el la los las un una unos unas de del al en y o es son esta estan por para con me mi tu su sus se lo le "
    "hay tiene tienen puedo quiero saber"
)


def language_of(text: str, default: Language) -> Language:
    """The language of a text; the default if it cannot be recognised."""
    return detected_language(text) or default


def language_last_shown(texts: Iterable[str], default: Language) -> Language:
    """The language of the first text, newest first, in which one can be recognised: "now" continues in that of the
    previous answer. Only the beginning of each text is read."""
    for text in texts:
        if (shown := detected_language(text[:MAX_CHARS_READ])) is not None:
            return shown
    return default


def plain(text: str) -> str:
    """Lower case, without accents."""
    lowered = text.lower()
    if lowered.isascii():
        return lowered
    return "".join(c for c in unicodedata.normalize("NFD", lowered) if not unicodedata.combining(c))


def symbols_in(text: str, most: int = 3) -> list[str]:
    """Tickers, crypto pairs and well-known names, each once."""
    text = without_dotted_abbreviations(text)
    symbols: dict[str, None] = {}
    for match in _CRYPTO.finditer(text):
        symbols.setdefault(f"{match[1].upper()}/USD")
    covered = _CRYPTO.sub(" ", text)
    for match in _TICKER.finditer(covered):
        if match[1] not in _NO_TICKERS:
            symbols.setdefault(match[1])
    for word in _NAME_OR_WORD.findall(covered.lower()):
        if (name := word if word in NAMES else word[:-1] if len(word) > len("metas") else "") in NAMES and (
            name == word or word.endswith("s")
        ):
            symbols.setdefault(NAMES[name])
        elif word.upper() in KNOWN_IN_LOWER_CASE:
            symbols.setdefault(word.upper())
    return list(symbols)[:most]


def symbols_before(texts: Sequence[str]) -> list[str]:
    """The symbols in the newest text that names any."""
    return next((symbols for text in reversed(texts) if (symbols := symbols_in(text))), list[str]())


def number_of(text: str, *, point: bool = False) -> float:
    """The value of 10,000.50, 10.000,50 or 10k. `point`: a dot is always a decimal point, as in English: 1.000 is
    one."""
    thousand = 1000.0 if text[-1] in "kK" else 1.0
    digits = text.rstrip("kK ").rstrip(".,")
    last = max(digits.rfind("."), digits.rfind(","))
    if last < 0:
        return float(digits) * thousand
    tail = digits[last + 1 :]
    # A single separator after one to three digits (no leading zero) and before exactly three separates thousands; any
    # other last separator is the decimal point.
    grouped = len(tail) == 3 and re.fullmatch(r"[1-9]\d{0,2}", digits[:last]) is not None
    grouped &= not (point and digits[last] == ".")
    if grouped or digits.count(digits[last]) > 1:
        return float(re.sub(r"[.,]", "", digits)) * thousand
    return float(re.sub(r"[.,]", "", digits[:last]) + "." + tail) * thousand


def numbers_in(text: str, *, point: bool = False) -> list[tuple[int, float]]:
    """(position, value) of every number in the text. `point`: as in `number_of`."""
    return [(match.start(), number_of(match[0], point=point)) for match in _NUMBER.finditer(text)]


def whole_number(text: str) -> float | None:
    """The value of a text that is one number, with or without sign and currency; None for other texts."""
    digits = text.strip("+-$€ ")
    return number_of(digits) if _NUMBER.fullmatch(digits) else None


def stems(text: str) -> set[str]:
    """The stems of the text's significant words, without accents."""
    return {stem(word) for word in _WORD.findall(plain(text)) if word not in _STOP_WORDS and len(word) > 1}


def is_one_letter_apart(word: str, other: str) -> bool:
    """Whether two words differ by one letter: another, one more, one less, or two neighbours swapped."""
    if abs(len(word) - len(other)) > 1:
        return False
    start = next(
        (index for index, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other))
    )
    a, b = word[start:], other[start:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[:2] == b[1::-1] and len(a) > 1 and a[2:] == b[2:])


_LONG_NAMES = tuple(name for name in NAMES if name.isalpha() and len(name) >= 8)


def long_names_like(word: str) -> list[str]:
    """The long names of companies that begin with the word's first letter and differ by at most two letters."""
    return [
        name for name in _LONG_NAMES if name[0] == word[0] and abs(len(name) - len(word)) < 2 and _is_near(word, name)
    ]


def _is_near(word: str, other: str) -> bool:
    start = next((index for index, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), len(other))
    a, b = word[start:], other[start:]
    corrected = ((a[1:], b[1:]), (a[1:], b), (a, b[1:]), (a[1::-1] + a[2:], b))
    return any(is_one_letter_apart(rest, other_rest) for rest, other_rest in corrected)


def is_transposed(word: str, other: str) -> bool:
    """Whether two words only differ by two swapped neighbouring letters."""
    return word != other and sorted(word) == sorted(other) and is_one_letter_apart(word, other)


_ENDINGS = (
    "amientos", "imientos", "aciones", "iciones", "amiento", "imiento",
    "ments", "ment", "acion", "icion", "ieron", "iendo", "mente", "ando",
    "aron", "amos", "emos", "imos", "asteis", "isteis", "areis", "ereis", "ireis", "ais", "eis", "ados",
    "adas", "idos", "idas", "ado", "ada", "ido", "ida", "aba", "ing", "ies",
    "ied", "ed", "ar", "er", "ir", "es", "as", "os", "an", "en", "s", "a", "o", "e", "y",
)  # fmt: skip
"""Endings of verbs and nouns, es and en, longest first."""
_ATTACHED_PRONOUN = expression(r"(?<=[a-z]{2})([aei]r)(?:me|te|se|nos|os|l[oae]s?|sel[oa]s?|mel[oa]s?)$")
"""Spanish pronouns attached to an infinitive: pedirla, apuntarme."""
_SECOND_PERSON_PLURAL = expression(r"(?<=[a-z]{2})(?<!st)([ae])is$")


def bare_verb(word: str) -> str:
    """The Spanish infinitive of one with attached pronouns, or of a second person plural: hacerme, traerlo, usáis."""
    return _SECOND_PERSON_PLURAL.sub(r"\1r", _ATTACHED_PRONOUN.sub(r"\1", word))


_ENDINGS_AFTER_ANOTHER = ("s", "es", "ed", "ing", "y")


_WITHOUT_VOWEL_CHANGE = frozenset(("lueg", "buen"))
"""What is left of luego and bueno: with the vowel changed, it would be that of logo and bono."""


@lru_cache(maxsize=8_192)
def stem(word: str) -> str:
    """The word without its endings. pesa and peso have one stem, as have mix, mixed and mixing."""
    word = bare_verb(word)
    for _ in range(2):
        ending = next(
            (candidate for candidate in _ENDINGS if word.endswith(candidate) and len(word) - len(candidate) >= 3), ""
        )
        if word.endswith("ss") or not ending:
            break
        word = word[: -len(ending)]
        if ending not in _ENDINGS_AFTER_ANOTHER and not (ending == "e" and word.endswith("s")):
            break  # course is one with courses, which lose "es" and the "s" before it
    # Verbs with a changing vowel: prueba and probar, cierra and cerrar.
    return word if word in _WITHOUT_VOWEL_CHANGE else word.replace("ue", "o").replace("ie", "e")


def is_plain_yes(text: str) -> bool:
    """Whether the text is a plain yes."""
    return bool(
        re.fullmatch(r"\W*(?:yes|yeah|yep|sure|ok(?:ay)?|please|si|claro|vale|dale|por favor|[, ])+\W*", plain(text))
    )


def within_fence(text: str, fence: str) -> str:
    """A foreign text, changed so that it cannot close the fence around it, in upper or lower case."""
    return re.sub(rf"<(?=\s*/\s*{fence})", "< ", text, flags=re.IGNORECASE)


def one_line(text: str, most: int = 400) -> str:
    """A foreign text on one line, of at most `most` characters, so that it cannot imitate a layer or a section."""
    return " ".join(text.split())[:most]
