"""Checks the order in which a sentence ranks three tickers or more: "Apple comes first, followed by Google and IBM"."""

import re
from collections.abc import Sequence
from itertools import pairwise

from agent.domain.claims.facts import Facts
from agent.domain.claims.lexer import Token
from agent.domain.claims.values import value_of

RANKING = re.compile(
    r"\b(?:(?:pecking )?order|rank(?:s|ed|ings?)?|followed by|then come|orden(?:ad[oa]s)?|clasificacion(?:es)?|ranking|"
    r"seguid[oa]s? (?:de|por)|por este orden)\b"
)
"""What says that tickers are named in the order of a figure."""
_ASCENDING = re.compile(
    r"\b(?:from (?:the )?(?:lowest|least|smallest|weakest|worst|cheapest|calmest)|ascending|increasing|"
    r"de menor a mayor|de menos a mas|de peor a mejor|ascendente|creciente)\b"
)


def is_order_right(low: str, tokens: Sequence[Token], asked: str | None, facts: Facts) -> bool | None:
    """Whether three tickers or more stand in the order of the figure that the folded sentence names, or else of their
    returns; None: it ranks nobody, or a figure of one of them is not known. Where no period is said or asked about, one
    in which it is so is enough."""
    tickers = list(dict.fromkeys(token.value for token in tokens if token.kind == "ticker"))
    if len(tickers) < 3 or not RANKING.search(low):
        return None
    figures = [token.value for token in tokens if token.kind == "figure"]
    named = next((token for token in tokens if token.kind in ("highest", "lowest") and token.value), None)
    figure = (named.value,) if named else figures[0] if figures else ("return",)
    upwards = bool(_ASCENDING.search(low)) or (named is not None and named.kind == "lowest")
    said = [token.value for token in tokens if token.kind == "period"][:1] or [asked] * bool(asked)
    for period in said or sorted({one.period or "" for one in facts.facts}):
        found = [value_of(facts, one, figure, [period]) for one in tickers]
        known = [value for value in found if value is not None]
        if len(known) == len(tickers):
            if all((one < other) if upwards else (one > other) for one, other in pairwise(known)):
                return True
        elif said:
            return None
    return False
