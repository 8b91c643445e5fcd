"""Compares the age of the person in a question with the ages that a sentence or a table row is for.

"Can my 4-year-old join?" leaves out the row "7 to 10 years". Spanish and English.
"""

import re

from agent.domain.number_words import in_figures
from agent.domain.offline.constraints import AGE
from agent.domain.text_features import plain
from contracts.expressions import expression

_NUMBER = r"(?<![\d.,:£€$])\d{1,2}(?!\d|[.,:]\d| ?(?:%|€|£|\$|eur|usd))"
_FOR_AGES = expression(
    r"\b(?:years?|anos?|ages?|aged|edad\w*|child\w*|kids?|nin[oa]s?|adolescentes?|teens?|young|jovenes|joven|seniors?|"
    r"menor(?:es)?|mayor(?:es)?|baby|babies|bebes?|toddlers?|students?)\b"
)
_BETWEEN = expression(rf"(?P<least>{_NUMBER}) ?(?:-|–|a|to|and|y) ?(?P<most>{_NUMBER})")
_BELOW = expression(
    rf"\b(?:under|below|younger than|menor(?:es)? de|menos de)(?: the age of| los)? (?P<most>{_NUMBER})"
)
_FROM = expression(
    rf"\b(?:over|above|older than|from|mayor(?:es)? de|mas de|desde|a partir de)(?: the age of| los)? "
    rf"(?P<least>{_NUMBER})|"
    rf"(?P<or_more>{_NUMBER}) ?(?:\+|(?:years )?(?:and|or) (?:over|older)|anos o mas)"
)
_MONTHS = expression(r"\bm(?:onths?|es(?:es)?)\b")
_BABY = expression(r"\b(?:baby|babies|bebes?|newborns?|infants?)\b")
_MAX_AGE = 150
"""The upper bound of an age without one, in years."""


def is_for_age(question: str, text: str) -> bool:
    """Whether a text applies to somebody of the age that the question states; a text without ages applies to all."""
    normalized_question = in_figures(plain(question))
    stated = AGE.search(normalized_question)
    number = re.search(r"\d{1,2}", stated[0]) if stated else None
    youngest, oldest = (
        (int(number[0]), int(number[0])) if number else (0, 1) if _BABY.search(normalized_question) else (0, _MAX_AGE)
    )
    normalized_text = in_figures(plain(text))
    name = normalized_text.partition(":")[0]
    has_ages = _FOR_AGES.search(normalized_text) or any(bound.fullmatch(name) for bound in (_BELOW, _FROM, _BETWEEN))
    if (stated and _MONTHS.search(stated[0])) or not has_ages:
        return True
    bounds = [(int(match["least"]), int(match["most"])) for match in _BETWEEN.finditer(normalized_text)]
    remainder = _BETWEEN.sub(" ", normalized_text)
    bounds += [(0, int(match["most"]) - 1) for match in _BELOW.finditer(remainder)]
    bounds += [(int(match["least"] or match["or_more"]), _MAX_AGE) for match in _FROM.finditer(remainder)]
    return not bounds or any(least <= oldest and youngest <= most for least, most in bounds)
