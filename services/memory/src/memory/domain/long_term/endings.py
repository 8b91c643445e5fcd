"""What a statement says is over: "I no longer trade options", "vendí mi coche", "me pasé de Kappa a Delta".

Most rules come from one table: verbs by which things end, each with the kind of statement that it can end.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from contracts.calendar_names import MONTHS, NUMBERS
from memory.domain.long_term.concepts import concept, concepts_of, normalize
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


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LASTING_ACTS = _set("buy sell")
"""A purchase or a sale stays true for ever, but a wish to buy or sell does not."""
_WANTED = _set("goal want plan like prefer save look")
_WHAT = r"(?P<what>[^.,;:!?\n]{1,60})"
_MINE = r"(?:my|our|the|mis?|nuestr[oa]s?|el|la|los|las)"
_ALL_MY = (
    rf"(?:(?:all|both|the rest|most)(?: of)? (?:(?:{_MINE}|those|these) )?|{_MINE} (?:(?:two|three|dos|tres) )?|"
    r"(?:tod[oa]s?|amb[oa]s) (?:(?:mis?|las?|los|el) )?)"
)
_THING = r"(?P<what>[^.,;:!?\n]{1,40}?)"
_PARTICLES = (" up", " off", " away", " in", " back", " out")
_WHO = (
    r"(?:\b(?:i|we|s?he|they|(?:my|our) \w+)(?: have| has| had)? ?|(?:^|[,;:.] ))"
    r"(?:(?:just|already|finally|recently) ){0,3}"
)
"""The subject, or none if a clause begins with the verb: "dumped my Disney"."""
_PRONOUN_ES = r"(?:(?:me|nos|se) )?"
_WORK = _set("work")
_LOOK = _set("look")
_ACCOUNT = _set("use trade bank broker have account trip save invest")
_OWNED = _set("have drive live use be phone invest")
_SERVICES = _set("use broker bank trade phone plan")
_COUPLE = concepts_of(
    "have be dating salgo saliendo novia novio pareja esposa esposo marido wife husband married engaged "
    "casado together juntos"
)
_ENDING_VERBS: tuple[tuple[frozenset[str], str, str], ...] = (
    # Concepts of the statements that can be ended; English past forms; Spanish infinitives, without reflexive pronouns.
    (
        frozenset(),
        "stopped|quit|gave up|given up|ended|dropped|dropped out of|got rid of|gotten rid of|pulled out of|"
        "opted out of|"
        "backed out of|withdrew from|withdrawn from|unsubscribed from|parted with|moved on from|moved out of|"
        "gone off|went off|grown out of|lost interest in|abandoned|ditched|dumped|scrapped|called off|got over|"
        "gotten over|finished|completed|is done with|am done with|are done with|put an end to|shelved|binned|packed in|"
        "sworn off|swore off|phased out|bailed on|cooled on|soured on|fallen out of love with|fell out of love with|"
        "lost faith in|lost confidence in|lost patience with|tired of|had enough of|outgrown|outgrew|ruled out|"
        "written off|wrote off|pulled the plug on|turned my back on",
        "dejar|dejar de|parar de|abandonar|borrar de|desapuntar de|deshacer de|quitar de encima|dar de baja de|"
        "cansar de|hartar de|desencantar de|descartar|desechar|perder la fe en|perder la confianza en|"
        "aburrir de|desistir de|desentender de|terminar|acabar|superar|concluir|finalizar",
    ),
    (
        _set("work study use live trade bank broker account smoke drink be take have part invest"),
        "left|resigned from|walked away from|walked out of|stepped down from|moved away from",
        "ir de|salir de|renunciar a|marchar de|despedir de",
    ),
    (
        _OWNED,
        "sold|sold out of|got out of|gave away|given away|offloaded|wrecked|crashed|totalled|traded in|"
        "lost(?! \\w+ savings\\b)(?! \\w+ money\\b)(?! \\w+ job\\b)|rehomed|"
        "donated|auctioned|returned|handed back|sent back|scrapped|smashed up",
        "vender|regalar|donar|devolver|perder|malvender",
    ),
    (_ACCOUNT, "closed|cancelled|canceled|terminated|discontinued|"
     "cashed in|cashed out|cashed out of|emptied|liquidated",
     "cerrar|cancelar|anular|rescindir|traspasar|rescatar|vaciar|dar de baja|liquidar"),
    (_set("have owe pay loan mortgage"), "paid off|finished paying|cleared|paid back|"
     "repaid|settled(?! in)(?! down)|settled up with|"
     "am square with|am even with|are square with",
     "terminar de pagar|acabar de pagar|terminar con|acabar con|liquidar|saldar|amortizar"),
    (_COUPLE, "broke up with|broken up with|split up with|split from|divorced", "romper con|cortar con|dejar con"),
)  # fmt: skip
_IRREGULAR = {
    "deshacer": "deshecho|deshice",
    "romper": "roto|rompi|rompimos",
    "devolver": "devuelto|devolvi",
    "ir": "ido|fui|fuimos",
    "dar": "dado|di|dimos",
    "cerrar": "cerrado|cerre|cerramos",
}
_SUBJECT_ENDED = (
    "died|passed away|healed|recovered|lapsed|expired|run out|ran out|moved out|broke down|broken down|is gone|"
    "fell through|fallen through|is over|is off(?=[,.;:!?]|$)|closed down|"
    "went bust|is off the table|is out of the question|is "
    "behind (?:me|us)|"
    "is history|(?:ran|run) away|is done(?: and \\w+(?: for)?)?|is paid for"
)
_SUBJECT_ENDED_ES = (
    "murio|muerto|fallecio|fallecido|curado|curo|recuperado|caducado|caduco|vencido|vencio|rompio|roto|"
    "estropeo|estropeado|perdio|perdido|acabo|acabaron|acabado|termino|terminaron|terminado|independizado|"
    "escapo|escapado|independizo|emancipado|emancipo|cerrado|cerro|quebrado|quebro"
)


def _past_pattern(infinitives: str) -> str:
    """Returns a pattern of the forms in which Spanish verbs tell what somebody did: participle, and first person
    past."""
    forms: list[str] = []
    for infinitive in sorted(infinitives.split("|"), key=len, reverse=True):
        verb, _, complement = infinitive.partition(" ")
        root = verb[:-2]
        soft = re.sub(r"z$", "c", re.sub(r"g$", "gu", re.sub(r"c$", "qu", root)))
        regular = f"{root}ado|{soft}e|{root}amos" if verb.endswith("ar") else f"{root}ido|{root}i|{root}imos"
        after = re.sub(r"\bde$", "(?:de|del)", re.sub(r"\ba$", "(?:al?)", complement))
        object_only = "(?! (?:de|del|que|por|en|a|al|con|como|sin)\\b)"
        forms.append(f"(?:{_IRREGULAR.get(verb, regular)}){' ' + after if after else object_only}")
    return "|".join(forms)


def _verb_rules() -> Iterator[tuple[str, frozenset[str]]]:
    for among, english, spanish in _ENDING_VERBS:
        past = "|".join(sorted(english.split("|"), key=len, reverse=True))
        yield rf"{_WHO}(?:{past}) {_ALL_MY}?{_WHAT}", among
        yield rf"\b{_PRONOUN_ES}(?:(?:he|hemos|ha|han) )?(?:ya )?(?:{_past_pattern(spanish)}) {_ALL_MY}?{_WHAT}", among
        yield (
            rf"\b{_MINE} (?P<what>\w+(?: \w+){{0,2}}?) (?:ya )?l[ao]s? (?:(?:he|hemos|han) )?(?:ya )?"
            rf"(?:{_past_pattern(spanish)})",
            among,
        )
        # The flat has been sold; el coche está vendido.
        yield rf"\b{_MINE} {_THING} (?:is|are|was|were|been|got) (?:\w+ly |now |all )?(?:{past})\b", among
        if participles := "|".join(_participles(spanish)):
            yield (
                rf"\b{_MINE} {_THING} (?:ya )?(?:esta|estan|fue|fueron|quedo|quedaron|se (?:me |nos )?(?:ha|han)) "
                rf"(?:ya )?(?:{participles})[oa]s?\b",
                among,
            )
        # Gave Italian up, paid it all off.
        if separable := [verb.split() for verb in english.split("|") if verb.endswith(_PARTICLES)]:
            apart = "|".join(rf"{verb[0]} {_ALL_MY}?(?=(?:\w+ ){{1,4}}?{verb[1]}\b)" for verb in separable)
            yield rf"{_WHO}(?:{apart})(?P<what>(?:\w+ ){{1,4}}?)(?:{'|'.join(_PARTICLES).replace(' ', '')})\b", among


def _participles(infinitives: str) -> list[str]:
    """Returns the Spanish participles, without their endings, of the verbs without a preposition."""
    verbs = [verb for verb in infinitives.split("|") if " " not in verb and verb != "ir"]
    return [
        next((form[:-1] for form in _IRREGULAR.get(verb, "").split("|") if form.endswith("o")), "")
        or f"{verb[:-2]}{'ad' if verb.endswith('ar') else 'id'}"
        for verb in verbs
    ]


_TOLD_EN = "|".join(english for _, english, _ in _ENDING_VERBS)
_TOLD_ES = "|".join(_past_pattern(spanish) for *_, spanish in _ENDING_VERBS)
ENDS = re.compile(rf"{_WHO}(?:{_TOLD_EN})\b|\b{_PRONOUN_ES}(?:(?:he|hemos) )?(?:ya )?(?:{_TOLD_ES})\b")
"""One of the verbs by which something ends, told as done."""
_MOVED = (
    r"\b(?:(?:moved|switched|changed|went|gone|migrated|transferred|shifted|rolled)|"
    r"(?:(?:me|nos) )?(?:(?:he|hemos|ha|han) )?(?:pas|cambi|migr|mud|traspas|traslad)(?:ado|e|amos|o)|"
    r"(?:he|hemos|ha) (?:movido|transferido|llevado)|movi|transferi|(?:have )?(?:took|taken))"
)
_SUBJECT_GONE = (
    # The thing named is over: it died, expired or was stolen, or somebody left and another has come.
    rf"\b(?:my|our|the|mi|nuestr[oa]) (?P<what>[^.,;:!?\n]{{1,40}}?) (?:has |have |ha |han |se (?:nos |me )?(?:ha )?)?"
    rf"(?:{_SUBJECT_ENDED}|{_SUBJECT_ENDED_ES})\b(?! (?:el|la|los|las|un|una|the|a)\b)",
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
    *((pattern, among, False) for pattern, among in _verb_rules()),
    *((pattern, frozenset(), False) for pattern in _SUBJECT_GONE),
    (_LIKED_NO_MORE, _LIKED, False),
    (rf"\b(?P<be>am |are |is )?no longer(?: do i)? {_WHAT}", frozenset(), False),
    (r"\b(?:do |does |am |are |is )not (?P<what>[^.,;:!?\n]{1,60}?) (?:any ?more|any longer)\b", frozenset(), False),
    (rf"\bya no {_WHAT}", frozenset(), False),
    (rf"\b(?:dejo|dejamos|abandono|abandonamos) {_ALL_MY}{_WHAT}", frozenset(), False),
    (r"\b(?:done|fed up|finished|through|bored|disenchanted) with (?P<what>[^.,;:!?\n]{1,40})", _LIKED, False),
    (r"\b(?:sick|tired) of (?P<what>[^.,;:!?\n]{1,40})", _LIKED, False),
    (r"\b(?:hart|cansad|aburrid|desencantad)[oa]s? (?:del?|con) (?P<what>[^.,;:!?\n]{1,40})", _LIKED, False),
    (r"\bno more (?!than\b)(?P<what>[^.,;:!?\n]{1,40}?)(?= for (?:me|us)\b|[.,;:!?\n]|$)", frozenset(), False),
    (r"(?:^|[,;:.!] )(?:(?:y|pero|ya|mejor|pues) )*(?:nada de|basta de|no mas) (?!que\b|nada\b|es[oae]s?\b|"
    r"est[oae]s?\b|lo\b)"
     r"(?P<what>[^.,;:!?\n]{1,40})", frozenset(), False),
    (rf"(?:^|[,;:.] |\bnow )(?P<what>\w+ing [^.,;:!?\n]{{1,40}}?) (?:{_SUBJECT_ENDED})\b", frozenset(), True),
    (r"\blo del? (?P<what>[^.,;:!?\n]{1,50}?) (?:va a ser que no|ya no\b|ni hablar|"
     r"lo (?:he|hemos) (?:aparc|dej|descart|pospuest)\w+|queda descartado|lo descarto|se acabo)",
     frozenset(), True),
    (r"\b(?:i|we)(?: have| had)* (?:had to )?put (?P<what>[^.,;:!?\n]{1,40}?) (?:down|to sleep)\b", frozenset(), False),
    (r"\b(?:sale of|venta de(?:l)?) (?:the |my |our |la |mi |nuestr[oa] )?(?P<what>[^.,;:!?\n]{1,40}?) (?:went through|"
     r"closed|completed|is done|se cerro|se ha cerrado|se completo)\b", _OWNED, False),
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
    (rf"\b(?:pague|pagamos|(?:he|hemos) pagado) (?:ya )?tod[oa]s? {_MINE} {_WHAT}",
     _set("have owe pay loan mortgage"), False),
    (rf"{_MOVED}(?: \w+){{0,4}}? (?:from|de|del|desde) (?P<what>[^.,;:!?\n]{{1,60}}?) (?:to|into|a|al|hacia|por) \w",
     frozenset(), True),
    # A wish has come true.
    (rf"\b{_MINE} (?P<what>\w+(?: \w+)?) (?:(?:is|are) (?:\w+ )?(?:bought|paid|mine|ours)|(?:\w+ )?esta(?:n)? "
     r"(?:comprad|pagad)[oa]s?)\b", _set("save want look"), True),
    (rf"{_WHO}bought (?:the|my|a|an) (?P<what>[^.,;:!?\n]{{1,60}})", _set("save want look"), True),
    (rf"\b(?:compre|hemos comprado|he comprado|compramos) (?:el|la|mi|una?) {_WHAT}", _set("save want look"), True),
    (rf"{_WHO}found (?:the|my|a|an) (?P<what>[^.,;:!?\n]{{1,60}}?)(?= at | in |$)", _LOOK, True),
    (r"\b(?:encontre|encontramos|(?:he|hemos) (?:encontrado|conseguido)|consegui|conseguimos) "
     r"(?:el|la|mi|una?|un nuevo)? ?(?P<what>[^.,;:!?\n]{1,60}?)(?= en |$)",
     _LOOK, True),
    (rf"\b(?:estoy|estamos|quede|quedamos|(?:he|hemos) quedado) (?:ya )?en paz con (?:mi )?{_WHAT}",
     _set("owe"), False),
    (rf"\b(?:i|we) used to {_WHAT}", frozenset(), False),
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
    "broker": _set("broker trade use invest"),
    "bank": _set("bank account"),
    "work": _set("work be"),
    "car": _set("car drive"),
    "flat": _set("flat house live rent"),
    "house": _set("house flat live rent"),
}
_CHANGED_OF = re.compile(
    r"\b(?:(?:i|we)(?: have)?(?: just)? (?:changed|switched)|(?:(?:he|hemos) cambiado|cambie|cambiamos) de) "
    r"(?P<what>brokers?|banks?|jobs?|cars?|flats?|broker|bancos?|trabajo|empleo|coche|carro|piso|casa)\b"
)
"""Names the kind of thing that is another one now, but not which one it was."""
_GRADUATED = re.compile(
    r"\b(?:i|we)(?: have| just)* (?:graduated|finished (?:school|college|my degree|university|my studies))\b|"
    r"\b(?:defended my (?:phd|thesis|doctorate)|(?:lei|defendi|he leido|he defendido) (?:la|mi) tesis)\b|"
    r"\b(?:me gradue|termine (?:la carrera|mis estudios|la universidad)|acabe la carrera)\b"
)
_BORN = re.compile(
    r"\b(?:baby|twins|son|daughter|boy|girl|little one)\b.{0,20}\b(?:born|arrived|here|came)\b|\b(?:gave|"
    r"has given) birth\b|\bhad (?:the|our|my|a) (?:baby|twins|boy|girl)\b|\b(?:dado|dio|di) a luz\b|"
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
    r"\b(?:i|we)(?: have| just| now| finally| recently)* (?:bought|own) (?:a|an|our|my) (?:\w+ )?(?:house|home|flat|"
    r"apartment|condo|place)\b|\b(?:ya tenemos|ya tengo) (?:casa|piso|vivienda)(?: propi[oa])?\b|"
    r"\b(?:(?:me|nos) (?:he|hemos) comprado|(?:me|nos) (?:compre|compramos)|hemos comprado|compramos) "
    r"(?:una? |nuestr[oa] )?(?:casa|piso|apartamento|vivienda)\b"
)
_RENTING = concepts_of("rent renting alquiler alquilo alquilamos")
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
_I_AM_A = re.compile(r"(?:i am|soy)(?: now| ahora)?(?: an?| una?)?(?P<role>(?: \w+){1,3})$")
_EXPECTING = concepts_of("pregnant expecting embarazada embarazados esperando esperamos espera")
_EVENTS = (
    (_WITHOUT_WORK, StatementEnd(frozenset(), _WORK, has_replacement=True)),
    (_RETIRED, StatementEnd(frozenset(), _WORK, has_replacement=True)),
    (EMPLOYED, StatementEnd(_LOOK | _WORK, _LOOK, has_replacement=True)),
    (_BORN, StatementEnd(frozenset(), _EXPECTING, has_replacement=True, anyone=True)),
    (_ALONE, StatementEnd(frozenset(), _SHARING, has_replacement=True)),
    (_BACK_AT_WORK, StatementEnd(frozenset(), concepts_of("leave baja"), has_replacement=True)),
    (_HOME_BOUGHT, StatementEnd(frozenset(), _RENTING, has_replacement=True)),
    (_PROMOTED, StatementEnd(frozenset(), _ROLES, needs_sole_match=True, has_replacement=True)),
    (_GRADUATED, StatementEnd(frozenset(), _set("study"))),
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
    if concepts & _LASTING_ACTS and not concepts & _WANTED and not ending.concepts & _LASTING_ACTS:
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
            if ended - {"be", "have"} and (not ended <= _WORK or among == _LOOK):
                exchange_named = exchange_named or replaced
                is_exchange = replaced or bool(_IN_EXCHANGE.match(normalized, match.end()))
                yield StatementEnd(ended, among, has_replacement=is_exchange)
    switched = None if exchange_named or _HOME_MOVE.search(normalized) else _SWITCHED_TO.search(normalized)
    switched = switched or _ALL_AT.search(normalized)
    if switched and not _OTHER_KIND.search(switched[switched.lastgroup or 0]):
        yield StatementEnd(frozenset(), _SERVICES, needs_sole_match=True, has_replacement=True)
    if (kind := _CHANGED_OF.search(normalized)) and not exchange_named:
        yield StatementEnd(
            frozenset(), _USED_AS[concept(kind["what"].removesuffix("s"))], needs_sole_match=True, has_replacement=True
        )
    yield from (ending for pattern, ending in _EVENTS if pattern.search(normalized))
