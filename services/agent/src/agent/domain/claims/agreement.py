"""Checks whether a sentence contradicts itself, as "rose from 25% to 4%" does, and whether its number has an owner.

It also rewrites a few phrases before a sentence is read, so that one rule is enough for all: "2% lower than the
previous close" becomes "down 2%".
"""

import re
from collections.abc import Sequence
from itertools import chain

from agent.domain.claims.lexer import Number, Token, folded
from contracts.calendar_names import MONTHS, NUMBERS
from contracts.expressions import expression

_STARTS_NUMBER = r"(?<!\d)(?<!\d[.,])"
"""Not inside a number: what does not match from its first digit does not match from a later one either."""
_AMOUNT = rf"(?:[-+−]\$?|\$|{_STARTS_NUMBER})\d[\d.,]*\d|(?:\$|{_STARTS_NUMBER})\d"
_UNIT = r"(?P<{0}>\s?(?:%|billion|million|bn|millones|mil millones|usd|dollars|dolares))"
_A_GAIN = r"(?:an? |una? )(?:gain|rise|return|growth|ganancia|subida|rentabilidad) (?:of|del?) "
_SPAN = expression(
    r"\b(?:(?P<up>rose|grew|climbed|increased|went up|improved|widened|accelerated|sped up|acelero|subio|sube|crecio|"
    r"aumento|mejoro|paso a mas)|(?P<down>fell|dropped|shrank|declined|decreased|went down|narrowed|slowed|slipped|"
    r"desacelero|bajo|baja|cayo|disminuyo|se redujo|redujo))\b"
    rf"[^.;]{{0,30}}?\b(?:from|del?) (?:{_A_GAIN})?(?P<a>{_AMOUNT})\s?%?(?: in \d{{4}}| en \d{{4}})?,? (?:to|al?) "
    rf"(?:just |only |solo |apenas )?(?:{_A_GAIN})?(?P<b>{_AMOUNT})(?![\d.,]*\d)"
)
_UNIT_COMPARISON = expression(
    rf"(?P<a>{_AMOUNT}){_UNIT.format('ua')}[^.;%\d]{{0,30}}?\b(?:(?P<more>more|higher|greater|above|over|mas|mayor|superior)"
    rf"|(?P<less>less|lower|smaller|below|fewer|menos|menor|inferior)) (?:than|que|al?|de)\b[^.;%\d]{{0,30}}?"
    rf"(?P<b>{_AMOUNT}){_UNIT.format('ub')}"
)
_AHEAD = expression(
    rf"(?P<a>{_AMOUNT})\s?%[^.;%\d]{{0,20}}?\b(?:(?P<more>ahead of|por delante de)|short of|behind|por detras de|"
    r"lejos de)\b"
    rf"[^.;%\d]{{0,20}}?(?P<b>{_AMOUNT})\s?%"
)
_BRACKETED_COMPARISON = expression(
    rf"(?:\(|, )(?P<a>{_AMOUNT})(?P<ua>\s?%?)[),][^.;()\d]{{0,40}}?\b(?<!\bel )(?<!\bla )(?<!\bsu )(?:"
    r"(?P<more>above|higher|more|over|exceeds?|tops|"
    rf"por encima|mayor|supera|"
    r"mas alt[oa])|below|lower|less|under|por debajo|menor|mas baj[oa])\b[^.;()\d]{0,30}?"
    rf"\(?(?P<b>{_AMOUNT})(?P<ub>\s?%?)(?![\d.,]*\d|[- ]?(?:day|d[ií]as|ses|points|puntos))"
)
"""The MACD (1.20) is below its signal (1.33); "y la menor caída (12,6 %)" is no such comparison."""
_VERSUS = expression(
    r"\b(?:(?P<more>higher|larger|greater|bigger|deeper|steeper|mayor|superior|mas alt[oa]|above|over|por encima)|"
    r"(?:lower|smaller|shallower|milder|menor|inferior|mas baj[oa]|below|under|por debajo))\b(?! than| que)"
    rf"[^.;\d]{{0,25}}?(?P<a>{_AMOUNT})(?P<ua>\s?%?) ?"
    r"(?:vs\.?|versus|against|frente al?|compared (?:with|to)) (?:el |un |the )?"
    rf"(?P<b>{_AMOUNT})(?P<ub>\s?%?)"
)
"""Its margin is higher too (23% vs 16%)."""
_PRICE = r"(?:(?<=[\s(])[-−])?(?:\$\d[\d.,]*\d|(?<![\d.,])\d[\d.,]*[.,]\d\d(?!\d|\s?%))"
_OVER_ITS = expression(
    rf"(?P<a>{_PRICE})[^.;%\d]{{0,20}}?\b(?:(?P<more>over|above|por encima)|under|below|beneath|por debajo) "
    rf"(?:its|the|de(?:l| la| su)) [^.;%\d]{{0,45}}?(?P<b>{_PRICE})"
)
"""Closed at 430.47, a hair under its lower band of 430.67."""
_ABOVE_THE_TOP = expression(
    r"\d\s?% (?:above|over|higher than|por encima de(?:l)?) (?:(?:its|the|their|sus?|el) )?(?:peak|high|top|maximos?)\b"
)
"""Nothing can be above a peak."""
_CLOSE = expression(
    r"(?P<n>(?<![\d.,])[\d.,]*\d(?:\s?(?:%|dollars|d[oó]lares|usd|euros))?)(?: \([^)]*\))? "
    r"(?:(?P<up>higher|more|above|m[aá]s|por encima)|(?:lower|less|below|menos|por debajo)) "
    r"(?:(?:than|que|de) )?(?:(?:at|in|en) )?(?:(?:the|its|el|la|"
    r"su) )?(?:(?:previous|prior|last|yesterday's) clos(?:e|ing)|cierre (?:anterior|previo|de ayer)|day before|"
    r"previous (?:day|session)|d[ií]a anterior|sesi[oó]n anterior|(?:what )?you paid|(?:your )?(?:average )?(?:cost|"
    r"purchase price)|lo que pagaste|(?:tu )?(?:precio|coste) (?:medio|de compra))(?: price)?",
    re.I,
)
_DAY_BEFORE = expression(
    r"\b(?:(?P<up>higher|above|por encima|m[aá]s alto)|lower|below|por debajo|m[aá]s bajo) (?:(?:than|que|de|del) )?"
    r"(?:the |el |la )?(?:day before|previous (?:day|session|close)|yesterday|"
    r"d[ií]a anterior|sesi[oó]n anterior|ayer)\b",
    re.I,
)
_SUCCESSIVE_PRICES = expression(
    rf"(?P<a>{_AMOUNT}[.,]\d\d)\b[^.;]{{0,60}}?\b(?:(?P<up>rose|climbed|advanced|recovered|subio|avanzo|se recupero)"
    r"|fell|dropped|slipped|bajo|cayo|cedio) (?:to|a|hasta(?: los)?) "
    rf"(?P<b>{_AMOUNT}[.,]\d\d)\b"
)
"""Two successive prices: "closed at 202.33, rose to 200.83"."""
_GREW = expression(
    rf"(?P<a>{_AMOUNT})[^.;%]{{0,90}}?\b(?:(?P<up>grown|crecido)|shrunk|reducido) (?:to|a|hasta)"
    rf"(?: (?:some|about|roughly|around|just|unos|apenas))? (?P<b>{_AMOUNT})(?!\s?%)"
)
"""$10,000 would have shrunk to $7,785."""
_UNITS = r"day|session|week|month|quarter|year|d[ií]a|sesi[oó]n|semana|mes|trimestre|a[nñ]o"
_BEST_OR_WORST = expression(rf"\b(?:best|worst|mejor|peor) (?P<unit>{_UNITS})\b", re.I)
_BARE_BEST_OR_WORST = expression(
    rf"\b((?:its|the) (?:best|worst)|(?:el|la|su) (?:mejor|peor))\b(?:,(?= (?:{'|'.join(MONTHS)})\b)|(?= (?:was|is|"
    rf"fue|es|en|in|on|el|{'|'.join(MONTHS)})\b|[,:]))",
    re.I,
)
_BARE_COUNT = expression(
    rf"\b(?:past|last|previous|trailing) (?:\w+ )?(?P<unit>day|week|month|quarter|year)s?\b[^.;]{{0,60}}?\b(?:past|"
    rf"last|"
    rf"previous|trailing) (?:{'|'.join(NUMBERS)}|\d+)(?= ?[.,;:)]|$)",
    re.I,
)
_COUNTS = {**NUMBERS, "once": 11}
_SPELLED = expression(
    rf"\b(?:{'|'.join(_COUNTS)})\b(?= (?:percent|per cent|por ciento|(?:percentage |basis )?points|puntos)\b)", re.I
)
_IN_MONTH = expression(rf"\b\d{{1,2}} (?:of |de )?({'|'.join(MONTHS)})\b", re.I)
_BARE_DAY = expression(
    r"\b(?:(?:on )?the \d{1,2}(?:st|nd|rd|th)|el (?:d[ií]a )?\d{1,2})\b"
    r"(?! ?(?:of|de|%|[.,]\d|por ciento|d[oó]lares)(?!\w))",
    re.I,
)
_BARE_AMOUNT = expression(
    rf"(?:{_AMOUNT}) ?(?P<unit>mil millones|millones|(?:b|m|tr)illion|bn)\b(?! (?:de )?(?:mil|"
    rf"bill))[^.;%\d]{{0,40}}?\b(?:frente a|"
    rf"versus|vs\.?|against|compared (?:with|to)|and|y) (?:(?:the|l[oa]s|unos|some|about) )?(?:{_AMOUNT})(?= ?[.,;:)]|"
    rf"$)(?![.,]\d)",
    re.I,
)
_HIGH = expression(r"\b(?:high|peak(?:ed)?|m[aá]ximos?)\b", re.I)
_AVERAGES = expression(
    r"\b(?:all (?:three )?(?:of )?(?:its|the|their)|(?:tod[ao]s )?(?:l[ao]s|sus) tres|tod[ao]s sus) "
    r"(?:three |tres )?(?:moving |main |key )?(?:averages|medias(?: m[oó]viles)?)\b",
    re.I,
)
_BOTH_ITS = expression(r"\bboth (?:of )?(?:its|their|the) (?=\d+[- ](?:day|session))", re.I)
_BELOW_IT = expression(
    r"(?<=% )(?:(?:below|under|off|from) (?:it|that(?: (?:level|mark|peak|high))?)\b|por debajo(?: de (?:él|"
    r"ese nivel))?"
    r"(?= ?[.,;)]|$))",
    re.I,
)
_YEAR = expression(r"\b(?:19|20)\d\d\b")
_YEAR_BESIDE = expression(
    r"\b(?:(?:the|in the|al|el) )?(?:(?P<next>following year|year after|next year|a[nñ]o siguiente)|year before|"
    r"previous year|a[nñ]o anterior)\b",
    re.I,
)
_RANGE = expression(
    rf"\b(?:(?:has |have |se )?(?:trad|rang|mov|swung|swing|fluctuat|oscil)\w*(?: (?:with)?in| en)?|"
    r"(?:\w+ )?(?:price )?(?:range|rango)"
    rf"(?: (?:was|is|fue|es))?)(?: (?:an?|the|un|una) (?:\w+ )?(?:range|band|rango|banda|horquilla)| precios?)?"
    rf"(?: (?:of|between|from|de|entre|desde)){{0,2}} "
    rf"(?P<a>{_AMOUNT}(?: d[oó]lares)?) ?(?:and|to|y|al?|hasta|-|–) (?P<b>{_AMOUNT})(?![\d.,]*\d)(?! ?%)",
    re.I,
)
_THAN_AGO = expression(
    rf"\b(?:(?P<up>higher|up|above|m[aá]s (?:alt[oa]s?|arriba)|por encima)|lower|down|below|m[aá]s (?:baj[oa]s?|abajo)|"
    rf"por debajo) (?:than|where|que|de) (?:(?:it|they|its price) (?:was|were|stood) )?(?:hace )?(?P<n>an?|one|una?|"
    rf"{'|'.join(NUMBERS)}|\d+) (?P<unit>{_UNITS})(?:e?s)?(?: ago)?\b",
    re.I,
)
_SAME_AS = expression(
    rf"(?P<n>(?:{_AMOUNT}) ?%),? (?:igual que|lo mismo que|tanto como|the same as|as much as) (?P<whom>\w+)", re.I
)
_MONEY = expression(
    r"\b(?:(?P<lost>(?:has |have )?lost|(?:ha |han )?perdi(?:[oó]|eron|do)|losing)|(?:has |have )?made|"
    r"(?:ha |han )?gan(?:[oó]|aron|ado)|making) (?:money|dinero)\b",
    re.I,
)
_LITTLE_MORE_OR_LESS = expression(
    rf"(?P<a>{_AMOUNT}) ?%(?P<whom>[^.;%\d]{{0,40}}?) (?:a (?:little|bit|touch|shade)|slightly|somewhat|algo|un poco) "
    rf"(?:(?P<more>more|higher|better|m[aá]s|mejor)|less|lower|worse|menos|peor),? "
    rf"(?:at |with |by |con )?(?P<b>{_AMOUNT}) ?%",
    re.I,
)
"""Microsoft returned 17.8%, IBM a little less at 16.8%."""
_WITHIN = expression(
    rf"\b(?:between|entre(?: un| el)?) (?P<a>{_AMOUNT}) ?%? (?:and|y)(?: un| el)? (?P<b>{_AMOUNT}) ?%", re.I
)
_MONTHS_UP = expression(
    rf"\b(?:(?P<up>rose|gained|climbed|advanced|subi(?:[oó]|eron)|avanz(?:[oó]|aron)|gan(?:[oó]|aron))|fell|dropped|"
    rf"declined|lost|baj(?:[oó]|aron)|cay(?:[oó]|eron)|cedi(?:[oó]|eron)) (?:in|en) (?:the other |los otros )?"
    rf"(?P<n>{'|'.join(NUMBERS)}|\d+)(?: (?:of|de) (?:the|los) (?:{'|'.join(NUMBERS)}|\d+))?"
    r"(?P<unit> (?:months|meses)\b|(?= ?[.,;]|$))",
    re.I,
)
"""Rose in four of the six months and fell in the other two."""
_DAYS_UP = expression(
    r"\b(?P<n>\d+) (?:sesiones|d[ií]as) (?:(?P<es>al alza|alcistas|de subidas?|en positivo)|a la baja|bajistas|"
    r"de (?:ca[ií]das?|bajadas?)|en negativo)\b|"
    r"\b(?:closed|ended|finished) (?:(?P<en>up|higher)|down|lower) on (?P<m>\d+) (?:days|sessions)\b",
    re.I,
)
_NOT = expression(r"\b(?:not|no|nor|ni|never|nunca)\b|n't\b")


def normalize_phrases(sentence: str) -> str:
    """Rewrites phrases that the reader does not know in words that it does."""
    # "The following year" after 2011 as "in 2012".
    if year := _YEAR.search(sentence):
        sentence = _YEAR_BESIDE.sub(lambda match: f"in {int(year[0]) + (1 if match['next'] else -1)}", sentence)
    # "2% lower than the previous close" as "down 2%", "lower than the day before" as "down".
    sentence = _CLOSE.sub(lambda match: f"{'up' if match['up'] else 'down'} {match['n']}", sentence)
    sentence = _DAY_BEFORE.sub(lambda match: "up" if match["up"] else "down", sentence)
    # "Lost money" as "fell".
    sentence = _MONEY.sub(lambda match: "fell" if match["lost"] else "rose", sentence)
    # "Traded between 158 and 210" as a low and a high.
    sentence = _RANGE.sub(lambda match: f"had a low of {match['a']} and a high of {match['b']}", sentence)
    # "Higher than a year ago" as "up over the last year".
    sentence = _THAN_AGO.sub(_move_over_last, sentence)
    # "19%, igual que IBM" as 19% for IBM too.
    sentence = _SAME_AS.sub(lambda match: f"{match['n']}, and {match['whom']} {match['n']}", sentence)
    sentence = _WITHIN.sub(lambda match: f"more than {match['a']}% and less than {match['b']}%", sentence)
    if any(match["unit"] for match in _MONTHS_UP.finditer(sentence)):
        sentence = _MONTHS_UP.sub(_month_count, sentence)
    sentence = _LITTLE_MORE_OR_LESS.sub(
        lambda match: f"{match['a']}%{match['whom']} {match['b']}%" if _has_stated_direction(match) else match[0],
        sentence,
    )
    # "130 sesiones al alza" as "130 up days".
    sentence = _DAYS_UP.sub(
        lambda match: f"had {match['n'] or match['m']} {'up' if match['es'] or match['en'] else 'down'} days", sentence
    )
    # "Over the past month and over the past three" as "… the past three months".
    sentence = _BARE_COUNT.sub(lambda match: f"{match[0]} {match['unit']}s", sentence)
    # "On the 23rd" after "18 April" as a day of April.
    if month := _IN_MONTH.search(sentence):
        sentence = _BARE_DAY.sub(lambda match: f"{match[0]} de {month[1]}", sentence)
    # "Eleven points" as "11 points", "156 billion against 50" as "156 billion against 50 billion".
    sentence = _SPELLED.sub(lambda match: str(_COUNTS[match[0].lower()]), sentence)
    sentence = _BARE_AMOUNT.sub(lambda match: f"{match[0]} {match['unit']}", sentence)
    # "And the best, July" as "and the best month, July" after a worst month was named.
    if part := _BEST_OR_WORST.search(sentence):
        rest = _BARE_BEST_OR_WORST.sub(lambda match: f"{match[1]} {part['unit']}", sentence[part.end() :])
        sentence = sentence[: part.end()] + rest
    # "At its high: 0.1% below it" as "at its high: 0.1% below its high".
    if _HIGH.search(sentence):
        sentence = _BELOW_IT.sub("below its high", sentence)
    # "All of its averages" as the three that the tools compute, "both their 50-day and 200-day averages" as "its …".
    return _BOTH_ITS.sub("its ", _AVERAGES.sub("its 20-day, 50-day and 200-day averages", sentence))


def _month_count(match: re.Match[str]) -> str:
    count = NUMBERS.get(match["n"].lower(), match["n"])
    return f"had {count} {'up' if match['up'] else 'down'} months"


def _has_stated_direction(match: re.Match[str]) -> bool:
    return (_value(match["b"]) > _value(match["a"])) == bool(match["more"])


def _move_over_last(match: re.Match[str]) -> str:
    count = NUMBERS.get(match["n"].lower(), match["n"])
    span = match["unit"] if match["n"].lower() in ("a", "an", "one", "un", "una") else f"{count} {match['unit']}s"
    return f"{'up' if match['up'] else 'down'} over the last {span}"


def neutralize_span_verbs(sentence: str) -> str:
    """Rewrites "shrank from 25% to 4%" as "was from 25% to 4%", since neither number is a move."""
    match = _SPAN.search(folded(sentence))
    if match is None or "%" not in match[0] or len(folded(sentence)) != len(sentence):
        return sentence
    verb = match["up"] or match["down"]
    return f"{sentence[: match.start()]}{'was'.ljust(len(verb))}{sentence[match.start() + len(verb) :]}"


def directions_agree(folded_text: str) -> bool:
    """Whether the directions that a folded sentence states agree with its own numbers."""
    if _NOT.search(folded_text):
        return True
    if _ABOVE_THE_TOP.search(folded_text):
        return False
    for match in chain(
        _SPAN.finditer(folded_text), _SUCCESSIVE_PRICES.finditer(folded_text), _GREW.finditer(folded_text)
    ):
        if (_value(match["b"]) > _value(match["a"])) != bool(match["up"]):
            return False
    if not all(map(_has_stated_direction, _LITTLE_MORE_OR_LESS.finditer(folded_text))):
        return False
    for match in chain(_AHEAD.finditer(folded_text), _OVER_ITS.finditer(folded_text)):
        if (_value(match["a"]) > _value(match["b"])) != bool(match["more"]):
            return False
    for match in chain(
        _UNIT_COMPARISON.finditer(folded_text),
        _BRACKETED_COMPARISON.finditer(folded_text),
        _VERSUS.finditer(folded_text),
    ):
        first, second = _value(match["a"]), _value(match["b"])
        if match["ua"].strip() == match["ub"].strip() and first != second and (first > second) != bool(match["more"]):
            return False
    return True


def _value(digits: str) -> float:
    """Parses a number whose last mark is the decimal one unless three digits follow it."""
    number = digits.replace("$", "").replace("−", "-")
    integer_part, mark, last_digits = number.rpartition("." if number.rfind(".") > number.rfind(",") else ",")
    if not mark or len(last_digits) == 3:
        return float(re.sub(r"[.,]", "", number))
    return float(re.sub(r"[.,]", "", integer_part) + "." + last_digits)


_TICKER_KINDS = ("ticker", "foreign")
_COMMAS = frozenset((",", ":", "—"))
_OWNER_WORDS = frozenset(("for", "of", "in", "de", "del", "para", "en", "by", "the", "el", "case", "caso"))


def has_owner(number: Number | None, tokens: Sequence[Token]) -> bool:
    """Whether a number can only belong to the ticker that was read for it: it is beside one ("2.7% for IBM"), or its
    sentence names no other ticker and makes no comparison."""
    index = next((offset for offset, token in enumerate(tokens) if token.value is number), None)
    if number is None or index is None:
        return True
    tickers = {token.value for token in tokens if token.kind in ("ticker", "foreign")}
    kinds = [token.kind for token in tokens[:index] if token.kind in ("than", "ticker", "foreign")]
    is_compared = kinds[-1:] == ["than"]
    if len(tickers) < 2:
        return not is_compared
    for previous, token in zip(reversed(tokens[: index - 1]), reversed(tokens[:index]), strict=False):
        if token.kind in ("ticker", "foreign"):
            return previous.kind != "than"
        if token.kind == "break" and (token.text == "," or (token.text in _COMMAS and previous.kind in _TICKER_KINDS)):
            continue  # IBM, -12.6%; IBM was the best of them, up 12.6%
        if token.kind in ("number", "break", "than"):
            break
    following = [token for token in tokens[index + 1 : index + 6] if token.text not in ("(", ")")]
    return any(
        token.kind == "ticker"
        and all(skipped.word in _OWNER_WORDS or skipped.kind == "all" for skipped in following[:offset])
        for offset, token in enumerate(following)
    )
