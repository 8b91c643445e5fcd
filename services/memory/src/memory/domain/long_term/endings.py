"""What a statement says is over: "I no longer trade options", "vendí mi coche", "me pasé de Kappa a Delta".

Most rules come from one table: verbs by which things end, each with the kind of statement that it can end.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from contracts.calendar_names import MONTHS, NUMBERS
from memory.domain.long_term.concepts import concept, concepts_of, normalize
from memory.domain.long_term.ending_verbs import (
    ALL_MY,
    LASTING_ACTS,
    LOOK,
    MINE,
    OWNED,
    SERVICES,
    SUBJECT_ENDED,
    SUBJECT_ENDED_ES,
    WANTED,
    WHAT,
    WHO,
    WORK,
    concept_set,
    verb_rules,
)
from memory.domain.long_term.slots import OCCASION
from memory.domain.long_term.state_patterns import EMPLOYED


@dataclass(frozen=True, slots=True)
class StatementEnd:
    """Something that a statement says is over, as the concepts `what` (empty: not named).

    `among`: a statement must have one of these concepts to be ended by it; empty: any statement can be. `sole`: it ends
    a statement only if no other one could be meant. `replaced`: the text also names what comes instead.
    """

    concepts: frozenset[str]
    one_of: frozenset[str] = frozenset()
    needs_sole_match: bool = False
    has_replacement: bool = False
    anyone: bool = False
    """Whether it ends the statement no matter which person that was about: a pregnancy, when the baby has arrived."""


_MOVED = (
    r"\b(?:(?:moved|switched|changed|went|gone|migrated|transferred|shifted|rolled)|"
    r"(?:(?:me|nos) )?(?:(?:he|hemos|ha|han) )?(?:pas|cambi|migr|mud|traspas|traslad)(?:ado|e|amos|o)|"
    r"(?:he|hemos|ha) (?:movido|transferido|llevado)|movi|transferi|(?:have )?(?:took|taken))"
)
_SUBJECT_GONE = (
    # The thing named is over: it died, expired or was stolen, or somebody left and another has come.
    rf"\b(?:my|our|the|mi|nuestr[oa]) (?P<what>[^.,;:!?\n]{{1,40}}?) (?:has |have |ha |han |se (?:nos |me )?(?:ha )?)?"
    rf"(?:{SUBJECT_ENDED}|{SUBJECT_ENDED_ES})\b(?! (?:el|la|los|las|un|una|the|a)\b)",
    rf"\bse (?:me|nos) (?:ha |han )?(?:ya )?(?:{SUBJECT_ENDED_ES}) {MINE} (?P<what>[^.,;:!?\n]{{1,40}})",
)
_NO_MORE = r"(?: any ?more| any longer)"
_LIKED_NO_MORE = (
    # The thing named is no longer liked: dividends aren't my thing any more, el oro ya no me convence.
    r"(?:^|[,;:.] )(?:the |el |la |los |las |lo del? )?(?P<what>[^.,;:!?\n]{1,40}?) "
    rf"(?:(?:is|are) not (?:really )?(?:my thing|my style|for me){_NO_MORE}|"
    rf"(?:does|do) not (?:interest|appeal to|convince|excite) (?:me|us){_NO_MORE}|"
    r"no longer (?:interests?|appeals? to|convinces?|excites?) (?:me|us)|"
    r"ya no (?:me|nos) (?:interesan?|gustan?|convencen?|atraen?|llaman?|van?|apetecen?|emocionan?|sirven?))\b"
)
_LIKED = concepts_of(
    "like prefer want interest interesa interesan atrae atraen convence convencen trade invest use buy"
)
_RULES: tuple[tuple[str, frozenset[str], bool], ...] = (
    # Pattern; concepts as in `among`; whether the words also name what comes instead.
    *((pattern, among, False) for pattern, among in verb_rules()),
    *((pattern, frozenset(), False) for pattern in _SUBJECT_GONE),
    (_LIKED_NO_MORE, _LIKED, False),
    (rf"\b(?P<be>am |are |is )?no longer(?: do i)? {WHAT}", frozenset(), False),
    (r"\b(?:do |does |am |are |is )not (?P<what>[^.,;:!?\n]{1,60}?) (?:any ?more|any longer)\b", frozenset(), False),
    (rf"\bya no {WHAT}", frozenset(), False),
    (rf"\b(?:dejo|dejamos|abandono|abandonamos) {ALL_MY}{WHAT}", frozenset(), False),
    (r"\b(?:done|fed up|finished|through|bored|disenchanted) with (?P<what>[^.,;:!?\n]{1,40})", _LIKED, False),
    (r"\b(?:sick|tired) of (?P<what>[^.,;:!?\n]{1,40})", _LIKED, False),
    (r"\b(?:hart|cansad|aburrid|desencantad)[oa]s? (?:del?|con) (?P<what>[^.,;:!?\n]{1,40})", _LIKED, False),
    (r"\bno more (?!than\b)(?P<what>[^.,;:!?\n]{1,40}?)(?= for (?:me|us)\b|[.,;:!?\n]|$)", frozenset(), False),
    (r"(?:^|[,;:.!] )(?:(?:y|pero|ya|mejor|pues) )*(?:nada de|basta de|no mas) (?!que\b|nada\b|es[oae]s?\b|"
    r"est[oae]s?\b|lo\b)"
     r"(?P<what>[^.,;:!?\n]{1,40})", frozenset(), False),
    (rf"(?:^|[,;:.] |\bnow )(?P<what>\w+ing [^.,;:!?\n]{{1,40}}?) (?:{SUBJECT_ENDED})\b", frozenset(), True),
    (r"\blo del? (?P<what>[^.,;:!?\n]{1,50}?) (?:va a ser que no|ya no\b|ni hablar|"
     r"lo (?:he|hemos) (?:aparc|dej|descart|pospuest)\w+|queda descartado|lo descarto|se acabo)",
     frozenset(), True),
    (r"\b(?:i|we)(?: have| had)* (?:had to )?put (?P<what>[^.,;:!?\n]{1,40}?) (?:down|to sleep)\b", frozenset(), False),
    (r"\b(?:sale of|venta de(?:l)?) (?:the |my |our |la |mi |nuestr[oa] )?(?P<what>[^.,;:!?\n]{1,40}?) (?:went through|"
     r"closed|completed|is done|se cerro|se ha cerrado|se completo)\b", OWNED, False),
    (r"\b(?:postponed|delayed|pushed back|brought forward|put off|"
     r"(?:he|hemos) (?:aplazado|retrasado|adelantado|pospuesto)|aplace|retrase|adelante|pospuse) "
     r"(?:lo del? )?(?:my|our|the|mi|nuestr[oa]|el|la) (?P<what>\w+(?: \w+){0,2}?)"
     r"(?= (?:to|until|till|a|al|hasta)\b)", frozenset(), True),
    (r"\b(?:pushed|moved) (?:my|our|the) (?P<what>\w+(?: \w+){0,2}?) (?:back|forward)(?= to\b)", frozenset(), True),
    (r"\bllev(?:o|amos) [^.,;:!?\n]{0,20}(?:semanas|meses|anos|mes|ano) sin (?P<what>[^.,;:!?\n]{1,40})",
     frozenset(), False),
    (r"\b(?:have|has) not (?:touched (?:an? )?)?(?P<what>\w{3,}(?:ed|en|t|k|e)(?: \w+){0,2}?) "
     r"(?:since|(?:for|in) (?:\w+ ){0,3}(?:weeks|months|years?))\b",
     frozenset(), False),
    (r"\bhace (?:\w+ ){1,3}que no (?P<what>[^.,;:!?\n]{1,40})", frozenset(), False),
    (rf"\b(?:pague|pagamos|(?:he|hemos) pagado) (?:ya )?tod[oa]s? {MINE} {WHAT}",
     concept_set("have owe pay loan mortgage"), False),
    (rf"{_MOVED}(?: \w+){{0,4}}? (?:from|de|del|desde) (?P<what>[^.,;:!?\n]{{1,60}}?) (?:to|into|a|al|hacia|por) \w",
     frozenset(), True),
    # A wish has come true.
    (rf"\b{MINE} (?P<what>\w+(?: \w+)?) (?:(?:is|are) (?:\w+ )?(?:bought|paid|mine|ours)|(?:\w+ )?esta(?:n)? "
     r"(?:comprad|pagad)[oa]s?)\b", concept_set("save want look"), True),
    (rf"{WHO}bought (?:the|my|a|an) (?P<what>[^.,;:!?\n]{{1,60}})", concept_set("save want look goal plan"), True),
    (rf"\b(?:compre|hemos comprado|he comprado|compramos) (?:el|la|mi|una?) {WHAT}",
     concept_set("save want look goal plan"), True),
    (r"\b(?:pague|he pagado|hemos pagado|pagamos) (?:ya )?(?:entera )?(?:el|la|mi) (?P<what>\w+)",
     concept_set("owe debo"), False),
    (rf"{WHO}found (?:the|my|a|an) (?P<what>[^.,;:!?\n]{{1,60}}?)(?= at | in |$)", LOOK, True),
    (r"\b(?:encontre|encontramos|(?:he|hemos) (?:encontrado|conseguido)|consegui|conseguimos) "
     r"(?:el|la|mi|una?|un nuevo)? ?(?P<what>[^.,;:!?\n]{1,60}?)(?= en |$)",
     LOOK, True),
    (rf"\b(?:estoy|estamos|quede|quedamos|(?:he|hemos) quedado) (?:ya )?en paz con (?:mi )?{WHAT}",
     concept_set("owe"), False),
    (rf"\b(?:i|we) used to {WHAT}", frozenset(), False),
    (r"\b(?:antes|solia) (?P<what>(?:viv|trabaj|oper|us|fum|estudi|invert|ten|conduc|me "
     r"gust)[^.,;:!?\n]{1,60})", frozenset(), False),
)  # fmt: skip
_COMPILED = [(re.compile(pattern), among, replaced) for pattern, among, replaced in _RULES]
_ALL_OF_IT = r"(?: everything| it all| all my \w+| my (?:money|account|portfolio|savings)| todo| mi \w+)"
_SWITCHED_TO = re.compile(
    rf"(?:\b(?:switched|changed|migrated|upgraded|downgraded)|{_MOVED})"
    rf"(?:{_ALL_OF_IT}| over){{0,2}} (?:to|al?) "
    r"(?P<new>(?:an? |the |una? )?[a-z][^.,;:!?\n]{1,40})"
)
_ALL_AT = re.compile(
    r"\b(?:(?:i|we) (?:now )?(?:have|hold|keep|run) (?:everything|it all)|everything is|it is all) (?:\w+ly |now )?"
    r"(?:at|with|in|on) (?P<new>[a-z][^.,;:!?\n]{1,40})|"
    r"\btodo (?:lo )?(?:(?:tengo|llevo|tenemos|llevamos|esta) )?(?:ahora |ya )?(?:en|"
    r"con) (?P<nuevo>[a-z][^.,;:!?\n]{1,40})"
)
"""Says where all of it is: one place in exchange for another."""
_HOME_MOVE = re.compile(rf"\b(?:moved(?!{_ALL_OF_IT})|relocated|(?:went|gone)(?! over)|mud\w+|traslad\w+)\b")
_OTHER_KIND = re.compile(
    r"\b(?:trading|stocks?|bonds?|etfs?|crypto|options?|futures|acciones|bonos|opciones|futuros|cripto)\b"
)
_WITHOUT_WORK = re.compile(
    r"\b(?:lost my job|got fired|was fired|been fired|got laid off|was laid off|am unemployed|retired last|"
    r"am (?:now )?retired|just retired|have retired|quit my job|left my job|(?:been|was|got|were) (?:let go|"
    r"made redundant|laid off)|laid me off|let me go|me (?:han echado|echaron)|me despidieron|me han despedido|"
    r"perdi mi (?:trabajo|empleo)|me quede sin (?:trabajo|empleo)|estoy en (?:el )?paro|estoy desemplead[oa]|"
    r"estoy jubilad[oa]|me he jubilado|me jubile|ya me jubile|renuncie$)\b"
)
_RETIRED = re.compile(
    r"\b(?:is|has|got|was|have|esta|se ha|se) (?:now |just |been |ya )?(?:retired|jubilad[oa]|jubilo|laid off|fired|"
    r"unemployed|en (?:el )?paro|desemplead[oa]|despedid[oa])\b"
)
_USED_AS = {
    "broker": concept_set("broker trade use invest"),
    "bank": concept_set("bank account"),
    "work": concept_set("work be"),
    "car": concept_set("car drive"),
    "flat": concept_set("flat house live rent"),
    "house": concept_set("house flat live rent"),
}
_CHANGED_OF = re.compile(
    r"\b(?:(?:i|we)(?: have)?(?: just)? (?:changed|switched)|(?:(?:he|hemos) cambiado|cambie|cambiamos) de) "
    r"(?P<what>brokers?|banks?|jobs?|cars?|flats?|broker|bancos?|trabajo|empleo|coche|carro|piso|casa)\b"
)
"""Names the kind of thing that is another one now, but not which one it was."""
_CALLED_OFF = re.compile(
    r"\b(?:i|we)(?: have)? (?:called off|cancell?ed|broken off|broke off) (?:the|our|my) (?:wedding|engagement)\b|"
    r"\b(?:hemos |he )?cancel(?:e|amos|ado) (?:la|el|nuestr[oa]) (?:boda|compromiso)\b"
)
_GRADUATED = re.compile(
    r"\b(?:i|we)(?: have| just)* (?:graduated|finished (?:school|college|my degree|university|my studies))\b|"
    r"\b(?:defended my (?:phd|thesis|doctorate)|(?:lei|defendi|he leido|he defendido) (?:la|mi) tesis)\b|"
    r"\b(?:me gradue|termine (?:la carrera|mis estudios|la universidad)|acabe la carrera)\b"
)
_BORN = re.compile(
    r"\b(?:baby|twins|son|daughter|boy|girl|little one)\b.{0,20}\b(?:born|arrived|here|came)\b|\b(?:gave|"
    r"has given) birth\b|\bhad (?:the|our|my|a|twin) (?:baby|twins|boy|girl)s?\b|"
    r"\btuvi(?:mos|eron)? "
    r"(?:una?|gemel[oa]s|mellizos) ?(?:nin[oa]|hij[oa]|bebe|peque)?\b(?= (?:en|el|la|hace|este|esta|ayer)|$)|"
    r"\b(?:dado|dio|di) a luz\b|"
    r"\b(?:nacio|ha nacido|nacieron|han nacido)\b.{0,20}\b(?:hij[oa]s?|"
    r"bebe|nin[oa]|gemel[oa]s|peque|cri[oa])\b|\b(?:hij[oa]s?|bebe|nin[oa]|gemel[oa]s|peque|"
    r"cri[oa])\b.{0,20}\b(?:nacio|ha nacido|nacieron|han nacido|llego)\b"
)
_ALONE = re.compile(
    r"\b(?:me (?:he ido|fui) de casa|left home|me (?:he ido|fui|mude|he mudado) a vivir sol[oa]|"
    r"(?:ahora|ya) vivo sol[oa]|me (?:he )?independi(?:ce|zado)|"
    r"(?:moved out|now live|live) (?:on my own|by myself|alone)(?: now)?|got (?:my|our) own (?:place|flat|apartment))\b"
)
_BACK_AT_WORK = re.compile(
    r"\b(?:back|return(?:ed)?) (?:at|to) work\b|\bme (?:han dado|dieron) (?:ya )?el alta\b|"
    r"\b(?:volvi|volvio|vuelto|reincorporad[oa]|incorporad[oa]) (?:ya )?(?:al trabajo|a trabajar)\b"
)
_SHARING = concepts_of(
    "ex comparto compartimos share shares sharing roommate roommates flatmate flatmates housemates padres parents"
)
_HOME_BOUGHT = re.compile(
    r"\b(?:i|we)(?: have| just| now| finally| recently)* (?:bought|own) (?:a|an|our|my) (?!second\b|holiday\b)(?:\w+ )?"
    r"(?:house|home|flat|apartment|condo|place)\b(?!.*\b(?:holidays?|vacations?|to (?:let|rent)|investment|weekends?|"
    r"for (?:my|our))\b)|\b(?:ya tenemos|ya tengo) (?:casa|piso|vivienda)(?: propi[oa])?\b|"
    r"\b(?:(?:me|nos) (?:he|hemos) comprado|(?:me|nos) (?:compre|compramos)|hemos comprado|compramos) "
    r"(?:una? |nuestr[oa] )?(?:casa|piso|apartamento|vivienda)\b(?!.*\b(?:vacaciones|verano|alquilar|inversion|"
    r"invertir|para (?:mis?|nuestr[oa]s?)|findes?|fines? de semana)\b)"
)
RENTING = concepts_of("rent renting alquiler alquilo alquilamos")
_PROMOTED = re.compile(
    r"\b(?:(?:was|been|got) promoted|(?:they |have )?(?:promoted|hired) me|me (?:han )?"
    r"(?:ascendido|ascendieron|promovieron|promovido|contratado como|contrataron como))\b"
)
_ROLES = concepts_of(
    "student estudiante junior trainee intern apprentice assistant analyst engineer developer consultant manager "
    "supervisor clerk associate becario becaria aprendiz ayudante auxiliar analista ingeniero ingeniera programador "
    "programadora "
    "teacher nurse lawyer doctor accountant driver waiter waitress chef cook "
    "electrician plumber carpenter mechanic architect journalist translator salesman designer pilot baker profesor "
    "profesora maestro maestra enfermero enfermera abogado abogada medico contable conductor conductora camarero "
    "camarera cocinero cocinera electricista fontanero carpintero arquitecto arquitecta periodista traductor "
    "vendedor vendedora disenador disenadora piloto panadero funcionario funcionaria "
    "receptionist recepcionista cashier cajero cajera secretary secretario secretaria dentist dentista pharmacist "
    "farmaceutico farmaceutica vet veterinario veterinaria psychologist psicologo psicologa hairdresser peluquero "
    "peluquera firefighter bombero bombera soldier soldado judge juez farmer granjero granjera writer escritor "
    "escritora musician musico actor actriz photographer fotografo fotografa economist economista scientist "
    "cientifico cientifica researcher investigador investigadora professor librarian bibliotecario bibliotecaria "
    "gardener jardinero jardinera courier repartidor repartidora camionero taxista barista bartender welder soldador "
    "builder albanil paramedic tutor "
    "consultor consultora jefe jefa gerente encargado encargada administrativo administrativa tecnico tecnica"
)
_I_AM_A = re.compile(
    r"(?:i am|soy)(?: now| ahora)?(?: an?| una?)?(?P<role>(?: \w+){1,3}?)(?= (?:at|in|for|with|on|en|para|con) |$)"
)
_EXPECTING = concepts_of("pregnant expecting embarazada embarazados esperando esperamos espera")
_EVENTS = (
    (_WITHOUT_WORK, StatementEnd(frozenset(), WORK, has_replacement=True)),
    (_RETIRED, StatementEnd(frozenset(), WORK, has_replacement=True)),
    (EMPLOYED, StatementEnd(LOOK | WORK, LOOK, has_replacement=True)),
    (_BORN, StatementEnd(frozenset(), _EXPECTING, has_replacement=True, anyone=True)),
    (_ALONE, StatementEnd(frozenset(), _SHARING, has_replacement=True)),
    (_BACK_AT_WORK, StatementEnd(frozenset(), concepts_of("leave baja"), has_replacement=True)),
    (_HOME_BOUGHT, StatementEnd(frozenset(), RENTING, has_replacement=True)),
    (_PROMOTED, StatementEnd(frozenset(), _ROLES, needs_sole_match=True, has_replacement=True)),
    (_CALLED_OFF, StatementEnd(frozenset(), concepts_of("engaged wedding marry prometida prometido casar boda"))),
    (_GRADUATED, StatementEnd(frozenset(), concept_set("study"))),
)
"""What an event ends, whatever else the sentence says."""
_IS_SO_NO_LONGER = re.compile(r"(?:(?:am|are|is) )?no longer\b|(?:do|does|am|are|is) not\b|ya no\b")
_CONDITION = re.compile(r" (?:when|while|if|unless|cuando|mientras|si) (?P<rest>[^.,;:!?\n]{1,60})")
"""What has ended under a condition may still be true without it: "I no longer run when it rains"."""
_SINCE = re.compile(
    r" (?:yesterday|today|tonight|this (?:morning|afternoon|evening)|recently|ayer|hoy|esta (?:manana|tarde|noche)|"
    rf"hace poco|(?:on |last |this |el (?:pasado )?)(?:{'|'.join(OCCASION)})\b"
    rf"|(?:back |early |late )?(?:in|on|since|en|desde|el|la)(?: \w+){{0,2}}? (?:{'|'.join(MONTHS)}|(?:19|20)\d\d)"
    r"|(?:semana|mes|ano) pasad[oa]|(?:last|this|este|esta|el|la) (?:week|month|year|semana|mes|ano)(?: pasad[oa])?"
    rf"|(?:about |over |almost |nearly )?(?:\d+|an?|some|several|many|{'|'.join(NUMBERS)})(?: few| couple of)? "
    r"(?:days?|weeks?|months?|years?) ago|hace \w+(?: \w+)? (?:dias?|semanas?|mes(?:es)?|anos?))\b.*$"
)
"""When it ended. This is removed, since the ended statement does not contain it."""
_IN_EXCHANGE = re.compile(
    r" for (?:an?|the|my|some) (?!\w*(?:while|time|moment|year|month|week|price|profit|loss|song)\b)"
)
_CLAUSE = re.compile(r" (?:and|but|because|since|so|y|pero|porque|ya que|desde|when|if|cuando|if) ")


@lru_cache(maxsize=4_000)
def endings(text: str) -> tuple[StatementEnd, ...]:
    """Returns everything that a sentence says is over."""
    return tuple(dict.fromkeys(_endings(normalize(text))))


def occupation_in(normalized: str) -> frozenset[str]:
    """Returns the concepts of the writer's occupation in a normalized text such as "I'm a junior analyst"; empty if it
    names none."""
    match = _I_AM_A.match(normalized)
    role = concepts_of(match["role"]) if match else frozenset[str]()
    return role if role & _ROLES else frozenset()


def can_end(ending: StatementEnd, concepts: frozenset[str]) -> bool:
    """Whether the ending can apply to a statement with these concepts."""
    if concepts & LASTING_ACTS and not concepts & WANTED and not ending.concepts & LASTING_ACTS:
        return False
    return not ending.one_of or bool(concepts & ending.one_of)


def _endings(normalized: str) -> Iterator[StatementEnd]:
    exchange_named = False
    for pattern, among, replaced in _COMPILED:
        for match in pattern.finditer(normalized):
            groups = match.groupdict()
            phrase = _CLAUSE.split(f"{(groups.get('be') or '') + groups['what']} ", maxsplit=1)[0]
            if not _IS_SO_NO_LONGER.match(match[0]):
                phrase = _SINCE.sub("", f" {phrase}")
            elif condition := _CONDITION.search(normalized, match.start("what")):
                phrase = f"{phrase} {condition['rest']}"
            ended = concepts_of(phrase)
            if "account" in among and ended - {"account"}:
                ended -= {"account"}
            if ended - {"be", "have"} and (not ended <= WORK or among == LOOK):
                exchange_named = exchange_named or replaced
                is_exchange = replaced or bool(_IN_EXCHANGE.match(normalized, match.end()))
                yield StatementEnd(ended, among, has_replacement=is_exchange)
    switched = None if exchange_named or _HOME_MOVE.search(normalized) else _SWITCHED_TO.search(normalized)
    switched = switched or _ALL_AT.search(normalized)
    if switched and not _OTHER_KIND.search(switched[switched.lastgroup or 0]):
        yield StatementEnd(frozenset(), SERVICES, needs_sole_match=True, has_replacement=True)
    if (kind := _CHANGED_OF.search(normalized)) and not exchange_named:
        yield StatementEnd(
            frozenset(), _USED_AS[concept(kind["what"].removesuffix("s"))], needs_sole_match=True, has_replacement=True
        )
    yield from (ending for pattern, ending in _EVENTS if pattern.search(normalized))
