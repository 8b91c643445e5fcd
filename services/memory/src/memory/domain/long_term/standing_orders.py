"""How somebody does not want to be spoken to: "don't call me Bob", "no jargon, please", "no me mandes enlaces".

Such an order stands until it is taken back. What is wanted of the moment ("don't do that", "no thanks") is none: it has
no word of what is said or how, or speaks of this one thing.
"""

import re

from memory.domain.long_term.concepts import plain

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
_TOLD = (
    r"call|text|ring|phone|message|email|write|send|give|show|explain|use|include|add|put|speak|talk|address|repeat|"
    r"tell|recommend|suggest|mention|ask|greet|wish"
)
_DIGAS = (
    r"llames|escribas|mandes|envies|des|muestres|ensenes|expliques|uses|utilices|incluyas|anadas|pongas|hables|trates|"
    r"repitas|cuentes|recomiendes|sugieras|menciones|preguntes|tutees|saludes|molestes|metas"
)
_MOMENT = re.compile(
    r"\b(?:it|that|this|those|these|again|now|yet|today|anything|nothing|eso|esto|esa|ese|ahora|todavia|aun|hoy|nada|"
    r"me lo|me la|what|why|how|que|por que|como)\b"
)
_NOT = r"(?:do not|don't|never|stop|avoid|quit|please avoid)"
_ORDERS = (
    # A word of how answers look: no jargon, nada de gráficos, skip the disclaimers, without emojis.
    re.compile(
        rf"{_POLITE}(?:no more|no|nada de|ni|sin|without|zero|cero|skip|avoid|evita|omite|ahorrate|quita|drop|"
        rf"leave out|"
        rf"spare me|less|menos)(?: using| usar)?(?: (?:the|your|any|los|las|el|la|tus|mas))? (?:\w+ )?(?:{_FORM})\b"
        r"(?! (?:of|de la|del) \w+ (?:trade|order|operacion|orden))[^.!?]{0,60}"
    ),
    re.compile(rf"{_POLITE}{_NOT} (?:\w+ ){{0,4}}?(?:{_FORM})\b[^.!?]{{0,40}}"),
    # Never send me …, no me llames …
    re.compile(rf"{_POLITE}{_NOT} (?:ever )?(?:{_TOLD}\w*) me\b[^.!?]{{2,80}}"),
    re.compile(rf"{_POLITE}(?:ya |mejor )?(?:no|nunca|jamas) (?:me|nos) (?:{_DIGAS})\b[^.!?]{{2,80}}"),
    re.compile(rf"{_POLITE}(?:no|nunca) (?:uses|utilices|pongas|incluyas|metas|anadas) [^.!?]{{3,80}}"),
    # Not my name.
    re.compile(r"(?:[^.!?,]{0,10}, )?(?:my name is not|i am not called|mi nombre no es|no me llamo) \w+[^.!?]{0,60}"),
    re.compile(rf"{_POLITE}(?:ve al grano|get to the point|keep it (?:brief|short|simple))\b[^.!?]{{0,40}}"),
)


def is_standing_order(sentence: str) -> bool:
    """Whether a sentence says for good how its writer does not want to be spoken to."""
    said = plain(sentence).strip(" .,;:!¡")
    said = re.sub(r",? (?:please|por favor|gracias|thanks)$", "", said)
    found = any(order.fullmatch(said) for order in _ORDERS)
    return found and not (_MOMENT.search(said) and not re.search(rf"\b(?:{_FORM})\b", said))
