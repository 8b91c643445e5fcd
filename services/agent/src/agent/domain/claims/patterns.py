"""What a sentence about markets is made of, as patterns over folded text (lower case, no accents), in es and en.

Order counts: what one pattern has taken, the next ones find as a zero byte, which is no word's.
"""

import re

from agent.domain.claims.figure_words import FIGURES

CURRENCY = {
    "$": "USD",
    "usd": "USD",
    "us$": "USD",
    "dollars": "USD",
    "dollar": "USD",
    "dolares": "USD",
    "dolar": "USD",
    "€": "EUR",
    "eur": "EUR",
    "euros": "EUR",
    "euro": "EUR",
    "£": "GBP",
    "gbp": "GBP",
    "pounds": "GBP",
    "libras": "GBP",
    "jpy": "JPY",
    "yen": "JPY",
    "yenes": "JPY",
}
SCALES = {
    **dict.fromkeys(("thousand", "k", "mil"), 1e3),
    **dict.fromkeys(("m", "mn", "million", "millions", "millon", "millones"), 1e6),
    **dict.fromkeys(("b", "bn", "billion", "billions", "mil millones", "miles de millones"), 1e9),
    **dict.fromkeys(("t", "tn", "trillion", "trillions", "billon", "billones"), 1e12),
}
NUMBER = re.compile(
    r"(?<![\w.])(?P<sign>[-+])?(?P<before>us\$|\$|€|£|(?:usd|eur|gbp|jpy) )?(?P<sign2>[-+])?(?P<digit"
    r"s>\d(?:[\d.,]*\d)?)(?:"
    r" ?(?P<percent>%|percent\b|per cent\b|por ciento\b)"
    r"|[ -]?(?P<points>percentage points?\b|pp\b|puntos porcentuales\b|puntos?\b|points?\b|basis points\b|bps?\b)"
    r"|(?: ?(?P<scale>mil millones|miles de millones|thousand|millions?|billions?|"
    r"trillions?|millon(?:es)?|billon(?:es)?|mil|"
    r"mn|bn|tn|[mbtk])\b(?: de)?)?(?: ?(?P<after>usd|eur|gbp|jpy|us dollars|"
    r"dollars?|dolar(?:es)?|euros?|pounds|libras|yen(?:es)?|€|\$|£)(?!\w))?"
    r"(?P<times> ?(?:x|times|veces)\b(?! (?:(?:its|sus|los|el) )?(?:earnings|beneficios?)))?)"
)
ABOUT = re.compile(
    r"\b(?:(?:a (?:little|bit|touch) |just |slightly |well )?(?:over|under)|more than|above|below|less than|nearly|"
    r"almost|about|around|roughly|approximately|some|close to|near|"
    r"unos|unas|casi|(?:cerca|alrededor|mas|menos|por encima) del?|aproximadamente|en torno al?|sobre|"
    r"por debajo del?)(?: (?:an?|un|el))? ?$"
)
_OVER = (
    r"(?:(?:more|higher|greater) than|over|above|exceed(?:s|ed)?|topped|(?:mas|por encima) de|superior(?:es)? a|"
    r"super(?:a|an|aba|o|aron))"
)
_UNDER = r"(?:(?:less|lower|smaller) than|under|below|nearly|almost|casi|(?:menos|por debajo) de|inferior(?:es)? a)"
BOUND = re.compile(rf"\b(?:(?P<over>{_OVER})|{_UNDER})(?:l| el| los| un| an?)? ?$")
"""What says that a figure is above the number that follows, or below it."""
SPELLED = (
    r"\b(?:(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|"
    r"seventy|eighty|ninety|hundred|half|a third|a quarter|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|quince|"
    r"veinte|treinta|cuarenta|cincuenta|sesenta|setenta|ochenta|noventa|cien)[- "
    r"](?:a |and a half )?(?:percent|per cent|"
    r"por ciento|points|puntos|dollars|dolares|euros|times|veces|million|billion|millones)"
    r"|doubl\w+|tripl\w+|quadrupl\w+|halv\w+|twice|half (?:its|of its|as)|twofold|threefold|tenfold|duplic\w+|"
    r"dobl(?:o|aron|e)|cuadruplic\w+|la mitad)\b"
)
PROMISE = (
    r"\b(?:you should|i recommend|we recommend|i suggest|we suggest|should (?:buy|sell|invest)|(?:is|are) a "
    r"(?:strong |good )?(?:buy|sell)|guarante\w+|(?:will|shall) (?!be (?:reported|published|told))\w+|"
    r"expect(?:s|ed)?(?= (?:[\w\x00]+ ){0,3}?to (?!be\b|report\b|publish\b)\w+)|"
    r"(?:se )?esperan? que|podrian? \w+|puede[n]? (?:subir|bajar|caer|crecer)|"
    r"(?:could|might|may|would|should|can) (?:\w+ )?(?:rise|fall|go|climb|drop|"
    r"gain|lose|grow|recover|continue|outperform|rally)|"
    r"(?:is|are) (?:going|bound|certain|sure|set|likely) to|risk-?free|"
    r"deberias?|te recomiendo|recomendamos|conviene (?:comprar|vender|invertir)|(?:subira|bajara|caera|crecera)n?|"
    r"garanti\w+|va[n]? a (?:subir|bajar|caer|seguir|crecer)|seguira\w*|buy now|sell now|compra ahora|vende ahora)\b"
)
FALL = (
    r"\b(?:f[ae]ll(?:s|en|ing)?|drop(?:s|ped|ping)?|declin(?:e|es|ed|ing)|lost|"
    r"los(?:s|ses|es|e|ing)|down|decreas\w*|slid(?:es|e)?|slipped|"
    r"slump\w*|shed|sank|sunk|tumbl\w+|plung\w+|dipped|retreat(?:s|ed)?|weakened|"
    r"gave up|lost ground|perdio terreno|gone down|went down|in the red|negative|"
    r"baj(?:o|a|an|aron|ada|ado|ando|adas)|ca(?:yo|ido|ida|idas|e|en|yeron|er|"
    r"yendo)|perdi(?:o|eron|do|da|das)|pierd\w*|perder|"
    r"retroce\w*|descen\w*|negativ\w*|desplom\w*|se dejo|se dejaron|se deja|deja|cedio|cede|cedieron|en rojo|perdida)\b"
)
RISE = (
    r"\b(?:r[io]se[sn]?|rising|gain(?:s|ed|ing)?|grew|grow(?:s|n|th|ing)?|up|"
    r"increas\w*|climb(?:s|ed|ing)?|advanc(?:e|es|ed|ing)|positive|"
    r"rall(?:y|ied|ies)|jump(?:s|ed)?|surg(?:e|ed|es)|soar(?:s|ed)?|added|went "
    r"up|gone up|in the black|appreciat(?:ed|es)|"
    r"sub(?:io|ieron|ido|ida|idas|e|en|ir|iendo)|gan(?:o|ar|aron|a|an|ado|ancia|"
    r"ancias|ando)|se anot\w+|se apunt\w+|avanz\w*|avances?|crec\w+|positiv\w*|aument\w*|"
    r"revaloriz\w*|alzas?|repunt\w*|sumo|suma|sumaron|escal(?:o|aron)|increment\w*)\b"
)
FLAT = (
    r"\b(?:hardly (?:moved|changed)|barely (?:moved|changed)|flat|unchanged|little changed|"
    r"apenas se (?:movio|mueve)|(?:hardly|barely) moves|apenas vario|apenas cambio|plan[oa]s?|sin cambios|"
    r"se mantuvo estable)\b"
)
EVEN = r"\b(?:next to no difference|la diferencia es minima)\b"
BETTER = (
    r"\b(?:outperform\w*|outpac\w*|beat|beats|beating|beaten|"
    r"(?:did|done|fared|performed) better(?: than)?|(?:better|stronger) performer|returned better than|"
    r"ahead(?: of|(?= ?[(,.;]|$))|"
    r"super(?:o|a|aron|an|ando) a|bati(?:o|eron) a|bate a|(?:lo hizo|lo hicieron|"
    r"se comporto|fue|rindio|le fue|evoluciono) mejor que|mejor que|better than|"
    r"por delante de|gano a|rindio mas que|rinde mas que|returned more than|more than(?! \$?\d))\b"
)
WORSE = (
    r"\b(?:underperform\w*|lagg\w*|lags|trail(?:s|ed)?|trailing(?= \x00)|short of|"
    r"(?:did|done|fared|performed) worse(?: than)?|(?:worse|weaker) performer|returned worse than|(?<!close )behind|"
    r"(?:lo hizo|lo hicieron|se comporto|fue|rindio|le fue|evoluciono) peor "
    r"que|peor que|worse than|por detras de|rindio menos que|rinde menos que|"
    r"quedo por debajo de|returned less than|less than(?! \$?\d))\b"
)
ADJECTIVES = {
    "volatil": "volatility",
    "risk": "volatility",
    "arriesg": "volatility",
    "expensive": "pe",
    "cheap": "-pe",
    "caro": "pe",
    "cara": "pe",
    "barat": "-pe",
    "profitable": "net_margin",
    "rentable": "net_margin",
    "valuable": "market_cap",
    "valios": "market_cap",
    "calm": "-volatility",
    "stable": "-volatility",
    "estable": "-volatility",
    "tranquil": "-volatility",
    "safe": "-volatility",
    "steady": "-volatility",
}
ADJ = (
    r"(?:volatile|volatil(?:es)?|risky|arriesgad\w+|expensive|car[oa]s?|cheap|"
    r"barat[oa]s?|profitable|rentables?|valuable|valios\w+|stable|estables?|"
    r"calm|tranquil[oa]s?|steady)"
)
COMPARATIVE = (
    rf"\b(?:fluctu(?:ated|ates|o|a|aron|an) (?:(?P<fmore>more|mas)|(?P<fless>less|"
    rf"menos))|(?P<more>more|mas) (?P<adj>{ADJ})|(?P<less>less|menos) (?P<adj2>{ADJ})"
    r"|(?:is |are )?worth (?:\w+ )?(?:(?P<wmore>more)|(?P<wless>less))(?= than\b)"
    r"|vale[n]? (?:(?P<vmore>mas)|(?P<vless>menos))(?: en bolsa)?(?= que\b)"
    r"|(?:(?P<rmore>higher|more|mayor|mas)|(?P<rless>lower|less|menor|menos)) (?:risk|riesgo)\b"
    r"|(?P<er>riskier|cheaper|calmer|steadier|safer)|not as (?P<adj3>" + ADJ + r")|tan (?P<adj4>" + ADJ + r"))\b"
)
SUPERLATIVE = (
    rf"\b(?:(?:the |el |la |los |las )?(?P<smost>most|mas) (?P<sadj>{ADJ})(?= "
    rf"(?:of|de|among|entre|was|fue|is|es|one|were)\b|[:.,]|$)"
    rf"|(?:the )?(?P<sleast>least|menos) (?P<sadj2>{ADJ})(?= (?:of|de|among|entre|was|fue|is|es|one)\b|[:.,]|$)"
    rf"|(?:the|el|la|los|las) (?:most|mas) (?P<sadj3>{ADJ})(?= (?:\x00|\(|(?:name|stock|company)\b))"
    rf"|(?P<sest>riskiest|cheapest|calmest|steadiest|safest))\b"
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

SMA = re.compile(
    r"\b(?:de |the |its )?(?P<n>20|50|200)(?:[- ]?(?:day|session|dia|sesion)\w*|"
    r"(?=(?:[- ]?,? ?(?:and|y|/|&|or)?,? ?(?:de )?(?:20|50|200)){1,2}[- ]?(?:day|session|"
    r"dia|sesion)))\b|\b(?:sma|ma)[ _(-]*(?P<m>20|50|200)(?!\d)\)?|\b(?:sma|"
    r"ma)s? (?P<k>20|50|200)(?!\d)|\bmedias? (?:movil(?:es)? |simples? )*de (?P<l>20|50|200)\b(?! (?:y|e|o|,))|"
    r"\b(?:la de|the) (?P<o>20|50|200)(?! ?[%$€]|[.,]?\d)(?: one)?\b"
)
HAS_AVERAGE = re.compile(r"\b(?:average|averages|sma|moving|media|medias|promedios?|ma)\b")
SOURCE = re.compile(
    r"\(?\b(?:from |de |figures from |data from |cifras de |datos de )?(?:(?:the "
    r"|la )?(?:sources?|fuentes?)\b ?(?:is |was |es |fue |are |son )?:? ?)(?:the "
    r"|la )?[«\"'“]?(?P<a>[a-z][\w.-]*(?:\.\w+)?)?[»\"'”]?\)?"
    r"|\b(?:(?:based on|using|from)(?= (?:the )?[\w-]+ (?:[\w-]+ )?(?:data|figures)\b)|"
    r"according to|as reported by|reported by|as per|data by|data from|"
    r"figures from|per|segun|de acuerdo con|datos de|cifras de|informa|via|citing|"
    r"citando a?)(?: the| la| el| los| las)? (?P<b>[a-z][\w-]*(?:\.[a-z]\w*)?)"
)
_FINE_SOURCES = """
data figures sources source tool tools results report reports numbers market calendars calendar datos cifras fuentes
fuente herramienta herramientas resultados informe informes mercado calendarios calendario accounts cuentas its
their sus su los las this these estos estas share cent ticker day year month week
"""
FINE_SOURCES = frozenset(_FINE_SOURCES.split())
REPORT = re.compile(
    r"\b(?:fy ?|fiscal (?:year )?|full-year |ejercicio (?:fiscal )?(?:de )?|"
    r"ano fiscal (?:de )?)(?P<year>(?:19|20)\d\d)\b"
)
FINE = re.compile(
    r"\b(?:(?:dividends?|dividendos) (?:are |were |is )?(?:not (?:counted|included)|"
    r"excluded|no (?:contados|incluidos|se cuentan))|"
    r"(?:without|excluding|ignoring|not counting|not including|sin(?: contar|"
    r" incluir)?|before) (?:the |los )?(?:dividends|dividendos)|price alone|"
    r"solo (?:el )?precio|"
    r"not (?:financial |investment )?advice|no es (?:asesoramiento|consejo|una recomendacion)(?: financiero)?|"
    r"(?:split|splits?)[- ]adjusted|ajustad[oa]s? por splits|as of|a fecha de|"
    r"up to|de al menos|at least|a lo sumo|at most|como mucho|"
    r"more or less|mas o menos|in terms of|close behind(?= (?:at|with|\()|[,.;])|of the (?:two|three|four|"
    r"five)|de l[oa]s (?:dos|tres|cuatro|cinco)|up or down|"
    r"g[ai]ves? up (?:some |a little )?(?:returns?|gains?|upside) for|"
    r"risk over at most a year|no more than|not today's market)\b"
    r"|\b(?:near|cercan[oa]s? al?|ronda(?:n|ba)?(?: el| los)?) (?=[$€]?\d)"
    rf"|\b(?:{_OVER}|{_UNDER})(?:l| el| los| un| an?)? (?=[$€]?\d)"
)
UNKNOWN = re.compile(
    r"\b(?:there is )?not enough (?:history|data) for\b|\bno hay (?:historia|datos?) suficientes? para\b|"
    r"\b(?:(?:there is |there's |there are )?no (?:\w+ )?(?:figures?|data|values?|"
    r"history|dates?)(?: is| are)?(?: known| available| given)?(?: for| of| "
    r"on| about)?|(?:is|are|was) (?:not|un)(?: |-)?(?:known|available|given|"
    r"reported)|"
    r"(?:isn't|aren't) (?:known|available)|unavailable|is missing|are missing|not known|n/a|"
    r"sin datos?(?: de| sobre| para)?|no (?:se conocen?|hay datos?|consta[n]?|"
    r"esta[n]? disponibles?|se sabe|hay cifra|tiene dato)(?: (?:de|sobre|para))?|"
    r"se desconocen?|falta[n]?(?: (?:el|la|los) datos?(?: de)?)?)\b"
)
UNTRUE = re.compile(
    r"\b(?:not (?:true|right|correct|accurate)|wrong|incorrect|false|untrue|inaccurate|a mistake)"
    r"(?: to (?:say|claim|think|state|conclude))? that\b|"
    r"\bno (?:es|seria) (?:cierto|verdad|correcto|exacto)(?: decir)? que\b|"
    r"\b(?:es|seria) (?:falso|mentira|incorrecto|erroneo|un error)(?: (?:decir|afirmar|pensar))? que\b"
)
"""What turns the rest of its clause into its opposite."""
TOKENS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("untrue", UNTRUE),
    ("spelled", re.compile(SPELLED)),
    ("promise", re.compile(PROMISE)),
    ("unknown", UNKNOWN),
    ("word", FINE),
    ("flat", re.compile(FLAT)),
    ("even", re.compile(EVEN)),
    ("super", re.compile(SUPERLATIVE)),
    ("compare", re.compile(COMPARATIVE)),
    (
        "moved_more",
        re.compile(
            r"\b(?P<dir>rose|gained|climbed|grew|subio|gano|crecio|subieron)(?: by)? "
            r"(?P<much>more|less|mas|menos)(?= (?:than|que)\b)"
            r"|\b(?P<fdir>fell|lost|dropped|declined|bajo|cayo|perdio|bajaron|retrocedio)(?: "
            r"by)? (?P<fmuch>more|less|mas|menos)(?= (?:than|que)\b)"
        ),
    ),
    (
        "best",
        re.compile(
            r"\b(?:did|performed|fared) (?P<b>best|worst)\b|\b(?P<w1>the )?(?P<b2>best|"
            r"worst)(?:[- ](?:performer|performing|return|returns|result|performance)\w*(?: "
            r"(?:stock|ticker|one))?)?(?= (?:\x00|was|were|is|of|among|,)|[:.,]|$)|"
            r"\b(?:the |la |el )?(?:clear |big )?(?:winner|ganador[ae]?|(?P<loser>loser|laggard|"
            r"perdedor[ae]?|rezagad[oa]))\b|"
            r"\b(?:la|el|lo) (?:que )?(?:(?:mas subio|hizo)? ?)?(?P<b3>mejor|peor)(?: "
            r"rentabilidad| rendimiento| comportamiento| desempeno)?(?= (?:\x00|fue|"
            r"es|de|entre|,)|[:.,]|$)|\b(?:leads?|led)\b(?: (?:with|in|by|on)\b)?|"
            r"\blider\w*(?: (?:en|por|con)\b)?"
        ),
    ),
    ("better", re.compile(BETTER)),
    ("worse", re.compile(WORSE)),
    (
        "than",
        re.compile(
            r"\b(?:than (?:that of |those of |the )?|que (?:el de|la de|los de|las de)|"
            r"(?<!mientras )que(?= \x00)|compared (?:with|to)|relative to|versus|vs\.?|against|frente "
            r"a(?:l| la| los)?(?: de)?|comparad[oa]s? con|respecto a(?:l)?|en comparacion "
            r"con)(?!\w)|(?:(?<=superior )|(?<=inferior )|(?<=superiores )|(?<=inferiores "
            r"))a(?:l| la| los| las)?(?: de)?(?= \x00)"
        ),
    ),
    (
        "highest",
        re.compile(
            rf"(?<!'s )(?<!its )(?<!su )(?<!sus )(?<!un )(?<!una )(?<!a )\b(?:the |el "
            rf"|la |los |las ){HIGHEST}\b|\b(?:is|was|fue|es|had|tiene|tuvo) (?:the |"
            rf"el |la )?(?:highest|mayor)\b(?! \x00)"
        ),
    ),
    (
        "lowest",
        re.compile(
            rf"(?<!'s )(?<!its )(?<!su )(?<!sus )\b(?:the |el |la |los |las ){LOWEST}\b|"
            rf"\b(?:is|was|fue|es|had|tiene|tuvo) (?:the |el |la )?lowest\b"
        ),
    ),
    ("between", re.compile(r"\b(?:between|entre)\b(?= (?:its|su|sus|the|las|los) )")),
    (
        "above",
        re.compile(
            r"\b(?:(?:mayor|superior) (?:de|a|que) lo (?:habitual|normal)|unusually (?:high|large|heavy)|"
            r"inusualmente alto|above|over(?= "
            r"(?:its|the) (?:\d+|sma|average|moving))|por encima de(?:l)?|encima de(?:l)?|"
            r"supera (?=sus? media)|sobre (?=sus? medias?))"
        ),
    ),
    (
        "below",
        re.compile(
            r"\b(?:(?:menor|inferior) (?:de|a|que) lo (?:habitual|normal)|unusually (?:low|light|thin)|"
            r"inusualmente bajo|below(?! its (?:peak|high|top)\b)|under(?= (?:its|the) (?:\d+|sma|average|moving))|"
            r"beneath(?! its (?:peak|high|top)\b)|por debajo de(?:l)?(?! sus? maximos?)|debajo de(?:l)?(?! sus? "
            r"maximos?))\b"
        ),
    ),
    (
        "figure",
        re.compile(
            "(?P<f>" + "|".join(f"(?P<f{i}>\\b(?:{pattern}))(?!\\w)" for i, (_, pattern) in enumerate(FIGURES)) + ")"
        ),
    ),
    (
        "up",
        re.compile(rf"\b{UP}\b(?= (?:\x00|for|in the case|para|a la|al|a los|a las))|(?<=\x00 ){UP}\b(?= ?[.,;]|$)"),
    ),
    (
        "down",
        re.compile(
            rf"\b{DOWN}\b(?= (?:\x00|for|in the case|para|a la|al|a los|a las))|(?<=\x00 ){DOWN}\b(?= ?[.,;]|$)"
        ),
    ),
    ("fall", re.compile(FALL)),
    ("rise", re.compile(RISE)),
    ("neither", re.compile(r"\b(?:neither|none|ninguno|ninguna|ni(?= \x00))\b")),
    ("rest", re.compile(r"\b(?:(?:the )?other (?:two|three|ones)|the others|l[oa]s otr[oa]s(?: dos| tres)?)\b")),
    (
        "all",
        re.compile(
            r"\b(?:(?:both|ambos|los dos)(?! (?:years?|periods?|times?|cases?|counts?|measures?|"
            r"anos|periodos|casos|ejercicios)\b)|"
            r"all(?: (?:three|four|five|six|of them))?|ambas|"
            r"the (?:two|three|four) (?:companies|stocks|shares|tickers|names)|"
            r"tod[oa]s|(?:l[oa]s|tod[oa]s l[oa]s) (?:dos|tres|cuatro|cinco))\b(?! (?:ultim|pasad))"
        ),
    ),
    (
        "not",
        re.compile(
            r"\b(?:not|no|never|nunca|jamas|tampoco|without|sin|didn't|doesn't|isn't|"
            r"wasn't|hasn't|haven't|aren't|weren't|don't|cannot|fail(?:ed|s)? to)\b|n't\b"
        ),
    ),
    (
        "expected",
        re.compile(
            r"\b(?:expected|estimated|provisional|unconfirmed|not (?:yet )?confirmed|"
            r"previst[oa]s?|esperad[oa]s?|se esperan?|sin confirmar|no confirmad[oa]s?)\b"
        ),
    ),
    ("confirmed", re.compile(r"\b(?:confirmed|confirmad[oa]s?)\b")),
    (
        "break",
        re.compile(
            r"\b(?:and|but|while|whereas|with|although|though|y|e|pero|mientras(?: que)?|"
            r"con|aunque|as|yet|sino|after|before|following|tras|despues de|antes de)\b|"
            r"[;:,](?=\s|$)|[|—]|\s-(?=\s)"
        ),
    ),
)
