"""Checks the order in which a sentence ranks three tickers or more ("Apple comes first, followed by Google and IBM"),
and which of two reports first."""

from collections.abc import Sequence
from itertools import pairwise

from agent.domain.claims.facts import Facts
from agent.domain.claims.lexer import Token
from agent.domain.claims.values import value_of
from contracts.expressions import expression

RANKING = expression(
    r"\b(?:(?:pecking )?order|rank(?:s|ed|ings?)?|followed by|then come|orden(?:ad[oa]s)?|clasificacion(?:es)?|ranking|"
    r"seguid[oa]s? (?:de|por)|por este orden)\b"
)
"""Words that say that tickers are named in the order of a figure."""
_ASCENDING = expression(
    r"\b(?:from (?:the )?(?:lowest|least|smallest|weakest|worst|cheapest|calmest)|ascending|increasing|"
    r"de menor a mayor|de menos a mas|de peor a mejor|ascendente|creciente)\b"
)


_REPORTS_FIRST = expression(
    r"\b(?:reports?|(?:due|set) to report|presenta|publica|anuncia)(?: (?:its|sus|las|los))?"
    r"(?: (?:earnings|results|resultados|cuentas))? (?:(?:before|ahead of|(?:earlier|sooner) than|antes (?:que|de))|"
    r"(?P<later>after|later than|despues (?:que|de)))(?= (?:that of )?\S+\W*$)"
)


def is_report_order_right(folded_text: str, tokens: Sequence[Token], facts: Facts) -> bool | None:
    """Whether one of two tickers reports before, or after, the other, as a sentence says; None if it does not say so
    of two tickers."""
    tickers = [token.value for token in tokens if token.kind == "ticker"]
    match = _REPORTS_FIRST.search(folded_text)
    if match is None or len(tickers) != 2:
        return None
    days = [
        next((str(fact.value) for fact in facts.facts if (fact.subject, fact.figure) == (ticker, _EARNINGS)), "")
        for ticker in (tickers if match["later"] is None else reversed(tickers))
    ]
    return all(days) and "None" not in days and days[0] < days[1]


_EARNINGS = "next_earnings_date"


def is_order_right(folded_text: str, tokens: Sequence[Token], question_period: str | None, facts: Facts) -> bool | None:
    """Whether three or more tickers are in the order of the figure that the sentence names, or else of their returns.
    None if it ranks no tickers or a value is not known. If neither it nor the question names a period, it is enough
    that the order is right in one."""
    tickers = list(dict.fromkeys(token.value for token in tokens if token.kind == "ticker"))
    if len(tickers) < 3 or not RANKING.search(folded_text):
        return None
    figures = [token.value for token in tokens if token.kind == "figure"]
    superlative = next((token for token in tokens if token.kind in ("highest", "lowest") and token.value), None)
    figure = (superlative.value,) if superlative else figures[0] if figures else ("return",)
    is_ascending = bool(_ASCENDING.search(folded_text)) or (superlative is not None and superlative.kind == "lowest")
    periods = [token.value for token in tokens if token.kind == "period"][:1] or [question_period] * bool(
        question_period
    )
    for period in periods or sorted({fact.period or "" for fact in facts.facts}):
        values = [value_of(facts, ticker, figure, [period]) for ticker in tickers]
        known = [value for value in values if value is not None]
        if len(known) == len(tickers):
            if all(
                (value < next_value) if is_ascending else (value > next_value) for value, next_value in pairwise(known)
            ):
                return True
        elif periods:
            return None
    return False
