"""What no tool gives, whatever the figures are: multiples, differences in points, ranks by number, records, "in every
period", days told as next week; and who else did the same as "only" one did.

Text is folded: lower case, no accents.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from agent.domain.claims.claim import Claim
from agent.domain.claims.facts import Facts
from agent.domain.claims.verdicts import is_of_now, wrong

_WHOLE = r"(?:its|their|the|his|su|sus|lo|los|las|el|la)"
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "a multiple that no tool gave",
        re.compile(
            r"\b(?:doubl(?:ed|es)|tripl(?:ed|es)|quadrupl\w+|halved|twice|(?:two|three|four|five) times|\w+fold|"
            rf"half (?:of )?{_WHOLE} (?:value|price|worth)|an? (?:third|quarter|fifth|tenth) of {_WHOLE}|"
            r"(?:se )?(?:duplic|triplic|cuadruplic)(?:o|aron|ado|a|an)|(?:ha |han )?doblad[oa]|"
            rf"(?:el |la )?(?:doble|triple) (?:de|que)|la mitad (?:de|que)|"
            rf"un (?:tercio|cuarto|quinto|decimo) de {_WHOLE}|(?:dos|tres|cuatro) veces)\b"
        ),
    ),
    (
        "a difference that no tool gave",
        re.compile(
            r"\b(?:percentage points?|basis points?|puntos? (?:porcentuales?|basicos?))\b"
            r"|\b(?:outperform\w*|underperform\w*|beat(?:en|s)?|super(?:o|a|aron)|aventaj\w+|bati(?:o|eron)|bate)\b"
            r"[^.;]{0,40}?\b(?:by|en)(?: un)? \d"
        ),
    ),
    (
        "a rank that no tool gave",
        re.compile(
            r"\b(?:comes?|came|ranks?|ranked|stands?|finish\w*) (?:first|second|third|fourth|last)\b|"
            r"\b(?:in|the) (?:first|second|third|last) (?:place|rank)\b|"
            r"\bla (?:primera|segunda|tercera|ultima) (?:por|en|mas)\b"
        ),
    ),
    (
        "a record that no tool gave",
        re.compile(
            r"\b(?:at|near|close to|to|hit|set|reached|marked) (?:its|their|an?|the) (?:new |fresh )?"
            r"(?:(?:52-week|all-time|record|yearly|annual) )?(?:highs?|lows?|peak)\b(?! of)|"
            r"\brecord (?:high|low)s?\b|\ben (?:sus )?(?:maximos|minimos)\b"
        ),
    ),
    (
        "what is said of everything",
        re.compile(
            r"\b(?:every|all) (?:single )?(?:periods?|measures?|metrics?|counts?|respects?|horizons?)\b|"
            r"\ben tod[oa]s (?:los|las) (?:plazos|periodos|medidas|metricas|aspectos|horizontes)\b"
        ),
    ),
    (
        "a day that no tool gave",
        re.compile(
            r"\b(?:earnings|results|dividends?|resultados|dividendos?)\b[^.;]{0,30}"
            r"\b(?:next (?:week|month)|tomorrow|this week|"
            r"manana|la (?:semana|proxima semana)(?: que viene)?|el mes que viene)\b"
        ),
    ),
    (
        "a report that no tool gave",
        re.compile(
            r"\b(?:reported|announced|published|presento|publico|anuncio)(?: its| their| sus?)? "
            r"(?:earnings|results|resultados) (?:on|el)\b"
        ),
    ),
    (
        "a price of then that no tool gave",
        re.compile(
            r"\b(?:ago|hace (?:un|una|dos|tres|\d+))\b[^.;]{0,40}\b(?:traded|was trading|cotizaba|valia|was worth)\b|"
            r"\b(?:traded|was trading|cotizaba|valia|was worth)\b[^.;]{0,40}\b(?:ago|hace (?:un|una|dos|tres|\d+))\b"
        ),
    ),
)
_AGO = re.compile(
    r"\b(?:days?|weeks?|months?|years?) ago\b|\bhace (?:un|una|dos|tres|\d+) (?:dias?|semanas?|mes|anos?)"
)
_ONLY = re.compile(r"\b(?:only|alone|solo|unicamente|solamente)\b")
_MOVES = ("rose", "fell")


def unbacked(low: str, claims: Sequence[Claim], facts: Facts) -> list[str]:
    """What a folded sentence with claims says that no tool can have given."""
    found = [reason for reason, pattern in _KINDS if pattern.search(low)]
    if _AGO.search(low) and any(is_of_now(claim, facts) for claim in claims):
        found.append("a figure of now, told of then")
    moves = [claim for claim in claims if claim.relation in _MOVES and claim.subject is not None]
    named = {claim.subject for claim in moves}
    if (
        len({claim.relation for claim in moves}) == 1
        and _ONLY.search(low)
        and not re.search(r"\b(?:only|solo) \d", low)
    ):
        others = [name for name in facts.subjects if name not in named]
        if any(wrong(replace(claim, subject=other, number=None), facts) is None for claim in moves for other in others):
            found.append("not the only one")
    return found
