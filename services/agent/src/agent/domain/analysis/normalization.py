"""Rewrites a question for the grammar: adds what people leave out, and corrects spelling.

"the best month and the worst" → "the best month and the worst month"; "Q2 2012 against the first" → "… against the
first quarter of 2012"; "micorsoft" → "microsoft".
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from agent.domain.analysis.figure_vocabulary import QUESTION_WORDS
from agent.domain.analysis.question_patterns import UNIT, UNITS
from agent.domain.claims import times
from agent.domain.claims.lexer import folded
from agent.domain.number_words import with_days_in_figures
from agent.domain.text_features import is_one_letter_apart, is_transposed, long_names_like
from agent.domain.tickers import NAMES, tickers_in
from contracts.calendar_names import MONTHS, NUMBERS
from contracts.expressions import expression

_CLAUSE_END = r"(?=\W*(?:$|[?.,;:!]))"
_ORDER = r"(?:first|second|third|fourth|primero?|segundo|tercero?|cuarto)"
_QUARTER = rf"(?:q[1-4]|{_ORDER} (?:quarter|trimestre))"
_BESIDE = r"(?:and|y|or|o|vs\.?|versus|against|than|to|with|frente a(?:l)?|que(?: en)?(?: el)?|con(?: el)?)"
_PEAK = (
    r"(?:all[- ]time |52-week |yearly |annual )?(?:highs?|peaks?|tops?|maximos?|picos?|techos?)"
    r"(?: historicos?| anual(?:es)?)?"
)
_LOST = (
    r"(?:(?:fall(?:en|s)?|fell|los[et]|lost|dropped|drop|declined|slipped|down|caido|cayo|cae|perdido|perdio|"
    r"pierde|bajado|bajo|baja)\b(?P<mid>[^?;]*?) )?"
)
_POINT = rf"(?:{times.MONTH} (?:of |de |del )?{times.YEAR}|{times.YEAR})"
_NUMBERED = {"primero": "primer", "tercero": "tercer"}


def _other_part(match: re.Match[str]) -> str:
    name = _NUMBERED.get(match["other"], match["other"])
    part = "" if name.startswith("q") else f" {match['part'] or 'quarter'}"
    return f"{match['head']}{name}{part} {match['year']}"


def _both_parts(match: re.Match[str]) -> str:
    first, second = (_NUMBERED.get(name, name) for name in (match["one"], match["two"]))
    part = f" {match['part']}" if match["part"] else ""
    head = first if first.startswith("q") or first.endswith((" quarter", " trimestre")) else f"{first}{part}"
    return f"{head} {match['year']}, {second}{part} {match['year']}"


def _extreme_of(match: re.Match[str]) -> str:
    is_best = match["up"] or match["up2"] or match["best"]
    return f"{'best' if is_best else 'worst'} {match['unit']} {match['mid'] or ''}"


def _each_length(match: re.Match[str]) -> str:
    return ", ".join(f"last {number} {match['unit']}" for number in re.findall(r"\d+", match["numbers"]))


_UP = r"(?:r[io]se|risen|gain(?:s|ed)?|climb\w*|went up|go up|subi(?:o|eron|do)|subio|sub[ei]|gan(?:o|aron|ado))"
_DOWN = r"(?:f[ae]ll(?:en)?|los[et]|lost|drop\w*|went down|cayo|ca(?:e|ido|yeron)|baj(?:o|aron|ado)|perdi(?:o|eron|do))"
_MOST = r"(?:the most|most|mas)"
_PART = r"week|month|quarter|semana|mes|trimestre"
_VOLATILE = r"(?:volatile?|turbulent\w?|agitad[oa]|movid[oa])"
CALM = r"calmest|quietest|mas (?:tranquil|calmad)[oa]s?|tranquil[oa]s?"
"""Least volatile."""
_ANY_SPANISH = expression(r"\b(?:el|la|los|las|de|del|en|que|como|cual|fecha)\b")


def _ranked_by_volatility(match: re.Match[str]) -> str:
    order = "lowest" if match["calm"] or match["least"] else "highest"
    return f"rank {UNITS[match['unit']]}s by volatility {order} first {match['mid']}"


def _iso(match: re.Match[str]) -> str:
    """14/02/2012 as 2012-02-14. The day comes first, unless it cannot, or the text is English and both orders can."""
    first, second = int(match["one"]), int(match["two"])
    month_first = second > 12 or (first <= 12 and not _ANY_SPANISH.search(match.string))
    month, day = (first, second) if month_first else (second, first)
    return f"{match['year']}-{month:02}-{day:02}"


_RULES: tuple[tuple[str, Callable[[re.Match[str]], str]], ...] = (
    (rf"(?<![\d/])(?P<one>\d{{1,2}})/(?P<two>\d{{1,2}})/(?P<year>{times.YEAR})(?![\d/])", _iso),
    (r"\brecord (?=(?:highs?|lows?)\b)", lambda match: "all-time "),
    (r"\bretorno(?P<several>s?)\b", lambda match: "rentabilidades" if match["several"] else "rentabilidad"),
    # A fall at most is the deepest one.
    (
        r"(?<!fall )(?<!fell )(?<!drop )(?<!lose )(?<!lost )(?<!cayo )(?<!bajo )(?<!perdio )(?<!caer )(?<!bajar )"
        r"\b(?:como (?:maximo|minimo)|at (?:most|least))(?=\W*$| (?:in|en|during|durante|over)\b)",
        lambda match: "",
    ),
    # Starting in 2010, from 2010 on.
    (
        rf"\b(?:starting|beginning|empezando|comenzando|a partir|arrancando)(?: (?:in|from|on|en|desde|de))? "
        rf"(?=(?:{times.MONTH} (?:of |de |del )?)?{times.YEAR}\b)",
        lambda match: "since ",
    ),
    (rf"\bfrom (?P<year>{times.YEAR}) (?:on(?:wards?)?|forward)\b", lambda match: f"since {match['year']}"),
    # Its P/E with Apple's, whose apostrophe was left out.
    (
        rf"\b(?P<beside>with|than|to|vs\.?|versus|against|and) (?P<name>{'|'.join(n for n in NAMES if n.isalpha())})s"
        rf"{_CLAUSE_END}",
        lambda match: f"{match['beside']} {match['name']}",
    ),
    # The highest and lowest close.
    (
        r"\b(?P<one>highest|lowest) (?P<and>and|or) (?:the )?(?P<two>highest|lowest) "
        r"(?P<what>clos(?:e|ing)|price)\b",
        lambda match: f"{match['one']} {match['what']} {match['and']} {match['two']} {match['what']}",
    ),
    (
        r"\b(?P<what>cierre|precio) mas (?P<one>alto|bajo) (?P<and>y|o) (?:el )?mas (?P<two>alto|bajo)\b",
        lambda match: f"{match['what']} mas {match['one']} {match['and']} {match['what']} mas {match['two']}",
    ),
    # Which two years were the best?
    (
        rf"\b(?:which|what|que|cuales) (?P<count>{'|'.join(NUMBERS)}|\d) {UNIT} (?P<mid>[^?;]{{0,30}}?)"
        r"\b(?:(?P<best>best|mejores)|worst|peores)\b",
        lambda match: f"{match['count']} {'best' if match['best'] else 'worst'} {match['unit']} {match['mid']}",
    ),
    # Which quarter of 2009 was the best?
    (
        r"\b(?:which|what|que|cual) (?:calendar )?(?P<unit>day|week|month|quarter|dia|semana|mes|"
        r"trimestre|(?:year|ano)(?![^?]*\b\d{4},? (?:or|o) \d{4}))\b"
        r"(?P<mid>[^?;,]{0,40}?) (?:was|were|is|fue|ha sido|es) (?:[a-z]+'s |its |their |the |el |la |su )?"
        r"(?:(?P<best>best|strongest|mejor)|worst|weakest|peor)\b",
        lambda match: f"{'best' if match['best'] else 'worst'} {match['unit']}{match['mid']}",
    ),
    # Which month of 2011 was the most volatile?
    (
        rf"\b(?:(?:in|en) )?(?:which|what|que|cual(?: fue| es)?|the|el|la)(?: el| la)? (?P<unit>{_PART})"
        rf"\b(?P<mid>[^?;]{{0,40}}?) (?:the |el |la )?"
        rf"(?:(?P<calm>{CALM})|(?:most|mas|(?P<least>least|menos)) {_VOLATILE})\b",
        _ranked_by_volatility,
    ),
    (
        rf"\b(?:the )?(?:(?P<calm>{CALM})|(?:most|(?P<least>least)) {_VOLATILE}) (?P<unit>{_PART})\b(?P<mid>)",
        _ranked_by_volatility,
    ),
    # Which month had the highest return?
    (
        rf"\b(?:which|what|que) (?P<unit>{_PART})\b(?P<mid>[^?;]{{0,40}}?) (?:had|saw|gave|tuvo|dio) (?:the |el |la )?"
        r"(?:(?P<best>highest|best|biggest|mayor|mejor)|lowest|worst|smallest|menor|peor) (?:returns?|rentabilidad|"
        r"rendimiento|gains?)\b",
        lambda match: f"{'best' if match['best'] else 'worst'} {match['unit']}{match['mid']}",
    ),
    # How far is it from its 50-day?
    (
        rf"\b(?P<head>(?:from|above|below|over|under) (?:its|the|their) \d{{2,3}})[- ]day(?={_CLAUSE_END}| "
        rf"in (?:%|per ?cent))",
        lambda match: f"{match['head']}-day average",
    ),
    # The month in 2012 when it fell the most.
    (
        rf"\b(?:the|el|la) {UNIT}\b(?P<mid>[^?;]{{0,30}}?) (?:when|where|in which|that|(?:en )?(?:el |la )?que|"
        rf"cuando)\b(?P<who>[^?;]{{0,20}}?) (?:mas (?:(?P<up2>{_UP})|{_DOWN})|(?:(?P<up>{_UP})|{_DOWN}) (?:the "
        rf")?(?:most|mas))\b",
        lambda match: (
            f"{'best' if match['up'] or match['up2'] else 'worst'} {match['unit']}{match['mid']}{match['who']}"
        ),
    ),
    # In which month of 2008 did it fall most?
    (
        rf"\b(?:in |on |en )?(?:which|what|que|cual) {UNIT}\b(?P<mid>[^?;]*?)"
        rf"(?:\b(?:(?P<up>{_UP})|{_DOWN}) (?:\S+ )?{_MOST}|\b(?:mas|most) (?:(?P<up2>{_UP})|{_DOWN})|"
        r"\b(?:perform(?:ed)?|do|did|done|rind(?:e|io|ieron)|hizo|fue) (?:[^\s?;]+ )?"
        r"(?:(?P<best>best|better|most|mas|mejor)|worst|worse|least|peor|menos))\b",
        _extreme_of,
    ),
    # The biggest one-day drop.
    (
        r"\b(?:biggest|largest|worst|mayor|peor|maxima) "
        r"(?:(?:one|single)[- ](?P<a>day|week|month) (?:drops?|falls?|loss(?:es)?|declines?)|"
        r"(?:caida|bajada|perdida) (?:diaria|en un(?:a)? (?P<b>dia|sesion|semana|mes)))\b",
        lambda match: f"worst {match['a'] or match['b'] or 'day'}",
    ),
    (
        r"\b(?:biggest|largest|best|mayor|mejor|maxima) (?:(?:one|single)[- ](?P<a>day|week|month) (?:gains?|"
        r"rises?|jumps?)|(?:subida|ganancia|alza) (?:diaria|en un(?:a)? (?P<b>dia|sesion|semana|mes)))\b",
        lambda match: f"best {match['a'] or match['b'] or 'day'}",
    ),
    # 1-, 3- and 5-year returns.
    (
        r"\b(?P<numbers>\d{1,2}(?: ?-?,? ?(?:,|and|y|e|or|o|vs|/) ?\d{1,2}){1,4})[- ]"
        r"(?P<unit>years?|months?|weeks?|anos?|mes(?:es)?|semanas?)\b",
        _each_length,
    ),
    # 2008-2009
    (
        rf"\b(?P<one>{times.YEAR}) ?[-–] ?(?P<two>{times.YEAR})\b(?!-)",
        lambda match: f"{match['one']} to {match['two']}",
    ),
    # The best month of 2010 and the worst; its best month, and what it lost in its worst one.
    (
        rf"\b(?:best|worst|mejor(?:es)?|peor(?:es)?) {UNIT}\b[^.?!]*?(?:\b(?:and|y|or|o) (?:cual (?:fue "
        rf")?)?(?:(?:the|its|their|el|la|su) )?|\b(?:in|en) (?:the|its|their|el|la|su) )(?:best|worst|mejor|peor)"
        rf"(?= ones?{_CLAUSE_END}|{_CLAUSE_END}| (?:of|in|de|en) )",
        lambda match: f"{match[0]} {match['unit']}",
    ),
    # Q1 and Q2 2012, the first and second quarter of 2012.
    (
        rf"\b(?P<one>{_QUARTER}|{_ORDER}) {_BESIDE} (?:the |el |la |al )?(?P<two>q[1-4]|{_ORDER})"
        rf"(?: (?P<part>quarter|trimestre|half|semestre))? (?:of |de |del )?(?P<year>{times.YEAR})\b",
        _both_parts,
    ),
    # The second quarter of 2012 against the first.
    (
        rf"(?P<head>\b(?:q[1-4]|{_ORDER} (?P<part>quarter|trimestre|half|semestre)) (?:of |de |del )?"
        rf"(?P<year>{times.YEAR})\b[^.?!]*?\b(?:the |el |al |la )?)(?P<other>q[1-4]|{_ORDER})"
        rf"(?: (?:one|quarter|trimestre|half|semestre))?{_CLAUSE_END}",
        _other_part,
    ),
    # In 2011 and 2012: two years; from 2011 to 2012, or between them, one stretch.
    (
        rf"(?<!between )(?<!entre )(?<!-)\b(?P<one>{times.YEAR}) (?:and|y|or|o|e) (?:(?:in|en|of|de) )?"
        rf"(?P<two>{times.YEAR})\b(?!-)",
        lambda match: f"{match['one']}, {match['two']}",
    ),
    # How much of its revenue is profit.
    (
        r"\b(?:how much|what (?:share|part|portion|percentage|proportion)|que (?:parte|porcentaje|proporcion)|"
        r"cuanto) (?=of |de )(?P<whose>[^?]*?)(?:revenues?|sales|ingresos|ventas|lo que ingresa|facturacion)\b"
        r"(?P<rest>[^?]*?)(?:net )?(?:profits?|income|beneficios?(?: netos?)?|ganancias?)\b",
        lambda match: f"net margin {match['whose']} {match['rest']}",
    ),
    # From its peak to its trough.
    (
        rf"\b{_LOST}(?:from|desde) (?:its|the|their|su|sus|el|un)? ?{_PEAK}\b(?P<rest>[^?;]{{0,40}}?) "
        r"(?:to|hasta|a) (?:its|the|their|su|sus|el|un)? ?(?:lows?|troughs?|bottoms?|minimos?|suelos?)\b",
        lambda match: f"maximum drawdown {match['mid'] or ''} {match['rest']}",
    ),
    # It fell from its highs in 2008.
    (
        rf"\b(?:(?:(?:biggest|largest|mayor(?:es)?) )?(?:falls?|drops?|caidas?)|fell|los[et]|dropped|declined?|cayo|"
        rf"perdio|bajo) (?P<mid>[^?;]{{0,30}}?)\b(?:from|desde|de) "
        rf"(?:(?:its|the|their|sus?|los|el) )?(?:highs?|peaks?|tops?|maximos?) (?:in|during|en|durante) "
        rf"(?P<year>{times.YEAR})\b",
        lambda match: f"maximum drawdown {match['mid']}in {match['year']}",
    ),
    # How was it doing on the year?
    (
        r"\bon the year\b|(?P<head>\b(?:va|van|iba|iban|lleva\w*|acumula\w*)\b[^,?;]{0,30}? )en el ano\b",
        lambda match: f"{match['head'] or ''}year to date",
    ),
    # Below its March 2000 high.
    (
        rf"\b(?P<head>(?:since|below|under|off) (?:its|the|their)) (?P<point>{_POINT}) "
        r"(?P<what>highs?|peaks?|tops?)\b",
        lambda match: f"{match['head']} {match['what']} of {match['point']}",
    ),
    # Since its high of September 2012.
    (
        rf"\b{_LOST}(?:since|from|below|under|off|desde|debajo de|respecto (?:a|de)) "
        rf"(?:its|the|their|su|sus|el|al)? ?{_PEAK} "
        rf"(?:of|in|from|de|del|en) (?P<point>{_POINT})",
        lambda match: f"current drawdown {match['mid'] or ''} since {match['point']}",
    ),
    # The 20-day average goes above its 50-day.
    (
        r"\b(?:go|goes|went|gone|mov\w+|rises?|rose|risen|climb\w*|get|got|breaks?|broken?|slip\w*|drop\w*|"
        r"dip\w*|fall|fell|fallen) (?:back )?(?=(?:above|below|over|under|through) (?:its|the|their) \d)",
        lambda match: "cross ",
    ),
    (
        r"\b(?:subi\w*|pas\w+|romp\w+|ca[eiy]\w*|perd\w+) (?=por (?:encima|debajo) de (?:su|la) (?:media|de))",
        lambda match: "cruza ",
    ),
    (
        r"(?P<head>\b(?:averages?|sma|medias?)\b[^?;]*?\b(?:its|the|and|or) )(?P<length>\d{1,3})[- ]"
        rf"(?:day|session)s?(?: ones?)?(?= (?:in|since|during|over|now|today)\b|{_CLAUSE_END})",
        lambda match: f"{match['head']}{match['length']}-day average",
    ),
)
_COMPILED_RULES = tuple((expression(pattern), replacement) for pattern, replacement in _RULES)
_FIGURE_WORDS = """
stock stocks largest highest lowest biggest deepest acciones
volatility correlation drawdown drawdowns dividend dividends return returns performance average volume crossings
earnings revenue margin volatilidad correlacion dividendo dividendos rentabilidad media volumen cruces resultados
ingresos margen
"""
_CORRECTABLE = frozenset(name for name in (*NAMES, *MONTHS) if name.isalpha() and len(name) > 4) | frozenset(
    _FIGURE_WORDS.split()
)
"""Words that are recognised with one letter wrong, missing, added or transposed."""
_LOOKALIKES = frozenset("apply ample apples maple inter until intern medias medio medir marcha".split())  # noqa: SIM905
"""Words similar to one of those that mean something else."""
_WORD = expression(r"[^\W\d_]{3,}")
_SHORT = ("how", "what", "when", "which", "much", "the", "and", "did", "que", "como", "cual", "cuanto")


@dataclass(frozen=True, slots=True)
class NormalizedQuery:
    """The normalized question, and the words that were corrected: (written, read)."""

    text: str
    spelt: tuple[tuple[str, str], ...] = ()


@lru_cache(maxsize=256)
def normalize(query: str) -> NormalizedQuery:
    """Adds omitted words to a question and corrects spelling. Raises nothing; unknown words stay."""
    text, spelt = _correct_spelling(with_days_in_figures(query))
    for pattern, replacement in _COMPILED_RULES:
        folded_text, position = folded(text), 0
        while (match := pattern.search(folded_text, position)) is not None:
            new_text = replacement(match)
            text = (
                text[: match.start()]
                + _with_original_case(new_text, text[match.start() : match.end()])
                + text[match.end() :]
            )
            position, folded_text = match.start() + len(new_text), folded(text)
    return NormalizedQuery(text, spelt)


def _with_original_case(new: str, old: str) -> str:
    """Restores the case of words of the old text, since tickers are recognised by their capitals."""
    written = {folded(word): word for word in re.findall(r"\S+", old)}
    return " ".join(written.get(word, word) for word in new.split(" "))


def _correct_spelling(query: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    folded_query, corrections = folded(query), list[tuple[str, str]]()
    for match in reversed(list(_WORD.finditer(folded_query))):
        written = query[match.start() : match.end()]
        if written.isupper() or tickers_in(written):
            continue
        correction = _correction_of(match[0])
        if correction is not None:
            query = query[: match.start()] + correction + query[match.end() :]
            corrections.insert(0, (written, correction))
    return query, tuple(corrections)


@lru_cache(maxsize=4096)
def _correction_of(word: str) -> str | None:
    """The only word that a misspelt word can be; None if it is spelt right or several fit."""
    if word in _CORRECTABLE or word in QUESTION_WORDS or word in _LOOKALIKES or word.rstrip("s") in _CORRECTABLE:
        return None
    if len(word) < 4:
        candidates = [
            candidate
            for candidate in _SHORT
            if (sorted(candidate) == sorted(word) and candidate[0] != word[0]) or is_transposed(word, candidate)
        ]
    else:
        candidates = (
            [candidate for candidate in _CORRECTABLE if is_one_letter_apart(word, candidate)]
            or [candidate for candidate in _SHORT if is_transposed(word, candidate)]
            or long_names_like(word)
        )
    return candidates[0] if len(set(candidates)) == 1 else None
