"""Finds statements that no tool can prove, by their words.

These are multiples, differences in points, ranks by number, records, "in every period", "next week", and "only one of
them did". Some are checked against the claims all the same: "twice as much" of two numbers. All text is folded.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

from agent.domain.claims.claim import Claim
from agent.domain.claims.facts import Facts
from agent.domain.claims.lexer import Token
from agent.domain.claims.sentence_patterns import OVERBOUGHT_OR_OVERSOLD
from agent.domain.claims.times import COUNT, YEAR, count_of, length_of
from agent.domain.claims.values import value_of
from agent.domain.claims.verdicts import is_difference, is_of_now, unbacked_reason
from contracts.calendar_names import NUMBERS
from contracts.expressions import expression

_ENDMOST = r"best|worst|(?:strong|weak|high|low|large|bigg|small|steep|deep)est|mejor|peor|mayor|menor"
_WHOLE = r"(?:its|their|the|his|su|sus|lo|los|las|el|la)"
_APART = "a difference that no tool gave"
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "a multiple that no tool gave",
        expression(
            r"\b(?:doubl(?:ed|es)|tripl(?:ed|es)|quadrupl\w+|halved|twice|"
            r"(?:two|three|four|five|six|seven|eight|nine|ten) times(?! (?:its |trailing )?earnings)|\w+fold|"
            rf"half (?:of )?{_WHOLE} (?:value|price|worth)|an? (?:third|quarter|fifth|tenth) of {_WHOLE}|"
            r"(?:se )?(?:duplic|triplic|cuadruplic)(?:o|aron|ado|a|an)|(?:ha |han )?doblad[oa]|"
            rf"(?:el |la )?(?:doble|triple) (?:de|que)|la mitad (?:de|que)|"
            rf"un (?:tercio|cuarto|quinto|decimo) de {_WHOLE}|(?:dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez) "
            r"veces(?! (?:sus |los )?beneficios?))\b"
        ),
    ),
    (
        _APART,
        expression(
            r"\b(?:percentage points?|basis points?|puntos? (?:porcentuales?|basicos?))\b"
            r"|\b(?:outperform\w*|underperform\w*|beat(?:en|s)?|super(?:o|a|aron)|aventaj\w+|bati(?:o|eron)|bate)\b"
            r"[^.;]{0,40}?\b(?:by|en)(?: un)? \d"
        ),
    ),
    (
        "a sum that no tool gave",
        expression(
            r"\b(?:(?:the (?:other )?(?:two|three|four|others)|all (?:others|of them)|the rest) (?:combined|together|"
            r"put together)|(?:l[oa]s (?:otr[oa]s|demas|dos|tres|cuatro)(?: dos| tres| cuatro)?|el resto) (?:junt|"
            r"sumad|combinad)[oa]s?)\b"
        ),
    ),
    (
        "a rank that no tool gave",
        expression(
            r"\b(?:comes?|came|ranks?|ranked|stands?|finish\w*) (?:first|second|third|fourth|last)\b|\b(?:in|the) "
            r"(?:first|second|third|last) (?:place|rank)\b|\bla (?:primera|segunda|tercera|ultima) (?:por|en|mas)\b"
        ),
    ),
    (
        "a record that no tool gave",
        expression(
            r"\b(?:all-time|record|historic(?:al)?) (?:highs?|lows?|peak)\b|\b(?:an?|its|un|su) (?:new |nuevo "
            r")?record\b|\b(?:maximos?|minimos?) historicos?\b|\b(?:in|of) its history\b|\bde su historia\b|\bever\b|"
            rf"\b(?:{_ENDMOST}) (?:\w+ ){{0,3}}(?:(?:since|desde) (?:the |el |la )?(?:{YEAR}|\w*crisis|pandemi\w+)|"
            rf"(?:in|en) (?:over |more than |mas de |almost |nearly |casi )?(?:a|un|una|{COUNT}) (?:years|decades?|"
            rf"anos|decadas?))\b"
        ),
    ),
    (
        "what is said of everything",
        expression(
            r"\b(?:every|all) (?:single )?(?:periods?|measures?|metrics?|counts?|respects?|horizons?)\b|"
            r"\ben tod[oa]s (?:los|las) (?:plazos|periodos|medidas|metricas|aspectos|horizontes)\b"
        ),
    ),
    (
        "a figure that no tool gave",
        expression(
            r"\b(?:adjusted|forward|operating|organic|underlying|quarterly|semi-annual) (?:eps|earnings|p/e|pe|"
            r"margins?|revenues?|sales|profits?|income)\b|\b(?:bpa|beneficios?|margen(?:es)?|ingresos?|ventas|"
            r"per) (?:ajustad[oa]s?|operativ[oa]s?|subyacentes?|organic[oa]s?|trimestral(?:es)?|semestral(?:es)?|"
            r"futur[oa]s?)\b"
        ),
    ),
    (
        "a yardstick that no tool gave",
        expression(
            r"\b(?:above|below|than|to|over|under|lag\w*|trail\w*|beat\w*|in|of|for|para|encima|debajo|frente|que|"
            r"del?|al?) (?:(?:the|its|their|el|la|su|sus) )?(?:wider |broader |historical |five-year |long-term |"
            r"long-run )?(?:sector|industry|market average|broader market|historical (?:average|norm|mean)|norm|peers|"
            r"industria|media historica|competidores|comparables)\b"
        ),
    ),
    (
        "a day that no tool gave",
        expression(
            r"\b(?:earnings|results|dividends?|resultados|dividendos?)\b[^.;]{0,30}\b(?:next (?:week|month)|tomorrow|"
            r"this week|manana|la (?:semana|proxima semana)(?: que viene)?|el mes que viene)\b"
        ),
    ),
    (
        "a report that no tool gave",
        expression(
            r"\b(?:reported|announced|published|presento|publico|anuncio)(?: its| their| sus?)? (?:earnings|results|"
            r"resultados) (?:on|el)\b|\b(?:earnings|results|resultados)\b[^.;]{0,40}\b(?:(?:were|was) (?:published|"
            r"released|reported|announced)|(?:se|fueron) (?:publica|presenta|anuncia)\w+) (?:on|el)\b"
        ),
    ),
    (
        "a price of then that no tool gave",
        expression(
            r"\b(?:ago|hace (?:un|una|dos|tres|\d+))\b[^.;]{0,40}\b(?:traded|was trading|cotizaba|valia|was worth)\b|"
            r"\b(?:traded|was trading|cotizaba|valia|was worth)\b[^.;]{0,40}\b(?:ago|hace (?:un|una|dos|tres|\d+))\b"
        ),
    ),
)
_AT_EXTREME = expression(
    r"\b(?:at|near|close to|(?<!er )(?<!est )(?<!gap )to|hit|set|reached|marked|en|cerca de) (?:its|their|an?|the|sus?|"
    rf"el|la)? ?(?:new |fresh |very )?(?:(?:52-week|one-year|12-month|yearly|annual|(?P<count>{COUNT})-"
    r"(?P<unit>day|week|month|year)) )?(?:(?P<high>highs?|peak|maximos?|"
    r"(?:top|parte alta) (?:of|de))|lows?|minimos?|(?:bottom|parte baja) (?:of|de))\b(?! of)"
)
_AGO = expression(
    r"\b(?:days?|weeks?|months?|years?) ago\b|\bhace (?:un|una|dos|tres|\d+) (?:dias?|semanas?|mes|anos?)"
)
_ONLY_ONE = expression(
    r"\b(?:only|(?<!day )(?<!session )(?<!week )(?<!month )(?<!quarter )(?<!year )alone|solo|unicamente|"
    r"solamente|unic[oa]s?)\b"
)
_EACH = expression(r"\b(?:each|both|all|the (?:other )?two|cada un[oa]|ambos|ambas|(?<!de )l[oa]s (?:otr[oa]s )?dos)\b")
_MOVES = ("rose", "fell", "above", "below")
_SHARES = (
    (
        "half",
        1 / 2,
        r"(?<!first )(?<!second )half(?= (?:of|as|that|its|what)\b|\W*$)|halved|(?<!primera )(?<!segunda )mitad",
    ),
    ("third", 1 / 3, r"(?:an?|one)[- ]third(?= (?:of|that)\b|\W*$)|un tercio|(?:la|una) tercera parte"),
    ("quarter", 1 / 4, r"(?:an?|one)[- ]quarter(?= (?:of|that)\b|\W*$)|un cuarto|(?:la|una) cuarta parte"),
    ("fifth", 1 / 5, r"(?:an?|one)[- ]fifth(?= (?:of|that)\b|\W*$)|un quinto|(?:la|una) quinta parte"),
    ("double", 2.0, r"twice|doubl(?:es?|ed)|dobl(?:[eoa]|ad[oa])|duplic(?:[oa]|ado)"),
    ("triple", 3.0, r"tripl(?:es?|ed|ic[oa])"),
    ("fourfold", 4.0, r"quadrupl\w+|cuadrupl\w+|cuadruplic\w+"),
    ("tenfold", 10.0, r"tenfold"),
)
_TIMES = expression(
    r"\b(?:(?P<more>more than|over|mas del?|mas que)|(?P<less>less than|under|menos del?)"
    r"|(?P<nearly>nearly|almost|casi))? ?(?:la |el |an? )?\b(?:"
    + "|".join(f"(?P<{name}>{pattern})" for name, _, pattern in _SHARES)
    + rf"|(?<!\bat )(?<!\ba )(?P<count>{COUNT})(?P<half_more> and a half| y media)? (?:times|veces)"
    rf"(?! (?:its |trailing |sus |los |el )?(?:earnings|beneficios?))|"
    rf"multiplic\w+ (?:casi )?por (?P<by>{COUNT}))\b(?![- ]digit| digito)"
)
_AS_MUCH = expression(r" as (?:much|many|high|large|deep)[:,]? \(?\d")
"""After a multiple: its own number is the second one, as in "IBM fell 22%, and AAPL twice as much: 57%"."""
_WORTH = expression(r"\b(?:worth|valued|valen?|valuad[oa])\b")
_RATIOS = {name: ratio for name, ratio, _ in _SHARES}
_MULTIPLE_TOLERANCE = 0.15
"""Relative error of a multiple that is stated in a word."""
_OPEN_MULTIPLE_TOLERANCE = 0.5
"""The same for "more than" or "less than" a multiple, on that side."""
MAX_DISTANCE_FROM_HIGH = 0.03
"""Relative distance from its high of a price that is said to be at it."""
_MULTIPLE = _KINDS[0][0]
_ALIKE = expression(
    r"\b(?:identical|similar(?:es)?|alike|parecid[oa]s?|identic[oa]s?)\b"
    r"(?! (?:story|picture|pattern|direction|historia|patron))"
)
"""Says that figures are alike, not that they tell the same story."""


_MIN_HIGH_CORRELATION = 0.5
"""From this value on a correlation is called high."""
_RSI_MIDDLE = 50.0
_CORRELATION_STRENGTH = expression(
    r"\b(?:(?P<high>high|strong|alta|fuerte|elevada)|low|weak|baja|debil)\b"
    r"(?= correlation|[,:]? (?:(?:at|of|de|con) )?\(?\d)"
)
_TOGETHER = expression(
    r"\b(?:(?P<same>together|in step|in tandem|same direction|de la mano|misma direccion|al unisono)|"
    r"opposite (?:directions?|ways)|inverse(?:ly)?|direcciones opuestas|sentido contrario|inversa(?:mente)?)\b"
)
_NEGATION = expression(r"\b(?:not|no|neither|nor|ni|far|lejos)\b|n't\b")
_TICKER_KINDS = ("ticker", "rest")
_SIDES = {"before": -1, "after": 1, "antes": -1, "despues": 1}
_DAYS = expression(rf"(?P<n>\d+|{'|'.join(NUMBERS)}) (?:(?P<day>days?|dias?)|weeks?|semanas?)")


def is_multiple(
    folded_text: str, tokens: Sequence[Token], claims: Sequence[Claim], facts: Facts, question_period: str | None
) -> bool | None:
    """Whether the multiple that a sentence states is right: of its two numbers or, without numbers, of its one figure
    of two tickers. The first is that many times the second; for invested money, the second that many times the first.
    None if it states no multiple or there are no such values. Without a stated period, one that fits is enough."""
    match = next((candidate for candidate in _TIMES.finditer(folded_text) if candidate.lastgroup), None)
    if match is None or any(claim.number is not None and claim.number.is_share for claim in claims):
        return None
    claims_by_number = {claim.number: claim for claim in claims if claim.number is not None and not claim.number.times}
    if len(claims_by_number) > 1:
        values = [number.readings[0][0] * number.scale for number in claims_by_number]
        if any("growth" in claim.figures for claim in claims_by_number.values()) or _AS_MUCH.match(
            folded_text, match.end()
        ):
            values.reverse()
        pairs = (
            [(values[0], values[1])]
            if len(values) == 2 and len({number.percent for number in claims_by_number}) == 1
            else []
        )
    else:
        pairs = list[tuple[float, float]]()
        tickers = [token.value for token in tokens if token.kind == "ticker"]
        figures = {token.value for token in tokens if token.kind == "figure"}
        figures |= {claim.figures for claim in claims if claim.relation in ("more", "less")}
        figures = figures or {("market_cap",) if _WORTH.search(folded_text) else ("return",)}
        periods = [token.value for token in tokens if token.kind == "period"][:1] or [question_period] * bool(
            question_period
        )
        for period in periods or sorted({fact.period or "" for fact in facts.facts}):
            ticker_values = [value_of(facts, ticker, min(figures), [period]) for ticker in tickers if len(figures) == 1]
            if len(ticker_values) == 2 and None not in ticker_values:
                pairs.append((ticker_values[0] or 0.0, ticker_values[1] or 0.0))
    return any(_is_multiple_of(match, first, second) for first, second in pairs) if pairs else None


def _is_multiple_of(match: re.Match[str], first: float, second: float) -> bool:
    count = match["count"] or match["by"]
    stated = float(count_of(count)) if count else next(_RATIOS[name] for name in _RATIOS if match[name])
    stated += 0.5 if match["half_more"] else 0
    deviation = first / second / stated - 1 if second else -1.0
    below = _OPEN_MULTIPLE_TOLERANCE if match["less"] else 0 if match["more"] else _MULTIPLE_TOLERANCE
    above = (
        _OPEN_MULTIPLE_TOLERANCE if match["more"] else 0 if match["less"] or match["nearly"] else _MULTIPLE_TOLERANCE
    )
    return -below <= deviation <= above


def wrong_day_distances(tokens: Sequence[Token], claims: Sequence[Claim], facts: Facts) -> list[str]:
    """Returns a problem for each wrong distance between two tickers' dates: "on 18 April, five days before Apple"."""
    problems: list[str] = []
    relevant = [token for token in tokens if token.kind != "than" and token.text not in ("que", "than")]
    for span, direction, owner in zip(relevant, relevant[1:], relevant[2:], strict=False):
        length = _DAYS.fullmatch(span.text.strip()) if span.kind == "period" and owner.kind in _TICKER_KINDS else None
        if length is None or direction.text not in _SIDES:
            continue
        days = int(NUMBERS.get(length["n"], length["n"])) * (1 if length["day"] else 7) * _SIDES[direction.text]
        dated_claims = [
            (claim.subject, claim.figures)
            for claim in claims
            if claim.relation == "dated" and claim.subject != owner.value
        ]
        pairs = [
            (date_fact.value, other_fact.value)
            for subject, figures in dated_claims
            for date_fact in facts.find(str(subject), figures)
            for other in ([owner.value] if owner.kind == "ticker" else facts.subjects)
            for other_fact in facts.find(other, figures)
            if other != subject
        ]
        if not pairs or any(
            not isinstance(day, date) or not isinstance(other_day, date) or (day - other_day).days != days
            for day, other_day in pairs
        ):
            problems.append("days apart that no tool gave")
    return problems


def _mislabelled(folded_text: str, claim: Claim) -> Iterator[str]:
    """Yields a problem for a correlation that is called high or low and is not, one whose sign is not that of the
    stated direction, and an RSI in the lower half that is called overbought, or in the upper half oversold."""
    if claim.number is None or claim.figures not in (("correlation",), ("RSI",)):
        return
    value = claim.number.readings[0][0] * (-1 if claim.number.sign == "-" else 1)
    if claim.figures == ("correlation",):
        strength = _CORRELATION_STRENGTH.search(folded_text)
        if strength is not None and (abs(value) < _MIN_HIGH_CORRELATION) == bool(strength["high"]):
            yield "a correlation called otherwise"
    if _NEGATION.search(folded_text):
        return
    if claim.figures == ("RSI",):
        state = OVERBOUGHT_OR_OVERSOLD.search(folded_text)
        if state is not None and (value > _RSI_MIDDLE) != bool(state["over"]):
            yield "an RSI called otherwise"
    else:
        direction = _TOGETHER.search(folded_text)
        if direction is not None and (value > 0) != bool(direction["same"]):
            yield "a correlation of the other sign"


def _differ(claims: Sequence[Claim]) -> bool:
    """Whether the claimed figures of two tickers are far apart."""
    values_by_figure: dict[tuple[str, ...], set[float]] = {}
    for claim in claims:
        if claim.number is not None and claim.relation == "is":
            values_by_figure.setdefault(claim.figures, set()).add(claim.number.readings[0][0] * claim.number.scale)
    return any(
        len(values) == 2 and max(values) > (1 + _MULTIPLE_TOLERANCE) * min(values)
        for values in values_by_figure.values()
    )


def _is_at_extreme(subject: str, end: re.Match[str], facts: Facts) -> bool:
    """Whether a price is at its high, or low, of the length that a match of `_AT_EXTREME` names, or else of a year."""
    period = length_of(end["count"], end["unit"]) if end["count"] else "1y"
    prices = [fact.value for fact in facts.find(subject, ("price",)) if isinstance(fact.value, float)]
    extremes = [
        fact.value
        for fact in facts.find(subject, ("high" if end["high"] else "low",), (period,))
        if isinstance(fact.value, float)
    ]
    return bool(prices and extremes) and abs(prices[0] / extremes[0] - 1) <= MAX_DISTANCE_FROM_HIGH


def unbacked_statements(
    folded_text: str, claims: Sequence[Claim], facts: Facts, subjects: Sequence[str], *, multiple: bool | None
) -> list[str]:
    """Returns reasons for what no tool can have returned. `subjects`: the tickers that the sentence is about;
    `multiple`: what `is_multiple` returns for it."""
    tickers = [claim.subject for claim in claims if claim.subject is not None] or subjects or facts.subjects
    problems = [reason for reason, pattern in _KINDS if pattern.search(folded_text)]
    if multiple is not None or any(claim.number is not None and claim.number.is_share for claim in claims):
        problems = [
            *(reason for reason in problems if reason != _MULTIPLE),
            *([_MULTIPLE] if multiple is False else []),
        ]
    differences = [claim for claim in claims if claim.number is not None and claim.number.points]
    if differences and all(is_difference(claim, facts) for claim in differences):
        problems = [reason for reason in problems if reason != _APART]
    if (end := _AT_EXTREME.search(folded_text)) and not any(_is_at_extreme(ticker, end, facts) for ticker in tickers):
        problems.append("it is not there")
    if _ALIKE.search(folded_text) and _differ(claims):
        problems.append("they are not alike")
    for claim in claims:
        problems += _mislabelled(folded_text, claim)
    if _AGO.search(folded_text) and any(is_of_now(claim, facts) for claim in claims):
        problems.append("a figure of now, told of then")
    moves = [claim for claim in claims if claim.relation in _MOVES and claim.subject is not None]
    moved_tickers = {claim.subject for claim in moves}
    if (
        len({claim.relation for claim in moves}) == 1
        and _ONLY_ONE.search(folded_text)
        and not _EACH.search(folded_text)
        and not re.search(r"\b(?:only|solo) \d", folded_text)
    ):
        others = [name for name in facts.subjects if name not in moved_tickers]
        if any(
            unbacked_reason(replace(claim, subject=other, number=None), facts) is None
            for claim in moves
            for other in others
        ):
            problems.append("not the only one")
    return problems
