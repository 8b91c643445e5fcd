"""The names of figures in questions, in Spanish and English, and the tool that returns each.

"How volatile was IBM?" asks for `volatility`, which get_performance returns. The figures' ids are those of the
findings. The order matters: text that one row has matched is not seen by later rows.
"""

import re
from dataclasses import dataclass
from typing import Literal

from agent.domain.claims.figure_words import FIGURES
from agent.domain.claims.words import PLAIN_WORDS
from contracts.calendar_names import NUMBERS
from contracts.expressions import expression

Kind = Literal["stretch", "standing", "company", "indicator", "news"]
"""The source of a figure: get_performance; a snapshot; the company's figures and dates; get_indicators; get_news,
get_sentiment."""
_CLAIMS = {names[0]: pattern for names, pattern in FIGURES}


@dataclass(frozen=True, slots=True)
class FigureWords:
    """Figures, and the words that ask for them."""

    names: tuple[str, ...]
    kind: Kind
    pattern: re.Pattern[str]


def _row(kind: Kind, names: str, *patterns: str) -> FigureWords:
    return FigureWords(tuple(names.split()), kind, expression(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)"))


INDICATOR_WORDS = {
    "RSI": r"rsi|relative strength(?: index)?|(?:indice de )?fuerza relativa",
    "MACD": r"macd(?: (?:line|signal|histogram))*|(?:histograma|senal) (?:de(?:l)? )?macd",
    "BB": r"(?:bandas de )?bollinger(?: bands?)?",
    "EMA": r"ema|exponential (?:moving )?averages?|medias? (?:movil(?:es)? )?exponencial(?:es)?",
    "ATR": r"atr|average true range|(?:typical|average|mean|usual|normal) (?:daily |day'?s )?(?:range|swing)|"
    r"(?:rango|oscilacion) (?:diari[oa] )?(?:medi[oa]|habitual|tipic[oa])(?: diari[oa])?|rango verdadero(?: medio)?",
    "VWAP": r"vwap",
    "OBV": r"obv|on[- ]balance volume",
    "ADX": r"adx",
}
_SHARE = r"(?:%|per ?cent(?:age)?|share|fraction|proportion|porcentaje|proporcion|por ?ciento)"
BACK = (
    r"(?:back|return) (?:to|at|above)(?: (?:its|the|their))?(?= (?:\d{4} )?(?:[a-z-]+ )?(?:highs?|peak|top)\b)"
    r"|v(?:ol|uel)v\w+ a(?: (?:sus?|los))?(?= maximos?\b)"
)
_PRICE = r"(?:its |the |their |su |el )?(?:share |stock )?(?:price|precio|cotizacion)"
_OF_THE_PRICE = (
    rf"[^?;\x00]{{0,30}}?(?:(?:in|as|en) (?:an? |un |el )?{_SHARE}(?: terms)?(?: (?:of|de|del|al|sobre) {_PRICE})?"
    rf"|{_SHARE} (?:of|de|del|al|sobre) {_PRICE}"
    rf"|(?:relative to|compared (?:to|with)|against|respecto (?:a|de|al|del)|relativ[oa] al?|frente al?) {_PRICE})"
)
_BEFORE_A_PERIOD = (
    r"(?=[ ?!.]*(?:\x00|$|(?:(?:over|in|during|en|durante) )?(?:the |el |la )?(?:this|last|past|est[ae]|ultim[oa]) "
    r"(?:year|quarter|month|week|session|ano|trimestre|mes|semana|sesion)\b|today|yesterday|hoy|ayer|so far|"
    r"en lo que va))"
)
"""Before a period, which may have been taken out of the text, or at the end."""
_UP_WORDS = (
    r"(?:w[io]n(?:s|ning)?|up|green|positive|gains?|gaining|r[io]s(?:e|es|ing)|higher|advances|alcistas?|ganador[ae]s?|"
    r"positiv[oa]s?|verdes?|al alza|subi(?:da|das|endo|r|o)|sub[ea]n?|alzas?|ganancias?|ganando)"
)
_DOWN_WORDS = (
    r"(?:los(?:s|ses|e|ing)|down|red|negative|f[ae]ll(?:s|ing)?|lower|declin(?:es?|ing)|drops?|bajistas?|perdedor[ae]s?|"
    r"negativ[oa]s?|roj[oa]s?|a la baja|baj(?:ada|adas|ando|ar|o|a|an)|caidas?|ca(?:yendo|er|e|yo)|perdidas?|perdiendo)"
)


def _streaks(words: str) -> str:
    """Returns the patterns that ask for consecutive sessions of one direction."""
    days = r"(?:days?|sessions?|dias?|sesion(?:es)?|closes|cierres)"
    of = r"(?: (?:of|de|en|in|with|con))?"
    row = r"(?:straight|consecutive|successive|in a row|running|seguid[oa]s|consecutiv[oa]s)"
    run = r"(?:streaks?|runs?|strings?|rachas?|series?)(?: mas largas?)?"
    return (
        rf"(?:longest |mayor )?(?:{words}[- ](?:{days}[- ])?{run}|{run}{of}(?: (?:los|las|the))?(?: {row})?(?: "
        rf"{days})?{of} {words}(?: {days})?(?: {row})?|(?:most )?{row} {words}(?: {days})?|{words}[- ]{days} {row}|"
        rf"{days} {row}[^?;\x00]{{0,40}}?\x01*[^?;\x00]{{0,20}}?\b{words}|{words}[^?;\x00\d]{{0,20}}? {days} {row})"
    )


_PARTS_ES = r"(?:dias?|sesion(?:es)?|semanas?|mes(?:es)?|trimestres?|anos?)"
_DAYS = r"(?:days?|sessions?|dias?|sesion(?:es)?)"
_ROW = r"(?:in a row|straight|running|(?:seguid|consecutiv)[oa]s)"
_EITHER_WAY = rf"(?:{_UP_WORDS}|{_DOWN_WORDS}|risen|fallen|gone (?:up|down)|way (?:up|down)|en (?:verde|rojo))"
_RUNNING = (
    rf"how (?:long|many {_DAYS}(?: {_ROW})?) (?:has|have)\b[^?;\x00]{{0,20}}?\bbeen (?:going |on the |in the )?"
    rf"{_EITHER_WAY}(?: for)?(?: {_DAYS})?(?: {_ROW})?",
    rf"how many {_DAYS} {_ROW} (?:has|have)\b[^?;\x00]{{0,20}}?\b{_EITHER_WAY}",
    rf"(?:cuant[oa]s? (?:{_DAYS}|tiempo)(?: {_ROW})? )?(?:lleva|llevan|llevas)\b[^?;\x00]{{0,20}}?\b{_EITHER_WAY}",
    r"(?:current|present) (?:(?:winning|losing) )?(?:streak|run)|racha (?:alcista |bajista )?actual",
)
"""The current run of sessions."""
INDICATOR_OF = {"atr_share": "ATR"}
"""Figures that an indicator returns besides its own."""
ROWS: tuple[FigureWords, ...] = (
    _row("indicator", "atr_share", rf"(?:{INDICATOR_WORDS['ATR']}){_OF_THE_PRICE}",
         rf"(?:percentage|percent|relative|normali[sz]ed|porcentual|relativo) (?:{INDICATOR_WORDS['ATR']})"),
    *(_row("indicator", name, pattern) for name, pattern in INDICATOR_WORDS.items()),
    _row("indicator", "RSI", r"over(?:bought|sold)", r"sobre(?:comprad[oa]s?|vendid[oa]s?|compra|venta)"),
    _row("company", "eps", _CLAIMS["eps"],
         r"(?:gan(?:o|a|aron|an)|earn(?:s|ed)?|ma(?:de|kes?))\b[^?;\x00]{0,25}?(?:por accion|(?:per|a) share)"),
    _row("company", "pe", _CLAIMS["pe"], r"cheap(?:er|est)?", r"(?:most |"
         r"more )?expensive", r"barat[oa]s?", r"car[oa]s?"),
    _row("company", "market_cap", _CLAIMS["market_cap"], r"(?:biggest|largest|smallest) (?:compan(?:y|ies)|firms?)",
         r"empresas? (?:mas grandes?|mayor(?:es)?)", r"most valuable|mas valios[oa]s?"),
    _row("company", "next_dividend_date", r"(?:fecha )?ex[- ]?divide?n\w*(?: dates?)?",
         r"(?:next|upcoming) dividends?(?: (?:date|payment)s?)?", r"dividend dates?",
         r"(?:proximo|siguiente) (?:pago (?:del? )?)?dividendo", r"fecha del dividendo",
         r"descuent\w* (?:el |su )?dividendo"),
    _row("company", "dividend_yield", _CLAIMS["dividend_yield"],
         r"pays? (?:out )?(?:the )?(?:more|most|better|best|least|less)(?! for\b)",
         r"pagan? (?:mas|menos|mejor)(?! por\b)"),
    _row("company", "gross_margin", _CLAIMS["gross_margin"]),
    _row("company", "net_margin", _CLAIMS["net_margin"]),
    _row("company", "gross_margin net_margin", r"margins?|margen(?:es)?"),
    _row("company", "profitable", r"(?:most |least |more |less )?profitable", r"rentables?"),
    _row("company", "revenue", _CLAIMS["revenue"]),
    _row("company", "next_earnings_date",
         r"(?:next|upcoming) (?:quarterly )?(?:earnings|results|report)\w*(?: (?:date|report|release|earnings|"
         r"results))?",
         r"(?:earnings|results) (?:date|report|release|day|calendar)s?", r"reports?(?: next)? (?:its |"
         r"their )?(?:earnings|results)",
         r"(?:next )?reports?(?= (?:next|again|and|its|their)|"
         r"\W*$)", r"proximos resultados|next week'?s (?:earnings|results)", r"fecha de (?:los )?resultados",
         r"(?:presenta\w*|publica\w*|anuncia\w*)(?: sus?)?(?: proximos)?(?: resultados)?"),
    _row("company", "next_earnings_date next_dividend_date", r"(?:upcoming |next |proximos )?(?:events?|eventos?)"),
    _row("company", "eps next_earnings_date", r"earnings|resultados|beneficios?"),
    _row("company", "fundamentals", r"fundamental(?:s|es)?|valuations?|valoracion(?:es)?"),
    _row("news", "sentiment", r"sentiments?|sentimientos?|tone|tono|mood"),
    _row("news", "news",
         r"what (?:was|were|is|are|has been|have been) (?:being )?(?:said|written|reported) (?:about|of|on)",
         r"(?:que|lo que) se (?:dijo|dice|decia|ha dicho|publico|comento) (?:de(?:l)?|sobre)", r"que dice la prensa",
         r"(?:latest |ultim[oa]s )?(?:news|headlines?|noticias?|titulares?)"),
    _row("stretch", "highest_volume", r"(?:highest|largest|biggest|most|heaviest|record) (?:trading )?volume",
        r"(?:(?:trading )?volume\b[^?;\x00]{0,20}?)?busiest (?:day|session)",
         r"(?:mayor|mas|maximo) (?:volumen|negociacion)"),
    _row("stretch", "average_volume", r"(?:average|mean|usual|typical) (?:daily )?(?:trading )?volumes?",
         r"volumen(?:es)? (?:diario )?(?:medio|promedio|habitual)(?: diario)?"),
    _row("standing", "volume_zscore", r"(?:trading )?volumes?|volumen(?:es)?(?: de negociacion)?"),
    _row("stretch", "current_streak", *_RUNNING),
    _row("stretch", "up_streak", _streaks(_UP_WORDS), r"best (?:streak|run)", r"mejor racha"),
    _row("stretch", "down_streak", _streaks(_DOWN_WORDS), r"worst (?:streak|run)", r"peor racha"),
    _row("stretch", "up_days", r"(?:end(?:ed)?|finish(?:ed)?|clos(?:e|ed)) (?:the )?(?:(?:day|session) )?(?:up|higher)",
         r"(?:acabo|termino|cerro|cerraron) (?:al alza|en (?:verde|positivo))",
         r"(?:up|positive|winning|green)[- ](?:days?|sessions?|weeks?|months?|quarters?|years?)",
         rf"{_PARTS_ES} (?:al alza|positiv[oa]s?|"
         r"en (?:verde|positivo))", r"(?:days?|sessions?) (?:did |has |have )?(?:it |they |\x01+ )?(?:rise|"
         r"rose|gain\w*|go up|went up|"
         r"close\w* (?:up|higher))", r"(?:dias?|sesion(?:es)?) (?:(?:ha |en que |que )?(?:subio|subieron|"
         r"subido|sube|gano))"),
    _row("stretch", "down_days",
         r"(?:end(?:ed)?|finish(?:ed)?|clos(?:e|ed)) (?:the )?(?:(?:day|session) )?(?:down|lower)",
         r"(?:acabo|termino|cerro|cerraron) (?:a la baja|en (?:rojo|negativo))",
         r"(?:down|negative|losing|red)[- ](?:days?|sessions?|weeks?|months?|quarters?|years?)",
         rf"{_PARTS_ES} (?:a la baja|negativ[oa]s?|"
         r"en (?:rojo|negativo|perdidas))", r"(?:days?|sessions?) (?:did |has |have )?(?:it |they |\x01+ )?(?:fall|"
         r"fell|lose|lost|go down|went down|"
         r"close\w* (?:down|lower))", r"(?:dias?|sesion(?:es)?) (?:(?:ha |en que |que )?(?:bajo|bajaron|"
         r"bajado|cae|cayo|perdio))"),
    _row("stretch", "current_drawdown", r"cuanto le (?:falta|queda)\b[^?\x00]*?maximos?"),
    _row("stretch", "drawdowns", r"drawdown periods?|periods? of drawdown|(?:biggest|largest|deepest|worst|"
         r"main|longest) (?:falls|"
         r"drawdowns|drops|declines)", r"periodos? de (?:caidas?|retroceso|drawdown)|(?:mayores|peores|"
         r"principales) (?:caidas|retrocesos)",
         r"recover(?:ed|s|y)?|recuper\w+", BACK,
         r"(?:when|cuando)\b[^?;\x00]{0,30}?(?:bottom(?:ed)?(?: out)?|(?:hit|reach(?:ed)?) (?:the |its )?bottom|"
         r"toco (?:suelo|fondo))"),
    _row("stretch", "price", r"(?:how many|cuant[oa]s) (?:euros?|dollars?|pounds?|dolar(?:es)?|libras?)",
         r"where (?:it|they|\x01+) (?:stands?|sits?|trades?|is|are)(?: (?:with)?in (?:it|that|them))?",
         r"donde (?:esta|se (?:situa|encuentra))(?: (?:dentro )?de el)?"),
    _row("stretch", "high low", r"(?:trading |price )?range", r"rango(?: de (?:precios|cotizacion))?",
         r"(?:entre|between) (?:que|what|which) (?:precios|prices|levels|niveles)(?: se (?:movio|ha movido|mueve))?"),
    _row("stretch", "high low price", r"closer to[^?\x00]{0,40}?(?:high|low)[^?\x00]{0,20}?(?:high|low)s?",
         r"mas cerca de[^?\x00]{0,40}?(?:maxim|minim)o[^?\x00]{0,20}?(?:maxim|minim)os?"),
    _row("stretch", "low price",
         r"(?:a que distancia|how far|lejos)\b[^?\x00]{0,60}?\b(?:minimos?|lows?|troughs?|bottom)"),
    _row("stretch", "max_drawdown",
         r"(?:cay|ca[ei]|baj|perd|pierd)\w* (?:\x01+ )?(?:como|a lo) (?:maximo|sumo|mucho)",
         r"(?:f[ae]ll|los[et]|drop(?:ped)?|declined?) (?:\x01+ )?at (?:the )?most",
         r"the most (?:that )?(?:\x01+|it|they) (?:has |have |ever )?(?:fell|fallen|lost|dropped)",
         r"lo (?:mas|maximo) que (?:\x01+ )?(?:ha )?(?:cayo|bajo|perdio|caido|bajado|perdido)",
         r"ever (?:[\w.,%]+ ){1,6}?(?:below|from|off|under) (?:its|the|their) (?:peak|highs?|top)",
         r"alguna vez (?:[\w.,%]+ ){1,8}?(?:desde|de|bajo) (?:sus? |los |el )?maximos?"),
    _row("stretch", "current_drawdown", r"how far (?:below|off|under|from) (?:it|that)",
         r"a (?:cuanto|que distancia) (?:esta |queda |estamos )?de el", r"(?:a que distancia|how far|lejos|"
         r"cuanto le falta|cerca|near|close(?= to\b))\b[^?\x00]*?(?:maximos?|peaks?|highs?)",
         r"(?:below|from|off|under) (?:its|the|their) (?:\w+[- ]){0,2}(?:peak|highs?|top|maximum)",
         r"(?:por debajo de|desde|lejos de|bajo) (?:(?:sus?|los|el|ultimos) )?maximos?(?: historicos?| anuales)?",
         r"a cuanto (?:esta|queda|cotiza)[^?]{0,40}?\bde(?:l)? (?:sus? |los )?maximos?(?: del ano| historicos?)?",
         r"(?:ha |han )?(?:bajado|caido|perdido)(?: \x01+)? (?:desde|de) (?:sus? |los |el )?(?:ultimos? )?maximos?",
         r"(?:fallen|dropped|down|lost)(?: \x01+)? from (?:its|the|their) (?:\w+[- ]){0,2}(?:peak|highs?|top|maximum)",
         _CLAIMS["current_drawdown"]),
    _row("stretch", "max_drawdown", _CLAIMS["max_drawdown"], r"drawdowns?", r"(?:biggest|largest|deepest|"
         r"worst|smallest|maximum|"
         r"shallowest) (?:drawdowns?|falls?|drops?|declines?|loss(?:es)?)", r"(?:mayor|menor|peor|maxim[oa]|"
         r"minim[oa]) (?:caida|retroceso|perdida|drawdown)",
         r"retrocesos?|caidas?"),
    _row("stretch", "volatility", r"annuali[sz]ed volatility", r"volatilidad anualizada", _CLAIMS["volatility"],
         r"(?:least |less |more |most )?volatile", r"volatil(?:es)?", r"risk(?:y|ier|iest)?",
         r"swings?|swung|fluctu\w+|oscil\w+", r"riesgos?", r"arriesgad[oa]s?", r"calm(?:er|est)?", r"tranquil[oa]s?"),
    _row("stretch", "total_return", r"(?:the )?dividends? (?:included|reinvested|counted)",
         r"(?:los )?dividendos (?:incluidos|reinvertidos)",
         r"total returns?(?: (?:with|including) dividends)?", r"(?:returns? )?(?:with|including|incl\.?|counting) "
         r"(?:the )?dividends(?: reinvested)?", r"(?:rentabilidad (?:total )?)?(?:con|incluyendo|"
         r"contando) (?:los )?dividendos(?: reinvertidos)?",
         r"rentabilidad total", r"(?:contando|incluyendo|sumando)(?:los)?|(?:counting|including|with) (?:them|"
         r"those|its dividends)|(?:si )?(?:cuento|incluyo|sumo) (?:los )?dividendos"),
    _row("stretch", "cagr", _CLAIMS["cagr"], r"(?:annuali[sz]ed|compound(?:ed)?)(?: annual)?(?: growth| return| rate)*",
         r"(?:(?:rentabilidad|crecimiento|tasa|rendimiento)(?: media?)? )?(?:anualizad[oa]|compuest[oa])(?: anual)?",
         r"(?:per|a) year on average", r"(?:rentabilidad|rendimiento) (?:media? )?anual(?: media?)?"),
    _row("stretch", "shares", r"how many shares", r"(?:cuantas|numero de) acciones", r"number of shares"),
    _row("stretch", "dividends", r"dividends?(?: (?:paid|payments?))?", r"dividendos?(?: pagados?)?"),
    _row("stretch", "highest_close",
         r"highest (?:that )?(?:\x01+|it|they)(?:\W?s| has| have| did)?(?: ever)? close[ds]?",
         r"(?:lo )?mas alto (?:a|en) (?:lo )?que (?:\x01+ )?(?:ha cerrado|cerro)",
         r"(?:highest|maximum|max|top) clos(?:e|ing)(?: price| level)?",
         r"(?:clos(?:e|ing) |record )highs?", r"(?:cierre (?:mas alto|maximo)|maximos? (?:de|al|en) cierre)"),
    _row("stretch", "lowest_close", r"(?:lowest|minimum|min) clos(?:e|ing)(?: price| level)?", r"clos(?:e|ing) lows?",
         r"(?:cierre (?:mas bajo|minimo)|minimos? (?:de|al|en) cierre)"),
    _row("stretch", "high",
         r"(?:most|highest) (?:that )?(?:\x01+|it|they)(?:\W?s| has| have| was)?(?: ever)? "
         r"(?:been|traded|got\w*|reached|was)"
         r"(?: worth| at| to)?", r"(?:52-week |yearly |"
         r"year )?highs?(?: price)?", r"maximos?(?: anual(?:es)?)?", r"highest (?:price|level)",
         r"precio mas alto"),
    _row("stretch", "high", r"cuando (?:lo|los) (?:marco|toco|alcanzo|hizo)",
         r"when (?:was (?:that|it)|did it (?:hit|set|reach|peak)(?: it| that)?)"),
    _row("stretch", "low", r"(?:52-week |yearly |"
         r"year )?lows?(?: price)?", r"minimos?(?: anual(?:es)?)?", r"lowest (?:price|level)",
         r"precio mas bajo"),
    _row("stretch", "price", r"a cuanto (?:esta(?:ba)?n?|cotiza(?:ba)?n?|cerr(?:o|aba|aron)|va|van|iba|iban)",
         _CLAIMS["price"], r"clos(?:e|es|"
        "ed|ing)(?: price| at)*", r"prices?", r"precios?(?: actual(?:es)?)?(?![ /-]beneficio)", r"cerro|"
         r"cerraban?|cierres?|cotizaba", r"worth|vali(?:o|an?|eron)|costaban?|cost(?:o|aron)"),
    _row("stretch", "return", _CLAIMS["return"], r"moved? (?:the )?(?:most|least)", r"(?:se )?(?:ha |han )?"
         r"mov(?:io|ieron|ido) (?:mas|menos)|(?:mas|menos) se (?:ha |han )?mov(?:io|ieron|ido)",
         r"(?:(?:was|were|is|are) (?:\x01+ )?)?up or down", r"(?:was|were|is|are|been) (?:up|down)(?! to\b)",
         r"(?:up|down) (?:the )?(?:most|least)",
         r"(?:gain|los|mov)ers?", r"doubl(?:e|ed|ing)|dobl(?:o|aron|ado)|duplic(?:o|aron|ado)",
         r"suben?|caen?|pierden?|ganan?|bajan|llevan?",
         rf"(?:chang|mov)ed?{_BEFORE_A_PERIOD}", rf"changes?(?: of|{_BEFORE_A_PERIOD})",
         r"(?:ha |han )(?:cambiado|variado)", rf"(?:cambi|vari)(?:o|aron)(?: (?=\x01)|{_BEFORE_A_PERIOD})",
         r"gain(?:s|ed)?|w[io]n", r"los[et]|lost|lose", r"r[io]se", r"f[ae]ll(?:en)?", r"subi(?:o|eron|do)",
         r"(?:llego a )?(?:caer|subir|bajar|perder)", r"(?<!mas )baj(?:o|aron|ado)",
         r"(?:go(?:es|ing|ne)?|went) (?:up|down)", r"(?<=\x01 )drop|drop(?:s|ped|ping)",
         r"(?:climb|soar|jump|crash|slump)(?:s|ed|ing)?|(?:surg|tumbl|plung)(?:es?|ed|ing)|sank|sunk",
         r"(?:se )?(?:ha |han )?(?:dispar|desplom|hund)(?:o|io|aron|ieron|ado|ido)",
         r"ca(?:yo|yeron|ido)", r"gan(?:o|aron|ado)", r"perdi(?:o|eron|do)", r"rent(?:o|aron|ado)|rindi(?:o|"
         r"eron)|vari(?:o|aron|ado)",
         r"which (?:one |stock |of them )?(?:was|is|were|has been|did) (?:the )?(?:best|better|worst|worse)",
         r"(?:best|worst) (?:performer|performing\b.*?)",
         r"(?:did|do|done|perform(?:ed)?) (?:the )?(?:best|better|worst|worse)", r"outperform\w*|"
         r"underperform\w*", r"beat|beaten|bati(?:o|eron)",
         r"(?:lo hizo |se comporto |fue |hicieron )?(?:el |la )?(?:mejor|peor)"),
    _row("company", "beta", r"betas?"),
)  # fmt: skip
FELL = (
    r"(?:f[ae]ll(?:en|s|ing)?|los(?:t|es?|ing)|drop(?:s|ped|ping)?|declin(?:ed?|es|ing)|(?:went|gone|going|goes) down|"
    r"(?:crash|slump)(?:ed|es|s|ing)?|(?:tumbl|plung)(?:ed?|es|ing)|s[au]nk|"
    r"ca(?:en?|yo|yeron|ido)|p(?:ierden?|erdi(?:o|eron|do))|baj(?:an?|o|aron|ado)|(?:desplom|hund)(?:o|io|ado|ido))"
)
LOWEST_FIRST = expression(
    rf"\b(?:(?:{FELL}|down) (?:the )?(?:most|more|furthest|mas)|mas (?:(?:se )?han? )?{FELL}|"
    r"losers(?: first)?|weakest first|cheap(?:er|est)?|smallest|lowest|least|fewest|minimum|calm(?:er|est)?|shallowest|"
    r"safest|worst|barat[oa]s?|menor(?:es)?|menos|mas baj[oa]s?|ascending|de menor a mayor|lowest first|"
    r"tranquil[oa]s?|minim[oa]|peor(?:es)?|underperform\w*)\b"
)
"""Words that rank from the lowest up."""
_QUESTION_WORDS = """
buying fare fared closely comprando dinero direction distribuyo haz losers movio
cotizo cotizaron repartido shallowest
suppose supon winners
aportado aportando aportar drop dropped dropping drops funciona funcionado funcionar
funciono good happens need needed needs recuperarse tardado
alza am analiza analizar analyse analyst analyze anda andan aparte ask aventaja averaged
batido beaten became become behind benchmark bien bought broken buy chart check clasifica
comporta comportado comportan comportaron comporto comprado comprar compre compro convertido
convertirian cost crash crisis cualquier cuanta cuantas cuantos dame dar
di dime distance doing done encima ensena ensename entonces eso esto
euro euros ever evolucionado explain favor following gap generally get getting going gone
hacer hacia happen happened happening haya hecho help her histogram histograma hubiera hubiese
hypothetically ido inversion inverti invertida invertidas invertido invertidos invertimos invertir invertiste invierto
invest invested investment invirtiendo invirtio ipo ir kind lately lejos let like listado listing
lleva llevaba llevan medio meti metido metidos mide mine mira money mostrar move moved moves muestrame
negativa negativas negative negativo negativos new nosotros often ordena ordenada ordenadas ordenado
ordenados ordenar pagado pagar pago paying people plan
podria porque posee positiva positivas positive positivo positivos possible probar prueba puede
puedes puse pusiera quedaria quedarian queria quiero rate resume
resumeme right salio sea sell selling serie should siempre sort sorted starting subir
summarise summarize symbol symbols tal tan tarda tardaron tardo tendria tendrian tenemos thank
bad coming dibuja draw economicos grafico i'd inside ordename plot puesta
morning afternoon evening talk tardes larga print printed
hits hey anything someone somebody necesito ordenalas ordenalos else putting
thing things pls plz til ganando perdiendo tipo use usually valdria valdrian vale
valen vender ver
view vs want wich way whats whether
instead used using try usando prueba coming upcoming tenido llevamos
explica explicar pon furthest farthest pagaron repartieron
"""
QUESTION_WORDS = (PLAIN_WORDS - {"split", "splits"}) | frozenset(_QUESTION_WORDS.split()) | NUMBERS.keys()
"""Words of questions that ask for nothing by themselves. A split of shares is asked for, and no tool tells it."""


def disambiguate(name: str, kind: Kind | None, *, timed: bool, dated: bool) -> tuple[str, Kind | None]:
    """Resolves ambiguous words: "most profitable" over a period is a return, otherwise a margin; a volume between days
    is the daily average."""
    if name == "profitable":
        return ("return", "stretch") if timed else ("net_margin", kind)
    return ("average_volume", "stretch") if name == "volume_zscore" and dated else (name, kind)
