"""How a user does not want to be addressed: "don't call me Bob", "no jargon, please", "no me mandes enlaces".

Such an order holds until it is taken back. A wish for the moment ("don't do that", "no thanks") is not one: it names
nothing that is said or how it is said, or refers to one thing.
"""

import re

from memory.domain.long_term.concepts import normalize
from memory.domain.long_term.slots import LANGUAGES

_POLITE = r"(?:(?:please|por favor|and|but|y|pero|ok|also|tambien|from now on|a partir de ahora|in future),? )*"
_FORM = (
    r"jargon|slang|emojis?|emoticons?|smileys|tables?|charts?|graphs?|bullets?|bullet points?|lists?|disclaimers?|"
    r"warnings?|links?|urls?|acronyms?|abbreviations?|technical (?:terms|words|language)|big words|long words|jokes?|"
    r"flattery|chit-?chat|small ?talk|preambles?|introductions?|summar(?:y|ies)|markdown|bold|capitals|exclamation "
    r"marks?|formalit(?:y|ies)|basics|pictures|images|formulas?|equations|footnotes|swearing|"
    r"tecnicismos?|anglicismos?|jerga|emoticonos?|caritas|tablas?|graficos?|graficas?|listas?|vinetas?|avisos "
    r"legales|advertencias|enlaces?|siglas|abreviaturas|palabras tecnicas|terminos tecnicos|bromas|chistes|rodeos|"
    r"halagos|introducciones|resumenes|negritas|mayusculas|exclamaciones|formalidades|formalismos|imagenes|formulas|"
    r"tacos|usted|tuteo|diminutivos"
)
_TELLING_VERBS = (
    r"call|text|ring|phone|message|email|write|send|give|show|explain|use|include|add|put|speak|talk|address|repeat|"
    r"tell|recommend|suggest|mention|ask|greet|wish"
)
_TELLING_VERBS_ES = (
    r"llames|escribas|mandes|envies|des|muestres|ensenes|expliques|uses|utilices|incluyas|anadas|pongas|hables|trates|"
    r"repitas|cuentes|recomiendes|sugieras|menciones|preguntes|tutees|saludes|molestes|metas"
)
_GIVE = "give|show|send|write|want|prefer|would like|dame|hazme|escribeme|mandame|muestrame|quiero|queremos|prefiero"
_ANSWERS = (
    "answers|responses|replies|explanations|reports|summaries|messages|respuestas|explicaciones|informes|resumenes|"
    "mensajes"
)
_STYLE = (
    "short|shorter|brief|briefer|concise|long|longer|detailed|simple|simpler|plain|cort[oa]s?|breves?|concis[oa]s?|"
    "larg[oa]s?|detallad[oa]s?|sencill[oa]s?|simples|extens[oa]s?"
)
_WHOLE = "everything|it all|things|prices|amounts|figures|numbers|charts|todo|las cosas|precios|importes|cifras|numeros"
_MANNER = (
    "in (?:detail|euros|dollars|pounds|percent|percentages|tables|points)|con (?:todo )?detalle|"
    "en (?:euros|dolares|libras|porcentajes?|tablas|puntos)|briefly|simply|step by step|paso a paso|brevemente"
)
_LANGUAGES = "|".join(LANGUAGES.split())
_SENT = "news|alerts|notifications|emails|ads|reminders|noticias|alertas|avisos|correos|publicidad|recordatorios"
_MOMENT = re.compile(
    r"\b(?:it|that|this|those|these|again|now|yet|today|anything|nothing|eso|esto|esa|ese|ahora|todavia|aun|hoy|nada|"
    r"me lo|me la|what|why|how|que|por que|como)\b"
)
_NOT = r"(?:do not|don't|never|stop|avoid|quit|please avoid)"
_ORDERS = (
    # A feature of answers: no jargon, nada de gráficos, skip the disclaimers, without emojis.
    re.compile(
        rf"{_POLITE}(?:no more|no|nada de|ni|sin|without|zero|cero|skip|avoid|evita|omite|ahorrate|quita|drop|"
        rf"leave out|"
        rf"spare me|less|menos)(?: using| usar)?(?: (?:the|your|any|los|las|el|la|tus|mas))? (?:\w+ )?(?:{_FORM})\b"
        r"(?! (?:of|de la|del) \w+ (?:trade|order|operacion|orden))[^.!?]{0,60}"
    ),
    re.compile(rf"{_POLITE}{_NOT} (?:\w+ ){{0,4}}?(?:{_FORM})\b[^.!?]{{0,40}}"),
    # Never send me …, no me llames …
    re.compile(rf"{_POLITE}{_NOT} (?:ever )?(?:{_TELLING_VERBS}\w*) me\b[^.!?]{{2,80}}"),
    re.compile(rf"{_POLITE}(?:ya |mejor )?(?:no|nunca|jamas) (?:me|nos) (?:{_TELLING_VERBS_ES})\b[^.!?]{{2,80}}"),
    re.compile(rf"{_POLITE}(?:no|nunca) (?:uses|utilices|pongas|incluyas|metas|anadas) [^.!?]{{3,80}}"),
    # How answers should be: give me short answers, quiero respuestas largas, trátame de usted, write to me in French.
    re.compile(
        rf"{_POLITE}(?:(?:i|we) )?(?:always |siempre |mejor )?(?:{_GIVE}) (?:me )?(?:\w+ ){{0,2}}?(?:(?:{_STYLE}) "
        rf"(?:{_ANSWERS})|(?:{_ANSWERS}) (?:\w+ )?(?:{_STYLE}))\b[^.!?]{{0,60}}"
    ),
    re.compile(
        rf"{_POLITE}(?:siempre |always |mejor )?(?:tratame|hablame|tuteame|(?:answer|reply|respond|write|speak|"
        rf"talk)(?: to)?(?: me)?|contestame|respondeme|escribeme|contesta|responde|escribe)(?: siempre|"
        rf" always)?(?: (?:de (?:usted|tu)|in (?:{_LANGUAGES})|en (?:{_LANGUAGES})|(?:(?:muy|mas|very|"
        rf"more) )?(?:{_STYLE})))?"
    ),
    # Keep your answers under five lines, respuestas de menos de 50 palabras.
    re.compile(
        rf"{_POLITE}(?:(?:always |siempre )?(?:{_GIVE}|keep|limit|manten|limita) )?(?:(?:me|your|the|all|tus|las) )*"
        rf"(?:{_ANSWERS}) (?:to |a |de |con |en )?(?:under|below|within|shorter than|(?:no more|less|fewer) than|"
        rf"at most|menos de|(?:no )?mas de|como (?:mucho|maximo)|un maximo de|maximo)?(?: of)? ?\w+ "
        rf"(?:lines|words|sentences|paragraphs|lineas|palabras|frases|parrafos)\b[^.!?]{{0,40}}"
    ),
    re.compile(
        r"(?:i|we) do not want (?:to (?:see|get|hear|receive) )?(?:any |more )?(?:" + _SENT + r")\b[^.!?]{0,60}"
        r"|no quiero (?:ver |recibir |mas )?(?:" + _SENT + r")\b[^.!?]{0,60}"
    ),
    re.compile(
        rf"{_POLITE}(?:always |siempre |mejor )?(?:{_GIVE}|explain|keep|tell me|quote|dime|ensename|explica|explicame|"
        rf"pon|ponme) (?:(?:me|your|the|all|los|las|tus) ){{0,3}}(?:{_ANSWERS}|{_WHOLE})(?: me)? (?:\w+ ){{0,2}}?"
        rf"(?:{_STYLE}|{_MANNER})\b[^.!?]{{0,40}}"
    ),
    # Not my name.
    re.compile(r"(?:[^.!?,]{0,10}, )?(?:my name is not|i am not called|mi nombre no es|no me llamo) \w+[^.!?]{0,60}"),
    re.compile(rf"{_POLITE}(?:ve al grano|get to the point|keep it (?:brief|short|simple))\b[^.!?]{{0,40}}"),
)


def is_standing_order(sentence: str) -> bool:
    """Whether a sentence says how its writer wants, or does not want, to be addressed from now on."""
    normalized = normalize(sentence).strip(" .,;:!¡")
    normalized = re.sub(r",? (?:please|por favor|gracias|thanks)$", "", normalized)
    is_order = any(order.fullmatch(normalized) for order in _ORDERS)
    return is_order and not (_MOMENT.search(normalized) and not re.search(rf"\b(?:{_FORM})\b", normalized))
