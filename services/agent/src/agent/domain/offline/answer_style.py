"""Wishes how answers should be: "keep your answers short from now on", "no emojis, please", "háblame de usted"."""

import re

from agent.domain.text_features import word_set
from contracts.expressions import expression

_STYLES = word_set(
    "short shorter brief briefer briefly concise concisely long longer detail details detailed simple simpler "
    "simply plainer clearer formal formally informal informally fewer technical sentence point corto corta cortos "
    "cortas breve breves brevemente conciso concisa concisos concisas largo larga largos largas detalle detalles "
    "detallado detallada detalladas sencillo sencilla sencillos sencillas simples formales informales frase grano "
    "rollo tutea tuteame tutearme usted"
)
_LANGUAGES = word_set("english spanish french german ingles espanol castellano frances aleman")
"""They are a wish only beside a request: "and in English?" asks for a course or a page."""
_REQUESTS = word_set(
    "please porfa favor answer reply respond write talk speak prefer contesta contestame contestar contestarme "
    "responde respondeme responder responderme habla hablame hablar hablarme escribe escribeme escribir escribirme "
    "prefiero"
)
_UNITS = word_set("euros dollars pounds dolares libras percent percentages porcentaje porcentajes")
_LASTING = word_set("always siempre now ahora future")
"""Beside a unit: "always give me prices in euros". Otherwise it asks for prices."""
_FORMS = word_set(
    "jargon slang emoji emojis emoticons tables charts graphs bullets links disclaimers acronyms abbreviations "
    "terms jerga tecnicismos emoticonos tablas graficos graficas vinetas enlaces avisos siglas abreviaturas"
)
"""They are a wish only with a negation."""
_NEGATIONS = word_set("no not don never without stop avoid sin nada deja evita ni")
_AROUND = word_set(
    "ok hey oye can could would will you puedes podrias i d we want to like me my us your the a an from on partir "
    "de desde in just only mejor and but y pero answers replies response responses explanation explanations message "
    "messages sentences words it be is that this them more less mas menos very muy so too demasiado tan much many "
    "mucho mucha tanto tanta tantos tantas with con en of el la lo los las un una dame dime dimelo haz hazme hazlo "
    "usa usar uses use using manten keep make give giving send sending show showing have do t respuesta respuestas "
    "explicacion explicaciones explica explicame explain mensaje mensajes palabras pocas quiero quisiera gustan "
    "gusta que sean sea se seas tu tus mis por al ve get go tell say one all everything todo solo conmigo thanks "
    "gracias text texto any mandes mandar mandarme envies enviar enviarme des darme ensenes pongas poner prices "
    "amounts figures numbers precios importes cifras legales bullet points"
)
_KNOWN = _STYLES | _LANGUAGES | _REQUESTS | _UNITS | _LASTING | _FORMS | _NEGATIONS | _AROUND
_ASKS_FOR_FACT = expression(r"\bdo (?:you|they|any of you) (?:speak|talk|write|answer)\b")
"""Asks what people there can do, which a page may tell."""
_ASKS_ASSISTANT = expression(r"\b(?:can|could|would|will) you\b|\b(?:puedes|podrias)\b")


def is_about_answers(normalized: str) -> bool:
    """Whether a message, in lower case and without accents, says how answers should be, and nothing else."""
    words = frozenset(re.findall(r"\w+", re.sub(r"\bde tu\W*$", "tutea", normalized)))
    if (
        not words <= _KNOWN
        or _ASKS_FOR_FACT.search(normalized)
        or ("?" in normalized and not _ASKS_ASSISTANT.search(normalized))
    ):
        return False
    return bool(
        words & _STYLES
        or (words & _LANGUAGES and words & _REQUESTS)
        or (words & _UNITS and words & _LASTING)
        or (words & _FORMS and words & _NEGATIONS)
    )
