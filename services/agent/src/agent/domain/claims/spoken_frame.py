"""Removes numbers and words of a chat sentence that are no figure of a ticker.

These are yes or no, the ends of a scale ("from -1 to 1"), a yardstick ("an RSI above 70") and a day without its month.
Models that explain something use all of them.
"""

import re

from contracts.calendar_names import MONTHS
from contracts.expressions import expression

_ANSWER = expression(
    r"^\W*(?:no|yes|s[ií]|not (?:really|quite|yet|exactly)|todav[ií]a no|a[uú]n no|no del todo)\s*[.,:;!—–-]+\s+", re.I
)
_SCALE = expression(
    r"(?:\bon a (?:scale|range)|\ben una escala)? ?\b(?:from|of|between|de|entre) [-−]1(?:[.,]0)? (?:to|and|a|y) "
    r"\+?1(?:[.,]0)?\b|\bon a (?:scale|range) (?:from|of) \d+ to \d+\b|\ben una escala de(?: \w+)? \d+ a \d+\b",
    re.I,
)
_YARDSTICK = expression(
    r"\b(?:an? (?:\w+ ){0,2}(?:rsi|adx)|un (?:\w+ )?(?:rsi|adx)|readings?|values?|levels?|anything|valores?|lecturas?|"
    r"niveles|se (?:suele|considera|habla)[^.;,]{0,40}?|usually|typically|commonly) (?:above|over|below|under|beyond|"
    r"por encima de|por debajo de|a partir de|superior(?:es)? a|inferior(?:es)? a|m[aá]s de|menos de|de) (?:20|25|30|"
    r"50|70|75|80)\b(?![.,]\d|\s?%)|\b(?:nivel|umbral|level|threshold|l[ií]nea|line)(?: (?:de|of))? (?:20|25|30|50|70|"
    r"75|80)\b(?![.,]\d|\s?%)|\b(?:20|25|30|50|70|75|80) (?:level|threshold|mark|line)\b",
    re.I,
)
_MONTH = expression(rf"\b(?:{'|'.join(MONTHS)})\b", re.I)
_DAY = expression(
    r"\b(?:el|on the|the) \d{1,2}(?:st|nd|rd|th)?(?= (?:and|y|e|it|the|el|la|volvi|cerr|clos)|[,.;)]|$)", re.I
)


def without_spoken_frame(sentence: str) -> str:
    """The sentence with spaces instead of what is no claim."""
    sentence = _ANSWER.sub("", sentence, count=1)
    for pattern in (_SCALE, _YARDSTICK):
        sentence = pattern.sub(" ", sentence)
    return _DAY.sub(" ", sentence) if _MONTH.search(sentence) else sentence
