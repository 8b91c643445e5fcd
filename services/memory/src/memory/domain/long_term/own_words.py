"""Whether a statement may say something lasting about its writer: it is about them, and is no order, request, thanks or
passing thought. It accepts more than `plain_facts`."""

import re

from memory.domain.long_term.concepts import normalize
from memory.domain.long_term.plain_facts import clauses, is_order, is_passing_thought
from memory.domain.recall.words import language_of, words

MIN_WORDS = 2
_FIRST_PERSON = re.compile(
    r"\b(?:i|we|my|our|mine|ours|myself|us|yo|mi|mis|me|nos|nuestr[oa]s?|mio|mia|mios|mias|conmigo|nosotr[oa]s)\b"
)
_VERB = re.compile(
    r"\b(?!(?:así|aquí|ahí|allí|sí|qué|porqué|café|té)\b)[^\W\d_]{2,}(?:oy|é|í|amos|emos|imos|aba|ía|aré|eré|iré)\b",
    re.I,
)
_VERB_FIRST = re.compile(
    r"^(?:(?:y|pero|ya|no|ahora|solo|tambien|ademas|nunca|siempre|hoy|desde \w+|lo|la|los|las|se|le|que|aunque|porque|"
    r"ultimamente|actualmente|antes|hace \w+ \w+|en \w+) )*"
    r"(?!(?:hello|yolo|so|to|go|also|too|who|into|no|yo|como|solo|pero|todo|otro|poco|mismo|eso|esto|luego|cuando|gracias|bueno|claro|perfecto|correcto|acuerdo|"
    r"entiendo|veo|creo|pienso|supongo|espero|digo|pregunto|agradezco|confirmo|acepto|comprendo|dudo|imagino)\b)\w{2,}o\b"
)
_ASKS = re.compile(
    r"^(?:(?:please|por favor|ok|okay|oye|hey|hola|hello|hi|and|y|so|then|now|pues|bueno|entonces|gracias|thanks)\W+)*"
    r"(?:tell|show|give|explain|help|find|search|check|look|compare|calculate|let|get|send|set|add|remove|put|place|cancel|"
    r"confirm|open|list|analy[sz]e|summari[sz]e|translate|convert|write|answer|buy|sell|alert|notify|remind|ask|try|"
    r"thank|thanks|sorry|can you|could you|would you|will you|do you|"
    r"(?:move|change|make|increase|decrease|lower|raise|reduce) (?:it|that|this|them|the|my) (?:\w+ )?(?:to|at|by|\d)|"
    r"(?:cambia|pon|haz|deja|quita|baja|sube|mueve|pasa|borra|cancela|confirma|compra|vende|manda|envia|redondea|"
    r"ordena|divide|ajusta)(?:(?:me|se|les?)(?:l[oa]s?)?|l[oa]s?)|"
    r"dime|muestrame|ensename|dame|explicame|ayudame|busca|buscame|mira|compara|calcula|dejame|pon|ponme|anade|quita|"
    r"cancela|confirma|abre|lista|analiza|resume|traduce|convierte|escribe|responde|compra|comprame|vende|vendeme|"
    r"avisa|avisame|recuerdame|pregunta|prueba|gracias|perdon|puedes|podrias|quieres|te importa|me puedes|me podrias|"
    r"me das|me dices|me explicas|me ayudas|me muestras)\b"
)
_WANTS = re.compile(
    r"(?!(?:suits|fits|made|cost|took|gave|left|paid|owed|got)\b|\w{3,}s (?:me|us)\b|"
    r"call me (?!at\b|when\b|if\b|back\b))\w+ (?:me|us) (?!from\b|since\b)|"
    r"(?!(?:i|we)\b)(?:\w+ ){0,2}\d[\d.,]* (?:of )?\w+ (?:for (?:me|us)|(?:on|to|in|for) my (?:account|portfolio))$"
)
"""A request with any verb and "me" as its beneficiary: "throw me 10 IBM", "snag 5 FB for me"."""
_EXCLAIMS = re.compile(
    r"(?:an?|one|some) (?:\w+ ){1,2}?of (?:mine|ours)\b|(?:que|vaya|menud[oa]) \w+$|"
    r"(?:here (?:is|are)|aqui (?:tienes|est[ae]|van?)) "
)
"""Somebody else as the subject ("a colleague of mine"), exclamations, and what hands something over: "qué bonito",
"here is a review I found"."""
_WISHES = re.compile(
    r"\b(?:want|quiero|queremos|busco|buscamos)\b(?! (?:to )?(?:(?:know|see|hear|ask|saber|ver)\b|(?:buy|sell|comprar|"
    r"vender) \d))"
)
"""A wish that may last: "I want to invest for ten years"."""
_WISH = re.compile(
    r"\b(?:i|we)(?:'d| would)(?: really)? (?:like|love|prefer|rather)(?!.* than )(?: to)? (?:see|know|hear|look|check|"
    r"have|it|that|this|buy|sell|ask|talk|try|get)\b|"
    r"\b(?:makes? sense|sounds? good|works? for me|helps? me|fine by me|all good)\b"
)
IS_MINE = re.compile(
    r"(?!(?:that|this|it|what|who|which|here|there|is|eso|es[ae]|est[aeo]|que|cual|quien|aqui|ahi)\b)(?:\w+ ){1,4}"
    r"(?:(?:is|are|was)(?: not)?|(?:no )?(?:es|son|era)) (?:my|our|mis?|nuestr[oa]s?) "
    r"(?!(?:\w+ )?(?:question|order|pregunta|duda|orden)\b)\w"
)
"""Says what a named thing is to the writer: "gold is my favourite asset"."""


def may_state_fact(statement: str) -> bool:
    """Whether a statement (not a question) may say something lasting about its writer."""
    normalized = normalize(statement).strip(" .,;:!¡")
    if len(words(normalized)) < MIN_WORDS or is_order(normalized) or _WISH.search(normalized):
        return False
    if any(beginning.match(normalized) for beginning in (_ASKS, _WANTS, _EXCLAIMS)):
        return False
    if is_passing_thought(normalized) and not _WISHES.search(normalized):
        return False
    if clauses(statement) or _FIRST_PERSON.search(normalized):
        return True
    return language_of(normalized) != "en" and bool(_VERB.search(statement) or _VERB_FIRST.match(normalized))
