"""The parts of a sentence about markets, as patterns over folded text (lower case, no accents), in Spanish and English.

The order matters: text that one pattern has matched is replaced by zero bytes, which no later pattern matches. So "more
or less" is a plain word before "more" can be a comparison.
"""

import re

from agent.domain.claims.figure_words import FIGURES
from contracts.calendar_names import NUMBERS
from contracts.expressions import expression

CURRENCY = {
    **dict.fromkeys(("$", "us$", "usd", "dollar", "dollars", "dolar", "dolares"), "USD"),
    **dict.fromkeys(("€", "eur", "euro", "euros"), "EUR"),
    **dict.fromkeys(("£", "gbp", "pounds", "libras"), "GBP"),
    **dict.fromkeys(("jpy", "yen", "yenes"), "JPY"),
}
SCALES = {
    **dict.fromkeys(("thousand", "k", "mil"), 1e3),
    **dict.fromkeys(("m", "mn", "million", "millions", "millon", "millones"), 1e6),
    **dict.fromkeys(("b", "bn", "billion", "billions", "mil millones", "miles de millones"), 1e9),
    **dict.fromkeys(("t", "tn", "trillion", "trillions", "billon", "billones"), 1e12),
}
NUMBER = expression(
    r"(?<![\w.])(?P<sign>[-+])?(?P<before>us\$|\$|€|£|(?:usd|eur|gbp|jpy) "
    r")?(?P<sign2>[-+])?(?P<digits>\d(?:[\d.,]*\d)?)(?: ?(?P<percent>%|percent\b|per cent\b|por ciento\b)|[ "
    r"-]?(?P<points>percentage points?\b|pp\b|puntos porcentuales\b|puntos?\b|points?\b|basis points\b|bps?\b)|(?: "
    r"?(?P<scale>mil millones|miles de millones|thousand|millions?|billions?|trillions?|millon(?:es)?|billon(?:es)?|"
    r"mil|mn|bn|tn|[mbtk])\b(?: de)?)?(?: ?(?P<after>usd|eur|gbp|jpy|us dollars|dollars?|dolar(?:es)?|euros?|pounds|"
    r"libras|yen(?:es)?|€|\$|£)(?!\w))?(?P<times> ?(?:x|times|veces)\b(?! (?:(?:its|trailing|sus|los|el) "
    r")?(?:earnings|beneficios?)))?)"
)
ABOUT = expression(
    r"\b(?:(?:a (?:little|bit|touch) |just |slightly |well )?(?:over|under)|more than|above|below|less than|nearly|"
    r"almost|about|around|roughly|approximately|some|close to|near|unos|unas|casi|(?:cerca|alrededor|mas|menos|por "
    r"encima) del?|aproximadamente|en torno al?|sobre|por debajo del?)(?: (?:an?|un|el))? ?$"
)
_OVER = (
    r"(?:(?:more|higher|greater) than|over|above|exceed(?:s|ed)?|topped|(?:mas|por encima) de|superior(?:es)? a|"
    r"super(?:a|an|aba|o|aron))"
)
_UNDER = (
    r"(?:(?:less|lower|smaller) than|under|below|within|nearly|almost|casi|(?:menos|por debajo) de|inferior(?:es)? a)"
)
BOUND = expression(rf"\b(?:(?P<over>{_OVER})|{_UNDER})(?:l| el| los| un| an?)? ?$")
"""Words that say that a figure is above, or below, the number that follows."""
_WHOLE_PART = r"(?: (?:(?:of )?(?:its|their|the)|de su) (?:value|worth|price|valor|precio))"
PART_SHARES = {"half": 1 / 2, "third": 1 / 3, "quarter": 1 / 4, "fifth": 1 / 5, "tenth": 1 / 10, "two_thirds": 2 / 3}
PART = expression(
    r"\b(?<!\bin )(?<!\bfor )(?<!\bover )(?<!\bfirst )(?<!\bsecond )(?<!primera )(?<!segunda )"
    rf"(?:(?:(?P<over>{_OVER})|(?P<under>{_UNDER}))(?:l| el| los)? )?(?:(?P<half>half|(?:la )?mitad)|"
    rf"(?P<two_thirds>two[- ]thirds|dos tercios|(?:las )?dos terceras partes)"
    r"|(?:an?|one|una?|la) (?:(?P<third>third|tercio|tercera parte)|(?P<quarter>quarter|cuarto|cuarta parte)"
    rf"|(?P<fifth>fifth|quinto|quinta parte)|(?P<tenth>tenth|decimo|decima parte)))\b(?:{_WHOLE_PART}|(?= (?:in|over|"
    r"during|since|this|from|en|durante|desde|este)\b| ?[,.;:()]|$))"
)
"""A share of the whole that states a rise or a fall: a third of its value, by half in 2008."""
STREAK = expression(
    r"\b(?:(?:winning|losing) runs?|streaks?|rachas?|in a row|straight|(?:seguid|consecutiv)[oa]s|consecutive)\b"
)
SPELLED = (
    rf"\b(?:(?:more|less) than )?(?:(?:{'|'.join(NUMBERS)}|half|a third|a quarter)"
    r"[- ](?:a |and a half )?(?:percent|per cent|por ciento|points|puntos|dollars|dolares|euros|times|veces|million|"
    r"billion|"
    r"millones)|doubl\w+|tripl\w+|quadrupl\w+|halv\w+|twice(?! as (?!much|many|high|large|deep))|half (?:its|of its)|"
    r"twofold|threefold|tenfold|duplic\w+|dobl(?:[oae]|aron)|cuadruplic\w+|la mitad)\b"
)
PROMISE = (
    r"\b(?:you should|i recommend|we recommend|i suggest|we suggest|should (?:buy|sell|invest)|(?:is|are) a (?:strong "
    r"|good )?(?:buy|sell)|guarante\w+|(?:will|shall) (?!be (?:reported|published|told))\w+|expect(?:s|ed)?(?= "
    r"(?:[\w\x00]+ ){0,3}?to (?!be\b|report\b|publish\b)\w+)|(?:se )?esperan? que(?! (?:[\w\x00]+ ){0,4}?(?:present|"
    r"publi|anunci|inform)\w+)|podrian? \w+|puede[n]? (?:subir|"
    r"bajar|caer|crecer)|(?:could|might|may|would|should|can) (?:\w+ )?(?:rise|fall|go|climb|drop|gain|lose|grow|"
    r"recover|continue|outperform|rally)|(?:is|are) (?:going|bound|certain|sure|set|likely) to|risk-?free|deberias?|"
    r"te recomiendo|recomendamos|conviene (?:comprar|vender|invertir)|(?:subira|bajara|caera|crecera)n?|garanti\w+|"
    r"lo mas probable es que|"
    r"(?:rally|rebound|rise|fall|drop|correction|recovery|breakout|crash|rebote|subida|caida|correccion|recuperacion) "
    r"(?:is |are |es |esta |parece |looks )?(?:coming|imminent|likely|ahead|inminente|probable)|"
    r"va[n]? a (?:subir|bajar|caer|seguir|crecer)|seguira\w*|buy now|sell now|compra ahora|vende ahora)\b"
)
FALL = (
    r"\b(?:f[ae]ll(?:s|en|ing)?|drop(?:s|ped|ping)?|declin(?:e|es|ed|ing)|lost|los(?:s|ses|es|e|ing)|down|decreas\w*|"
    r"cost(?:s|ing)?(?= (?:investors|holders|shareholders|owners)\b)|plummet\w*|crater(?:s|ed)|collaps(?:e|es|ed)|"
    r"crash(?:es|ed)|(?:in|into) (?:negative territory|the red)|slid(?:es|"
    r"e)?|slip(?:s|ped|ping)|hund\w*|slump\w*|shed|sank|sunk|tumbl\w+|plung\w+|dipped|retreat(?:s|ed)?|weakened|"
    r"shr[aiu]nk(?:s|ing)?|g[ai]v(?:e|es|en|ing) up|lost ground|perdio terreno|gone down|went down|in the red|negative|"
    r"(?<!\bes )(?<!\bson )(?<!\bfue )(?<!\bera )(?<!\bmuy )bajas?|depreci\w+|behind(?= by \d)|baj(?:o|aban?|an|"
    r"aron|ada|ado|ando|adas)|ca(?:ian?|"
    r"yo|ido|ida|idas|e|en|yeron|er|yendo)|perdi(?:o|an?|eron|do|da|das)|pierd\w*|perder|retroce\w*|descen\w*|"
    r"negativ\w*|desplom\w*|se dejo|se dejaron|se deja|deja|cedio|cede|cedieron|en rojo|perdida)\b"
)
RISE = (
    r"\b(?:(?:in|into) (?:positive territory|the green)|en verde|dispar(?:o|a|an|aron|ado|ada|arse)|spik(?:ed|es)|"
    r"vault(?:ed|s)|leap(?:t|ed|s)|rocket(?:ed|s)|r[io]se[sn]?|rising|gain(?:s|ed|ing)?|grew|grow(?:s|n|th|ing)?|"
    r"(?<!held )(?<!holds )(?<!holding )up|ahead(?= (?:by )?\d)|increas\w*|rais(?:ed|es|ing)|climb(?:s|ed|ing)?|"
    r"advanc(?:e|es|ed|ing)|positive|rall(?:y|ied|ies)|jump(?:s|ed)?|surg(?:e|ed|es)|soar(?:s|ed)?|add(?:s|ed|ing)|"
    r"clawed back|went up|gone up|in the black|appreciat(?:ed|es)|sub(?:io|ian?|ieron|ido|ida|idas|e|en|ir|iendo)|"
    r"gan(?:o|ar|aban?|aron|a|an|ado|ancia|ancias|ando)|se anot\w+|se apunt\w+|avanz\w*|avances?|crec\w+|positiv\w*|"
    r"aument\w*|revaloriz\w*|alzas?|repunt\w*|sumo|suma|sumaron|escal(?:o|aron)|increment\w*)\b"
)
MOVED = expression(f"{FALL}|{RISE}")
FLAT = (
    r"\b(?:(?:hardly|barely|scarcely) (?:mov|chang|budg)(?:ed?|es)|flat|unchanged|little changed|"
    r"apenas (?:se )?(?:han? )?(?:mueven?|mov(?:io|ieron|ido)|(?:vari|cambi)(?:an?|o|aron|ado))|plan[oa]s?|"
    r"sin cambios|se mantuvo estable)\b"
)
EVEN = r"\b(?:next to no difference|la diferencia es minima)\b"
BETTER = (
    r"\b(?:outperform\w*|outpac\w*|beat|beats|beating|beaten|(?:did|done|fared|performed|held up|"
    r"holds up) better(?: than)?|(?:better|"
    r"stronger) performer|returned better than|ahead(?: of|(?= ?[(,.;]|$))|(?:dwarf|eclips)(?:e?s|ed)|exceed(?:s|"
    r"ed)?(?= (?:that|those) of)|"
    r"super(?:o|a|aron|an|ando) (?:a|(?=l[ao]s? de))|"
    r"bati(?:o|eron) a|bate a|(?:lo hizo|lo hicieron|se comporto|fue|rindio|le fue|"
    r"evoluciono) mejor que|mejor que|better than|por delante de|gano a|rindio mas que|rinde mas que|returned more "
    r"than|more than(?! \$?\d| (?:twice|half|double|an?|one|two|three|four)\b))\b"
)
WORSE = (
    r"\b(?:underperform\w*|(?:is|was|are) exceeded by(?: that of)?|lagg\w*|lags|trail(?:s|ed)?|trailing(?= \x00)|"
    r"short of|(?:did|done|fared|performed) worse(?: than)?|(?:worse|weaker) performer|returned worse than|(?<!close "
    r")behind(?! by \d)|(?:lo hizo|lo hicieron|se comporto|fue|rindio|le fue|evoluciono) peor que|peor que|"
    r"worse than|por "
    r"detras de|rindio menos que|rinde menos que|quedo por debajo de|returned less than|less than(?! \$?\d| (?:twice|"
    r"half|double|an?|one|two|three|four)\b))\b"
)
_ADJECTIVES = {
    "volatility": "riski volatil risk arriesg",
    "-volatility": "steadi safest calm stable estable tranquil safe steady",
    "pe": "expensive pric caro cara",
    "-pe": "cheap barat",
    "net_margin": "profitable rentable",
    "market_cap": "valuable valios",
    "current_drawdown": "furthest farthest further farther alejad",
    "-current_drawdown": "closest nearest closer nearer cercan",
}
ADJECTIVES = {start: figure for figure, starts in _ADJECTIVES.items() for start in starts.split()}
"""Beginnings of adjectives, with the figure that each compares; a minus means less of it."""
ADJ = (
    r"(?:volatile|volatil(?:es)?|risky|arriesgad\w+|expensive|car[oa]s?|cheap|barat[oa]s?|profitable|rentables?|"
    r"valuable|valios\w+|stable|estables?|calm|tranquil[oa]s?|steady|"
    r"(?:alejad|cercan)[oa]s?(?= (?:de|a) sus? maximos?))"
)
COMPARATIVE = (
    rf"\b(?:fluctu(?:ated|ates|o|a|aron|an) (?:(?P<fmore>more|mas)|(?P<fless>less|"
    rf"menos))|(?P<more>more|mas) (?P<adj>{ADJ})|(?P<less>less|menos) (?P<adj2>{ADJ})"
    r"|(?:is |are )?worth (?:\w+ )?(?:(?P<wmore>more)|(?P<wless>less))(?= than\b)"
    r"|vale[n]? (?:(?P<vmore>mas)|(?P<vless>menos))(?: en bolsa)?(?= que\b)"
    r"|(?:(?P<rmore>higher|more|mayor|mas)|(?P<rless>lower|less|menor|menos)) (?:risk|riesgo)\b"
    r"|(?P<er>riskier|cheaper|calmer|steadier|safer|(?:(?:fur|far)ther|closer|nearer)(?= (?:from|to) "
    r"(?:its|their) (?:high|peak)))|(?:(?P<half>half)|twice|\w+ times) as (?P<adj5>" + ADJ + r")(?= as\b)"
    r"|not as (?P<adj3>" + ADJ + r")|tan (?P<adj4>" + ADJ + r"))\b"
)
_OF_ALL = r"(?! (?:than|que)\b)"
SUPERLATIVE = (
    rf"\b(?:(?:the |(?:el|la|los|las) (?:\w+ )?)(?:(?P<smost>most|mas)|(?P<sleast>least|menos)) "
    rf"(?P<sadj>{ADJ}){_OF_ALL}|(?:(?P<smost2>most|mas)|(?P<sleast2>least|menos)) (?P<sadj2>{ADJ})(?= (?:of|de|among|"
    rf"entre)\b)|(?P<sest>(?:risk|pric|cheap|calm|steadi|saf)i?est|(?:(?:fur|far)thest|closest|nearest)"
    r"(?= (?:from|to) (?:its|their) (?:high|peak))))\b"
)
UP = (
    r"(?:higher|greater|larger|bigger|more|deeper|steeper|worse|wider|superior(?:es)?|"
    r"mayor(?:es)?|mas alt[oa]s?|mas|mas elevad[oa]s?|mas grandes?|mas profund[oa]s?)"
)
DOWN = (
    r"(?:lower|smaller|less|shallower|milder|narrower|inferior(?:es)?|menor(?:es)?|"
    r"mas baj[oa]s?|menos|mas pequen[oa]s?|mas reducid[oa]s?)"
)
HIGHEST = r"(?:highest|largest|biggest|greatest|deepest|steepest|most|mayor|mas alt[oa]|mas elevad[oa]|mas grande)"
LOWEST = r"(?:lowest|smallest|shallowest|mildest|least|menor|mas baj[oa]|mas reducid[oa]|mas pequen[oa])"
_GAINS = r"(?:(?:net|gross|profit) )?(?:margins?|margen)\b|(?:dividend )?yield\b|rentabilidad\b"
"""Figures whose best value is the highest."""

SMA = expression(
    r"\b(?:de |the |its )?(?P<n>20|50|200)(?:[- ]?(?:day|session|dia|sesion)\w*|(?=(?:[- ]?,? ?(?:and|y|/|&|or)?,? "
    r"?(?:de )?(?:20|50|200)){1,2}[- ]?(?:day|session|dia|sesion)))\b|\b(?:sma|ma)[ _(-]*(?P<m>20|50|200)(?!\d)\)?|"
    r"\b(?:sma|ma)s? (?P<k>20|50|200)(?!\d)|\bmedias? (?:movil(?:es)? |simples? )*de (?P<l>20|50|200)\b(?! (?:y|e|o|"
    r",))|\b(?:(?:la|y) de|the) (?P<o>20|50|200)(?! ?[%$€]|[.,]?\d)(?: one)?\b"
)
HAS_AVERAGE = expression(r"\b(?:day lines?|average|averages|sma|moving|media|medias|promedios?|ma)\b")
SOURCE = expression(
    r"\(?\b(?:from |de |figures from |data from |cifras de |datos de )?(?:(?:the |la )?(?:sources?|fuentes?)\b ?(?:is |"
    r"was |es |fue |are |son )?:? ?)(?:the |la )?[«\"'“]?(?P<a>[a-z][\w.-]*(?:\.\w+)?)?[»\"'”]?\)?|\b(?:(?:based on|"
    r"using|from)(?= (?:the )?[\w-]+ (?:[\w-]+ )?(?:data|figures)\b)|according to|as reported by|reported by|as per|"
    r"data by|data from|figures from|(?<!un )(?<!el )(?<!su )(?<!de )per|segun|de acuerdo con|datos de|cifras de|"
    r"informa|via|citing|citando a?)(?: the| la| el| los| las)? (?P<b>[a-z][\w-]*(?:\.[a-z]\w*)?)"
)
_FINE_SOURCES = """
data figures sources source tool tools results report reports numbers market calendars calendar datos cifras fuentes
fuente herramienta herramientas resultados informe informes mercado calendarios calendario accounts cuentas its
their sus su los las this these estos estas share cent ticker day year month week
"""
PLAIN_SOURCES = frozenset(_FINE_SOURCES.split())
REPORT = expression(
    r"\b(?:fy ?|fiscal (?:year )?|full-year |ejercicio (?:fiscal )?(?:de )?|"
    r"ano fiscal (?:de )?)(?P<year>(?:19|20)\d\d)\b"
)
PLAIN_PHRASES = expression(
    r"\b(?:(?:dividends?|dividendos) (?:are |were |is )?(?:not (?:counted|included)|excluded|no (?:contados|incluidos|"
    r"se cuentan))|(?:without|excluding|ignoring|not counting|not including|sin(?: contar| incluir)?|before) (?:the |"
    r"los )?(?:dividends|dividendos)|price alone|solo (?:el )?precio|not (?:financial |investment )?advice|"
    r"no es (?:asesoramiento|consejo|una recomendacion)(?: financiero)?|(?:split|splits?)[- ]adjusted|"
    r"ajustad[oa]s? por splits|(?<=espera )que|(?<=esperan )que|a (?:good|great) deal|at all|after all|en absoluto|"
    r"the (?:two|"
    r"three)(?= (?:are|is|of|have|both|was|"
    r"were)\b)|as of|a fecha de|up to|de al menos|at least|a lo sumo|at most|como mucho|more or less|"
    r"mas o menos|in terms of|close behind(?= (?:at|with|\()|[,.;])|(?:of|among) the (?:two|three|four|five)|(?:de|"
    r"entre) l[oa]s (?:dos|tres|cuatro|cinco)|up or down|g[ai]ves? up (?:some |a little )?(?:returns?|gains?|"
    r"upside) for|risk over at most a year|no more than|not today's market|(?:threshold|level|line|umbral|nivel) (?:of|"
    r"de) (?:30|70))\b|\b(?:near|cercan[oa]s? al?|ronda(?:n|ba)?(?: el| los)?) (?=[$€]?\d)"
    rf"|\b(?:{_OVER}|{_UNDER})(?:l| el| los| un| an?)? (?=[$€]?\d)"
)
UNKNOWN = expression(
    r"\b(?:there is )?not enough (?:history|data) for\b|\bno hay (?:historia|datos?) suficientes? para\b|"
    r"\b(?:(?:there is |there's |there are )?no (?:\w+ )?(?:figures?|data|values?|history|dates?)(?: is| are)?(?: "
    r"known| available| given)?(?: for| of| on| about)?|(?:is|are|was) (?:not|un)(?: |-)?(?:known|available|given|"
    r"reported)|(?:isn't|aren't) (?:known|available)|unavailable|is missing|are missing|not known|n/a|sin datos?(?: "
    r"de| sobre| para)?|no (?:se conocen?|hay datos?|consta[n]?|esta[n]? disponibles?|se sabe|hay cifra|tiene "
    r"dato)(?: (?:de|sobre|para))?|se desconocen?|falta[n]?(?: (?:el|la|los) datos?(?: de)?)?)\b"
)
UNTRUE = expression(
    r"\b(?:not (?:true|right|correct|accurate)|wrong|incorrect|false|untrue|inaccurate|a mistake)(?: to (?:say|claim|"
    r"think|state|conclude))? that\b|\bno (?:es|seria) (?:cierto|verdad|correcto|exacto)(?: decir)? que\b|\b(?:es|"
    r"seria) (?:falso|mentira|incorrecto|erroneo|un error)(?: (?:decir|afirmar|pensar))? que\b"
)
"""Words that turn the rest of their clause into its opposite."""
_TOKENS: tuple[tuple[str, str | re.Pattern[str]], ...] = (
    ("untrue", UNTRUE),
    ("spelled", SPELLED),
    ("promise", PROMISE),
    ("unknown", UNKNOWN),
    ("word", PLAIN_PHRASES),
    ("flat", FLAT),
    ("even", EVEN),
    ("super", SUPERLATIVE),
    ("compare", COMPARATIVE),
    (
        "moved_more",
        r"\b(?P<dir>rose|gained|climbed|grew|subio|gano|crecio|subieron)(?: by)? (?P<much>more|less|mas|menos)(?= "
        r"(?:than|que)\b)|\b(?P<fdir>fell|lost|dropped|declined|bajo|cayo|perdio|bajaron|retrocedio)(?: by)? "
        r"(?P<fmuch>more|less|mas|menos)(?= (?:than|que)\b)",
    ),
    (
        "best",
        r"\b(?:did|performed|fared) (?P<b>best|worst)\b|\b(?P<w1>the )?(?P<b2>best|worst|(?:strong|weak)est"
        r"(?= (?:perform|return|result)))(?:[- ](?:performer|performing|return|returns|result|performance)\w*"
        r"(?: (?:stock|ticker|one))?)?(?= (?:\x00|was|were|is|of|among|,|\()|[:.,]|$)|"
        r"\b(?:the |la |el )?(?:clear |big )?(?:winner|ganador[ae]?|(?P<loser>loser|laggard|"
        r"perdedor[ae]?|rezagad[oa]))\b|\b(?:la|el|lo) (?:que )?(?:(?:mas subio|hizo)? ?)?(?P<b3>mejor|peor)(?: "
        r"rentabilidad| rendimiento| comportamiento| desempeno)?(?= (?:\x00|fue|es|de|entre|,)|[:.,]|$)|"
        r"\b(?:leads?|led)\b(?: (?:with|in|by|on)\b)?|\b(?:lider|encabez)\w*(?: (?:en|por|con|el grupo con)\b)?",
    ),
    ("better", BETTER),
    ("worse", WORSE),
    (
        "than",
        r"\b(?:than (?:that of |those of |the )?|que (?:el de|la de|los de|las de)|(?<!mientras )que(?= \x00)|"
        r"compared (?:with|to)|relative to|as opposed to|versus|vs\.?|against|frente a(?:l| la| los)?(?: de)?|"
        r"comparad[oa]s? con|respecto a(?:l)?|en comparacion con)(?!\w)|(?:(?<=superior )|(?<=inferior )|"
        r"(?<=superiores )|"
        r"(?<=inferiores ))a(?:l| la| los| las)?(?: de)?(?= \x00)",
    ),
    (
        "highest",
        rf"(?:(?<!'s )(?<!its )(?<!su )(?<!sus )(?<!\bun )(?<!\buna )(?<!\ba )\b(?:the |el |la |los |las )|\bde )"
        rf"(?:{HIGHEST}\b(?! (?:a|que) )|(?:best|mejor)(?= {_GAINS}))|"
        rf"\b(?:is|was|fue|es|had|tiene|tuvo) (?:the |el |la )?(?:highest|mayor)\b(?! \x00)",
    ),
    (
        "lowest",
        rf"(?<!'s )(?<!its )(?<!su )(?<!sus )\b(?:the |el |la |los |las |de )(?:{LOWEST}\b(?! (?:a|que) )|"
        rf"(?:worst|peor)(?= {_GAINS}))|\b(?:is|was|fue|es|had|tiene|tuvo) (?:the |el |la )?lowest\b",
    ),
    ("between", r"\b(?:between|entre)\b(?= (?:its|su|sus|the|las|los) )"),
    (
        "above",
        r"\b(?:(?:mayor|superior) (?:de|a|que) lo (?:habitual|normal)|unusually (?:high|large|heavy)|"
        r"inusualmente alto|above|por encima(?: del?)?|encima del?|supera (?=sus? media))",
    ),
    (
        "below",
        r"\b(?:(?:menor|inferior) (?:de|a|que) lo (?:habitual|normal)|unusually (?:low|light|thin)|"
        r"inusualmente bajo|below(?! (?:its|the) (?:peak|high|top)\b)|"
        r"(?:por )?debajo(?! de sus? maximos?)(?: del?)?)\b",
    ),
    (
        "figure",
        "(?P<f>" + "|".join(f"(?P<f{i}>\\b(?:{pattern}))(?!\\w)" for i, (_, pattern) in enumerate(FIGURES)) + ")",
    ),
    (
        "up",
        rf"\b{UP}\b(?= (?:\x00|for|in the case|para|a la|al|a los|a las))|(?<=\x00 ){UP}\b(?= ?[.,;]|$)",
    ),
    (
        "down",
        rf"\b{DOWN}\b(?= (?:\x00|for|in the case|para|a la|al|a los|a las))|(?<=\x00 ){DOWN}\b(?= ?[.,;]|$)",
    ),
    ("fall", FALL),
    ("rise", RISE),
    ("neither", r"\b(?:neither|none|ninguno|ninguna|ni(?= \x00))\b"),
    ("rest", r"\b(?:(?:the )?other (?:two|three|ones)|the others|l[oa]s (?:otr[oa]s(?: dos| tres)?|demas))\b"),
    (
        "all",
        r"\b(?:(?:both|ambos|los dos)(?! (?:years?|periods?|times?|cases?|counts?|measures?|anos|periodos|casos|"
        r"ejercicios)\b)|all(?: (?:three|four|five|six|of them))?|ambas|the (?:two|three|four) (?:companies|"
        r"stocks|shares|tickers|names)|tod[oa]s|(?:l[oa]s|tod[oa]s l[oa]s) (?:dos|tres|cuatro|cinco))\b(?! "
        r"(?:ultim|pasad))",
    ),
    ("except", r"\b(?:except(?: for)?|excepto|salvo)\b"),
    (
        "not",
        r"\b(?:not|no|never|nunca|jamas|tampoco|without|sin|didn't|doesn't|isn't|"
        r"wasn't|hasn't|haven't|aren't|weren't|don't|cannot|fail(?:ed|s)? to)\b|n't\b",
    ),
    (
        "expected",
        r"\b(?:expected|estimated|provisional|unconfirmed|not (?:yet )?confirmed|"
        r"previst[oa]s?|esperad[oa]s?|se esperan?|sin confirmar|no confirmad[oa]s?)\b",
    ),
    ("confirmed", r"\b(?:confirmed|confirmad[oa]s?)\b"),
    (
        "break",
        r"\b(?:and|but|while|whereas|with|although|though|y|e|pero|mientras(?: que)?|con|aunque|as|yet|sino|after|"
        r"before|following|tras|despues de|antes de)\b|[;:,](?=\s|$)|[|—]|\s-(?=\s)",
    ),
)
TOKENS = tuple((kind, expression(pattern) if isinstance(pattern, str) else pattern) for kind, pattern in _TOKENS)
