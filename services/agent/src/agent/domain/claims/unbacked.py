"""What no tool gives, whatever the figures are: multiples, differences in points, ranks by number, records, "in every
period", days told as next week; and who else did the same as "only" one did.

Text is folded: lower case, no accents.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from agent.domain.claims.claim import Claim
from agent.domain.claims.facts import Facts
from agent.domain.claims.verdicts import is_difference, is_of_now, wrong

_WHOLE = r"(?:its|their|the|his|su|sus|lo|los|las|el|la)"
_APART = "a difference that no tool gave"
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
        _APART,
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
            r"\b(?:an?|its|un|su) (?:new |nuevo )?record\b|\brecord (?:high|low)s?\b|\ben (?:sus "
            r")?(?:maximos|minimos)\b"
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
        "a figure that no tool gave",
        re.compile(
            r"\b(?:adjusted|forward|operating|organic|underlying|quarterly|semi-annual) "
            r"(?:eps|earnings|p/e|pe|margins?|revenues?|sales|profits?|income)\b"
            r"|\b(?:bpa|beneficios?|margen(?:es)?|ingresos?|ventas|per) "
            r"(?:ajustad[oa]s?|operativ[oa]s?|subyacentes?|organic[oa]s?|trimestral(?:es)?|semestral(?:es)?|futur[oa]s?)\b"
        ),
    ),
    (
        "a yardstick that no tool gave",
        re.compile(
            r"\b(?:above|below|than|to|over|under|lag\w*|trail\w*|beat\w*|in|of|encima|debajo|frente|que|del?|al?) "
            r"(?:(?:the|its|their|el|la|su|sus) )?(?:wider |broader |historical |five-year |long-term |long-run )?"
            r"(?:sector|industry|market average|broader market|historical (?:average|norm|mean)|norm|peers|industria|"
            r"media historica|competidores|comparables)\b"
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
_ONLY = re.compile(
    r"\b(?:only|(?<!day )(?<!session )(?<!week )(?<!month )(?<!quarter )(?<!year )alone|solo|unicamente|"
    r"solamente|unic[oa]s?)\b"
)
_EACH = re.compile(r"\b(?:each|both|all|the (?:other )?two|cada un[oa]|ambos|ambas|(?<!de )l[oa]s (?:otr[oa]s )?dos)\b")
_MOVES = ("rose", "fell", "above", "below")
_TIMES = re.compile(
    r"\b(?:(?P<half>(?<!first )(?<!second )half (?:of|as|that|its)|halved|(?<!primera )(?<!segunda )mitad)|"
    r"(?P<two>twice|doubl(?:e|ed)|dobl(?:e|o|ad[oa])|duplic(?:o|a|ado)|two times|dos veces)|"
    r"(?P<three>tripl(?:e|ed|ico)|three times|tres veces))\b(?![- ]digit| digito)"
)
_RATIO = {"half": 0.5, "two": 2.0, "three": 3.0}
_ABOUT = 0.15
"""How far a multiple that is said in a word may be off."""
_MULTIPLE = _KINDS[0][0]
_ALIKE = re.compile(
    r"\b(?:identical|similar(?:es)?|alike|parecid[oa]s?|identic[oa]s?)\b"
    r"(?! (?:story|picture|pattern|direction|historia|patron))"
)
"""Said of figures, not of how they tell the same story."""


def _is_multiple(low: str, claims: Sequence[Claim]) -> bool | None:
    """Whether the two numbers of a sentence are that many times each other, the first of the second; None: there are
    no two, or it says no such thing."""
    numbers = list(dict.fromkeys(claim.number for claim in claims if claim.number is not None))
    match = _TIMES.search(low)
    if match is None or len(numbers) != 2 or numbers[0].percent != numbers[1].percent:
        return None
    one, other = (number.readings[0][0] * number.scale for number in numbers)
    return other != 0 and abs(one / other / _RATIO[str(match.lastgroup)] - 1) <= _ABOUT


def _differ(claims: Sequence[Claim]) -> bool:
    """Whether the figures that are told of two tickers are far apart."""
    told: dict[tuple[str, ...], set[float]] = {}
    for claim in claims:
        if claim.number is not None and claim.relation == "is":
            told.setdefault(claim.figures, set()).add(claim.number.readings[0][0] * claim.number.scale)
    return any(len(values) == 2 and max(values) > (1 + _ABOUT) * min(values) for values in told.values())


def unbacked(low: str, claims: Sequence[Claim], facts: Facts) -> list[str]:
    """What a folded sentence with claims says that no tool can have given."""
    found = [reason for reason, pattern in _KINDS if pattern.search(low)]
    multiple = _is_multiple(low, claims)
    if multiple is not None:
        found = [*(reason for reason in found if reason != _MULTIPLE), *([] if multiple else [_MULTIPLE])]
    apart = [claim for claim in claims if claim.number is not None and claim.number.points]
    if apart and all(is_difference(claim, facts) for claim in apart):
        found = [reason for reason in found if reason != _APART]
    if _ALIKE.search(low) and _differ(claims):
        found.append("they are not alike")
    if _AGO.search(low) and any(is_of_now(claim, facts) for claim in claims):
        found.append("a figure of now, told of then")
    moves = [claim for claim in claims if claim.relation in _MOVES and claim.subject is not None]
    named = {claim.subject for claim in moves}
    if (
        len({claim.relation for claim in moves}) == 1
        and _ONLY.search(low)
        and not _EACH.search(low)
        and not re.search(r"\b(?:only|solo) \d", low)
    ):
        others = [name for name in facts.subjects if name not in named]
        if any(wrong(replace(claim, subject=other, number=None), facts) is None for claim in moves for other in others):
            found.append("not the only one")
    return found
