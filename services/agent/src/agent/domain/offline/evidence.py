"""What a quotation must contain to answer a certain kind of question.

"How do I …?" needs something to do, "why?" a reason, "we are six" something about people. A quotation without it
answers another question. Spanish and English; patterns match normalized text (`plain`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent.domain.number_words import BELOW_100
from agent.domain.offline.constraints import A_DAY, AGE, meets_constraints
from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.shapes import A_MONTH, NEGATION
from agent.domain.text_features import plain
from contracts.expressions import expression

_CLAUSE_START = r"(?:^|[.!?¿:;,)\n›»-] ?|\b(?:and|then|please|just|simply|or|to|by|y|o|luego|despues|para)\b )"
_ENGLISH_IMPERATIVE = (
    r"(?:go|open|click|press|tap|choose|select|send|write|call|ring|phone|e-?mail|visit|bring|fill|log|sign|ask|tell|"
    r"let|use|enter|upload|download|turn|switch|add|pay|book|order|contact|come|drop|show|scan|check|follow|start|create|"
    r"register|apply|complete|return|put|install|connect|reply|text|message|give|take|set|remove|delete|cancel|change|"
    r"pick|get|reserve|request|present|hand|pop|join|buy|make)"
)
_SPANISH_IMPERATIVE = (
    r"(?:ve|entr[ae]|abr[ae]|puls[ae]|elige|elija|seleccion[ae]|envi[ae]|mand[ae]|escrib[ae]|llam[ae]|rellen[ae]|complet[ae]|"
    r"visit[ae]|trae|traiga|inici[ae]|acced[ae]|haz|haga|pid[ae]|pide|solicit[ae]|solicite|avis[ae]|di|indi(?:ca|que)|us[ae]|"
    r"introduc[ae]|introduzca|sube|suba|descarg\w+|activ[ae]|desactiv[ae]|pag[ae]|pague|reserv[ae]|contact[ae]|ven|venga|"
    r"pas[ae]|muestr[ae]|sigue|siga|crea|cree|registr[ae]|devuelv[ae]|pon|ponga|instal[ae]|conect[ae]|respond[ae]|borr[ae]|"
    r"cancel[ae]|cambi[ae]|recog[ae]|recoja|consult[ae]|apunt[ae]|inscrib[ae]|present[ae])(?:nos|te|l[oae]s?|se|me)?"
)
_MEANS = (
    r"(?:by|via|over the|through|por|mediante|a traves de|con|desde|en|on|at|in|under) (?:(?:the|our|your|an?|el|la|"
    r"nuestr[oa]|tu|un|una) )?(?:phone|telephone|e?-?mail|post|whatsapp|sms|app|website|web|site|form|counter|desk|"
    r"reception|shop|store|account|settings|telefono|correo|formulario|pagina|aplicacion|mostrador|recepcion|tienda|"
    r"clinica|cuenta|ajustes|transferencia|bizum)"
)
_ACTION = expression(
    rf"{_CLAUSE_START}{_ENGLISH_IMPERATIVE}\b|{_CLAUSE_START}{_SPANISH_IMPERATIVE}\b|\b{_MEANS}\b|\bonline\b|"
    r"\byou (?:can|may|could|need|must|have to|should|just|only|simply|will)\b|"
    r"\b(?:puedes?|podras?|podeis|pueden|se puede|tienes que|tiene que|hay que|debes?|necesitas?|basta con|se hace)\b|"
    r"\b(?:we|you) (?:need|ask for)\b|\bpedimos\b"
)
_COUNT = rf"(?:\d{{1,3}}|{BELOW_100})"
PEOPLE = (
    r"(?:people|persons?|guests?|adults?|kids?|children|friends|players|participants|riders|pax|of us|personas?|"
    r"adult[oa]s|nin[oa]s|amig[oa]s|invitad[oa]s|comensales|participantes|alumn[oa]s)"
)
_PERSONS = expression(
    rf"\b{_COUNT} (?:\w+ )?{PEOPLE}\b|\b(?:we are|we re|there are|there s|party of|group of|table for|somos|seriamos|"
    rf"seremos|grupo de) {_COUNT}\b|\bfor {_COUNT} of us\b|\b(?:for|para) {_COUNT}\W*$"
)
PARTY = expression(
    rf"\b(?:we are|we re|there are|there s|somos|seriamos|seremos) (?:{_COUNT} {PEOPLE}|"
    rf"(?:an? |un )?(?:party|group|grupo) (?:of|de) {_COUNT}|{_COUNT})\b"
)
"""Size of the asker's group, mentioned beside a question."""
ONLY_HOW_MANY = expression(
    rf"\W*(?:(?:and|y) )?(?:how much |cuanto (?:es|seria|cuesta) )?(?:for|por|para|if (?:they are|it is|"
    rf"i (?:bring|take|book|have))|si (?:son|fueran|fuesen|llevo|traigo|cojo|reservo|tengo)) {_COUNT}"
    rf"(?: (?:people|persons|personas|of (?:us|them)))?\W*"
)
"""Matches "and for two?"."""
ONLY_PARTY = expression(
    rf"\W*(?:(?:and|y|pero|but|ok|vale)\W+)*(?:what )?(?:(?:if|si|how much (?:if|for)|cuanto (?:es |seria |cuesta )?"
    rf"(?:si|para))\W+)?(?:(?:we(?: are|['’]?re)|there are|somos|seriamos|seremos|fueramos|vamos)(?: a ser)? {_COUNT}"
    rf"(?: {PEOPLE})?|(?:i (?:go|come|join) |we (?:go|come|join) |voy |vamos |vengo |venimos |fuera )(?:with|con) "
    r"(?:(?:my|our|an?|mi|mis|una?) )?\w+)(?: (?:in|at|on|en|de) (?:(?:the|my|our|la|el|mi|nuestra) )?\w+)?"
    r"(?:,? (?:how much (?:is|would) it(?: be)?|what does it cost|cuanto (?:es|seria|sale|cuesta|costaria)))?\W*"
)
"""Matches "and if we are three in the company?", "y si voy con mi mujer?": what more people change."""
_TELLS_PERSONS = expression(
    rf"\b{PEOPLE}\b|\b(?:groups?|part(?:y|ies)|per head|each|a head|everyone|anyone|famil\w+|capacity|grupos?|"
    rf"por cabeza|cada un[oa]|aforo|plazas|seats?|sleeps)\b|\bfor {_COUNT}\b|\bpara {_COUNT}\b"
)
_TELLS_AGE = expression(
    r"\b(?:years?|anos?|ages?|aged|edad\w*|menor(?:es)?|mayor(?:es)?|under|over|adults?|adult[oa]s|child\w*|kids?|"
    r"nin[oa]s?|infantil\w*|junior|baby|babies|bebes?|months?|mes(?:es)?|puppies|cachorros?)\b"
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A kind of question (`asks`), and what a quotation that answers one contains (`tells`)."""

    asks: re.Pattern[str]
    tells: re.Pattern[str]


HOW_TO = expression(
    r"\bhow (?:(?:do|can|could|would|should|must|might|may) (?:i|we|one)|to|does one)\b"
    r"(?! (?:know|(?:get|come) (?:there|here|to|from|home))\b)|"
    r"\b(?:what|que) (?:do i|should i|must i|tengo que|hay que|debo|puedo) (?:have to )?(?:do|hacer) (?:to|para)\b|"
    r"(?:^|[¿?.,;:] ?|\b(?:y|hola|ok|vale|pero|saber|decirme|dime|buenas) )como (?:(?:lo|la|los|las|me|te|os|le|"
    r"se|nos) )?(?:puedo|podemos|podria|puede|pueden|hago|hacemos|hace|hay que|tengo que|"
    r"(?!mucho|todo|nuevo|minimo|maximo|tiempo|cuando|llego|vamos|llegamos)\w{3,}(?:o|amos|emos|imos)\b)"
)
WHY = expression(r"(?:^|[¿?.,;:] ?|\b(?:and|but|y|pero|so) )(?:why(?! not)|por ?que)\b")
CHECKS = (
    Evidence(HOW_TO, _ACTION),
    Evidence(
        WHY,
        expression(
            r"\b(?:because|since|so that|due to|as we|as it|in order to|reason|thanks to|to (?:avoid|protect|"
            r"keep|make|help|"
            r"prevent|ensure)|porque|ya que|para que|debido|puesto que|asi|motivo|razon|gracias a|por eso|"
            r"para \w+[aei]r)\b"
        ),
    ),
    Evidence(_PERSONS, _TELLS_PERSONS),
    Evidence(
        expression(
            r"^(?!.*(?:\?|\b(?:what|how|which|when|where|who|why|que|como|cual(?:es)?|cuando|donde|quien|cuanto)\b)).*"
            r"\b(?:(?:does|did|has|have|is|are|do|can|will|wo|ca|would)(?:n\W?t| not)|cannot|cant|doesnt|didnt|"
            r"wont|never|"
            r"no (?:me |nos |se )?(?:dej|funcion|carg|lleg|abr|sal|aparec|va\b|recib|puedo|podemos|encuentr))"
        ),
        expression(
            rf"{NEGATION.pattern}|\b(?:if|si|in case|problems?|problemas?|trouble\w*|errors?|errores|fail\w*|falla\w*|"
            r"forg[eo]t\w*|olvid\w+|wrong|lost|perdid[oa]s?|contact|support|soporte)\b"
        ),
    ),
    Evidence(
        expression(r"\b(?:at night|tonight|in the (?:morning|afternoon|evening)|de noche|"
                   r"por la (?:manana|tarde|noche))\b"),
        expression(
            r"\d{1,2}[:.h]\d{2}|\d ?[ap]\.?m\b|\b(?:24|las \d{1,2}|night|morning|afternoon|evening|noche|manana|"
            r"tardes?|any ?time|any hour|cualquier hora|always|siempre|hours?|closed|cerrado)\b"
        ),
    ),
    Evidence(AGE, _TELLS_AGE),
    Evidence(
        expression(
            r"\bsince when\b|\bhow long have you been\b|\b(?:what|which) year\b|\bdesde cuando\b|\ben que ano\b|"
            r"\bcuant[oa]s? (?:tiempo |anos )?llevais\b"
        ),
        expression(r"(?<!\d)(?:19|20)\d\d\b|\d (?:years|anos)\b"),
    ),
    Evidence(
        expression(
            r"\bwhen (?:did|was|were)\b|\bcuando (?:se |os |lo |la )?(?!(?:camb|env|limp|estud|inic|anunc|prop)io\b)"
            r"(?:\w+(?:io|aron|ieron|[ai]steis|[ai]ste)|fundo|empezo|comenzo|inauguro)\b"
        ),
        expression(rf"(?<!\d)(?:1[5-9]|20)\d\d\b|\b(?:ago|hace|yesterday|ayer|last|pasad[oa])\b|\b(?:{A_MONTH.pattern})\b"),
    ),
    Evidence(
        expression(r"\b(?:start|starts|begin|begins|empiezan?|comienzan?)\b"),
        expression(
            r"\b(?:start\w*|beg[ai]n\w*|empiez\w+|empez\w+|comienz\w+|comenz\w+|from|since|desde|del|partir|first|primer\w*|"
            rf"every|each|cada|{A_DAY.pattern}|\d{{1,2}}[:.]\d\d|\d ?[ap]\.?m|(?<!until )(?<!hasta el )\d{{1,2}} "
            rf"(?:(?:de|of) )?(?:{A_MONTH.pattern}))\b"
        ),
    ),
    Evidence(
        expression(r"\b(?:end|ends|ending|finish\w*|acab[ao]n?|termina\w*|finaliz\w+)\b"),
        expression(
            r"\b(?:end|ends|ended|ending|until|till|finish\w*|last|acab\w+|termin\w+|finaliz\w+|hasta|final(?:es)?|"
            rf"ultim[oa]s?|(?:al?|to) \d{{1,2}}(?:[:.]\d\d|(?:th|st|nd|rd)?(?: (?:de|of))? (?:{A_MONTH.pattern})))\b"
        ),
    ),
    Evidence(
        expression(
            r"\b(?:what|which)(?: (?!if\b)\w+)? (?:\w+n['’]?t|cannot|(?:can|is|are|do|does) not)\b|"
            r"(?:^|[¿?.,;:] ?|\b(?:y|en|con|de|a) )(?:que|cual(?:es)?)(?: \w+)? no\b(?! se\b)"
        ),
        expression(rf"{NEGATION.pattern}|\b(?:only|solo|solamente|except|salvo|excepto|menos|aparte|extra|separately|apart)\b"),
    ),
    Evidence(
        expression(
            r"\b(?:first|last|latest|earliest|primer[oa]?|ultim[oa])\b"
            r"(?! (?:of|week|month|year|night|time|name|thing|de todo|vez|semana|mes|ano|noche)\b)"
        ),
        expression(r"\b(?:first|last|latest|earliest|initial|final|primer[oa]?s?|ultim[oa]s?|inicial)\b"),
    ),
)  # fmt: skip


HOW_HEADING = expression(
    r"\bhow (?:it works|to|do|can)\b|\b(?:steps?|getting started|first steps|pasos|primeros pasos|"
    r"como (?:funciona|se |\w+[aei]r))\b"
)


def has_evidence(question: str, text: str) -> bool:
    """Whether a text contains what questions of this kind ask for."""
    normalized_question, normalized_text = plain(question), plain(text)
    return all(check.tells.search(normalized_text) for check in CHECKS if check.asks.search(normalized_question))


def text_of(excerpts: Sequence[Excerpt]) -> str:
    """The text of excerpts with their headings."""
    return " ".join(f"{excerpt.heading}: {excerpt.text}" for excerpt in excerpts)


def answers(question: str, antecedent: str, quoted: Sequence[Excerpt]) -> bool:
    """Whether the quotations together contain all that the question states and asks for."""
    return bool(quoted) and has_evidence(question, text_of(quoted)) and meets_constraints(question, antecedent, quoted)
