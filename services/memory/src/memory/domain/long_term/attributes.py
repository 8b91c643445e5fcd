"""Attributes of which a person has one value at a time, and the values that a statement gives them.

"I live in Lima" and "me mudé a Bogotá" give one attribute two values. What restricts a statement (a season, a
weekday, "for crypto", "when we analyse earnings") is kept beside the value: under another restriction another value
may be just as true.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from contracts.calendar_names import MONTHS
from memory.domain.long_term.concepts import COUNTS, concept, content, plain
from memory.domain.long_term.endings import role_in
from memory.domain.long_term.frames import FRAMES, MY, NEW, OF_RELATIVES, ROLE, SET
from memory.domain.long_term.slots import CONDITION, LARGE, OCCASION, RESTRICTS, RISK, SLOT, where
from memory.domain.long_term.state_patterns import (
    A_DIET,
    DATING,
    DIET,
    EATS_MEAT,
    EMPLOYED,
    KINDS,
    MARITAL,
    SCHOOLS,
    SINGLE,
    UNEMPLOYED,
)
from memory.domain.mentions import mentioned
from memory.domain.recall.words import folded, words


@dataclass(frozen=True, slots=True)
class Value:
    """What one attribute is said to be. `where`: what restricts it; `changed`: the words say that it was another."""

    attribute: str
    is_: frozenset[str]
    where: frozenset[str] = frozenset()
    changed: bool = False


READ = 2_000
"""Characters of a statement that are looked at."""
_NOW = re.compile(
    r"\b(?:now|nowadays|these days|from now on|no longer|instead|lately|moved|relocated|switched|changed|mudad[oa]|"
    r"trasladad[oa]|new|ahora|a partir de|desde ahora|de ahora en adelante|ultimamente|mude|mudamos|mudar|mudado|"
    r"traslade|trasladamos|cambie|pase|me quedan?|only have|have only|animado (?:con|a)|come (?:a)?round|"
    r"warmed (?:up )?to|chang(?:ed|ing) my mind|cambiado de (?:idea|opinion)|nuev[oa]|actualmente|currently|got|just|"
    r"acabo de|started|empece|empezado|comence|joined|mejor|better|actually|en realidad|in fact|turned|became|become|"
    r"again|back (?:to|on|in)|vuelto a|volvi a|volver a|otra vez|de nuevo|ya (?:va|van|estudia|estudian)|me he vuelto|"
    r"me volvi|from here on|ascendido|promoted|hecho fij[oa]|al final|finally|in the end|por fin|on second thoughts?|"
    r"pensandolo mejor|decided|decidido|(?:they|have|has) (?:\w+ )?put (?:me|us)|me han (?:puesto|pasado)|ya puedes|"
    r"you can (?:now|start)|cumpli|me case|me divorcie|me separe|will be|is going to be|va a ser|pasa(?:ra)? a ser|"
    r"as of|starting (?:in|from|on|next)|from next|correction|i meant|meant to say|i was wrong|my mistake|scratch that|"
    r"i said|quise decir|me (?:he )?equivo(?:que|cado)|corrijo|correccion|rectifico|dije)\b"
)
_NOT_SO = re.compile(
    r"\b(?:not|never|nunca|no)\b(?!,| (?:only|solo)\b)|\b(?:no longer|ya no|stopped|quit|deje de|used to|antes|solia)\b"
)
_PARTS = re.compile(r", | (?=(?:and|but|who|which|y|pero|que) )")
_OF_ONESELF = re.compile(
    r"\b(?:i|we|my|our|mis?|he|hemos|nuestr[oa]|me|nos|viv\w+|resido|trabajo|estoy|tengo|tenemos|poseo|cumpl\w+|opero|"
    r"invierto|uso|conduzco|manejo|estudio|arriesg\w+|risk|vuelv\w+|ahorro|gano|cobro|pago|gasto|meto|aporto|soy|somos|"
    r"sigo|llevo|enviude|quede|empece|\d+|prefiero|prefer|mejor|better|siempre|always|ahora|now|gustan?|mas|more|be|"
    r"keep|rather|acabo|quiero|want|dame|let's|lets|hablemos|tratame|hablame|tuteame)\b"
)
_ADVERBS = re.compile(
    r"\b(?:now|nowadays|these days|from now on|currently|actually|lately|always|usually|only|also|just|recently|still|"
    r"already|finally|in the end|ahora|a partir de ahora|actualmente|ultimamente|siempre|normalmente|solo|ya|al final|"
    r"por fin) "
)
"""They say when or how often, and are left out before a statement is looked at."""
_ONLY_IF_CHANGED = frozenset(("occupation", "my goal", "diet", "broker", "car", "study", "shift", "workplace"))
"""Of these one may well have two, unless the words say that the one took the place of the other."""
_DWELLING = re.compile(r"^(?:an?|una?|my|mi|our|the|el|la) (?:\w+ ){1,3}?(?:in|en) ")
"""A flat in Leeds: Leeds is where it is."""
_NO_PLACE = re.compile(
    r"^(?:an?|una?|my|mi|mis|our|nuestr[oa]s?|el|la|los|las|some|another|otr[oa]|the(?! (?:us|usa|uk|u)\b))\b"
    r"|\b(?:trading|stocks?|bonds?|etfs?|crypto|options?|futures|acciones|bonos|opciones|futuros|cripto|cash|swing|"
    r"scalping|broker|account|cuenta|team|department)\b"
)
_SINGLE = frozenset(
    words(
        """
        address age bank birthday budget capital currency email employer exchange horizon income language level limit
        name nickname occupation plan platform profession risk weight height timezone zone apodo banco bolsa
        cumpleanos correo divisa idioma horizonte ingreso ingresos limite moneda nivel perfil plan plataforma
        presupuesto profesion riesgo zona strategy estrategia estilo style peso estatura
        """
    )
) | frozenset(("favourite", "broker", "goal", "salary", "rent", "phone", "address", "name", "boss", "city", "ciudad"))
_NAMED = "whoever is my"
"""Before what has a name, and may have another one beside it: only what changes takes its place."""
_STRIPPED = frozenset(words("new nuevo nueva current actual present ahora now number numero really"))
_JUDGED = frozenset(
    words(
        """
        very too so quite really muy tan bastante great good bad slow fast terrible awful amazing expensive cheap fine
        nice boring stressful bueno buena malo mala lento lenta rapido caro cara barato barata genial horrible pesimo
        broken down up wrong right working roto
        """
    )
)
_HAVE = re.compile(
    r"\b(?:have|own|hold|tengo|tenemos|poseo|had my|had our) (?:(?:my|our|solamente) )?(?P<count>\d+(?:[.,]\d+)?|"
    r"[a-z]+) (?P<rest>[^.,;:!?\n]{2,60})"
)
_NOT_COUNTED = frozenset(
    words(
        """
        meeting appointment exam flight call interview trip date doubt question order alert year old reunion cita
        examen vuelo llamada entrevista viaje duda pregunta orden alerta ano anos day dia note nota task tarea medico
        dentista
        """
    )
)
_FLOW = re.compile(
    r"\b(?:(?:i|we) (?:can )?(?:only )?)?(?P<verb>save|invest|earn|make|pay|spend|put|ahorro|invierto|gano|cobro|pago|"
    r"gasto|meto|aporto)\b(?P<rest>[^.,;:!?\n]{0,60}?\d[^.;:!?\n]{0,60})"
)
_PERIOD = re.compile(
    r"\b(?:a|per|each|every|al|por|cada|the) (?:day|week|month|year|dia|semana|mes|ano|hora|hour)\b|\b(?:monthly|"
    r"weekly|yearly|annually|daily|mensual(?:es)?|semanal(?:es)?|anual(?:es)?|rent|alquiler|renta)\b"
)
_OF_A_DATE = re.compile(r"\b(?:el dia|on the|the) \d{1,2}(?:st|nd|rd|th)?\b|\b\d{1,2}(?:st|nd|rd|th)\b")
_ARTICLES = frozenset(("a", "an", "un", "una", "uno"))
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_ALWAYS_ONE = frozenset(("length", "tone", "answers in", "profile"))
_PREFER = re.compile(
    r"\b(?:prefer|prefiero|aguant\w+|soport\w+|toler\w+|acept\w+|stomach|take|accept|"
    r"read|write|leo|escrib\w+|tengo|have|rather|mejor|better|now|ahora|always|siempre|like|gustan?|be|am|soy|keep|mas|more|want|quiero|dame|"
    r"give me|let us|let's|lets|hablemos|hablamos|speak|tratame|hablame|vuelto|volvi)\b"
)
_RATHER = re.compile(
    r"\b(?:prefer|prefiero|preferimos) (?P<first>[^.,;:!?\n]{2,40}?) (?:to|over|rather than|al?|antes que|mas que|que) "
    r"(?P<second>[^.,;:!?\n]{2,40})"
)
_RISK = re.compile(r"\b(?:risks?|riesgos?|perfil|profile)\b")
_DE_TU = re.compile(r"\b(?:tratame|tratarme|trates|hablame|hables|hablarme) de tu\b")
_LESS = re.compile(r"\b(?:sin|without|less|menos|fewer|tant[oa]s?|so (?:much|many)|too (?:much|many)|demasiad[oa]s?)\b")
_ANSWERS = frozenset(
    concept(word)
    for word in words(
        """
        answer answers response responses reply replies explanation explanations message messages respuesta respuestas
        explicacion explicaciones mensaje mensajes detail details detalle detalles keep make give prefer prefiero like
        rather it investor trader be hablar hables trates trato profile perfil risk riesgo language lenguaje idioma me
        better mejor dame da dar hazme dime quiero want please partir please respond responde contesta habla
        respondeme contestame hablame escribeme trata explain expliques explicas explicame point grano ve get go goes
        favor
        style estilo inversor inversora speak hablo hablemos hablamos let adelante invest investing invirtiendo
        inversiones trading tuteame tratame tratarme trata with you here conmigo vuelto
        volvi become became much report reports informe informes read write leo tolerance tolerancia have
        has got take handle bear accept tolerate appetite tomar asumir aceptar tolero aguanto aguantar soporto stomach
        tengo risks riesgos grown ones
        """
    )
)
_TOLD = content("answers responses replies explanations respuestas explicaciones explicame expliques")
"""Of how they should be, whatever else a sentence gives for a reason."""
_HOURS = frozenset(word for word, kind in OCCASION.items() if kind == "hour")
_SEASONS = frozenset(word for word, kind in OCCASION.items() if kind == "season")
_MOVED = re.compile(r"^(?:i|we) .{0,30}\b(?:moved|relocated)\b|^(?:me|nos) .{0,8}\b(?:mud|traslad|cambi)")
_CLAUSE = re.compile(r" (?:and|but|because|since|so|y|pero|porque|ya que|desde|para|when|if|cuando|si|as of|last) ")


def without_adverbs(said: str) -> str:
    """A plain text without what says when or how often it is so."""
    return _ADVERBS.sub("", f"{said} ").rstrip()


def says_change(said: str) -> bool:
    """Whether a plain text says that something is different from before."""
    return bool(_NOW.search(said))


def values(text: str) -> list[Value]:
    """What a sentence says that attributes are; nothing if it says what they are not."""
    said = plain(text)[:READ]
    if _NOT_SO.search(said):  # "I'm single, no kids": what is not so is one of several things
        said = ", ".join(part for part in _PARTS.split(said) if not _NOT_SO.search(part))
    if not _OF_ONESELF.search(said):
        return []
    changed = says_change(said)
    said = without_adverbs(said)
    found = list(_framed(said, changed))
    found += _of_mine(said, changed, text)
    found += _counted(said, changed)
    found += _states(said, changed)
    found += _flows(said, changed)
    found += _rather(said, changed)
    found += _slots(said, changed)
    return [one for one in dict.fromkeys(found) if one.is_]


def of_relative(who: str, said: str) -> list[Value]:
    """What a plain statement about a relative says of where they live, work or learn: of each one value at a time."""
    changed = says_change(said)
    schools = [stage for stage, pattern in SCHOOLS if pattern.search(said)][:1]
    found = [Value(f"schooling of {who}", frozenset(schools), frozenset(), changed)] if schools else []
    for what, pattern in OF_RELATIVES:
        if match := pattern.search(said):
            found.append(Value(f"{what} of {who}", _bare(match["value"]), frozenset(), changed))
    return found


def differ(new: Value, old: Value) -> bool:
    """Whether both are values of one attribute, under the same restrictions, and cannot both be true."""
    if new.attribute != old.attribute or new.is_ <= old.is_ or old.is_ <= new.is_:
        return False
    if (
        new.attribute in _ONLY_IF_CHANGED
        or new.attribute.startswith(("schooling of ", "home of ", "employer of ", _NAMED))
    ) and not new.changed:
        return False
    if new.attribute.startswith("prefer ") and not new.changed and new.attribute[7:] not in _ALWAYS_ONE:
        return False
    if _numeric(new.is_) != _numeric(old.is_):
        return False
    if new.attribute == "home" and not new.changed and bool(new.is_ & LARGE) != bool(old.is_ & LARGE):
        return False
    if new.where == old.where:
        return True
    return new.changed and not old.where and not new.where & RESTRICTS


def _framed(said: str, changed: bool) -> Iterator[Value]:
    for attribute, pattern in FRAMES:
        for match in pattern.finditer(said):
            text = _CLAUSE.split(f"{match['value'].strip()} ", maxsplit=1)[0]
            if attribute == "home":
                text = _DWELLING.sub("", text)
            if attribute in ("home", "employer") and _NO_PLACE.search(text.strip()):
                continue
            is_ = _numbers(text) if attribute in ("risk", "age", "my salary") else _bare(text)
            rest = said[: match.start("value")] + " " + said[match.start("value") + len(text) :]
            if attribute == "employer":
                rest = re.sub(r"\b(?:for|para)\s*$|\b(?:for|para)(?= {2})", " ", rest)
            occasion = where(f"{rest} {text}" if attribute != "study" else rest, changed)
            if _MOVED.search(match[0]):
                occasion -= _SEASONS  # of the move, as a month would be
            yield Value(attribute, is_ - occasion, occasion, changed)


def _of_mine(said: str, changed: bool, text: str) -> Iterator[Value]:
    symbols = {folded(name) for name in mentioned(text)}
    for match in (found for pattern in (MY, SET, NEW, ROLE) for found in pattern.finditer(said)):
        named_by = match["what"] or match["que"]
        what = [word.removesuffix("'s") for word in words(named_by.replace("'s", "")) if word not in _STRIPPED]
        named = frozenset(concept(word) for word in what)
        if not what and _NUMBER.search(match["value"]):
            named = frozenset(("phone",))  # "my new number"
        value = _CLAUSE.split(f"{match['value'].strip()} ", maxsplit=1)[0]
        first = words(value)[:1]
        single = bool(named & _SINGLE or _SINGLE & set(what))
        if (first and first[0] in _JUDGED) or not (single or _is_name(first, text)):
            continue
        restricting = frozenset(word for word in what if word in symbols)
        if "goal" in named and _numbers(value):
            restricting |= _bare(_NUMBER.sub(" ", value))  # by when, of this goal
        about = " ".join(sorted(content(" ".join(what)) | named | restricting))
        yield Value(
            f"{'my' if single else _NAMED} {about}",
            _numbers(value) or _bare(value),
            where(said[match.end() :], changed),
            changed,
        )


def _is_name(first: list[str], text: str) -> bool:
    """Whether a value begins with a name, as its text wrote it."""
    return bool(first) and bool(re.search(rf"\b{re.escape(first[0].capitalize())}\b", text))


def _counted(said: str, changed: bool) -> Iterator[Value]:
    for match in _HAVE.finditer(said):
        count = COUNTS.get(match["count"], match["count"])
        rest = re.sub(r"^(?:shares?|acciones|titulos|units?|unidades) (?:of|de|in) ", "", match["rest"])
        named = words(rest)
        if not _NUMBER.fullmatch(count) or not named or named[0] in _NOT_COUNTED or _has_not_counted(rest):
            continue
        more = content(" ".join(named[1:])) - {concept(named[0])}
        yield Value(f"how many {concept(named[0])}", frozenset((count,)), more, changed)


def _has_not_counted(rest: str) -> bool:
    return any(word in _NOT_COUNTED or word.removesuffix("s") in _NOT_COUNTED for word in words(rest)[:2])


def _states(said: str, changed: bool) -> Iterator[Value]:
    for state, pattern in MARITAL:
        if re.search(pattern, said) and not re.search(r"\b(?:not|no|never|nunca)\b", said):
            yield Value("marital status", frozenset((state,)), frozenset(), True)
    dating = DATING.search(said) and "dating"
    if alone := dating or (SINGLE.search(said) and "single"):  # who is divorced may have a girlfriend
        yield Value("relationship", frozenset((alone,)), frozenset(), True)
    if role := role_in(said.strip(" .!")):
        yield Value("occupation", role, where(said, changed), changed)
    if EMPLOYED.search(said):
        yield Value("employment", frozenset(("employed",)), frozenset(), True)
    if UNEMPLOYED.search(said):
        yield Value("employment", frozenset(("unemployed",)), frozenset(), True)
    for attribute, kind, pattern in KINDS:
        for match in pattern.finditer(said):
            yield Value(attribute, frozenset((kind,)), where(_clause(match), changed) - _HOURS, changed)
    for match in EATS_MEAT.finditer(said):
        yield Value("diet", frozenset(("meat",)), where(_clause(match), changed), True)
    for match in A_DIET.finditer(said):
        diet = concept(match["value"] or match["valor"])
        yield Value("diet", frozenset((diet,)), where(_clause(match), changed), changed)
    for match in DIET.finditer(said):
        yield Value("diet", frozenset((concept(match["value"]),)), where(_clause(match), changed), True)


def _clause(match: re.Match[str]) -> str:
    """What stands around a match, between commas."""
    said = match.string
    start = said.rfind(",", 0, match.start()) + 1
    end = said.find(",", match.end())
    return said[start : end if end >= 0 else len(said)]


def _flows(said: str, changed: bool) -> Iterator[Value]:
    bare = _OF_A_DATE.sub(" ", said)
    for match in _FLOW.finditer(bare):
        earns = match["verb"] in ("earn", "gano", "make")
        if not (_PERIOD.search(match[0]) or earns):
            continue
        verb = "earn" if earns or match["verb"] == "cobro" else match["verb"]
        about = content(f"{verb} {_NUMBER.sub(' ', match['rest'])}")
        yield Value(f"how much {' '.join(sorted(about))}", _numbers(match[0]), where(match["rest"], changed), changed)


def _rather(said: str, changed: bool) -> Iterator[Value]:
    """Which of two things is preferred."""
    for match in _RATHER.finditer(said):
        first, second = content(match["first"]), content(_CLAUSE.split(f"{match['second']} ", maxsplit=1)[0])
        if first and second:
            yield Value(f"rather {' '.join(sorted(first | second))}", first, frozenset(), changed)


def _slots(said: str, changed: bool) -> Iterator[Value]:
    if re.search(r"\b(?:not|no|ya no)\b", said):
        return
    prefers = changed or bool(_PREFER.search(said))
    before = _DE_TU.sub("tuteame", CONDITION.sub(" ", said))
    of_risk = bool(_RISK.search(before))
    slots: dict[str, set[str]] = {}
    for word in words(before):
        if slot := SLOT.get(word) or (RISK.get(word) if of_risk else None):
            slots.setdefault(slot[0], set()).add(slot[1])
    others = frozenset(content(" ".join(word for word in words(before) if word not in SLOT and word not in RISK)))
    for name, found in slots.items():
        if name == "length" and _LESS.search(before):
            continue
        of_answers = others <= _ANSWERS or (changed and bool(others & _TOLD) and name != "profile")
        if len(found) > 1 or not (of_answers if name in _ALWAYS_ONE else prefers):
            continue
        condition = " ".join(match["rest"] for match in CONDITION.finditer(said))
        yield Value(f"prefer {name}", frozenset(found), where(condition, changed) | content(condition), changed)


def _bare(text: str) -> frozenset[str]:
    return content(text).difference(MONTHS)


def _numbers(text: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(text)) | {
        COUNTS[word] for word in words(text) if word in COUNTS and word not in _ARTICLES
    }


def _numeric(is_: Iterable[str]) -> bool:
    return all(_NUMBER.fullmatch(one) for one in is_)
