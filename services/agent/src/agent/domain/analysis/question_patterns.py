"""Patterns for what a question asks for besides figures, over folded text in Spanish and English.

Correlations, crossings, averages, best and worst parts, trials of a rule, ranks, and what no tool can tell. `grammar`
uses them in its own order.
"""

import re
from collections.abc import Collection

from agent.domain.analysis.figure_vocabulary import BACK, FELL, INDICATOR_WORDS, QUESTION_WORDS
from agent.domain.claims import times
from contracts.calendar_names import MONTHS
from contracts.expressions import expression

CORRELATED = expression(
    r"\b(?:(?:least |most )?(?:un)?correlat\w+|correlaci\w+|correlacionad\w+|mov(?:e|es|ed|ing) (?:\w+ "
    r"){0,2}?(?:together|alike|in (?:the same direction|tandem|step|sync|parallel))|"
    r"in the same direction|en la misma direccion|se (?:mueven|movieron|han movido) "
    r"(?:\w+ )?(?:junt[oa]s|a la (?:vez|par)|igual|al unisono|en la misma direccion|en paralelo))\b(?: "
    r"(?:of|in|between) (?:the |their )?(?:daily |weekly |monthly )?returns\b| (?:de|entre) (?:las |sus )?"
    r"rentabilidades(?: diarias| semanales| mensuales)?\b)?"
)
RETURNS_OF = expression(
    r"\b(?:(?:datos|rentabilidad(?:es)?|cierres) )?(?P<unit>(?:week|month|quarter|year) by (?:week|month|quarter|year)|"
    r"(?:semana|mes|trimestre|ano) a (?:semana|mes|trimestre|ano)|"
    r"weekly|monthly|quarterly|yearly|annual|semanal|mensual|trimestral|anual)(?:es)?\b"
    r"(?: (?:returns?|data|closes|basis|rentabilidad(?:es)?|datos|cierres))?"
)
"""Whose returns a correlation or beta is of, if not each session's."""
BETA = expression(
    r"\bbetas?\b(?:(?! (?:and|y|e) (?!\S+ (?:against|versus|vs|relative|to|with|frente|contra|"
    r"respecto))).)*?\b(?:against|versus|vs\.?|relative to|to|with|on|frente a(?:l)?|contra|respecto (?:a(?:l)?|"
    r"de(?:l)?)|sobre|con)\b(?P<whom>.*)"
)
CROSSING = expression(
    r"(?:\b(?:cruces? dorad[oa]s?|cruces? de la muerte|cross(?:ed|es|ing|ings|over|overs)?(?: (?:above|below|over|"
    r"under|through))?|cruz\w+|cruces?|golden cross(?:es)?|death cross(?:es)?)\b)(?: (?:al alza|a la baja|hacia "
    r"(?:arriba|abajo)|upwards?|downwards?)\b)?"
)
OTHER_AVERAGE = expression(
    r"(?:\b(?:la de|the|its)|(?<=\w)'s)(?: los| las)? (\d{1,3})(?:[- ]?(?:day|session|dia|sesion)\w*)?"
    r"(?: ones?)?\b(?![.,]?\d| ?%)"
)
"""Another average named next to the first: "that of 200", "its 200-day one"."""
LENGTHS = expression(
    r"\b(\d{1,3})(?:[- ]?(?:day|session|dia|sesion)\w*)?(?: ?(?:/|and|y|,|vs\.?|versus|over|sobre|with the|con la de|"
    r"con|-|cross\w*(?: (?:above|below|over|through))?(?: the)?|cruz\w+(?: (?:a|con|por encima de|al alza))?) ?)"
    r"(?:the |la de )?(\d{1,3})\b(?! ?%)(?:[- ]?(?:day|session|dia|sesion)\w*)?"
)
MEAN = r"(?:moving |simple ){0,3}(?:averages?|sma|ma|dma)"
MEDIA = r"(?:sma|medias?(?: moviles| movil| simples?){0,3})"
NUMBER = r"\d{1,3}(?:[- ]?(?:day|session|dia|sesion|d)\w*)?-?"
AVERAGES = expression(
    rf"\b(?P<a>{NUMBER}(?: ?(?:,|/|and|or) {NUMBER}){{0,6}})[- ]{{0,4}}(?:{MEAN}|(?:day|session)s?[- ]line)\b|"
    rf"\b(?P<d>\d{{1,3}})dma\b"
    rf"|\b{MEDIA} (?:de |a |\()?(?P<b>\d{{1,3}}(?: ?(?:,|/|y|o|a|con|sobre) (?:la )?(?:de |"
    rf"la de )?\d{{1,3}}){{0,6}})\)?(?: (?:sesiones|dias|days|sessions))?"
)
WHOLE_AVERAGE = expression(rf"\b(?:{MEAN}|{MEDIA})\b(?! true)")
FIRST_DAY = expression(
    r"\b(?:first (?:trading )?day|(?:ipo|listing) day|day (?:of|it) (?:its )?(?:ipo|listed|listing|went public|debut)|"
    r"primer dia|dia (?:de su salida a bolsa|que salio a bolsa))\b"
)
TOP_FIRST = expression(
    r"\b(?:de mejor(?:es)? a peor(?:es)?|best to worst|winners first|strongest first|de mayor a menor|"
    r"de mas (?:\w+ )?a menos|(?:highest|largest|most|best)(?: \w+)? first|descending|"
    rf"{FELL} (?:the )?(?:least|less|menos)|menos (?:(?:se )?han? )?{FELL})\b"
)
"""Returns are listed from the best: the ticker that fell least comes first."""
BOTTOM_FIRST = expression(
    r"\b(?:de peor(?:es)? a mejor(?:es)?|worst to best|losers first|weakest first|de menor a mayor|"
    r"(?:lowest|smallest|least|worst) first|ascending|(?:l[oa]s )?peor(?:es)? primero)\b"
)
FIGURE_DIFFERENCE = expression(
    r"\b(?:by how (?:much|many \w+)|por cuantos?(?: puntos)?|(?:the )?(?:gap|difference|spread) (?:between|in)|(?:la "
    r")?diferencia (?:entre|de|en)|(?:bought|compr(?:ad[oa]|e)) [^?;]{0,20}?(?:at|on|en) (?:the|its|el|su)(?= "
    r"[^?;]{0,15}?(?:lows?|highs?|bottom|top|minimo|maximo|worst|best|peor|mejor)))\b"
)
"""A difference of two figures, which no tool computes."""
AHEAD = expression(
    r"\b(?P<week>next week|(?:la )?(?:proxima semana|semana que viene))|(?P<month>next month|(?:el "
    r")?(?:proximo mes|mes que viene))"
    rf"|(?:next|(?:l[oa]s )?proxim[oa]s) (?P<count>{times.COUNT}) (?P<unit>days|weeks|months|dias|semanas|meses)\b"
    rf"|(?:in|en) (?P<name>{'|'.join(MONTHS)})\b(?! (?:of |de |del )?\d)"
)
"""The period in which results are expected."""
EARNINGS = expression(r"\b(?:earnings|results|reports?|reporting|resultados|presenta\w*|publica\w*)\b")
_RESULTS = r"(?:(?:its|their|the|sus|los|l[oa]s ultim\w+|ultim\w+) )?(?:\w+ )?(?:earnings|results|resultados)"
PAST_RESULTS = expression(
    rf"\b(?:when|(?:on )?(?:what|which) (?:day|date)s?|cuando|(?:en |a )?que (?:dia|fecha)s?)\b[^?;]{{0,30}}?(?:"
    rf"\b(?:did|has|have)\b[^?;]{{0,30}}?\b(?:report|publish|present|announce)\w*(?: last)?(?: {_RESULTS})?|"
    rf"\b(?:was|were)\b[^?;]{{0,25}}?{_RESULTS}(?: (?:reported|published|out|presented|announced))?|"
    rf"\b(?:presento|publico|anuncio|presentaron|publicaron)(?: {_RESULTS})?)|"
    r"\b(?:past|previous|last|earlier) (?:earnings|results) dates?\b|\bfechas de (?:los )?resultados pasad\w+"
)
"""Asks when results were published, which headlines of the time tell."""
PLACE = expression(
    r"\b(?:the|la|el) (?:(?P<second>second|segund[oa])|(?P<third>third|tercer[oa])|(?P<last>last|ultim[oa])|"
    r"(?P<first>first|primer[oa]|winner|best|ganador[oa]|mejor)|(?P<worst>loser|worst|peor))"
    r"(?: one| of (?:them|those)| de ellas)?(?=\W*$|[?.,;:]|\W+(?:que|what|cual)\b)"
)
"""The position in a ranking that a figure is asked for."""
BY_SIZE = expression(
    r"\bmoved? (?:the )?(?:most|least)\b|\bmov(?:io|ieron|ido) (?:mas|menos)\b|\b(?:mas|menos) se (?:ha |han )?mov"
)
RECOVERED = expression(rf"\b(?:recover\w*|recuper\w+|{BACK})")
LENGTH_OF = expression(
    rf"\b(?:(?P<before>\d{{1,3}})[- ](?:day|session|bar|period)s?[- ](?P<name>{'|'.join(INDICATOR_WORDS.values())})|"
    rf"(?P<name2>{'|'.join(INDICATOR_WORDS.values())}) ?(?:\(|de |of |a )? ?(?P<after>\d{{1,3}})\b\)?(?: (?:sesiones|"
    rf"dias|days|sessions|velas)|(?![\d.,/]| de | of |st|nd|rd|th| [a-z]+ \d{{4}})))"
)
UNSUPPORTED_BARS = expression(
    rf"\b(?:weekly|monthly|semanal|mensual) (?:{'|'.join(INDICATOR_WORDS.values())})"
    rf"|\b(?:{'|'.join(INDICATOR_WORDS.values())}) (?:weekly|monthly|semanal|mensual)\b"
)
HOURS = expression(r"\b(?:(?P<n>[14])[- ]?h(?:ours?|oras?|r)?\b|hourly|horari[oa])(?: (?:chart|bars?|grafico|velas))?")
UNITS = {
    "day": "day", "session": "day", "dia": "day", "sesion": "day", "week": "week", "semana": "week", "month": "month",
    "mes": "month", "quarter": "quarter", "trimestre": "quarter", "year": "year", "ano": "year",
}  # fmt: skip
UNIT = (
    r"(?P<unit>days?|sessions?|weeks?|months?|quarters?|years?|dias?|sesion(?:es)?|semanas?|mes(?:es)?|trimestres?|"
    r"anos?)"
)
EXTREME = expression(
    rf"\b(?:(?P<count>[2-9]|10|two|three|four|five|ten|dos|tres|cuatro|cinco|diez) )?(?P<one>best|worst|better|worse|"
    rf"mejor(?:es)?|peor(?:es)?)(?: (?:and|y|or|o) (?:the |el |la )?"
    rf"(?P<two>best|worst|mejor(?:es)?|peor(?:es)?))?(?: (?:single|"
    rf"trading|calendar))?(?: (?P<count2>[2-9]|10|two|three|four|five|ten|dos|tres|cuatro|cinco|diez))? {UNIT}\b"
)
PART_OF = {
    "annual": "year", "anual": "year", "calendar": "year", "mensual": "month", "trimestral": "quarter",
    "semanal": "week",
}  # fmt: skip
EACH = expression(
    rf"\b(?:(?:each|every|per|by|cada|por) {UNIT}(?! on average)|(?P<over>year by year|month by month|"
    rf"ano a ano|ano por ano|mes a mes)"
    r"|(?P<ly>yearly|annual|monthly|quarterly|weekly|calendar[- ]year) (?:returns?|performance|table|breakdown|"
    r"moves?|changes?)"
    r"|(?<!by )(?P<of>monthly|quarterly|weekly) (?=volatility)|(?<=volatilidad )(?P<de>mensual|trimestral|semanal)"
    r"|(?:rentabilidad(?:es)?|rendimientos?|tabla|desglose|variacion(?:es)?) "
    r"(?P<es>anual(?:es)?|mensual(?:es)?|trimestral(?:es)?|semanal(?:es)?)"
    r"(?! (?:media|compuesta|anualizada)))\b"
)
WHICH_PARTS = expression(
    r"\b(?:which|what|que) (?P<unit>weeks|months|quarters|semanas|meses|trimestres)\b|"
    r"\b(?:in (?:which|what)|en (?:que|cuales)) (?P<years>years|anos)\b"
)
"""Which months fell; the return of each month answers it."""
_RANK = r"(?:rank|sort|order|orden|clasific)\w*"
_SEVERAL_PARTS = r"(?:weeks|months|quarters|years|semanas|meses|trimestres|anos)"
RANKED_PARTS = expression(
    rf"\b{_RANK} (?:(?:me|for|the|all|its?|their|of|l[oa]s|tod[oa]s|sus|calendar|\S+['’]s) )*"
    rf"(?P<unit>{_SEVERAL_PARTS})\b|\b(?<!\d )(?P<before>{_SEVERAL_PARTS})\b(?=[^?;]*\b{_RANK})"
)
"""Months, … that are to be ranked."""
PARTS = (RANKED_PARTS, EACH, WHICH_PARTS)
_ABOVE = expression(r"\b(?:above|over|golden|dorad[oa]s?|por encima|al alza|hacia arriba|upwards?)\b")
_BELOW = expression(r"\b(?:below|under|death|muerte|por debajo|a la baja|hacia abajo|downwards?)\b")
"""The direction in which averages crossed."""
BACKTEST_REQUEST = expression(
    r"\b(?:buy(?:ing)?[- ]and[- ]hold(?:ing)?|comprar y mantener)\b(?=[^?;]{0,60}?\b(?:cross\w*|cru[cz]\w+|averages?|"
    r"medias?|rsi)\b)|\b(?:backtest\w*|back-test\w*|(?:(?<=trading )|(?<=momentum )|(?<=rsi )|(?<=average ))rule|"
    r"strateg\w+|estrateg\w+|regla de)\b|\b(?:test(?:ed|ing)?|try(?:ing)?|simulat\w+|prueb\w+|probar\w*|simul\w+)\b"
    r"(?=[^?;]{0,60}?\b(?:cross\w*|cru[cz]\w+|averages?|medias?|rsi|moment(?:um|o))\b)|\b(?:buy(?:ing)?|bought|"
    r"compr(?:ar|ando|o|ase|ara|ad[oa])|entr(?:ar|ando|ado)) [^?;]{0,40}?\b(?:when(?:ever)?|(?:each|every) time|if|"
    r"cuando|cada vez q(?:ue)?|si)\b(?=[^?]{0,80}?\b(?:averages?|sma|medias?|rsi)\b)|\b(?:follow(?:ed|ing)?|"
    r"segu(?:ir|ido|ida|imos)|siguiendo)\b(?=[^?]{0,60}?\b(?:cross\w*|cru[cz]\w+|averages?|medias?|rsi)\b)|"
    r"\bhow (?:would|did|does) "
    r"(?=[^?;]{0,40}?\b(?:cross\w*|averages|rsi|momentum)\b[^?;]{0,20}?\b(?:have )?(?:done?|perform\w*|work\w*|"
    r"paid|fared?)\b)|\bcomo (?:hubiera|habria|funcion\w+) (?=[^?;]{0,60}?\b(?:cru[cz]\w+|medias|rsi|momento)\b)|"
    r"\b(?:would|habria\w*)\b(?=[^?]{0,40}?\b(?:buying|comprando|comprar)\b[^?]{0,80}?\b(?:averages?|sma|medias?|"
    r"rsi)\b)"
)
HYPOTHETICAL_RESULT = expression(
    r"\b(?:buy(?:ing)?[- ]and[- ]hold(?:ing)?|comprar y mantener|would (?:\w+ ){0,2}have \w+|"
    r"(?:habrian?|hubieran?) (?:\w+(?:do|cho|to)\b)?|buys|sells|compra y (?:vende|vendo))"
)
"""A hypothetical result, which asks for a backtest if it is about averages or the RSI."""
RULE_VERBS = expression(
    r"\b(?:sold|sell(?:ing)?|bought|drop\w*|fell|rose|vend(?:er|ido|ia|iera|iese)|compr(?:ado|aba)|baj(?:aba|ara|e)|"
    r"sub(?:ia|iera|a))\b"
)
"""What a rule does, and what makes it do so."""
RULE_WORDS = expression(r"\b(?:cross\w*|cruces?|averages|medias|rsi|smas?|moment(?:um|o))\b")
REGULAR_INVESTMENT = expression(
    r"(?:[$€£] ?)?(?<![\w.,])\d[\d.,]*(?: ?(?:dollars?|euros?|pounds?|usd|eur|dolares|pesos|[$€£]))? (?:(?:an?|per|"
    r"each|every|al|por|cada) (?:day|week|month|quarter|year|dia|semana|mes|trimestre|ano)|monthly|mensual(?:es)?)\b|"
    r"\b(?:each|every|per|cada) (?:day|week|month|quarter|year|dia|semana|mes|trimestre|ano) (?:with|of|for|con|de|"
    r"por) (?!(?:19|20)\d\d\b)(?:[$€£] ?)?\d[\d.,]*(?: ?(?:dollars?|euros?|pounds?|usd|eur|dolares|pesos|[$€£]))?"
)
"""An amount invested repeatedly, which no tool computes."""
_TIME = r"(?:day|session|week|month|quarter|year|dia|sesion|semana|mes|trimestre|ano)"
CLOSE_BEYOND_PRICE = expression(
    r"\b(?:clos(?:e|ed|es|ing)|cerr\w+|cierr\w+|cierres?|traded?|cotiz\w+|was|estuvo)\b[^?;\x00]{0,30}?"
    r"(?:\b(?P<up>above|over|por encima de|mas de|sobre)|\b(?:below|under|por debajo de|menos de)) "
    rf"[$€]?\d[\d.,]*\b(?![- ]?(?:{_TIME}|%))"
)
"""A close above a price."""
AT_PRICE = expression(
    r"\b(?:last|first|ever|ultima vez|primera vez|when was (?:it|\x01+)|cuando (?:estuvo|valia|"
    r"estaba))\b[^?;\x00\d]{0,25}?"
    r"\b(?:at|a) [$€]?\d[\d.,]*\b(?![- ]?(?:%|[a-z]))"
)
"""The time when a price was another, which no tool finds."""
PRICE_BEYOND = expression(
    r"\b(?:super(?:o|aron|aba|ado)|exceed(?:ed)?|topp?(?:ed)?|br(?:oke|eak|oken)(?: above| through)?) "
    r"(?:[^?;\x00\d]{0,25}? )?[$€]?\d[\d.,]*(?: ?(?:dollars|dolares|euros|usd))?(?![\d.,]*%| ?%)"
)
"""A price that was exceeded, which is no amount invested."""
HAD_BOUGHT = expression(
    r"\b(?:if (?:i|we)(?:['’]d)?|had (?:i|we)|i['’ ]d|si) (?:(?:had|d|hubier\w+|hubies\w+|habia\w*|have) )?"
    r"(?:bought|got|comprad[oa])\b|"
    r"(?<![\w.,])\d[\d.,]* (?:\S+ ){1,3}?(?:(?:that|which) )?(?:i|we) (?:had )?(?:bought|got)\b|"
    r"(?<![\w.,])\d[\d.,]* (?:\S+ ){1,4}?que (?:yo )?(?:compre|compramos|adquiri)\b"
)
"""Shares that were bought, or might have been."""
DURING = expression(r"\b(?:during|durante|throughout|a lo largo de)\b")
WHY_MOVED = expression(
    r"\b(?:why|por que)\b(?=[^?;]{0,60}?\b(?:mov\w+|ris\w+|rose|f[ae]ll\w*|drop\w*|jump\w*|climb\w*|crash\w*|"
    r"los[et]\w*|gain\w*|(?:so |that )?(?:up|down)|sub(?:e|io|ido|ieron)|baj(?:a|o|ado|aron)|ca(?:e|yo|ido|yeron)|"
    r"perd\w+|gan\w+|hund\w+|desplom\w+)\b)|"
    r"\b(?:what (?:moved|drove|happened to)|que (?:le )?(?:paso|movio|ha pasado)(?: (?:a|con))?)\b"
    r"(?! (?:the )?(?:most|least|mas|menos)\b)"
)
"""Asks what moved a ticker: the size of the move and the news of the time answer it, as far as anything does."""
PER_RISK = expression(
    r"\b(?:sharpe|sortino|(?:returns?|reward) (?:per|for each) (?:unit of )?(?:risk|volatility)|risk[- ]adjusted|"
    r"(?:rentabilidad|rendimiento|ganancia) por (?:unidad de )?(?:riesgo|volatilidad)|ajustad[oa] (?:al|por el|"
    r"por) riesgo)\b"
)
"""Figures that no tool measures; the report says so."""
BESIDE_RESULTS = expression(
    r"\b(?:(?:the|el) )?(?:days?|week|month|session|dias?|semana|mes) (?:after|before|following|despues de|antes de|"
    r"tras) (?:(?:its|the|their|sus?|l[oa]s) )?(?:last |latest |next |ultim[oa]s |proxim[oa]s )?(?:earnings|results|"
    r"report|resultados)\b"
)
"""A day beside that of a company's results."""
UNSUPPORTED_PERIOD = expression(
    rf"{BESIDE_RESULTS.pattern}|\b(?:first|primer[oa]s?) (?:\w+ )?(?:days|weeks|months|years|dias|"
    r"semanas|meses|anos)\b|"
    r"\b(?:average|mean|median) (?:daily |weekly )?(?:clos(?:e|ing)(?: price)?|price|moves?|returns?)\b|"
    r"\b(?:cierre|precio|movimiento) "
    r"(?:medio|promedio)\b|\b(?:from|desde) (?:(?:its|the|su|el) )?(?:\w+ )?(?:high|peak|maximo)\b.{0,25}\b(?:to|"
    r"hasta) (?:(?:its|the|su|el) )?(?:\w+ )?(?:low|trough|minimo)\b|\bsince then\b|\bdesde entonces\b|"
    r"\b(?:than|que) (?:it (?:used to(?: be)?|was|did)|before|antes|usual|normal|lo (?:habitual|normal|usual))\b|"
    r"\b(?:without|"
    r"sin) (?:an? |un |una )?(?:single )?(?:down|red|losing|up|green|dia|sesion)(?: (?:day|session|a la baja|en rojo|"
    r"de bajada))?\b|\b(?:than|with|to|vs\.?|versus|against|con|que|frente a) (?:the |el |la |l[oa]s )?"
    r"(?:previous|prior|\d{1,3} anteriores|anterior)(?: one| \d{1,3}(?: \w+)?)?(?=\W*$|[?.,;])"
)
"""Stretches and averages that no tool has: the first three months, from a high to a low, since then, an average close,
the one before."""
_UNSUPPORTED_OR_UNKNOWN = expression(
    rf"{UNSUPPORTED_PERIOD.pattern}|\b(?:(?:in|over|during|en|durante) )?(?:that|the same|those|es[ea]s?|"
    r"(?:el |la |l[oa]s )?mism[oa]s?) (?:week|month|quarter|year|period|stretch|time|days|weeks|months|years|semana|"
    r"mes|trimestre|ano|periodo|tramo|tiempo|dias|semanas|meses|anos)\b|\b(?:after|before) that\b|"
    r"\b(?:despues|antes)(?=\W*$)"
)
WHICH_DAY = expression(r"\b(?:when|cuando|last time|last|ultima vez|first time|first|primera vez)\b")
UP = expression(r"\b(?:subio|subieron|ha subido|rose|rise|gained|went up|go up)\b")
DOWN = expression(r"\b(?:bajo|bajaron|ha bajado|cayo|cayeron|fell|fall|lost|went down|go down)\b")
"""The direction of counted days, if the verb stands apart from them."""
NOW = expression(r"(?<!until )(?<!to )(?<!hasta )(?<!a )\b(?:now|today|hoy|ahora|actual(?:mente)?)\b")
SHARE_COUNT = expression(
    r"(?<![\w.,])\d[\d.,]* (?:shares|acciones)\b|(?:(?<=bought )|(?<=comprado )|(?<=compre ))\d[\d.,]* [a-z]+|"
    r"(?<![\w.,])\d[\d.,]* [a-z]+(?= (?:(?:(?:that|which) )?(?:i|we) (?:had )?(?:bought|got)|que compr\w+)\b)"
)
"""A number of shares, whose value no tool computes."""
LAST_TIME = expression(
    r"\b(?:(?:last|latest|most recent) (?:(?!days?|weeks?|months?|quarters?|years?|\d)[a-z]+ ){0,3}"
    r"(?:time|cross\w*)|cross\w* last|most recent(?:ly)?|"
    r"ultim[oa] (?:vez|cruce)|mas reciente)\b"
)
WHEN = expression(r"\b(?:when|cuando|how long|cuanto (?:tiempo )?(?:dur|tard)\w+)\b")
LASTED = expression(
    r"\b(?:how (?:long|many (?:days|sessions|weeks|months))|cuanto tiempo|cuant[oa]s (?:dias|sesiones|semanas|meses))\b"
)
"""How long something lasted."""
FALLS = expression(r"\b(?:falls|drops|declines|drawdowns|periods|caidas|retrocesos|periodos)\b")
"""Several falls, and not only the deepest."""
WHICH_YEAR = expression(
    r"\b(?:which|what|que|cual)\b[^?;]{0,60}?(?<!last )(?<!this )(?<!a )\b(?:years?|anos?)\b"
    r"|\b(?:most|least) \w+ years?\b|\banos? (?:(?:con|de) )?(?:mas|menos|mayor|menor)\b"
)
_DIRECTION = r"(?:up|positive|winning|green|down|negative|losing|red)"
HOW_MANY = expression(
    rf"\b(?:how many|cuant[oa]s|on how many|en cuant[oa]s) (?:{_DIRECTION} )?{UNIT}\b|"
    rf"\b{_DIRECTION}[- ](weeks?|months?|quarters?|years?)\b|"
    r"\b(semanas?|mes(?:es)?|trimestres?|anos?) (?:al alza|a la baja|positiv[oa]s?|negativ[oa]s?|"
    r"en (?:verde|rojo|positivo|negativo|perdidas))\b"
)
"""How many days, …; or weeks, months, … that ended higher or lower."""
SHARE_OF = expression(
    rf"\b(?:what )?(?:share|percentage|fraction|proportion) of (?:(?:the|its|all) )*{UNIT}\b|"
    rf"\b(?:que )?(?:porcentaje|proporcion|fraccion) de (?:l[oa]s |sus )?{UNIT.replace('unit', 'unidad')}\b"
)
"""The part of the days, weeks, … of a period, which no tool computes; how many they are is told."""
IN_A_ROW = expression(r"\bin a row\b|\bconsecutiv\w+|\bseguid[oa]s\b|\bstraight\b")
HOW_OFTEN = expression(r"\b(?:how (?:often|many times)|cuantas veces)\b")
RULE_PATTERNS = (
    ("rsi_reversion", expression(r"\brsi\b(?: (?:strategy|reversion))?")),
    ("momentum", expression(r"\bmoment(?:um|o)\b")),
    (
        "buy_and_hold",
        expression(r"\b(?:buy(?:ing)? and hold(?:ing)?|(?:comprar y )?mantener|manteniendo|holding)\b"),
    ),
)
BENCHMARK_COMPARISON = expression(
    r"\b(?:beat\w*|outperform\w*|better|worse|than|vs\.?|versus|against|compar\w+|superad\w+|bat(?:e|ir|ido|io)\w*|"
    r"gan[oa](?:ria)? a|(?:win|won) over|mejor|frente|contra|mas que)\b"
)
"""A comparison with buying and holding, which is no rule of its own."""
_COSTS = r"(?:costs?|fees?|commissions?|costes?|comision(?:es)?)"
_PER_CENT = r"(?:%|per ?cent|por ?ciento)"
COSTS = expression(
    rf"(?<!\d)(?P<a>\d++(?:[.,]\d++)?) ?{_PER_CENT} (?:of |de |en |in )?(?:trading |transaction )?{_COSTS}"
    rf"|{_COSTS} (?:of |de(?:l)? |at |al )?(?:un )?(?P<b>\d++(?:[.,]\d++)?) ?{_PER_CENT}"
    rf"|\b(?:without|no|sin) (?:any |the |los |las )?{_COSTS}\b"
)
WORST = expression(r"\b(?:worst|peor(?:es)?)\b")
PAST_TIME = expression(r"\bago\b|\bhace (?!falta)")
"""A price of the past, as opposed to the current one."""
OVERALL = expression(
    r"\bhow(?:'s| (?:did|has|have|had|is|are|was|were))\b[^?;,]*?\b(?:do|done|doing|far(?:e|ed)|perform\w*)\b|"
    r"\bcompar\w+|\b(?:had|tuvo|tuvieron) (?:the |an? |el |un )?(?:better|worse|best|worst|mejor|peor)(?= [\x00\x01])|"
    r"\bcomo (?:(?:les? |se )?(?:ha|han) (?:ido|estado|evolucionado)|"
    r"(?:les?|se) (?:fue|fueron|han?|va|iba|comport\w+)|(?:va|van|iba|iban|anda|andan)(?= \x01| la | las ))"
)
WORD = expression(r"[a-z][a-z'-]+|(?<![\w.,])\d[\d.,]{0,20}(?: ?%| per ?cent| por ?ciento)")
"""A word or a percentage. Percentages that no rule has read are reported too."""

_JOINS = expression(r"[,;]|\b(?:and|y|e)\b")


def crossing_direction(query: str) -> bool | None:
    """The direction of the crossings asked for: above (True) or below (False); None for both."""
    above, below = bool(_ABOVE.search(query)), bool(_BELOW.search(query))
    return above if above != below else None


def unsupported_period(query: str) -> re.Pattern[str]:
    """The pattern of periods that no tool has; a reference to a period is one if the query names none itself."""
    return UNSUPPORTED_PERIOD if re.search(r"\b(?:19|20)\d\d\b", query) else _UNSUPPORTED_OR_UNKNOWN


def in_one_clause(query: str, places: Collection[int]) -> bool:
    """Whether figures are named in one clause: "how much did its volume rise" does not ask for a return."""
    return bool(places) and not _JOINS.search(query, min(places), max(places))


def period_ahead(ahead: re.Match[str]) -> str:
    """The period of a match of `AHEAD`: week, month, a month's number, or a count of days, weeks or months (2w)."""
    if ahead["name"]:
        return str(MONTHS[ahead["name"]])
    if ahead["count"]:
        return times.length_of(ahead["count"], ahead["unit"], exact=True)
    return "week" if ahead["week"] else "month"


def whole_numbers(match: re.Match[str]) -> list[int]:
    """The whole numbers in a match."""
    return [int(digits) for digits in re.findall(r"\d+", match[0])]


def unit_of(words: str) -> str:
    """The unit of a word that `UNIT` matches: day, week, month, quarter or year."""
    return next(unit for name, unit in UNITS.items() if words.startswith(name))


def unit_of_parts(match: re.Match[str]) -> str:
    """The unit of the parts that one of `PARTS` has matched."""
    words = next(filter(None, match.groups()))
    return PART_OF.get(re.split(r"es$|[- ]", words)[0]) or unit_of(words)


_PRONOUN = expression(r"(?<=[a-z]{3})(?:me|nos|(?:me)?l[oa]s?)$")
"""A pronoun at the end of a Spanish verb that asks for something: explícame, compáralas."""


def unread_words(text: str, known_parts: Collection[str]) -> list[str]:
    """Runs of words that no rule has read and that are no usual words of questions. `known_parts`: parts of tickers."""
    runs: list[str] = []
    run: list[str] = []
    for match in [*WORD.finditer(text), None]:
        word = match[0].removesuffix("'s").strip("'-") if match else ""
        is_read = word in known_parts or all(part in QUESTION_WORDS or part in known_parts for part in word.split("-"))
        is_read = is_read or any(
            form in QUESTION_WORDS for form in (word, word.replace("-", ""), _PRONOUN.sub("", word))
        )
        if match and len(word) > 1 and not is_read:
            run.append(word)
        elif run:
            runs.append(" ".join(run))
            run = []
    return runs
