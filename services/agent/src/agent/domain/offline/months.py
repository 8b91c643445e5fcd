"""Whether a month of a question is within the months that a text names: December in "November to March".

Spanish and English.
"""

import re

from agent.domain.offline.shapes import A_MONTH
from agent.domain.text_features import plain
from contracts.expressions import expression

_NAMES = re.findall(r"[a-z]{3,}", A_MONTH.pattern)
_YEAR = 12
_RANGE = expression(
    rf"\b(?P<first>{A_MONTH.pattern})(?: ?[-–] ?| (?:to|until|till|through|a|al|hasta) )"
    rf"(?:the end of |finales de )?(?P<last>{A_MONTH.pattern})\b"
)


def covers_month(question: str, text: str) -> bool:
    """Whether a text names a range of months with every month of the question in it."""
    months = [_number(match[0]) for match in re.finditer(rf"\b(?:{A_MONTH.pattern})\b", plain(question))]
    ranges = [(_number(match["first"]), _number(match["last"])) for match in _RANGE.finditer(plain(text))]
    return bool(months) and all(any(_is_between(month, *bounds) for bounds in ranges) for month in months)


def _number(name: str) -> int:
    return _NAMES.index(name) % _YEAR


def _is_between(month: int, first: int, last: int) -> bool:
    return (month - first) % _YEAR <= (last - first) % _YEAR
