"""Recognises that somebody asks for a person, in Spanish and English, by patterns instead of a list of sentences.

A pattern is a verb with its object ("talk to" + "someone", "pásame con" + "un agente"), and every verb combines with
every word for a person. "No quiero hablar con nadie" and "without talking to a person" are not such a request; "not a
bot" is one.
"""

import re
from functools import lru_cache

from agent.domain.text_features import plain
from contracts.expressions import expression

_ANY = r"(?:\w+ ){0,3}?"
_WHO_EN = (
    r"(?:humans?|human beings?|(?:(?:real|actual|live|living|human|physical|different) )+(?:one|person|people|"
    r"agent|being|somebody|someone|representative|support)|persons?|people|"
    r"some(?:one|body)(?: (?:else|real|human))?|somone|sombody|"
    r"any(?:one|body)(?: (?:else|real|human))?|agents?|"
    r"representatives?|reps?|owners?|boss|directors?|operators?|advis[oe]rs?|managers?|supervisors?|superiors?|receptionists?|staff|employees?|specialists?|"
    r"technicians?|consultants?|the team|your team|human (?:help|assistance)|(?:customer |tech(?:nical)? |"
    r"human )?(?:support|service|care)"
    r"(?: team| agent| staff)?|sales(?: team)?|colleagues?|teammates?|coworkers?)"
)
_WHO_ES = (
    r"(?:personas?|humanos?|humana|ser(?:es)? humanos?|alguien|alguno de ustedes|agentes?|asesor(?:a|es|as)?|"
    r"operador(?:a|es|as)?|operari[oa]s?|ejecutiv[oa]s?|representantes?|encargad[oa]s?|duen[oa]s?|jef[ea]s?|director(?:a|es)?|responsables?|gerentes?|"
    r"supervisor(?:a|es)?|superior(?:es)?|recepcionistas?|companer[oa]s?|tecnic[oa]s?|comercial(?:es)?|vendedor(?:a|es)?|gente|"
    r"(?:el|tu|su|vuestro) equipo|emplead[oa]s?|especialistas?|consultor(?:a|es)?|"
    r"(?:servicio|atencion) (?:al|de) cliente\w*|soporte(?: humano| tecnico)?|(?:atencion|asistencia|"
    r"ayuda) humana|telefonista)"
)
_WHO = rf"(?:{_WHO_EN}|{_WHO_ES})"
_END = (
    r"(?=\W*(?:please|pls|plz|now|right|asap|here|urgently|instead|already|thanks?|thank you|today|who|that|to (?:help|"
    r"talk|speak|assist|call|contact|answer|take|look)|from|of (?:the|your) (?:team|company)|por favor|porfa\w*|"
    r"ya|ahora|"
    r"ahorita|mismo|urgente\w*|aqui|gracias|que (?:me|nos|pueda|sepa)|para que|de (?:verdad|carne|la empresa|la tienda|"
    r"la clinica|vuestr\w+|su|tu|ustedes|soporte|ventas|atencion)|del equipo|real|humana?|and not|not|y no|no|en vez|"
    r"for (?:help|support|assistance)|with|about|regarding|sobre)\b|\W*$|\s*[.,:;!?()–—]|\s+-)"
)
_KINDS = (
    # Talking: to somebody.
    rf"\b(?:talk|speak|chat|communicate|discuss (?:this|it)|in (?:touch|contact)) (?:to|with|2) {_ANY}{_WHO}\b",
    rf"\b(?:hablar|hable|charlar|chatear|conversar|comunicar(?:me|nos|se)?|comuniqueme|contact(?:ar(?:me)?|o)|"
    rf"ponerme en contacto|ser atendid[oa]|tratar(?:lo)?|hablarlo|consultarlo) (?:directamente )?"
    rf"(?:con|por) {_ANY}{_WHO}\b",
    rf"\b(?:contact(?:ar)?|reach|call) (?:(?:a|con|al) )?(?:(?:a|an|the|your|one of your|some|un|una|el|"
    rf"la) )*{_WHO}{_END}",
    # Passing on.
    rf"\b(?:transfer|connect|pass|put|hand|switch|route|escalate|redirect|forward) (?:me |us |this |it |the chat )?"
    rf"(?:\w+ )?(?:to|through to|through|with|over to|on to) {_ANY}{_WHO}\b",
    rf"\b(?:give|get|bring|find|send|fetch) (?:me|us) (?:(?:a|an|the|your|some|to a|to an) )*(?:real |"
    rf"live )?{_WHO}{_END}",
    rf"\b(?:pasa(?:me|r|rme|nos|s|n)?|pas[ae]me(?:lo)?|pasenme|transfier[ea]\w*|transferi[rd]\w*|transferencia|"
    rf"comunica(?:me|lo)?"
    rf"|comunicas(?: me)?|comuniquen?me|conecta(?:me|r|rme)?|conecten?me|pon(?:me|edme|gan?me|game)|deriv[ae]\w*|"
    rf"escal[ae](?:r|me|lo|dlo)?|"
    rf"redirig\w+|enlaz[ae]\w*) (?:esto |el chat |la conversacion )?(?:con|a|al|hacia) {_ANY}{_WHO}\b",
    rf"\b(?:dame|denme|deme|mand[ae](?:me|nme|r)?|envi[ae](?:me|nme|r)?|busca(?:me)?|llama(?:d)?|avis[ae](?:r|d)?|"
    rf"traeme) (?:a |con )?(?:(?:un|una|algun|alguna|el|la|otra|otro) )?{_WHO}{_END}",
    # By a name.
    r"\b(?:puedo|podria|podemos|quiero|quisiera|necesito|me gustaria|(?:can|could|may) (?:i|we)|want to|need to|"
    r"like to) (?:hablar|talk|speak) (?:con|to|with) (?!(?:you|it|him|her|them|ti|el|ella|usted(?:es)?|"
    r"vosotr[oa]s|nadie|nobody|(?:ro)?bots?)\b)\w+\W*$",
    r"\b(?:pas[ae]|pon|ponga|pasad|poned|comuniqu?[ae]|conect[ae]|pasen)(?:me|nos) con (?:(?:el|la|don|dona) )?\w+\W*$",
    r"\b(?:put|patch) (?:me|us) (?:through|on) to \w+\W*$",
    r"\bllam(?:e|en|ad)(?:me|nos)(?: ya| por favor| cuanto antes)?\W*$",
    r"\bque (?:me|nos) (?:llame|escriba|atienda|conteste)(?:n|is)?(?: (?:don |dona )?\w+)?(?: por favor)?\W*$",
    # Wanting.
    rf"\b(?:want|wanna have|need|(?:would|d|i'd) (?:like|prefer)|prefer|demand|require|looking for|insist on|"
    rf"rather have)"
    rf" (?:to have |to see |to get |help from |assistance from |an answer from |support from )?"
    rf"(?:(?:a|an|the|some|any|your|another|real|live) ){{0,6}}{_WHO}{_END}",
    rf"\b(?:quiero|quisiera|necesito|prefiero|preferiria|exijo|busco|requiero|deseo|solicito|pido|me gustaria|me urge)"
    rf" (?:(?:a|ver|tener|ayuda|atencion|la|de|hablarle|el|contacto|con|que intervenga) )*"
    rf"(?:(?:un|una|algun|alguna|otra|otro|el|la) )*{_WHO}{_END}",
    # Being attended to.
    rf"\b(?:can|could|may|will|would|might|let|have|make) {_ANY}{_WHO_EN} (?:from (?:\w+ ){{1,3}})?(?:please )?"
    rf"(?:help|assist|call|ring|phone|contact|answer|attend|join|take over|take this|respond|reply|look (?:at|into)|"
    rf"talk|speak|step in|get (?:in touch|back)|come|write)\b",
    # "Can anyone tell me …?" asks whoever reads it.
    rf"\b(?:can|could|may|will|would|might) {_ANY}(?!any|some){_WHO_EN} (?:from (?:\w+ ){{1,3}})?(?:please )?"
    rf"(?:be able to )?(?:tell|explain\w*(?: this| it| that)?(?: to)?) (?:me|us)\b",
    rf"\b(?:can|could|may|will|would|might|let|have) {_ANY}{_WHO_EN} (?:from (?:\w+ ){{1,3}})?(?:please )?"
    rf"(?:be able to )?(?:check|review|sort|fix|handle|see to|deal with|take care of) (?:my|our|this|it)\b",
    rf"\b(?:puede|podria|pueden|podrian) {_ANY}(?!alguien){_WHO_ES} (?:decir|explicar|contar)(?:me|nos)\w*",
    rf"\b(?:puede|podria|pueden|podrian) {_ANY}{_WHO_ES} (?:del? (?:\w+ ){{1,2}})?(?:revisar|mirar|comprobar|verificar|"
    rf"arreglar|solucionar|gestionar)(?:me|nos)? (?:mi|mis|nuestr[oa]|esto|est[ea]|el|la)\b",
    rf"\b(?:quiero|quisiera|necesito|prefiero|preferiria|me gustaria) que {_ANY}{_WHO_ES} (?:me |nos |lo |la ){{0,2}}"
    rf"(?:revis|mir|compr|verifi|gestion|arregl|solucion|dig|confirm)\w+",
    rf"\bque (?:me|nos) (?:lo |la )?(?:diga|confirme|explique|mire|revise) {_ANY}{_WHO_ES}\b",
    rf"\b(?:me|nos) (?:lo |la )?(?:pued[ae]n?|podria\w*|quiera\w*|va|van)? ?(?:a )?(?:atender|atienda\w*|"
    rf"ayudar|ayude\w*|contest\w+|respond\w+|llam\w+|contact\w+|escrib\w+|hable\w*|expli\w+|"
    rf"resuelv\w+) {_ANY}{_WHO_ES}\b",
    rf"\b(?:atiend[ea]\w*|atender\w*|en contacto conmigo) {_ANY}{_WHO_ES}\b",
    rf"\b{_WHO_ES} (?:\w+ )?(?:que )?(?:me|nos|lo) (?:\w+ )?(?:atienda|ayude|conteste|responda|llame|escuche|"
    rf"explique|hable|pueda|resuelva|solucione)\w*",
    rf"\b(?:puede|podria|pueden|podrian) {_ANY}{_WHO_ES} (?:atender|ayudar|llamar|contactar|contestar|responder|hablar)"
    rf"(?:me|nos)?\b",
    # No machine.
    r"\b(?:not|no more|stop (?:with )?(?:the|this)|enough (?:of|with)? ?(?:the|this|these)?|tired of(?: the| this|"
    r" talking to"
    r"(?: a| this)?)?|(?:hate|sick of) (?:this|these|talking to(?: a| this)?)|(?:don t|don't|do not|dont) want"
    r"(?: to (?:talk|speak|chat) (?:to|with))?) (?:a |an |your |any )?(?:stupid |dumb |silly )?(?:chat ?)?"
    r"(?:bots?|robots?|machines?|ai|computer)\b",
    r"\b(?:no (?:quiero|deseo|me gusta)(?: (?:hablar|chatear|tratar))?(?: con)?|hart[oa] de(?: hablar con)?|"
    r"cansad[oa] de(?: hablar con)?|basta de|dejad? de|nada de|sin|no con) (?:un[ao]? |este |est[ao]s |el |la |mas )*"
    r"(?:tonto )?(?:chat)?(?:bots?|robots?|maquinas?|contestadora?s?|ia|automatic[oa]s?)\b",
)
_THERE = (
    rf"\b(?:is|are) there {_ANY}{_WHO_EN}\b(?: (?:\w+ ){{0,2}}(?:can|could|available|there|here|around|talk|speak|"
    rf"help)\w*|\W*$)",
    r"\b(?:is|are) (?:any(?:one|body)|some(?:one|body)|a (?:human|person|real person)) (?:there|here|available|around|"
    r"online)\b",
    rf"\bhay (?:\w+ ){{0,2}}?{_WHO_ES}(?: (?:\w+ ){{0,3}}(?:ahi|alli|aqui|disponible|conectad[oa]|que|con|atendiendo|"
    rf"del otro lado|detras)\b|\W*$)",
)
"""Whether somebody is there: a wish, or only a call to the assistant itself."""
_SURE = [expression(kind) for kind in _KINDS]
_ASKS = [*_SURE, *(expression(kind) for kind in _THERE)]
_FILLER = (
    r"(?:an?|the|un|una|el|la|algun|alguna|otr[oa]|please|pls|plz|por favor|porfa(?:vor)?|now|right now|ya|"
    r"ahora(?: mismo)?|"
    r"hi|hello|hey|hola|buen[oa]s(?: dias| tardes| noches)?|real|live|actual|human[oa]?|de verdad|urgente|urgent|asap|"
    r"help|ayuda|quick(?:ly)?|rapido|thanks?|gracias|ok|si|yes|no|only|solo|just|bueno|oye|mira|come on|venga|alguien|"
    r"i said|he dicho|que|mejor|with|con|to|support|soporte)"
)
_BARE = expression(rf"^(?:{_FILLER}\s+){{0,12}}(?:{_WHO})(?:\s+{_FILLER}){{0,12}}$")
_POLITE = expression(r"\b(please|por favor)\s*[^\w\s].*", re.DOTALL)
"""A wish that ends here, and what is said behind it ("a person, please: my card was charged twice")."""
_BESIDE = expression(
    rf"\b{_FILLER}\b|\b(?:can|could|may|i|want|need|would|like|prefer|quiero|quisiera|querria|prefiero|puedo|podria|"
    rf"necesito|me|gustaria|you|your|of|from|de|del|vuestr[oa]|team|staff|company|equipo|personal|empresa)\b"
)
"""Words of a wish that say nothing by themselves."""
_ALONE = expression(
    r"^(?:(?:alguien|someone|somebody|anyone|anybody|people|gente|persons?|personas|sales|the team)\b ?)+$"
)
"""By themselves these are answers to a question, or nothing."""
_UNWANTED = expression(
    r"\b(?:(?:don t|don't|do not|dont|didn t|didn't|did not|doesn t|no longer|never|won t|wouldn t|need not|no need to|"
    r"rather not) (?:\w+ ){0,3}|(?:without|instead of|rather than|avoid|before|after|sin|en vez de|en lugar de|"
    r"evitar|antes de|"
    r"despues de) (?:\w+ ){0,2}|no (?:quiero|necesito|quisiera|deseo|busco|hace falta|me gustaria|me hace falta|"
    r"es necesario|prefiero|tengo que|hay que|pido) (?:\w+ ){0,2}|(?:do|does|did|should|must) "
    r"(?:i|you|we) (?:need|have|ought)? ?(?:to )?"
    r"|(?:tengo|hay|tenia|habia) que |(?:debo|deberia|es necesario|hace falta|es obligatorio) |when i |cuando |"
    r"if i |si |(?:ayer|anoche|yesterday|already|ya) (?:\w+ ){0,2})$"
)
_IS_THERE = expression(r"\b(?:is|are) (?:there|some(?:one|body)|any(?:one|body))\b|\bhay\b")
_WHO_OR_WHEN = expression(
    r"\b(?:who|that|que) (?:speaks?|can|knows?|does|habl\w+|sepa|sabe|hace|atiend\w+)\b|\b(?:on|los?|el) (?:an? )?"
    r"(?:\w+days?|weekends?|lunes|martes|miercoles|jueves|viernes|sabados?|domingos?|festivos?|fin\w* de semana)\b|"
    r"\b(?:at|all|the) night\b|\bovernight\b|\b(?:por|toda) la noche\b"
)
"""Whether there is somebody for something, or at some time: a question."""
_WHY_NOT = expression(r"\b(?:why|por que|how (?:do|can|could|would) i|como (?:puedo|hago|podria|se puede)?)\b")
_CLAUSE = expression(r"[.!?;,\n]+|\b(?:but|pero|so|and|y|asi que|entonces)\b")
LONGEST = 600
"""Characters of a message that are read for it."""
_AROUND = 4
"""Words beside the wish that a message may have which is nothing but the wish ("about my order")."""


def asks_for_person(text: str) -> bool:
    """Whether the text asks for a person to go on."""
    normalized = _normalized(text)
    return _is_bare(_POLITE.sub(r"\1", normalized)) or any(
        True for kind in _ASKS for match in kind.finditer(normalized) if not _unwanted(normalized, match)
    )


@lru_cache(64)
def only_asks_for_person(text: str, beside: int = _AROUND) -> bool:
    """Whether it asks for nothing else; `beside`: the most words that it may have beside the wish."""
    normalized = _normalized(text)
    if _is_bare(normalized):
        return True
    rest = normalized
    for kind in _SURE:
        rest = kind.sub(lambda match: match[0] if _unwanted(normalized, match) else " ", rest)
    words_beside = _BESIDE.sub(" ", rest)
    return (
        rest != normalized
        and len(re.findall(r"\w+", words_beside)) <= beside
        and "?" not in without_person_request(text)
    )


def without_person_request(text: str) -> str:
    """The sentences of a text that do not ask for a person."""
    sentences = re.split(r"(?<=[.!?\n])\s+|\n+", text)
    return " ".join(sentence for sentence in sentences if sentence.strip() and not asks_for_person(sentence)).strip()


def _normalized(text: str) -> str:
    # Without its accent a past tense would be a wish.
    without_past = re.sub(r"\bhablé\b", "hablado", text[:LONGEST].lower())
    return re.sub(r"[ \t]+", " ", plain(without_past).replace("’", "'")).strip()


def _is_bare(normalized: str) -> bool:
    words = re.sub(r"[^\w\s]+", " ", normalized)
    words = " ".join(words.split())
    return len(words) <= 60 and bool(_BARE.fullmatch(words)) and not _ALONE.fullmatch(words)


def _unwanted(normalized: str, match: re.Match[str]) -> bool:
    """Whether the words before the match, in its clause, make it something other than a wish."""
    clause = _CLAUSE.split(normalized[: match.start()])[-1].lstrip()
    before = re.sub(r"[^\w\s']+", " ", clause)
    before = " ".join(before.split())
    if _IS_THERE.search(normalized) and _WHO_OR_WHEN.search(clause + normalized[match.start() :]):
        return True
    if _WHY_NOT.search(before):
        return False
    return bool(_UNWANTED.search(f"{before} "))
