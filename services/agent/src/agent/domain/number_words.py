"""Reads numbers in words, in Spanish and English: ten thousand, 20 mil, half a million, one hundred and twenty,
doce. The text is plain: lower case, no accents."""

import re
from collections.abc import Iterable

from agent.domain.text_features import number_of, plain
from contracts.calendar_names import MONTHS, NUMBERS
from contracts.expressions import expression

_UNITS = {**{word: number for word, number in NUMBERS.items() if 0 < number < 10}, "un": 1, "una": 1}
_TEENS = {
    **{word: number for word, number in NUMBERS.items() if 10 <= number < 20},
    **{f"veinti{word}": 20 + number for word, number in _UNITS.items()},
}
_TENS = {word: number for word, number in NUMBERS.items() if 20 <= number < 100}
_HUNDREDS = {"cien": 100, "ciento": 100} | {
    f"{stem}ient{ending}s": number
    for stem, number in {"dosc": 200, "tresc": 300, "cuatroc": 400, "quin": 500, "seisc": 600, "setec": 700,
                         "ochoc": 800, "novec": 900}.items()
    for ending in "oa"
}  # fmt: skip
_COUNTS = {**_UNITS, **_TEENS, **_TENS, **_HUNDREDS, "half": 0.5, "medio": 0.5}
_SCALES = {"k": 1e3, "thousand": 1e3, "grand": 1e3, "mil": 1e3} | dict.fromkeys(
    ("m", "million", "millions", "millon", "millones"), 1e6
)


def _one_of(words: Iterable[str]) -> str:
    return rf"(?:{'|'.join(sorted(words, key=len, reverse=True))})"


DIGITS = r"\d(?:[\d.,]{0,20}\d)?"
_UNIT = _one_of(set(_UNITS) - {"un", "una"})
BELOW_100 = rf"(?:{_one_of(_TENS)}(?:(?:[- ]| y ){_one_of(_UNITS)})?|{_one_of(_TEENS)}|{_UNIT})\b"
"""Numbers in words, without un and una, which are also articles."""
_HUNDRED = (
    rf"(?:{_one_of(set(_HUNDREDS) - {'ciento'})}|(?<!por )ciento|(?:(?:{_UNIT}|{_one_of(_TEENS)}|{DIGITS}) )?hundred)\b"
    rf"(?:(?: and)? {BELOW_100})?"
)
_SCALE = rf"(?:{_one_of(set(_SCALES) - {'k', 'm'})}\b)"
_SCALED = rf"(?:(?:{DIGITS} ?|(?:half an?|medio|{_HUNDRED}|{BELOW_100}) ))?{_SCALE}(?: {_SCALE})?"
LARGE = rf"(?:{_SCALED}(?: {_SCALED})?(?:(?: and)? (?:{_HUNDRED}|{BELOW_100}))?|{_HUNDRED})"
"""Numbers from a hundred on that are at least partly in words."""
_NO_COUNT = r"(?! (?:month|mes|day|dia|week|semana|year|ano|hour|hora|order|orden))"
_NUMBER = expression(rf"(?<![\w.,-])(?:(?>{LARGE})(?! \d)|(?>{BELOW_100}){_NO_COUNT})")
_MAX_COUNT_WORD = 12
"""Smaller numbers often count something else: one of them, two orders."""
_PERCENT = expression(rf"\b({BELOW_100}(?: y medio| and a half)?|half an?|medio|una?) (?:per ?cent|por ?ciento|%)")
_COUNTED = expression(
    rf"(?<![\w.,-])(?<!other )(?<!first )(?<!second )(?<!third )(?<!last )(?<!that )(?<!this )"
    rf"(?!one (?:(?:to|at|for) )?[$€]?\d)"
    rf"(?>(?:(?P<half>half (?:an? )?|media )|(?P<dozens>{BELOW_100}) |an? |una )?(?P<dozen>dozen|docenas?)\b"
    rf"|{BELOW_100}|una\b){_NO_COUNT}"
)


def value_of(words: str) -> float:
    """The value of a number in digits, words or both; 0 if it is no number."""
    total = current = 0.0
    for part in re.findall(rf"{DIGITS}|[a-z]+", words):
        if part[0].isdigit():
            current = number_of(part)
        elif part == "hundred":
            current = (current or 1) * 100
        elif _SCALES.get(part) == 1e3:
            total, current = total + (current or 1) * 1e3, 0.0
        elif part in _SCALES:
            total, current = (total + current or 1) * _SCALES[part], 0.0
        else:
            current += _COUNTS.get(part, 0)
    return total + current


_FIRST_DAYS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
)
_ORDINALS = {word: number for number, word in enumerate(_FIRST_DAYS.split(), 1)}
_DAYS = {
    **_ORDINALS, "thirtieth": 30, "thirty first": 31, "primero": 1,
    **{f"twenty {word}": 20 + number for word, number in _ORDINALS.items() if number < 10},
}  # fmt: skip
_MAX_DAY = 31
_MONTH = _one_of(MONTHS)
_DAY = _one_of(_DAYS).replace(" ", "[ -]")
_DAY_OF_MONTH = expression(
    rf"\b(?:(?:the )?(?P<day>{_DAY})(?P<of> (?:day )?of | de )(?={_MONTH}\b)|(?P<es>{BELOW_100})(?= de {_MONTH}\b)|"
    rf"(?<=\b)(?P<month>{_MONTH}) (?:the )?(?P<after>{_DAY})\b(?! (?:half|week|quarter)))"
)


def with_days_in_figures(text: str) -> str:
    """Writes the days of a month in a text as digits: the first of August. Everything else stays as written."""
    normalized = plain(text)
    if len(normalized) != len(text):
        return text
    for match in reversed(list(_DAY_OF_MONTH.finditer(normalized))):
        if match["es"]:
            number, suffix = int(value_of(match["es"])), ""
        else:
            number, suffix = _DAYS[(match["day"] or match["after"]).replace("-", " ")], match["of"] or ""
        if 1 <= number <= _MAX_DAY:
            month = f"{text[match.start('month') : match.end('month')]} " if match["month"] else ""
            text = f"{text[: match.start()]}{month}{number}{suffix}{text[match.end() :]}"
    return text


def large_in_figures(text: str) -> str:
    """Writes numbers above twelve and percentages as digits: 20 mil, two hundred, one percent."""
    text = _NUMBER.sub(_large_number_text, text)
    return _PERCENT.sub(lambda match: f"{_digits(value_of(match[1]))} %", text)


def in_figures(text: str) -> str:
    """Writes all counts as digits too: three shares, a dozen."""
    return _COUNTED.sub(_count_text, large_in_figures(text))


_AFTER_AN_ARTICLE = ("hundred", "thousand", "million")
"""Numbers that follow an article if there is one of them: a hundred and ninety."""


def with_large_figures(text: str) -> str:
    """Writes numbers above twelve and dozens as digits: half a dozen. Everything else stays as written."""
    normalized = plain(text)
    if len(normalized) != len(text):
        return text
    replacements = {(match.start(), match.end()): _large_number_text(match) for match in _NUMBER.finditer(normalized)}
    dozens = [match for match in _COUNTED.finditer(normalized) if match["dozen"]]
    replacements |= {(match.start(), match.end()): _count_text(match) for match in dozens}
    for (start, end), figures in sorted(replacements.items(), reverse=True):
        if figures[0].isdigit():
            start -= 2 if normalized[:start].endswith(" a ") and normalized.startswith(_AFTER_AN_ARTICLE, start) else 0
            text = text[:start] + figures + text[end:]
    return text


def _large_number_text(match: re.Match[str]) -> str:
    value = value_of(match[0])
    return _digits(value) if value > _MAX_COUNT_WORD else match[0]


def _count_text(match: re.Match[str]) -> str:
    if not match["dozen"]:
        return _digits(value_of(match[0]))
    return _digits(6 if match["half"] else (value_of(match["dozens"] or "") or 1) * 12)


def _digits(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
