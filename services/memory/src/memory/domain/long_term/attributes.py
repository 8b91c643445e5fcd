"""Attributes that have one value at a time, and the values that a statement gives them.

"I live in Lima" and "me mudé a Bogotá" give one attribute two values. What restricts a statement (a season, a
weekday, "for crypto", "when we analyse earnings") is kept beside the value: under another restriction, another
value may be just as true.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from contracts.calendar_names import MONTHS
from memory.domain.long_term.concepts import COUNTS, concept, concepts_of, normalize
from memory.domain.long_term.course import says_change
from memory.domain.long_term.endings import occupation_in
from memory.domain.long_term.frames import FRAMES, MY, NEW, OF_RELATIVES, ROLE, SET
from memory.domain.long_term.slots import (
    CONDITION,
    OCCASION,
    REGIONS,
    RESTRICTING_WORDS,
    RISK_SLOT_OF_WORD,
    SLOT_OF_WORD,
    restrictions_in,
)
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
from memory.domain.mentions import mentioned_symbols
from memory.domain.recall.words import folded, words


@dataclass(frozen=True, slots=True)
class Value:
    """The value that a statement gives to an attribute, as concepts. `where`: what restricts it; `changed`: the
    statement says that the value was another before."""

    attribute: str
    concepts: frozenset[str]
    restrictions: frozenset[str] = frozenset()
    changed: bool = False


MAX_STATEMENT_LENGTH = 2_000
"""Characters of a statement that are examined."""
_GROWN = re.compile(r"\b(?:already|ya|turned|turns|acaba de cumplir|cumpli[oó]|cumplido)\b")
"""Says that somebody's age is another than before."""
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
"""Words for when or how often; they are removed before a statement is examined."""
_ONLY_IF_CHANGED = frozenset(
    ("occupation", "my goal", "diet", "broker", "car", "study", "shift", "workplace", "hours", "commute")
)
"""Attributes that may have two values at a time, unless the statement says that one replaced the other."""
_DWELLING = re.compile(r"^(?:an?|una?|my|mi|our|the|el|la) (?:\w+ ){1,3}?(?:in|en) ")
"""The dwelling before a place: in "a flat in Leeds" the home is Leeds."""
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
_SOLE_PEOPLE = concepts_of("wife husband spouse mother father mom dad mujer marido esposa esposo madre padre")
_CALLED = re.compile(r"\b(?:called|named|name|llama)\b")
_NAME = re.compile(r"\b[A-ZÁÉÍÓÚÑ]\w*")
_NAMED_PREFIX = "whoever is my"
"""Prefix of attributes that a person may have several of, each with a name: only a stated change replaces one."""
_IGNORED_WORDS = frozenset(words("new nuevo nueva current actual present ahora now number numero really"))
_JUDGEMENTS = frozenset(
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
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_ALWAYS_ONE = frozenset(("length", "tone", "answers in", "profile"))
_PREFER = re.compile(
    r"\b(?:prefer|prefiero|aguant\w+|soport\w+|toler\w+|acept\w+|stomach|take|accept|"
    r"read|write|leo|escrib\w+|tengo|have|rather|mejor|better|now|ahora|always|siempre|like|gustan?|be|am|soy|keep|"
    r"mas|more|want|quiero|dame|"
    r"give me|let us|let's|lets|hablemos|hablamos|speak|tratame|hablame|vuelto|volvi)\b"
)
_RATHER = re.compile(
    r"\b(?:prefer|prefiero|preferimos) (?P<first>[^.,;:!?\n]{2,40}?) (?:to|over|rather than|al?|antes que|mas que|que) "
    r"(?P<second>[^.,;:!?\n]{2,40})"
)
_RISK = re.compile(r"\b(?:risks?|riesgos?|perfil|profile)\b")
_OWNS = re.compile(
    r"\b(?:have|own|hold|tengo|tenemos|poseo|bought|sold|compre|vendi) (?:\d|an?\b|my|some|una?\b|mis?\b)"
)
_LIKES = re.compile(r"\b(?:prefer|prefiero|like|love|gustan?|encantan?|rather|mejor|gusto)\b")
_LIKED_TOO = re.compile(r"\b(?:come (?:a)?round|warmed (?:up )?to)\b")
"""Something is liked as well; what was preferred may still be."""
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
_ANSWER_CONCEPTS = concepts_of("answers responses replies explanations respuestas explicaciones explicame expliques")
"""Concepts of answers: a sentence with one of them is about answers, whatever else it gives as a reason."""
_HOURS = frozenset(word for word, kind in OCCASION.items() if kind == "hour")
_SEASONS = frozenset(word for word, kind in OCCASION.items() if kind == "season")
_MOVED = re.compile(
    r"^\w+ (?:me|us)\b|^(?:i|we) .{0,30}\b(?:moved|relocated)\b|^(?:me|nos) .{0,8}\b(?:mud|traslad|cambi)"
)
_CLAUSE = re.compile(r" (?:and|but|because|since|so|y|pero|porque|ya que|desde|para|when|if|cuando|si|as of|last) ")


def without_adverbs(normalized: str) -> str:
    """Returns a normalized text without the words for when or how often."""
    return _ADVERBS.sub("", f"{normalized} ").rstrip()


def attribute_values(text: str) -> list[Value]:
    """Returns the values that a sentence gives to attributes; none if it says what they are not."""
    normalized = normalize(text)[:MAX_STATEMENT_LENGTH]
    if _NOT_SO.search(normalized):  # "I'm single, no kids": what is not so is one of several things
        normalized = ", ".join(part for part in _PARTS.split(normalized) if not _NOT_SO.search(part))
    if not _OF_ONESELF.search(normalized):
        return []
    changed = says_change(normalized)
    normalized = without_adverbs(normalized)
    extracted = list(_frame_values(normalized, changed))
    extracted += _possession_values(normalized, changed, text)
    extracted += _count_values(normalized, changed)
    extracted += _state_values(normalized, changed)
    extracted += _amount_values(normalized, changed)
    extracted += _comparison_values(normalized, changed)
    extracted += _slot_values(normalized, changed)
    return [value for value in dict.fromkeys(extracted) if value.concepts]


def relative_values(relative: str, normalized: str) -> list[Value]:
    """Returns where a relative lives, works or studies according to a normalized statement about them."""
    changed = says_change(normalized) or bool(_GROWN.search(normalized))
    schools = [stage for stage, pattern in SCHOOLS if pattern.search(normalized)][:1]
    extracted = [Value(f"schooling of {relative}", frozenset(schools), frozenset(), changed)] if schools else []
    for attribute, pattern in OF_RELATIVES:
        if match := pattern.search(normalized):
            concepts = _concepts_without_months(match["value"]) or frozenset(words(match["value"])[:1])  # with us
            extracted.append(Value(f"{attribute} of {relative}", concepts, frozenset(), changed))
    return extracted


def are_incompatible(new: Value, old: Value) -> bool:
    """Whether both are values of one attribute under the same restrictions, and cannot both be true."""
    if new.attribute != old.attribute or new.concepts <= old.concepts or old.concepts <= new.concepts:
        return False
    if (
        new.attribute in _ONLY_IF_CHANGED
        or new.attribute.startswith(("schooling of ", "age of ", "home of ", "employer of ", _NAMED_PREFIX))
    ) and not new.changed:
        return False
    if new.attribute.startswith("prefer ") and not new.changed and new.attribute[7:] not in _ALWAYS_ONE:
        return False
    if _are_numbers(new.concepts) != _are_numbers(old.concepts):
        return False
    if new.attribute == "home" and not new.changed and bool(new.concepts & REGIONS) != bool(old.concepts & REGIONS):
        return False
    if new.restrictions == old.restrictions:
        return True
    return new.changed and not old.restrictions and not new.restrictions & RESTRICTING_WORDS


def _frame_values(normalized: str, changed: bool) -> Iterator[Value]:
    for attribute, pattern in FRAMES:
        for match in pattern.finditer(normalized):
            text = _CLAUSE.split(f"{match['value'].strip()} ", maxsplit=1)[0]
            if attribute == "home":
                text = _DWELLING.sub("", text)
            if attribute in ("home", "employer") and _NO_PLACE.search(text.strip()):
                continue
            concepts = (
                _numbers(text)
                if attribute in ("risk", "age", "my salary", "payday")
                else _concepts_without_months(text)
            )
            rest = normalized[: match.start("value")] + " " + normalized[match.start("value") + len(text) :]
            if attribute == "employer":
                rest = re.sub(r"\b(?:for|para)\s*$|\b(?:for|para)(?= {2})", " ", rest)
            restrictions = restrictions_in(f"{rest} {text}" if attribute != "study" else rest, changed)
            if _MOVED.search(match[0]):
                restrictions -= _SEASONS  # of the move, as a month would be
            yield Value(attribute, concepts - restrictions, restrictions, changed)


def _possession_values(normalized: str, changed: bool, text: str) -> Iterator[Value]:
    symbols = {folded(name) for name in mentioned_symbols(text)}
    for match in (found for pattern in (MY, SET, NEW, ROLE) for found in pattern.finditer(normalized)):
        noun = (match["what"] or match["que"]).partition(" at ")[0]
        name_words = [word.removesuffix("'s") for word in words(noun.replace("'s", "")) if word not in _IGNORED_WORDS]
        name_concepts = frozenset(concept(word) for word in name_words)
        if not name_words and _NUMBER.search(match["value"]):
            name_concepts = frozenset(("phone",))  # "my new number"
        value = _CLAUSE.split(f"{match['value'].strip()} ", maxsplit=1)[0]
        first = words(value)[:1]
        single = bool(name_concepts & _SINGLE or _SINGLE & set(name_words))
        if (first and first[0] in _JUDGEMENTS) or not (single or _is_name(first, text)):
            continue
        single = single or bool(_SOLE_PEOPLE & name_concepts and _CALLED.search(match[0]))
        restricting = frozenset(word for word in name_words if word in symbols)
        if "goal" in name_concepts and _numbers(value):
            restricting |= _concepts_without_months(_NUMBER.sub(" ", value))  # by when, of this goal
        about = " ".join(sorted(concepts_of(" ".join(name_words)) | name_concepts | restricting))
        yield Value(
            f"{'my' if single else _NAMED_PREFIX} {about}",
            _numbers(value) or _concepts_without_months(value),
            restrictions_in(normalized[match.end() :], changed),
            changed,
        )


def _is_name(first: list[str], text: str) -> bool:
    """Whether a value begins with a name, judging by its capital letter in the original text."""
    return bool(first) and first[0] in map(folded, _NAME.findall(text))


def _count_values(normalized: str, changed: bool) -> Iterator[Value]:
    for match in _HAVE.finditer(normalized):
        count = COUNTS.get(match["count"], match["count"])
        rest = re.sub(r"^(?:shares?|acciones|titulos|units?|unidades) (?:of|de|in) ", "", match["rest"])
        noun = words(rest)
        if not _NUMBER.fullmatch(count) or not noun or noun[0] in _NOT_COUNTED or _has_not_counted(rest):
            continue
        details = concepts_of(" ".join(noun[1:])) - {concept(noun[0])}
        yield Value(f"how many {concept(noun[0])}", frozenset((count,)), details, changed)


def _has_not_counted(rest: str) -> bool:
    return any(word in _NOT_COUNTED or word.removesuffix("s") in _NOT_COUNTED for word in words(rest)[:2])


def _state_values(normalized: str, changed: bool) -> Iterator[Value]:
    for state, pattern in MARITAL:
        if re.search(pattern, normalized) and not re.search(r"\b(?:not|no|never|nunca)\b", normalized):
            yield Value("marital status", frozenset((state,)), frozenset(), True)
    dating = DATING.search(normalized) and "dating"
    if relationship := dating or (SINGLE.search(normalized) and "single"):  # who is divorced may have a girlfriend
        yield Value("relationship", frozenset((relationship,)), frozenset(), True)
    if role := occupation_in(normalized.strip(" .!")):
        yield Value("occupation", role, restrictions_in(normalized, changed), changed)
    for state, employment in (("employed", EMPLOYED), ("unemployed", UNEMPLOYED)):
        if employment.search(normalized):
            yield Value("employment", frozenset((state,)), frozenset(), True)
    for attribute, kind, pattern in KINDS:
        for match in pattern.finditer(normalized):
            yield Value(
                attribute, frozenset((kind,)), restrictions_in(_surrounding_clause(match), changed) - _HOURS, changed
            )
    for pattern, is_change in ((EATS_MEAT, True), (A_DIET, changed), (DIET, True)):
        for match in pattern.finditer(normalized):
            diet = concept(match[match.lastgroup]) if match.lastgroup else "meat"
            yield Value("diet", frozenset((diet,)), restrictions_in(_surrounding_clause(match), changed), is_change)


def _surrounding_clause(match: re.Match[str]) -> str:
    """Returns the text around a match, from comma to comma."""
    normalized = match.string
    start = normalized.rfind(",", 0, match.start()) + 1
    end = normalized.find(",", match.end())
    return normalized[start : end if end >= 0 else len(normalized)]


def _amount_values(normalized: str, changed: bool) -> Iterator[Value]:
    for match in _FLOW.finditer(normalized):
        earns = match["verb"] in ("earn", "gano", "make")
        if not (_PERIOD.search(match[0]) or earns):
            continue
        verb = "earn" if earns or match["verb"] == "cobro" else match["verb"]
        topic = concepts_of(f"{verb} {_NUMBER.sub(' ', match['rest'])}")
        yield Value(
            f"how much {' '.join(sorted(topic))}", _numbers(match[0]), restrictions_in(match["rest"], changed), changed
        )


def _comparison_values(normalized: str, changed: bool) -> Iterator[Value]:
    """Which of two things is preferred to the other."""
    for match in _RATHER.finditer(normalized):
        first, second = concepts_of(match["first"]), concepts_of(_CLAUSE.split(f"{match['second']} ", maxsplit=1)[0])
        if first and second:
            yield Value(f"rather {' '.join(sorted(first | second))}", first, frozenset(), changed)


def _slot_values(normalized: str, changed: bool) -> Iterator[Value]:
    if re.search(r"\b(?:not|no|ya no)\b", normalized):
        return
    is_preference = changed or bool(_PREFER.search(normalized))
    unconditional = _DE_TU.sub("tuteame", CONDITION.sub(" ", normalized))
    is_about_risk = bool(_RISK.search(unconditional))
    slots: dict[str, set[str]] = {}
    for word in words(unconditional):
        if slot := SLOT_OF_WORD.get(word) or (RISK_SLOT_OF_WORD.get(word) if is_about_risk else None):
            slots.setdefault(slot[0], set()).add(slot[1])
    unlisted = [word for word in words(unconditional) if word not in SLOT_OF_WORD and word not in RISK_SLOT_OF_WORD]
    others = concepts_of(" ".join(unlisted))
    owns_only = bool(_OWNS.search(unconditional)) and not _LIKES.search(unconditional)
    for name, values in slots.items():
        if owns_only and name not in _ALWAYS_ONE:
            continue
        if (name == "length" and _LESS.search(unconditional)) or (
            name not in _ALWAYS_ONE and _LIKED_TOO.search(normalized)
        ):
            continue
        is_about_answers = others <= _ANSWERS or (changed and bool(others & _ANSWER_CONCEPTS) and name != "profile")
        if len(values) > 1 or not (is_about_answers if name in _ALWAYS_ONE else is_preference):
            continue
        condition = " ".join(match["rest"] for match in CONDITION.finditer(normalized))
        yield Value(
            f"prefer {name}", frozenset(values), restrictions_in(condition, changed) | concepts_of(condition), changed
        )


def _concepts_without_months(text: str) -> frozenset[str]:
    return concepts_of(text).difference(MONTHS)


def _numbers(text: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(text)) | {
        COUNTS[word] for word in words(text) if word in COUNTS and word not in ("a", "an", "un", "una", "uno")
    }


def _are_numbers(concepts: Iterable[str]) -> bool:
    return all(_NUMBER.fullmatch(number) for number in concepts)
