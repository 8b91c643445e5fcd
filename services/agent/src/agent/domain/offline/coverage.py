"""Finds what a question asks for and the calls that were made for it do not cover: figures, and kinds of answers.

"on which days did IBM fall over 2 %?" is answered by no look-up; an answer with its return alone would answer another
question, so the answer names these parts.
"""

import re
from datetime import date
from typing import Any, cast

from agent.domain.analysis.relative_days import THAT_PERIOD, THAT_YEAR, with_past_days
from agent.domain.analysis.stretches import BLANK, UnreadText, take_periods
from agent.domain.claims.lexer import folded
from agent.domain.offline.slots import NUMBER
from agent.domain.offline.wishes import Calls
from agent.domain.text_features import number_of, word_set
from agent.domain.tickers import NAMES
from contracts.expressions import expression

_PRICE_TOOLS = word_set("get_price market_snapshot get_performance get_ohlcv get_indicators get_correlation")
_LOOK_UPS = _PRICE_TOOLS | word_set("get_fundamentals fundamentals_events get_news get_sentiment get_ml_signals")
_KIND = expression(
    r"\b(?:(?:on )?(?:which|what) (?:days|dates|sessions|weeks|months|years)|(?:en )?que "
    r"(?:dias|fechas|sesiones|semanas|meses|anos)|how (?:often|many \w+)|cuant[oa]s \w+|"
    r"how long (?:did|has|was|does|it)|cuanto tiempo|"
    r"(?:why|por que)(?! no\b))\b"
)
"""Asks for days, counts, durations or reasons, which look-ups of prices do not tell."""
_FIGURE = expression(
    r"(?:\b(?:(?:more|less|higher|lower) than|at least|over|under|above|below|mas de|menos de|al menos|"
    r"por (?:encima|debajo) de|(?:superior(?:es)?|inferior(?:es)?|mayor(?:es)?|menor(?:es)?) (?:a|que|al|de)) )?"
    rf"(?:un )?[$€]?(?<![\w.,/])(?P<number>{NUMBER})(?P<percent> ?(?:%|per ?cent|por ?ciento))?(?![\w/])"
)
_AVERAGES = expression(r"\b(?:20|50|200)\b(?=.*\b(?:average|sma|ma|media)\b)|(?<=media de )(?:20|50|200)\b")
_INDEX_NAMES = expression("|".join(re.escape(name) for name in NAMES if any(map(str.isdigit, name))))


def uncovered_parts(question: str, calls: Calls) -> list[str]:
    """The parts of a question that no call covers, as they are written; only of look-ups in the market."""
    if not calls or not {tool for tool, _ in calls} <= _LOOK_UPS:
        return []
    unread = UnreadText(folded(with_past_days(question, date.min.replace(year=2000))))
    take_periods(unread)
    text = _INDEX_NAMES.sub(" ", _AVERAGES.sub(" ", unread.text.replace(BLANK, " ")))
    is_of_prices = {tool for tool, _ in calls} <= _PRICE_TOOLS
    patterns = (THAT_PERIOD, THAT_YEAR, *((_KIND,) if is_of_prices else ()))
    kinds = [match[0] for pattern in patterns for match in pattern.finditer(text)]
    known = [value for _, arguments in calls for value in _numbers(arguments)]
    figures = [
        match[0].strip() for match in _FIGURE.finditer(text) if number_of(match["number"], point=True) not in known
    ]
    return [*kinds, *figures]


def _numbers(arguments: dict[str, Any]) -> list[float]:
    """The numbers among a call's arguments, one level deep."""
    values = [
        item
        for value in arguments.values()
        for item in (cast("list[Any]", value) if isinstance(value, list) else [value])
    ]
    return [float(value) for value in values if isinstance(value, int | float)]
