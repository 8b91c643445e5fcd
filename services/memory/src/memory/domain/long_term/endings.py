"""What a statement says is over: "I no longer trade options", "vendí mi coche", "me pasé de Kappa a Delta"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from contracts.spoken import MONTHS
from memory.domain.long_term.concepts import content, plain


@dataclass(frozen=True, slots=True)
class StatementEnd:
    """`what` is over. `among`: concepts of which a statement has one to be ended by it; none: any statement.
    `sole`: it ends what is meant only if a single statement can be meant. `replaced`: the words name what comes now.
    """

    what: frozenset[str]
    among: frozenset[str] = frozenset()
    sole: bool = False
    replaced: bool = False
    whoever: bool = False
    """Whether it is over whoever it was said of: who was pregnant, when the baby is there."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEVER = _set("buy sell")
"""What was bought or sold once stays true for ever."""
_WHAT = r"(?P<what>[^.,;:!?\n]{1,60})"
_ALL_MY = (
    r"(?:all (?:of )?(?:my |the )?|my |the |our |mi |mis |el |la |los |las |nuestr[oa]s? |"
    r"tod[oa]s? (?:mis?|las?|los|el) )"
)
_I = r"\b(?:i|we)(?: have| had)?(?: just| already| finally| recently)? "
_WORK = _set("work")
_ACCOUNT = _set("use trade bank broker have account trip")
_OWNED = _set("have drive live use be phone")
_PAID = _set("pay earn owe have")
_COUPLE = content(
    "dating salgo saliendo novia novio pareja esposa esposo marido wife husband married casado together juntos"
)
_RULES: tuple[tuple[str, frozenset[str], bool], ...] = (
    # Pattern, among which, whether the words also name what comes instead.
    (rf"\b(?P<be>am |are |is )?no longer(?: do i)? {_WHAT}", frozenset(), False),
    (r"\b(?:do |does |am |are |is )not (?P<what>[^.,;:!?\n]{1,60}?) (?:any ?more|any longer)\b", frozenset(), False),
    (rf"\bya no {_WHAT}", frozenset(), False),
    (rf"(?:{_I}|\b(?:my|our) \w+(?: has)? )(?:stopped|quit|gave up|given up|ended) {_WHAT}", frozenset(), False),
    (rf"\b(?:deje de|he dejado de|dejamos de|pare de) {_WHAT}", frozenset(), False),
    (rf"{_I}(?:left|resigned from|quit) {_WHAT}", _set("work study use live trade bank broker account smoke "
     "drink be take have part"), False),
    (r"\bno more (?P<what>\w+ing\b[^.,;:!?\n]{0,40})", frozenset(), False),
    (r"\b(?:my|our|the) (?P<what>[^.,;:!?\n]{1,40}?) (?:is|was|has been|got) (?:off\b|called off|stolen|wrecked|"
        r"totalled)",
     frozenset(), False),
    (r"\b(?:i|we)(?: have| had)* (?:had to )?put (?P<what>[^.,;:!?\n]{1,40}?) (?:down|to sleep)\b", frozenset(), False),
    (r"\b(?P<what>\w+(?: \w+)?) se (?:nos|me) (?:ha )?(?:murio|muerto)\b", frozenset(), False),
    (r"\b(?:stole|wrecked|crashed|totalled) (?:my|our) (?P<what>\w+(?: \w+)?)", _set("have drive use"), False),
    (r"\b(?:me|nos) (?:han robado|robaron|quitaron|han quitado) (?:el|la|mi|nuestr[oa]) (?P<what>\w+(?: \w+)?)",
     _set("have drive use"), False),
    (rf"\b(?:ya )?(?:termine|acabe|he terminado|he acabado)(?: de estudiar)? (?!de ){_WHAT}", _set("study"), False),
    (rf"\b(?:deje|he dejado|abandone|me fui de|sali de|renuncie a|me sali de) (?!de ){_WHAT}",
     frozenset(), False),
    (r"\b(?:my|our|the) (?P<what>\w+(?: \w+)?) (?:has |have )?(?:moved out|broke down|broken down|is gone)\b",
     _OWNED, False),
    (rf"{_I}sold (?:out of )?{_ALL_MY}?{_WHAT}", _set("have drive live"), False),
    (rf"\b(?:vendi|hemos vendido|he vendido|vendimos) {_ALL_MY}{_WHAT}", _set("have drive live"), False),
    (rf"{_I}(?:closed|cancell?ed) {_ALL_MY}{_WHAT}", _ACCOUNT, False),
    (rf"\b(?:cerre|cancele|he cerrado|he cancelado|di de baja) {_ALL_MY}{_WHAT}",
     _ACCOUNT, False),
    (rf"{_I}(?:paid off|finished paying) {_ALL_MY}?{_WHAT}", _set("have owe pay"), False),
    (rf"\b(?:termine de pagar|acabe de pagar|liquide|salde) {_ALL_MY}?{_WHAT}", _set("have owe pay"), False),
    (rf"{_I}(?:broke up|split up) with {_ALL_MY}?{_WHAT}", _set("have be"), False),
    (r"\b(?P<what>\w+) (?:and i|y yo)(?: have| just| ya| finally| nos)* (?:broken? up|broke up|split(?: up)?|separated|"
     r"divorced|terminamos|rompimos|lo dejamos|separamos|divorciamos|hemos (?:terminado|roto))\b", _COUPLE, False),
    (rf"\b(?:rompi|corte|termine|acabe|(?:he|hemos) (?:roto|cortado|terminado|acabado)) con {_ALL_MY}?{_WHAT}",
     _set("have be owe pay"), False),
    (r"\b(?:my|our|mi|nuestr[oa]) (?P<what>[^.,;:!?\n]{1,40}?) (?:has |ha |se )?(?:died|passed away|murio|"
     r"fallecio|muerto)\b",
     frozenset(), False),
    (r"\b(?:my|our|the) (?P<what>[^.,;:!?\n]{1,40}?) (?:is|was|has been|got)(?: now| finally| already| all)* "
     r"(?:paid off|closed|cancell?ed|sold)\b", _set("have owe pay use"), False),
    (r"\b(?:mi|nuestr[oa]) (?P<what>[^.,;:!?\n]{1,40}?) (?:ya )*(?:esta|quedo|fue|ha sido)(?: ya| por fin)* "
     r"(?:pagad|saldad|liquidad|cerrad|cancelad|vendid)[oa]\b", _set("have owe pay use"), False),
    (r"\bllev(?:o|amos) [^.,;:!?\n]{0,20}(?:semanas|meses|anos|mes|ano) sin (?P<what>[^.,;:!?\n]{1,40})",
     frozenset(), False),
    (r"\b(?:i|we) have not (?P<what>[^.,;:!?\n]{1,40}?) (?:in|for) (?:\w+ ){0,2}(?:weeks|months?|years?)\b",
     frozenset(), False),
    (r"\b(?:pulled|took|moved|withdrew) (?:everything|all|all (?:of )?(?:my|our|the) \w+|(?:my|our) money) "
     r"(?:out of|from) (?P<what>[^.,;:!?\n]{1,60})", _set("have invest save use"), False),
    (r"\b(?:saque|sacamos|he sacado|hemos sacado|retire|retiramos|he retirado) (?:todo|todo (?:mi|el) \w+|mi dinero|"
     r"nuestro dinero) de (?P<what>[^.,;:!?\n]{1,60})", _set("have invest save use"), False),
    (rf"{_I}(?:traded|swapped|exchanged) (?:my|our|the) (?P<what>\w+(?: \w+){{0,2}}?) (?:in|for)\b",
     _set("have drive use"), True),
    (rf"{_I}(?:gave|given) (?:my|our) (?P<what>\w+(?: \w+){{0,2}}?) (?:away|to)\b", _set("have drive use"), False),
    (r"\b(?:cambie|cambiamos|he cambiado|hemos cambiado) (?:(?:mi|el|la|nuestr[oa]) )?(?P<what>\w+(?: \w+){0,2}?) "
     r"por\b", _set("have drive use"), True),
    (r"\b(?:regale|regalamos|done) (?:mi|nuestr[oa]) (?P<what>\w+(?: \w+){0,2}?) a\b", _set("have drive use"), False),
    (r"\b(?:moved|switched|changed|transferred) (?:back )?to (?:the )?\w+ (?P<what>shifts?)\b", _WORK, True),
    (r"\b(?:pasaron|cambiaron|movieron|pase|cambie) (?:al|de) (?P<what>turno)\b", _WORK, True),
    (rf"{_I}bought (?:the|my|a|an) (?P<what>[^.,;:!?\n]{{1,60}})", _set("save want look"), True),
    (rf"\b(?:compre|hemos comprado|he comprado|compramos) (?:el|la|mi|una?) {_WHAT}", _set("save want look"), True),
    (rf"{_I}found (?:the|my|a|an) (?P<what>[^.,;:!?\n]{{1,60}}?)(?= at | in |$)", _set("look"), True),
    (r"\b(?:encontre|he encontrado|consegui) (?:el|la|mi|una?|un nuevo)? ?(?P<what>[^.,;:!?\n]{1,60}?)(?= en |$)",
     _set("look"), True),
    (rf"{_I}(?:dropped out of|got(?:ten)? rid of|pulled out of|opted out of|backed out of|withdr[ae]wn? from|"
     rf"unsubscribed from|parted with|moved on from) {_ALL_MY}?{_WHAT}", frozenset(), False),
    (rf"\bme (?:he )?(?:borrado|borre|dado de baja|di de baja|desapuntado|desapunte|deshecho|deshice) "
     rf"(?:del |de ){_ALL_MY}?{_WHAT}", frozenset(), False),
    (r"\blet (?:my|our|the) (?P<what>[^.,;:!?\n]{1,40}?) (?:lapse|expire|run out)\b", _ACCOUNT, False),
    (r"\b(?:my|our|mi|nuestr[oa]) (?P<what>[^.,;:!?\n]{1,40}?) (?:has |have |ha |han |se ha |se )?"
     r"(?:healed|recovered|lapsed|expired|run out|ran out|curado|curo|recuperado|caducado|caduco|vencido|vencio)\b",
     frozenset(), False),
    (rf"\bse (?:me|nos) (?:han? )?(?:acabo|acabaron|acabado|termino|terminaron|terminado|caduco|caducado|vencio|"
     rf"vencido) "
     rf"{_ALL_MY}{_WHAT}",
     frozenset(), False),
    (rf"\bse (?:me|nos) (?:ha )?(?:rompio|roto|estropeo|estropeado|perdio|perdido) {_ALL_MY}{_WHAT}"
     r"(?=.{0,80}\bahora\b)",
     _OWNED, True),
    (r"\b(?P<what>\w+) (?:se fue|se ha ido|se marcho|left|has left)\b(?=[^.!?]{0,60}?\b(?:ahora|now)\b)",
     frozenset(), True),
    (r"\b(?:sale of|venta de(?:l)?) (?:the |my |our |la |mi |nuestr[oa] )?(?P<what>[^.,;:!?\n]{1,40}?) (?:went through|"
     r"closed|completed|is done|se cerro|se ha cerrado|se completo)\b", _OWNED, False),
    (r"\b(?:me|nos)(?: han| ha)? (?:subido|bajado|subieron|bajaron|subio|bajo|rebajado|aumentado) (?:el|la|los|las) "
     r"(?P<what>\w+(?: \w+)?)(?= a \d)", _PAID, True),
    (r"\b(?:raised|lowered|increased|cut|put up) (?:my|our|the) (?P<what>\w+(?: \w+)?)(?= to \d)", _PAID, True),
    (r"\b(?:postponed|delayed|pushed back|brought forward|put off|"
     r"(?:he|hemos) (?:aplazado|retrasado|adelantado|pospuesto)|aplace|retrase|adelante|pospuse) "
     r"(?:my|our|the|mi|nuestr[oa]|el|la) (?P<what>\w+(?: \w+){0,2}?)"
     r"(?= (?:to|until|till|a|al|hasta)\b)", frozenset(), True),
    (rf"\b(?:i|we) used to {_WHAT}", frozenset(), False),
    (r"\b(?:antes|solia) (?P<what>(?:viv|trabaj|oper|us|fum|estudi|invert|ten|conduc|me "
     r"gust)[^.,;:!?\n]{1,60})", frozenset(), False),
    (r"\b(?:instead of|rather than|en vez de|en lugar de) (?P<what>[^.,;:!?\n]{1,60}?)(?= (?:i|prefiero|"
     r"prefer|quiero|uso)\b|[.,;:!?\n]|$)",
     _set("prefer use like trade invest eat drink"), True),
    (rf"\b(?:changed my mind about|cambie de opinion sobre|cambie de idea sobre) {_WHAT}", _set("like prefer "
     "want"), False),
)  # fmt: skip
_COMPILED = [(re.compile(pattern), among, replaced) for pattern, among, replaced in _RULES]
_FROM_TO = re.compile(
    r"\b(?:moved|switched|changed|went|migrated|transferred|pase|pasamos|cambie|cambiamos|migre|mude|traspase|movi) "
    r"(?:over |everything |all |it all |todo |(?:my|our|mi|nuestr[oa]) \w+ )?(?:from|de|del) "
    r"(?P<what>[^.,;:!?\n]{1,60}?) (?:to|into|a|al|hacia) [^.,;:!?\n]{1,60}"
)
_SWITCHED_TO = re.compile(
    r"\b(?:switched|changed|moved over|migrated) to (?P<new>[a-z][^.,;:!?\n]{1,40})|"
    r"\b(?:me cambie|me pase|me he cambiado|me he pasado|migre) (?:a|al) (?P<nuevo>[^.,;:!?\n]{1,40})"
)
_OTHER_KIND = re.compile(
    r"\b(?:trading|stocks?|bonds?|etfs?|crypto|options?|futures|acciones|bonos|opciones|futuros|cripto)\b"
)
_WITHOUT_WORK = re.compile(
    r"\b(?:lost my job|got fired|was fired|been fired|got laid off|was laid off|am unemployed|retired last|am "
    r"retired now|"
    r"just retired|have retired|quit my job|left my job|(?:been|was|got|were) (?:let go|made redundant|laid "
    r"off)|laid me off|"
    r"me (?:han echado|echaron)|me despidieron|me han despedido|perdi mi (?:trabajo|empleo)|"
    r"me quede sin (?:trabajo|empleo)|estoy en (?:el )?paro|estoy desemplead[oa]|me jubile|ya me jubile|renuncie$)\b"
)
_GRADUATED = re.compile(
    r"\b(?:i|we)(?: have| just)* (?:graduated|finished (?:school|college|my degree|university|my studies))\b|"
    r"\b(?:me gradue|termine (?:la carrera|mis estudios|la universidad)|acabe la carrera)\b"
)
_BORN = re.compile(
    r"\b(?:baby|twins|son|daughter|boy|girl)\b.{0,20}\b(?:born|arrived|here|came)\b|\b(?:gave|has given) birth\b|"
    r"\bdado a luz\b|\bdio a luz\b|\b(?:nacio|ha nacido|nacieron|han nacido)\b.{0,20}\b(?:hij[oa]s?|bebe|"
    r"nin[oa]|gemel[oa]s)\b|"
    r"\b(?:hij[oa]s?|bebe|nin[oa]|gemel[oa]s)\b.{0,20}\b(?:nacio|ha nacido|nacieron|han nacido|llego)\b"
)
_ALONE = re.compile(
    r"\b(?:me (?:he ido|fui|mude|he mudado) a vivir sol[oa]|(?:ahora|ya) vivo sol[oa]|"
    r"(?:moved out|now live|live) (?:on my own|by myself|alone)(?: now)?|got my own (?:place|flat|apartment))\b"
)
_SHARING = content("comparto compartimos share shares sharing roommate roommates flatmate flatmates housemates")
_HOME_BOUGHT = re.compile(
    r"\b(?:i|we)(?: have| just| finally| recently)* bought (?:a|an|our|my) (?:\w+ )?(?:house|home|flat|apartment|"
    r"condo|place)\b|"
    r"\b(?:(?:me|nos) (?:he|hemos) comprado|(?:me|nos) (?:compre|compramos)|hemos comprado|compramos) "
    r"(?:una? |nuestr[oa] )?(?:casa|piso|apartamento|vivienda)\b"
)
_RENTING = content("rent renting alquiler alquilo alquilamos")
_PROMOTED = re.compile(
    r"\b(?:(?:was|been|got) promoted|(?:they |have )?(?:promoted|hired) me|me (?:han )?"
    r"(?:ascendido|ascendieron|promovieron|promovido|contratado como|contrataron como))\b"
)
_ROLES = content(
    "junior trainee intern apprentice assistant analyst engineer developer consultant manager supervisor clerk "
    "associate becario becaria aprendiz ayudante auxiliar analista ingeniero ingeniera programador programadora "
    "consultor consultora jefe jefa gerente encargado encargada administrativo administrativa tecnico tecnica"
)
_EXPECTING = content("pregnant expecting embarazada embarazados esperando esperamos espera")
_AND_NOW = re.compile(r"[^.!?;]*?(?:\b(?:and|but)\b|,) [^.!?;]*\b(?:now|instead|these days|nowadays)\b")
"""What comes instead, its subject left out: "I sold the Civic and drive a Rivian now"."""
_IS_SO_NO_LONGER = re.compile(r"(?:(?:am|are|is) )?no longer\b|(?:do|does|am|are|is) not\b|ya no\b")
_CONDITION = re.compile(r" (?:when|while|if|unless|cuando|mientras|si) (?P<rest>[^.,;:!?\n]{1,60})")
"""What is so no longer under it may be so without it: "I no longer run when it rains"."""
_SINCE = re.compile(
    r" (?:yesterday|today|recently|ayer|hoy|hace poco"
    rf"|(?:back |early |late )?(?:in|on|since|en|desde|el|la)(?: \w+){{0,2}}? (?:{'|'.join(MONTHS)}|(?:19|20)\d\d)"
    r"|(?:last|this|este|esta|el|la) (?:week|month|year|semana|mes|ano)(?: pasad[oa])?"
    r"|\w+(?: \w+)? (?:days?|weeks?|months?|years?) ago|hace \w+(?: \w+)? (?:dias?|semanas?|mes(?:es)?|anos?))\b.*$"
)
"""When it ended, which nobody had said of what has ended."""
_CLAUSE = re.compile(r" (?:and|but|because|since|so|y|pero|porque|ya que|desde|when|if|cuando|if) ")


def endings(text: str) -> list[StatementEnd]:
    """All that a sentence says is over."""
    return list(dict.fromkeys(_endings(plain(text))))


def ended_by(ending: StatementEnd, held: frozenset[str]) -> bool:
    """Whether the ending is about what a statement with these concepts says."""
    if held & _NEVER and not ending.what & _NEVER:
        return False
    return not ending.among or bool(held & ending.among)


def _endings(said: str) -> Iterator[StatementEnd]:
    for pattern, among, replaced in _COMPILED:
        for match in pattern.finditer(said):
            groups = match.groupdict()
            named = _CLAUSE.split(f"{(groups.get('be') or '') + groups['what']} ", maxsplit=1)[0]
            if not _IS_SO_NO_LONGER.match(match[0]):
                named = _SINCE.sub("", named)
            elif condition := _CONDITION.search(said, match.start("what")):
                named = f"{named} {condition['rest']}"
            what = content(named)
            if "account" in among and what - {"account"}:
                what -= {"account"}
            if what - {"be", "have"} and not what <= {"work"}:
                yield StatementEnd(what, among, replaced=replaced or bool(_AND_NOW.match(said, match.start("what"))))
    for match in _FROM_TO.finditer(said):
        if what := content(match["what"]):
            yield StatementEnd(what, replaced=True)
    if not _FROM_TO.search(said) and (match := _SWITCHED_TO.search(said)):
        to = match["new"] or match["nuevo"]
        if not _OTHER_KIND.search(to):
            yield StatementEnd(frozenset(), _set("broker bank"), sole=True, replaced=True)
    if _WITHOUT_WORK.search(said):
        yield StatementEnd(frozenset(), _WORK)
    if _BORN.search(said):
        yield StatementEnd(frozenset(), _EXPECTING, replaced=True, whoever=True)
    if _ALONE.search(said):
        yield StatementEnd(frozenset(), _SHARING, replaced=True)
    if _HOME_BOUGHT.search(said):
        yield StatementEnd(frozenset(), _RENTING, replaced=True)
    if _PROMOTED.search(said):
        yield StatementEnd(frozenset(), _ROLES, sole=True, replaced=True)
    if _GRADUATED.search(said):
        yield StatementEnd(frozenset(), _set("study"))
