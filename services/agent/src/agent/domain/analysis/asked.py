"""Reads a query by rules: its language, its period, whether it may be answered, and whether a chat message asks for an
analysis.

"Should I buy IBM?" is refused as advice, "write a poem" as another subject. "Compare IBM and MSFT" is an analysis,
"what is IBM trading at?" one tool call.
"""

import re
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from agent.domain.analysis.amounts import other_currency_in
from agent.domain.analysis.figure_vocabulary import FELL
from agent.domain.analysis.grammar import read_question
from agent.domain.analysis.normalization import normalize
from agent.domain.analysis.question_patterns import BESIDE_RESULTS, EXTREME, HAD_BOUGHT, OVERALL, PER_RISK
from agent.domain.analysis.stretches import main_period
from agent.domain.analysis.wanted_calls import BACKTEST, CORRELATION, CROSSINGS, PERFORMANCE, SNAPSHOT, Question
from agent.domain.text_features import language_of, plain
from agent.domain.tickers import tickers_in
from contracts.calendar_names import NUMBERS
from contracts.expressions import expression
from contracts.languages import Language

Period = Literal["1d", "1w", "1m", "3m", "1y", "ytd"]


MAX_QUESTION_LENGTH = 1_000
"""Characters of a chat message that are read as a question for an analysis; the rest is ignored."""


class Refusal(Enum):
    """Why a query gets no figures."""

    ADVICE = "advice"
    GUARANTEE = "guarantee"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class AskedPeriod:
    """The main period of the answer. `is_unavailable`: the query names one that no tool covers."""

    period: Period = "1y"
    is_unavailable: bool = False


_ES = expression(
    r"\b(compara\w*|analiza\w*|analisis|ultimo|ultima|ano|mes|semana|trimestre|rendimiento|rentabilidad|acciones|bolsa|"
    r"mercado|frente|entre|dame|muestra\w*|como le ha ido|volatilidad|riesgo|caida|y|"
    r"correlaci\w+|desde|hasta|cuanto|cual|ordena|precio|noticias|invert\w+|dolares|media)\b"
)
_EN = expression(
    r"\b(compare|analy[sz]e|analysis|last|year|month|week|quarter|return|returns|stocks?|market|versus|between|show|"
    r"give|how|volatility|risk|drawdown|and|over|since|until|which|what|invested|news|price)\b"
)
_FINANCE = expression(
    r"\b(compan(?:y|ies)|firms?|giants?|industr(?:y|ies)|banks?|empresas?|bancos?|stocks?|shares?|equit(?:y|ies)|"
    r"etfs?|funds?|index|indices|bonds?|treasur(?:y|ies)|gold|commodit(?:y|ies)|crypto\w*|bitcoin|markets?|ticker|"
    r"tickers|price|prices|returns?|performance|perform(?:ed|ing)?|volatility|drawdowns?|risk|valuation|earnings|"
    r"dividends?|revenue|margins?|p/?e|eps|market cap\w*|fundamentals?|trend|momentum|moving averages?|sma|atr|rally|"
    r"sell-?off|bull\w*|bear\w*|invest\w*|portfolio|trading|traded?|quote|sector|econom\w*|financ\w*|acci(?:on|ones)|"
    r"bolsa|mercados?|fondos?|indices?|bonos?|oro|cripto\w*|precios?|cotiza\w*|rentabilidad\w*|rendimiento\w*|"
    r"volatilidad|caidas?|riesgo|valoracion|resultados|beneficios?|dividendos?|ingresos|margen(?:es)?|per|"
    r"capitalizacion|fundamentales|tendencia|medias? movil\w*|inver[st]\w*|cartera|divisas?)\b"
)
_ANALYSE = expression(
    r"\b(compar\w+|analy[sz]\w*|analiza\w*|analisis|versus|vs|how (?:has|have|did|is|are|does|do)|look at|overview|"
    r"report|summar\w+|como (?:le|les|ha|han|va|van|estuvo|esta|estan)|resum\w+|informe|panorama|evolucion|frente a)\b"
)
_COMPARE = expression(r"\b(compar\w+|versus|vs|frente a|analy[sz]\w*|analiza\w*|analisis)\b")
_WHICH_ONE = expression(
    r"\b(?:which|who|what(?:'?s| is| was) the|cual(?:es)?|quien(?:es)?|que (?:accion|valor|empresa))\b"
)
_SUPERLATIVE = expression(
    r"\b(?:mas|menos|mejor|peor|mayor|menor|most|least|more|less|better|best|worse|worst|"
    r"(?:cheap|high|low|larg|bigg|small|strong|weak|calm|risk|deep)i?e(?:r|st))\b"
)
"""Matches a question for the ticker that has the most of something."""
KINDS = (
    r"(?:stocks?|shares?|symbols?|tickers?|compan(?:y|ies)|acci(?:on|ones)|valor(?:es)?|empresas?|simbolos?|titulos?)"
)
_SEVERAL = rf"(?:[4-9]|[1-3]\d|{'|'.join(word for word, number in NUMBERS.items() if 4 <= number < 40)})"
_FEW = rf"(?:[2-9]|[1-3]\d|{'|'.join(word for word, number in NUMBERS.items() if 2 <= number < 40)})"
_FIRST = r"(?:biggest|top|largest|best|worst|mayores|mejores|peores|(?:mayor|mejor|peor)(?! \d| (?:\w+ )?\w+s\b))"
_BEST = rf"\b{_FIRST}(?: {_FEW})? (?:(?:gain|los|mov|perform)(?:ers?|ing {KINDS})|{KINDS})\b"
_GROUP = rf"(?:{_SEVERAL}(?: {KINDS})?|{KINDS})"
_MOVED = (
    rf"(?:{FELL}|(?:went|gone|going|goes) up|r[io]sen?|gain(?:ed|s|ing)|mov(?:ed|es|io|ido|ieron)|sub(?:e|io|ido)|"
    r"gan(?:a|o|ado))"
)
_OF_ALL = expression(
    rf"\b(?:(?:which|what|cual(?:es)?|que)(?: ones?| una?s?)? (?:of|de) "
    rf"(?:(?:the|your|all|las|los|tus|tod[oa]s) )*{_GROUP}"
    rf"|(?:which|what|que|cual) {KINDS}|(?:how many|cuant[oa]s)(?: of| de) (?:(?:the|your|all|las|los|tus) )*{_GROUP}"
    rf"|(?:all|each|every|any|some|todas|todos|cada|alguna?)(?: of| de)?(?: (?:the|your|las|los|tus))? {_GROUP}"
    rf"|(?:which|what|cual(?:es)?) (?:is|are|was|were|es|son|fue|fueron|ha sido) (?:the|las?|el|los) "
    rf"(?:[a-z-]+ ){{0,2}}{KINDS}"
    rf"|(?:rank|sort|order|list|compare|ordena|clasifica|compara) (?:the|las|los|your|tus) (?:[a-z-]+ )?{KINDS}"
    rf"|(?:the|las|los) {_SEVERAL} {KINDS}"
    rf"|(?:rank|sort|order|list|compare|ordena|clasifica|compara) (?:the|las|los|your|tus) {_SEVERAL}"
    r"(?=\W*$| (?:by|por|segun|in|en|on|over|for|since|desde)\b)"
    rf"|{_BEST}"
    rf"|(?:the|las|los) {_FEW} (?:{_FIRST} )?(?:{KINDS}|que (?:mas|menos|mejor|peor))"
    r"|(?:rank|sort|order|ordena|clasifica) (?:them )?(?:all|every(?:thing| one)|todo|todas|todos)"
    rf"|{KINDS} (?:with|that|whose|having|trading|paying|con|que|cuy[oa]s?) "
    r"(?!(?:i|you|we|yo|tu|tengo|tienes|sigo)\b)(?=\w)"
    r"|(?:ranking|clasificacion) (?:by|por|segun)|(?:of|de) (?:them )?(?:all|todas|todos)"
    r"|(?:the )?whole market|todo el mercado"
    r"|(?:of|de) (?:(?:all|everything|tod[oa]s?|the ones|those|l[oa]s|l[oa]) )+(?:(?:that|which|que) )?"
    r"(?:you (?:have|cover|offer)|there (?:are|is)|hay|tienes|teneis|ofrec\w+)"
    rf"|(?:of|de) (?:the|las|los) {_SEVERAL}(?=\W*$| (?:in|en|of|de|by|por|from|desde|since|over)\b)"
    rf"|(?:who|what|que|quien)(?:\W?s| is| has| ha)* (?:{_MOVED}|up|down) (?:the )?(?:most|least|mas|menos)"
    rf"|(?:que|quien|l[ao]s que) (?:mas|menos|mejor|peor) (?:han? )?{_MOVED}"
    r"|winners and losers|ganador[ae]s y perdedor[ae]s"
    r")\b(?! (?:market|exchange|price|time)s?\b)"
)
"""Matches a question about all tickers of the market."""
_AMONG_NAMED = expression(
    r"\b(?:between|among) (?:them|those|these|the two|both)\b|\b(?:of|de) (?:the two|l[oa]s dos)\b|\bentre (?:ell|es|"
    r"est)[oa]s\b|"
    r"\bentre l[oa]s (?:dos|tres)\b"
)
"""Those that were named before, and not all."""
_OWN = expression(r"\b(?:my|mine|mis?|i|tengo|do i|own|compr\w+|buy|sell|vend\w+)\b")
_COMPARISON_WITH_ONE = expression(
    r"\b(?:beat\w*|outperform\w*|underperform\w*|than|"
    r"(?:mas|menos|mejor|peor|mayor|menor)(?: \w+)? que|bati\w+|super\w+)\b"
)
_OTHER = expression(
    r"\b(poem|recipe|joke|song|story|essay|translate|weather|football|soccer|movie|film|diagnos\w+|symptom\w*|lawsuit|"
    r"homework|python|javascript|source code|horoscope|election|vote for|poema|receta|chiste|cancion|cuento|traduc\w+|"
    r"el tiempo en|futbol|pelicula|sintoma\w*|deberes|horoscopo|elecciones)\b"
)
_ADVICE = expression(
    r"\b(?:(?:should|shall|must|ought) (?:i|we|my \w+)\b|(?:do|would|could|can) you (?:recommend|advise|suggest)|"
    r"(?:recommend|advise) me\b|tell me (?:what|which|where|whether|if|how much|when) (?:\w+ ){0,2}?to (?:buy|sell|"
    r"invest|put|do)\b|what (?:would|should) (?:you|i) (?:buy|sell|do|invest)|is (?:it|now|this|\w+) an? (?:good|bad|"
    r"right|great) (?:time|moment|buy|investment|idea)|worth (?:buying|selling|investing)|which (?:one )?(?:to|should "
    r"i|is best to) (?:buy|sell)|where (?:do|should|can) i (?:put|invest)|my (?:savings|pension|retirement|mortgage|"
    r"inheritance|salary)|for my (?:age|situation|retirement|profile)|deb(?:o|eria|eriamos|emos) (?:yo )?(?:comprar|"
    r"vender|invertir|meter|poner|mantener|dar|reducir|aumentar|esperar|tener)|(?:que|cuanto|cuanta|how much|"
    r"what)\b.*\b(?:peso|parte|weight|share|proportion|exposure)\b.*\b(?:mi cartera|mis inversiones|my portfolio|my "
    r"investments)|me (?:recomiendas|aconsejas|conviene|sugieres|recomendarias|aconsejarias)|que (?:compro|vendo|"
    r"harias)|(?:conviene|vale la pena|merece la pena|es buen momento|es un buen momento)(?: para| de)? ?(?:comprar|"
    r"vender|invertir|entrar)|en que (?:invierto|debo invertir)|mis (?:ahorros|pension\w*)|mi (?:jubilacion|hipoteca|"
    r"pension|herencia|sueldo)|es (?:\w+ )?(?:una )?buena (?:compra|inversion))\b"
)
_GUARANTEE = expression(
    r"\b(?:guarante\w+|sure (?:thing|win|profit|bet)|can(?:no|')?t lose|no risk at all|without (?:any )?risk|"
    r"certain(?:ly)? (?:to )?(?:rise|go up|double|win|profit)|will (?:\w+ ){0,3}?(?:definitely|certainly|surely)|100 "
    r"?% (?:sure|safe|certain)|risk-?free (?:profit|return|investment|gain)s?|garanti\w+|gan(?:ar|ancia) segur[oa]|"
    r"sin (?:ningun )?riesgo|(?:seguro|segura|seguramente|ciertamente) (?:que )?(?:sub\w+|gan\w+|dobl\w+)|100 ?% "
    r"segur[oa]|no puedo perder)\b"
)
_SELF_STATEMENT = expression(
    r"\W*(?:i|we|my|our|yo|nosotros|mis?|nuestr\w+|me|nos|tengo|compr[eo]|vendi|vendo|inverti|invierto|opero|uso)\b"
)
"""Matches what people say about themselves."""
_PERIODS: tuple[tuple[Period, re.Pattern[str]], ...] = (
    ("ytd", expression(r"\b(ytd|year[- ]to[- ]date|this year|so far this year|en lo que va de(?:l)? ano|este ano)\b")),
    ("3m", expression(r"\b((?:3|three|tres) (?:months|meses)|quarter|trimestre|3m)\b")),
    (
        "1y",
        expression(r"\b((?:12|twelve|doce) (?:months|meses)|1y|52 weeks|year|anual|ano)\b"),
    ),
    ("1m", expression(r"\b(months?|mes|mensual|1m|30 days|30 dias)\b")),
    ("1w", expression(r"\b(weeks?|semanas?|semanal|1w|7 days|7 dias)\b")),
    ("1d", expression(r"\b(today|yesterday|daily|1d|one day|hoy|ayer|diari[oa]|un dia)\b")),
)
_BEYOND = expression(
    r"\b((?:[2-9]|[1-9]\d|two|three|four|five|ten|twenty|dos|tres|cuatro|cinco|diez|veinte)[- ](?:years?|anos?)|"
    r"decades?|decadas?|since (?:19|20)\d\d|desde (?:el )?(?:19|20)\d\d|all[- ]time|historic\w*|5y|10y|6 months|six "
    r"months|6 meses|seis meses)\b"
)
_FUTURE = expression(
    r"\b(will \w+|going to|forecast\w*|predict\w*|next (?:week|month|quarter|year)|tomorrow|outlook|price target|"
    r"pronostic\w*|predi(?:ce|ccion\w*|cir)|prevision\w*|manana|que viene|proxim[oa] (?:semana|mes|trimestre|ano)|"
    r"(?:va|van) a (?:subir|bajar|caer)|(?:subira|bajara|caera)n?)\b"
)


def language_in(query: str, default: Language) -> Language:
    """The language that the query is written in."""
    normalized = plain(query)
    spanish, english = len(_ES.findall(normalized)), len(_EN.findall(normalized))
    if any(mark in query for mark in "¿¡ñ"):
        return "es"
    if spanish != english:
        return "es" if spanish > english else "en"
    return language_of(query, default)


def find_refusal(query: str, *, tickers_given: bool) -> Refusal | None:
    """Why a query is not answered; None if it is: it is about markets and finance, without advice or guarantees."""
    normalized = plain(query).replace("’", "'")
    if _GUARANTEE.search(normalized):
        return Refusal.GUARANTEE
    if _ADVICE.search(normalized):
        return Refusal.ADVICE
    if _FINANCE.search(normalized):
        return None
    looks_back = _ANALYSE.search(normalized) and _names_period(normalized)
    is_other = _OTHER.search(normalized) or not (looks_back or tickers_given or tickers_in(query))
    return Refusal.OTHER if is_other else None


def _names_period(normalized: str) -> bool:
    return any(pattern.search(normalized) for _, pattern in _PERIODS)


def is_about_all_tickers(text: str) -> bool:
    """Whether a text asks for figures of all tickers of the market: "which of the five fell most?"."""
    text = normalize(text[:MAX_QUESTION_LENGTH]).text
    normalized = plain(text)
    # "Which stocks beat IBM?" is about all, compared with one.
    has_no_subject = not (tickers := tickers_in(text)) or (
        len(tickers) == 1 and _COMPARISON_WITH_ONE.search(normalized) is not None
    )
    is_about_all = has_no_subject and _OF_ALL.search(normalized) is not None and _OWN.search(normalized) is None
    is_about_all = is_about_all and _AMONG_NAMED.search(normalized) is None
    if not is_about_all:
        return False
    best_of_a_period = re.search(_BEST, normalized) and (_names_period(normalized) or main_period(text).period)
    names_figure = read_question(text, ()).figures or PER_RISK.search(normalized) or OVERALL.search(normalized)
    return bool(best_of_a_period or names_figure)


def is_analysis(text: str) -> bool:
    """Whether a chat message asks for an analysis of tickers: it compares them, chooses one, looks back, or asks for
    more than one tool returns."""
    text = normalize(text[:MAX_QUESTION_LENGTH]).text
    normalized, tickers = plain(text), tickers_in(text)
    if not tickers or _OTHER.search(normalized):
        return False
    if (
        PER_RISK.search(normalized)
        or BESIDE_RESULTS.search(normalized)
        or other_currency_in(normalized)
        or (HAD_BOUGHT.search(normalized) and main_period(text).arguments)
        or EXTREME.search(normalized)
        or (len(tickers) > 1 and _WHICH_ONE.search(normalized) and _SUPERLATIVE.search(normalized))
    ):
        return True
    if _ANALYSE.search(normalized) and (_COMPARE.search(normalized) or _names_period(normalized)):
        return True
    question = read_question(text, tuple(tickers))
    if asks_for_forecast(text) and question.figures and {"price", "return"}.issuperset(question.figures):
        return True
    return not (_SELF_STATEMENT.match(normalized) and "?" not in text) and _needs_several_figures(question)


def _needs_several_figures(question: Question) -> bool:
    """Whether a question needs figures of a period, or several kinds of calls or figures."""
    calls = question.calls
    days = {(call.arguments.get("start"), call.arguments.get("end")) for call in calls}
    if question.figures == ["price"] and len(days) == 1 and all(first == last for first, last in days):
        return False  # of one day, or of now
    names_period = bool(question.now_only) or any(
        {"end", "length", "timeframe"} & call.arguments.keys() for call in calls
    )
    has_several = len(question.figures) > 1 or len({(call.tool, repr(call.arguments)) for call in calls}) > 1
    has_several_tickers = any(len(call.tickers) > 1 for call in calls) and question.figures not in ([], ["price"])
    return (
        any(call.tool in (PERFORMANCE, CORRELATION, CROSSINGS, BACKTEST) for call in calls)
        or (bool(question.figures) and any(call.tool == SNAPSHOT for call in calls))
        or has_several
        or names_period
        or has_several_tickers
        or "atr_share" in question.figures
        or question.asks_past_results
    )


def period_in(query: str) -> AskedPeriod:
    """The period that the query asks about; a year if it names none."""
    normalized = plain(query)
    if _BEYOND.search(normalized):
        return AskedPeriod(is_unavailable=True)
    named_periods = (AskedPeriod(period) for period, pattern in _PERIODS if pattern.search(normalized))
    return next(named_periods, AskedPeriod())


def asks_for_forecast(query: str) -> bool:
    """Whether the query asks about the future."""
    return bool(_FUTURE.search(plain(query)))
