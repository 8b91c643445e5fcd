"""Wishes how answers should be: "keep your answers short from now on", "no emojis, please", "háblame de usted"."""

import re

_LEAD = (
    r"(?:(?:please|por favor|porfa|ok|hey|oye|can you|could you|would you|will you|puedes|podrias|i want you to|"
    r"i(?:'d| would) like you to|quiero que|from now on|a partir de ahora|desde ahora|in future|always|siempre|just|"
    r"mejor|and|but|y|pero)[, ]+)*"
)
_TAIL = (
    r"(?:[, ]+(?:please|por favor|porfa|from now on|a partir de ahora|desde ahora|in future|always|siempre|thanks|"
    r"gracias|with me|conmigo))*"
)
_ANSWERS = (
    r"(?:answers?|replies|responses?|explanations?|messages?|sentences?|words|respuestas?|explicaciones|mensajes?|frases|"
    r"palabras)"
)
_STYLE = (
    r"(?:(?:very |more |muy |mas )?(?:short|brief|concise|long|detailed|simple|plain|clear|formal|informal|few|"
    r"cort[oa]s?|breves?|concis[oa]s?|larg[oa]s?|detallad[oa]s?|sencill[oa]s?|simples|clar[oa]s?|formal(?:es)?|pocas)|"
    r"shorter|briefer|longer|simpler|clearer|fewer|menos|"
    r"(?:less|menos|not so|no tan) (?:technical|tecnic[oa]s?|long|larg[oa]s?))"
)
_UNIT = r"(?:euros|dollars|pounds|dolares|libras|percent|percentages|porcentajes?)"
_LANGUAGE = r"(?:english|spanish|french|german|ingles|espanol|frances|aleman)"
_MANNER = (
    rf"(?:(?:in|with|en|con) (?:{_STYLE} {_ANSWERS}|{_ANSWERS} {_STYLE}|{_UNIT}|{_LANGUAGE}|"
    rf"(?:more |less |mas |menos )?(?:detail|detalle))|briefly|brevemente|formally|informally|de (?:tu|usted)|{_STYLE})"
)
_FORM = (
    r"(?:jargon|slang|emojis?|emoticons?|tables|charts|graphs|bullets?|bullet points|links|disclaimers?|acronyms|"
    r"abbreviations|technical (?:words|terms)|jerga|tecnicismos|emoticonos|tablas|graficos|graficas|vinetas|enlaces|"
    r"avisos legales|siglas|abreviaturas)"
)
_GIVE = (
    r"(?:keep|make|give|write|send|use|have|show|want|prefer|like|would like|dame|hazme|usa|manten|escribe|pon|ponme|"
    r"ensename|quiero|prefiero|me gustan)"
)
_FILLER = r"(?:(?:i|me|you|your|the|my|all|only|it|always|siempre|tus|los|las|solo|mis|que sean|to be) )*"
_PRICES = r"(?:prices|amounts|figures|numbers|everything|precios|importes|cifras|todo)"
_WISH = re.compile(
    rf"{_LEAD}(?:"
    rf"{_FILLER}(?:{_GIVE} {_FILLER})?(?:{_STYLE} {_ANSWERS}|{_ANSWERS} (?:sean |be )?{_MANNER}|"
    rf"{_PRICES} (?:in|en) {_UNIT})|(?:answer|reply|respond|write|talk|speak|contesta(?:me|rme)?|responde(?:me|rme)?|"
    rf"habla(?:me|rme)?|escribe(?:me)?|escribirme|tratame|tratarme)(?: to)?(?: me)?(?: always| siempre)? {_MANNER}|"
    r"(?:(?:do not|don'?t|never|no more|no|nada de|sin|without|stop|avoid|deja de|evita|ni)"
    r"(?: (?:use|using|uses|usar|send|sending|mandes|mandar(?:me)?|envies|enviar(?:me)?|give|giving|des|darme|show|"
    r"showing|ensenes|ensenar(?:me)?|put|putting|pongas|poner(?:me)?|add|adding|me|any|so many|mas|more|the|los|las|"
    r"tant[oa]s))* "
    rf"{_FORM})|"
    r"tutea(?:me|rme)|get to the point|ve al grano|keep it (?:short|brief|simple)"
    rf"){_TAIL}"
)


def is_about_answers(normalized: str) -> bool:
    """Whether a message, in lower case and without accents, says how answers should be, and nothing else."""
    return _WISH.fullmatch(normalized.strip(" .,;:!?¡¿")) is not None
