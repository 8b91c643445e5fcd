"""Patterns of what questions ask for and of what sentences contain, by form: a price, a time of day, a duration, a
name.

A key that begins with = is a meaning: "how much is it?" asks for =price, and "£4" has it by its form. Spanish and
English.
"""

import re

from agent.domain.number_words import BELOW_100
from contracts.expressions import expression

MONTHS = (
    r"january|february|(?-i:March)|april|(?-i:May)|june|july|august|september|october|november|december|"
    r"enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre"
)
A_MONTH = expression(MONTHS.replace("(?-i:", "(?:").lower())
A_MONTH_ALONE = expression(rf"(?:In|En|During|Durante) (?:{MONTHS})\b(?! (?:and|y|to|a)\b)", re.IGNORECASE)
"""How a sentence begins that is about one month."""
ACCOUNT_OPENED = expression(
    r"\b(?:create|open|make|set up|get|crea|crear|abre|abro|abrir|hago|haces|hacer|saco|sacar)\w* (?:an?|your|una|tu) "
    r"(?:\w+ )?(?:account|cuenta)",
    re.IGNORECASE,
)
_CANNOT_COME = expression(
    r"\b(?:can(?:no|['’])?t|can not|unable to|not able to) (?:come|attend|make it|go|travel)\b|"
    r"\bno (?:puedo|puedes|puede|podemos|podr\w+) (?:ir|venir|asistir|acudir|viajar)\b",
    re.IGNORECASE,
)


def _shapes(*rows: tuple[str, str | re.Pattern[str]]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Meanings with what is said of each, in upper or lower case unless its pattern is compiled already."""
    return tuple(
        (key, expression(pattern, re.IGNORECASE) if isinstance(pattern, str) else pattern) for key, pattern in rows
    )


SAID_AS = _shapes(
    ("=cancel", _CANNOT_COME),
    ("=christmas", r"\b(?:christmas|navidad|25(?:th)? (?:of )?december|december 25(?:th)?|25 de diciembre)\b"),
    ("=newyear", r"\b(?:new year|a[nñ]o nuevo|1(?:st)? (?:of )?january|january 1(?:st)?|(?:1|uno) de enero)\b"),
    ("=entry", r"\b(?:entr(?:y|ies|ance)|admission|tickets?|entradas?)\b"),
    ("=food", r"\b(?:serves?|servimos|restaurant\w*|cafeter[ií]a|snacks?|sandwich\w*|meals?|men[uú]s?|bocadillos?)\b"),
    ("=late", r"\b(?:late|delay\w*|retras\w+)\b|\blleg\w+ tarde\b"),
    ("=discount", r"\d ?% (?:off|less|menos|m[aá]s barat|de descuento|discount|cheaper)"),
    ("=price",
     r"\b(?:gratis|(?<!prueba )gratuit[oa]s?|free of charge|for free|sin coste|no charge)\b|"
     r"\b(?:is|are) free\b"),
    ("=need",
     r"\b(?:(?<!\bif )(?<!\bas )need\w*|must|requir\w+|(?<!\bif )(?<!\bwhere )necessary|mandatory|obligat\w+|"
     r"recom\w+|optional|opcional\w*|yes|no|not|without|only|sin|solo|sí|(?<!\bsi )hace falta|hay que|necesit\w+|"
     r"deb\w{1,4}|se pide)\b"),
    ("=payment", r"\b(?:se paga|pay|pagas?)\b"),
    ("=child", r"\b(?:under|menor(?:es)? de)[ -]1?\d\b"),
    ("=alone", r"\b(?:(?:un)?accompan\w+|acompa[nñ]\w+|supervis\w+|(?:with|con) (?:an?|un) adult\w*)\b"),
    ("=treat", r"\b(?:treat|tratamos|atend\w+)\b"),
    ("=month", rf"\b(?:{MONTHS})\b"),
    ("=often",
     r"\b(?:every|each|once|twice|(?:per|a) (?:day|week|month|year)|daily|weekly|monthly|yearly|"
     r"hourly|\w+ times|cada|diari\w+|semanal\w*|mensual\w*|anual\w*|(?:una|dos|tres|"
     r"\d+) ve(?:z|ces)|"
     r"al (?:mes|a[nñ]o|d[ií]a)|(?:a la|por) semana|tod[oa]s l[oa]s)\b"),
    ("=bring",
     r"\b(?:bring|needs?|needed|requirements?|required?|requires|must (?:bring|have|be|"
     "pass|wear)|documents?|wear|trae|traer|"
     r"llevar|necesit\w+|(?<!no )hacen? falta|hay que|requisitos?|documentaci[oó]n|imprescindible)\b"),
    ("=age",
     r"\b(?:ages?|aged|years? old|minimum age|under[- ]\d+s?|over[- ]\d+s?|over \d+ years|"
     r"\d+ (?:years|and over)|edad\w*|(?:menor|mayor)(?:es)? de|a[nñ]os|any age|all ages)\b"),
    ("=percent", r"\d ?%"),
    ("=begin",
     r"\b(?:del?|from) (?:the )?\d{1,2}\b.{0,30}\b(?:al?|to|until) |\b(?:every|cada) (?:monday|"
     r"tuesday|lunes|martes|mes|month|week|semana)|\b(?:desde|starting|a partir de)\b"),
    ("=directions",
     r"\bget(?:ting)? here\b|c[oó]mo llegar|\b(?:bus|metro|train|tren|autob[uú]s|tram)\b|"
     r"\bminut\w+ (?:\w+ )?(?:from|de|foot|walk\w*|pie|andando)\b"),
)  # fmt: skip
"""What a passage tells in words of its own."""
PHRASES = _shapes(
    ("=christmas", r"\bchristmas(?: day)?\b|\b(?:d[ií]a de )?navidad\b"),
    ("=newyear", r"\bnew year(?:.?s)?(?: day)?\b|\ba[nñ]o nuevo\b"),
    ("=entry", r"\b(?:to|we|i|you) get in(?! touch)\b"),
    ("=food", r"\b(?:eat|comer|cenar)(?: (?:there|here|something|algo|ah[ií]|all[ií]|aqu[ií]))?\W*$"),
    ("=trial",
     r"\btry (?:(?:it|this|you|one|things?)(?: out)? (?:\w+ ){0,2}?)?(?:before|first)\b(?: (?:i|we) \w+)?|"
     r"\bprobar(?:l[oa]s?)? (?:\w+ )?(?:antes|primero)\b(?: de \w+)?"),
    ("=late",
     r"\b(?:lleg\w+|volv\w+|vuelv\w+|entreg\w+|devolv\w+|devuelv\w+) (?:\w+ ){0,3}tarde\b(?! de\b)|"
     r"\b(?:am|are|m|be|arriv\w+|com(?:e|ing)|return\w*|bring\w*|(?<!how )running) (?:\w+ ){0,4}late\b"),
    ("=last", r"\bstays? (?:open|valid|active|good|fresh)\b"),
    ("=alone",
     r"\b(?:go|come|swim|play|enter|stay|ir|venir|entrar|nadar|jugar|quedarse|bañarse) sol[oa]s?\b(?! \w)|\balone\b|"
     r"\bunaccompanied\b|\bon (?:his|her|their) own\b|\bby (?:him|her)self\b|\bsin (?:un )?adultos?\b"),
    ("=treat", r"\bat(?:end|iend)\w+ (?:a|tambi[eé]n a)\b"),
    ("=worth",
     r"\bworth it\b|\b(?:better|best) value\b|\bm[aá]s a cuenta\b|\bcompensa\b|\b(?:merece|"
     r"vale) la pena\b"),
    ("=salary", r"\bcu[aá]nto pag[aá](?:is|n)\b|\bhow much do you pay\b"),
    ("=directions",
     r"\bhow (?:do|can) (?:i|we) (?:get|come) (?:there|to you|here)\b|"
     r"\bc[oó]mo (?:se )?(?:lleg\w+|voy|vamos)\b"),
    ("=often",
     r"\bhow (?:often|many times|frequently)\b|\bcada cu[aá]nt[oa]s?(?: tiempo)?\b|"
     r"\bcon qu[eé] frecuencia\b|\bcu[aá]ntas veces\b"),
    ("=bring",
     r"\bwhat (?:else )?(?:do|should|must|will|would) (?:i|we) (?:(?:need|have) to )?(?:need|bring|take|"
     r"provide|show|wear|have)\b|\b(?:which|what) (?:documents?|papers?|paperwork)\b|"
     r"\bqu[eé] (?:necesito|necesitamos|hace falta|(?:tengo|tenemos|hay|debo) (?:que )?(?:llevar|traer|"
     r"presentar|aportar)|llevo|traigo|(?<!hay que )(?<!tengo que )(?<!tenemos que )(?:llevar|traer))\b|"
     r"\bqu[eé] (?:papel(?:es)?|documento\w*|documentaci[oó]n)\b"),
    ("=discount", r"\bpay less\b|\bpag\w+ menos\b|(?<!el )(?<!la )(?<!los )\bm[aá]s barato\W*$"),
    ("=register", ACCOUNT_OPENED),
    ("=cancel", _CANNOT_COME),
    ("=refund", r"\b(?:money|cash|deposit|it) back\b|\bdinero de vuelta\b|\bmi dinero\b"),
    ("=contact",
     r"\b(?:tele)?phone numbers?\b|\bn[uú]meros? de (?:tel[eé]fono|m[oó]vil)\b|"
     r"\b(?:your|vuestros?|tus?|sus?) (?:numbers?|n[uú]meros?)\b(?! (?:of|de)\b)"),
)  # fmt: skip
"""What a question says in several words."""
SHAPES = _shapes(
    ("=register", ACCOUNT_OPENED),
    ("=hours",
     r"\b\d{1,2}[:.h]\d{2}\b|\b\d{1,2} ?[ap]\.?m\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|"
     r"\b(?:lunes|martes|mi[eé]rcoles|jueves|viernes|s[aá]bado|domingo)"),
    ("=price", r"[$€£]\s?\d|\d\s?(?:[$€£]|usd\b|eur\b|euros?\b|mxn\b|pesos\b|dollars?\b|pounds?\b|libras?\b)"),
    ("=contact", expression(r"\S@[^\s@]+\.\w|^(?!.*\b(?:tax|vat|nif|cif|iva|iban|regist\w+|licen[cs]\w+)\b).*"
                            r"(?:\+|\b)\d[\d ()-]{7,}\d", re.IGNORECASE | re.DOTALL)),
    ("=figure",
     r"(?<![\w-])\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|"
     r"thirty|fifty|sixty|hundred|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|doce|quince|veinte|"
     r"treinta|cincuenta|sesenta|cien|ciento|quinient[ao]s|setecient[ao]s)\b"),
    ("=duration",
     r"\b(?:(?<!\d[.,])\d[\d.,]*+|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|"
     r"fifteen|twenty|thirty|un|una|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|doce|quince|veinte|treinta|"
     r"same|mism[oa]|next|once|always|forever)[ -](?:(?:working|business|calendar|full|or|to|"
     r"a|o|\d++) ?){0,3}(?:min\w*|hours?|horas?|days?|d[ií]as?|weeks?|semanas?|months?|mes(?:es)?|"
     r"years?|a[nñ]os?)\b|\b(?:until|hasta|before|antes)\b"),
    ("=weekend",
     r"\b(?:satur|sun)days?\b|\bweekends?\b|\bs[aá]bados?\b|\bdomingos?\b|"
     r"\bfin(?:es)? de semana\b|\bfindes?\b"),
    ("=clock",
     r"\b\d{1,2}[:.h]\d{2}\b|\b\d{1,2} ?[ap]\.?m\b|\b(?:noon|midday|midnight|closed|mediod[ií]a|"
     r"medianoche|cerrad[oa]s?|cerramos)\b|\b(?:from|de|las?) \d{1,2} (?:to|a)\b|"
     r"\b(?:until|till|at|hasta|las) (?:las )?\d{1,2}\b(?! ?(?:%|€|£|\$|h\b|hour|hora|day|d[ií]a|"
     r"min|week|semana|month|mes|year|a[nñ]o|eur|usd|people|personas))"),
    ("=when",
     r"\b\d{1,2}[:.h]\d{2}\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|"
     r"\b(?:lunes|martes|mi[eé]rcoles|jueves|viernes|s[aá]bados?|domingos?)\b|"
     rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)? (?:of |de )?)(?:{A_MONTH.pattern})|"
     rf"\b(?:in|en|held in|desde|since) (?:{A_MONTH.pattern}|\d{{4}})\b|"
     r"\b(?:after|within|in|a los|en|dentro de|until|hasta|before|antes)\b.{0,12}\b(?:days?|d[ií]as?|weeks?|semanas?|"
     r"months?|mes(?:es)?|hours?|horas?|minut\w+)\b|"
     r"\b(?:every|cada|at once|al momento|immediately|inmediat\w+|end of|final del?)\b"),
    ("=name", expression(r"(?<=[a-záéíóúñ,:] )(?!I\b)[A-ZÁÉÍÓÚÑ][a-záéíóúñ]+|^(?:Dra?\.? )?[A-ZÁÉÍÓÚÑ][a-záéíóúñ]+ "
                 r"[A-ZÁÉÍÓÚÑ][a-záéíóúñ]+")),
    ("=where", expression(r"\b[A-Z]\w+ (?:Street|Avenue|Road|Lane|Square|Wharf|Place|St\.)|\b"
                 r"(?:[Cc]alle|[Aa]venida|[Pp]laza|[Pp]aseo|"
                 r"Av\.|C/|Gran V[ií]a) ?(?:de |del |la |las |el |los )*[A-ZÁÉÍÓÚ\d]|"
                 r"\b[A-Z]{1,2}\d{1,2} \d[A-Z]{2}\b|\b\d{5} [A-ZÁÉÍÓÚ][\w-]+(?:[.,]|$)")),
)  # fmt: skip
"""What a passage is about by the look of it: nobody writes "our opening hours are" beside a table of hours."""
NEGATION = expression(r"\b(?:not|cannot|without|never|no|sin|nunca|\w+n['’]t|(?:ca|wo|do|does|did|is|are)nt)\b")
HOW_LONG = expression(
    r"\bhow (?:long|soon|quick\w*)\b|\bcuant[oa]s? (?:tiempo|tard\w+|dur\w+|aguant\w+)\b|"
    r"\b(?:until when|hasta cuando)\b"
)
UNTIL_WHEN = expression(r"\b(?:until when|by when|hasta cuando|how late)\b")
DURATION = frozenset(("=duration",))
WHAT_TIME = expression(r"\b(?:at )?wh?at time(?! zone)\b|\b(?:a |hasta )?que h?oras?\b|\bhow (?:late|early)\b")
WHEN = expression(r"^(?:(?:and|y|e|ok|hi|hello|hola|vale|entonces|so|buenas|buenos dias)\W+)*(?:when|cuando)\b")
WHICH_DAYS = expression(r"\b(?:which|what|que) (?:days?|dias?)\b")
WHERE_IS = expression(
    r"\b(?:wheres|where['’]s|(?:where|donde) (?:exactly |exactamente )?(?:is|are|esta|estan|estais|queda|quedais|"
    r"os encontr\w+))\b(?! (?:my|the nearest|mi)\b)"
)
HOW_MANY = expression(r"\b(?:how many|cuant[oa]s) (?!(?:do|does|did|can|will|are|fit)\b)(?P<what>\w{3,})")
DO_YOU = expression(
    r"\b(?:do|can) you\b|\b\w+[aei]is\b|^\W*(?:ustedes )?(?:tiene|vende|hace|ofrece|acepta|admite|repara|alquila|"
    r"trabaja|sirve)n?\b|\b(?:is|are) there\b|^\W*hay\b"
)
DOES_OR_NOT = expression(r"\b(?:we|our|no|not)\b|\b\w+[aei]mos\b", re.IGNORECASE)
"""What a company says of what it does, and does not."""
NAMES_WHICH = expression(
    r"\b(?:which|cual(?:es)?|(?:what|que) (?:plan|course|option|product|curso|opcion|producto|tarifa))\b"
)
INGREDIENTS = expression(r"\bque lleva\b|\bde que (?:esta|son|es)\b|\bingredient\w*|\bmade of\b")
COUNTED = expression(
    rf"\b(?:(?<!\d[.,])\d[\d.,]*+(?! ?%)|{BELOW_100}|once(?= \w+s\b))(?= (?P<what>(?:\w+ ){{0,2}}\w{{3,}}))"
)
"""A number, followed by what it counts. "Una" and "one" are left out, since they seldom say how many there are."""
FULL_NAME = expression(r"[A-ZÁÉÍÓÚÑ][a-záéíóúñ]+ [A-ZÁÉÍÓÚÑ][a-záéíóúñ]+")
WHO = expression(
    r"\b(?:who|quien(?:es)?)\b(?! (?:can|may|is it for|are you|eres|sois|puede|pays?|has to|must|tiene que|paga|debe))"
)
THE_WORD_WHERE = expression(r"\b(?:where|d[oó]nde)\b", re.IGNORECASE)
"""In a sentence it tells no place: "it says where a figure comes from"."""
THE_PLACE = expression(r"\b(?:the|your|el|la|vuestr[oa]|su) (?:hotel|guesthouse|clinica?|school|escuela|academ\w+|"
                       r"tienda|shop|store|"
                       r"bakery|panaderia|restaurant\w*|gym|gimnasio|office|oficina|museum|museo|taller|workshop|place|local|"
                          r"sitio|house|casa|studio|estudio)\b")  # fmt: skip
"""What somebody calls the company by its kind who asks where it is."""
FOR_WHOM = expression(
    r"\b(?:any|one|some)(?:one|body)? of (?:your|the) \w+|\balgun[oa]? de (?:vuestr|su|l)[oa]?s \w+|"
    r"\b(?:for|para) (?:my|our|mis?|nuestr[oa]s?) \w+",
    re.IGNORECASE,
)
FOR_FREE = expression(
    r"\bfor free\b|(?<=[aei]r) gratis\b|\b(?:at )?any ?time\b|\ben cualquier momento\b|\bcuando quiera\b", re.IGNORECASE
)
"""What is said of something else, which is what is asked for."""
WHETHER = expression(r"^\W*(?:(?:and|y|ok|hi|hello|hola)\W+)*(?:does|do|is|are|incluye\w*|se incluye\w*|viene\w*)\b")
FREE_OF = expression(
    r"\b(gluten|lactose|sugar|dairy|nut|egg|fat|alcohol|caffeine|salt|smoke|meat)[ -]free\b", re.IGNORECASE
)
MAY = expression(r"\b(?:can|could|may) (?:i|we|you)\b|\b(?:puedo|podemos|podria|podeis|puedes) |\bse puede\b|"
                  r"\b(?:allowed|possible) to\b")  # fmt: skip
BRINGING = expression(r" *(?:bring|traer(?:me)?|llevar(?:me)?|take (?:my|our|the|an?))\b")
TO_ANOTHER = expression(r" *(?:pas|mov|go|ir)\w* (?:from|de) (?:\w+ ){1,3}?(?:to|a) ")
"""May I go from one thing to another: that is to change."""
ANSWERED_IMPLICITLY = frozenset(("=price",))
"""That one may pay with something is told by saying that it is accepted."""
_WHAT_IT_COSTS = r"\bque (?:vale|cuesta)n?\b(?! la pena)"
HOW_MUCH = expression(rf"\bhow (?:much|many|long|far|old|big)\b|\bcuant[oa]s?\b|{_WHAT_IT_COSTS}")
PRICE_WORD = expression(r"\b(?:pric|preci|tarif|cost|rate|fee|cuest|val(?:e|en|or)\b|cheap|barat)")
HOW_PRICED = expression(
    rf"\bhow much (?:is|are|for|(?:would|will|does|do) (?:it|that|this|they) (?:be|cost|come to))\b|"
    rf"\bcuanto (?:es|son|valen?|sale\w*|seria\w*)\b|{_WHAT_IT_COSTS}"
)
COSTS = expression(
    r"\b(?:how much|what) (?:does|do|did|would|will)\b.*\b(?:cost|charge)s?\b|"
    r"\bcuanto (?:me |nos )?(?:cuesta|costaria|vale|cobra)n?\b|"
    r"\b(?:price|cost|fare|precio|tarifa|cuota) (?:of|for|to|del?|para|a)\b"
)
OBLIGED = expression(
    r"\b(?:have|has|need) to\b|\bmust\b|\bhace falta\b|\b(?:teng\w+|tien\w+|ten(?:eis|emos)|"
    r"hay) que\b"
)
"""Whether something is to be paid is no question for all prices."""
ASKS_WHICH = expression(r"\b(?:what|which|how|when|where|who|que|cual\w*|como|cuant\w+|cuando|donde|quien\w*)\b")
CHEAPER = expression(r"\b(?:cheaper|less expensive|mas barat[oa]|menos car[oa]|sale mejor)\b")
INCLUDED = expression(
    r"\b(?:what(?: is|s)? in|what do (?:i|you|we) get (?:with|in|on|for)|"
    r"que me (?:dais|dan|da) (?:con|en)|comes? with|"
    r"includ\w*|incluy\w*|contain\w*|contien\w*|trae|features?|que tiene)\b"
)
INCLUDES_IT = expression(
    r"(?!.*\b(?:que|what\w*|which|cual\w*|todo|everything)\b).*\b(?:includes?|incluyen?|contains?|contienen?|traen?) "
    r"(?P<what>.+)"
)
"""Asks whether a thing includes another one, without a word that asks: "¿el plan Pro incluye alertas?"."""
WHICH_INCLUDE = expression(r"\b(?:which|what|que|cuales) \w+ (?:includes?|incluyen)\b")
"""Asks which things include another one."""
COMPARING = expression(
    r"\b(cheap\w*|expensive|barat[oa]s?|car[oa]s?|differ\w*|compar\w*|versus|vs|better|diferen\w*|frente|mejor|distingu\w*)\b"
    r""
)
PAYS = expression(r"pays?|paying|pag[ao]n?|pagamos")
FIGURE = frozenset(("=figure",))
PRICE = frozenset(("=price",))
COST = PRICE | {"=free"}
CLOCK = frozenset(("=clock",))
PRICE_OR_TIME = frozenset(("=figure", "=price", "=clock", "=when", "=length", "=takes", "=often", "=bring"))
ANSWERED_BY_HEADING = ("=often", "=bring")
"""Kinds of questions that a passage answers by what it says itself, or its heading."""
WHERE = expression(r"\bwhere (?:do|does|can|could|should|must|is|are|will)\b|\bdonde\b")
SAYS_WHERE = expression(
    r"\b(?:[Ii]n|[Aa]t|[Tt]o|[Nn]ear|[Oo]n|[Ff]rom|[Uu]nder|[Bb]ehind|[Oo]pposite|[Nn]ext to|[Oo]utside|"
    r"[Ii]nside|[Ee]n|[Aa]|"
    r"[Dd]esde|[Dd]e|[Ff]rente a|[Dd]etr[aá]s de) (?:(?:the|our|your|a|la|el|los|las|nuestr\w+|tu|un|una) )?"
    r"(?:(?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sep|Oct|Nov|Dec)[A-ZÁÉÍÓÚ]|"
    r"(?:\w+ )?(?:desk|counter|shop|store|office|reception|entrance|door|building|centre|garden|street|square|"
    r"harbour|car park|"
    r"parking|website|app|account|checkout|calle|plaza|tienda|oficina|recepci[oó]n|entrada|puerta|centro|edificio|jard[ií]n|"
    r"finca|local|sede|web|caja|planta))|"
    r"›|\bonline\b|\b[Pp]arking\b|\b[Cc]ar park\b|\b(?:minut|met(?:re|er|ro)|mile|kil[oó]m)\w*|\b[Cc]alle |"
    r"\b[Pp]laza |\b[Aa]venida "
)
"""That something is somewhere, as it is written."""
PLACE = frozenset(("=where", "=directions"))
BEGIN = frozenset(("=begin",))
MIN_ANTECEDENT_COVERAGE = 0.4
SHAPED = frozenset(("=when", "=name", "=clock", "=duration", "=discount", "=need", "=payment", "=takes", "=length",
                    "=worth", "=measure", "=address", "=number", "=often", "=bring", "=age", "=place", "=weekday",
                    "=month"))  # fmt: skip
SHOWN_FIGURES = frozenset(("=figure", "=price", "=clock", "=duration", "=takes"))
CONJUNCTION = expression(r"\b(?:and|or|y|o|e|vs|versus|frente)\b")
