"""What users say about themselves: name, risk profile, experience, language, time zone. In Spanish and English.

Only explicit statements count: no questions, and nothing inferred from how they trade. A later statement replaces an
earlier one, which stays as history with its dates; "I'm no longer a beginner" ends it.
"""

import re
from dataclasses import replace
from datetime import datetime

from contracts.memory_rpc import Superseded
from contracts.zones import is_zone
from memory.domain.long_term.speech import own_speech, statements
from memory.domain.remembered import Remembered

FIELDS = {
    "name": "name",
    "risk_profile": "riskProfile",
    "experience": "experience",
    "language": "language",
    "timezone": "timezone",
}
"""Wire name by attribute."""

# The only capturing groups are those of a "not" before the phrase.
_I_AM = (
    r"(?:\bI(?:'m| am)(?: now)?( no longer| not| never)?|\bI(?:'ve| have)? (?:become|became|turned)|"
    r"(?:(n't|\bnot|\bnever|\bhardly|\bno longer) |\b)(?:call|consider) (?:me|myself)|\bme (?:he vuelto|volv[ií])|"
    r"\b(?:put me down as|treat me as|ponme (?:como|en))|"
    r"(?:\b(ya no|no|nunca) )?\b(?:soy|me considero|me trates como))\s+(?:(?:an?|una?|very|quite|rather|fairly|pretty|"
    r"total|complete|more|much more|a bit more|a lot more|far more|still|now|muy|bastante|m[aá]s bien|m[aá]s|tan|so|"
    r"that|mucho m[aá]s|un poco m[aá]s|ahora|totalmente|de nivel) )*(?:(?:investor|trader|inversora?|operadora?|"
    r"persona) )?"
)
_RISK_IS = (
    r"\b(?:risk (?:profile|tolerance) is|perfil(?: de riesgo| de inversi[oó]n)? es|toler(?:o|ancia al riesgo es)) "
)
_LEVEL_IS = r"\b(?:level is|experience is|nivel(?: de experiencia)? es|experiencia es) "
_ADDRESS_ME = (
    r"\b(?:(?:answer|reply|respond|write|speak|talk)(?: to)?(?: me)?(?: always)? in|(?:responde|contesta|escribe|"
    r"h[aá]blame|resp[oó]ndeme|cont[eé]stame|escr[ií]beme)(?: siempre)? en|I(?:'d)? prefer|prefiero(?: el)?) "
)
_YEARS = r"(?:over |more than |m[aá]s de )?(?:[5-9]|[1-9]\d)"
_INVESTOR_CONTEXT = (
    r"(?=\W*$|\s*[,.;:!?)]|\s+(?:and|but|so|or|y|e|o|pero|now|when|who|that|with|since|here|still|because|as|by|myself|level"
    r"|any ?more|any longer|ahora|cuando|que|todav[ií]a|a[uú]n|porque|como|con|trad\w*|invest\w*|inver\w*|oper\w*)\b"
    r"|\s+(?:in|at|to|on|en)\s+(?:(?:the|la|el|los|las|my|mis)\s+)?(?:this|it|esto|trad|invest|inver|stock|market|option"
    r"|crypto|forex|fund|futur|etf|financ|bolsa|mercado|accion|opcion|cripto|fondo|divisa))"
)
"""Context in which experience is that of an investor: not "an expert in cooking" or "an expert nurse"."""
_PHRASES = {
    ("risk_profile", "conservative"): (
        _I_AM + r"(?:conservative|conservadora?|risk[- ]averse|advers[oa] al riesgo|prudente?|cautious|caut[oa]|"
        r"cautelos[oa]|careful investor)",
        _RISK_IS + r"(?:conservative|conservador|low|baj[oa])",
        r"\b(?:low risk tolerance|(?:baja|poca) tolerancia al riesgo)",
        r"\bI (?:don't|do not|never) (?:like|want|take)(?: to take)?(?: big| high)? risks?",
        r"\bno (?:me gusta|quiero)(?: correr| tomar| asumir)?(?: el| muchos?| grandes)? riesgos?",
    ),
    ("risk_profile", "moderate"): (
        _I_AM + r"(?:moderate|moderad[oa]|balanced|equilibrad[oa])",
        _RISK_IS + r"(?:moderate|moderad[oa]|medium|medi[oa])",
        r"\b(?:(?:medium|moderate) risk tolerance|tolerancia (?:media|moderada) al riesgo)",
    ),
    ("risk_profile", "aggressive"): (
        _I_AM + r"(?:aggressive|agresiv[oa]|arriesgad[oa]|atrevid[oa]|daring|bold)",
        _RISK_IS + r"(?:aggressive|agresivo|high|alt[oa]|much[oa])",
        r"\b(?:high risk tolerance|(?:alta|mucha) tolerancia al riesgo)",
        r"\bI (?:can|like to|want to) (?:take|handle|bear|accept|tolerate|stomach) "
        r"(?:an? )?(?:lots? of |lot more |big |high |much )?(?:more |higher )?risks?",
        r"\bI(?:'m| am| feel) (?:\w+ )?(?:fine|ok|okay|comfortable|happy|willing|ready|prepared) "
        r"(?:with|taking|to take|to accept) (?:\w+ ){0,2}?(?:more|higher|big) risks?",
        r"\b(?:me siento (?:m[aá]s )?c[oó]mod[oa]|estoy (?:m[aá]s )?(?:dispuest[oa]|preparad[oa])) "
        r"(?:con|a|para|asumi\w+|corr\w+) (?:\w+ ){0,2}?(?:m[aá]s|muchos?|grandes) riesgos?",
        r"\b(?:(?:puedo|quiero) (?:asumir|tolerar|aceptar|aguantar|soportar)|asumo|tolero|acepto|aguanto|soporto|"
        r"corro) (?:muchos? m[aá]s |muchos? |grandes |m[aá]s )riesgos?",
    ),
    ("experience", "beginner"): (
        _I_AM + r"(?:beginner|newbie|novice|rookie|principiante|novat[oa])" + _INVESTOR_CONTEXT,
        _I_AM + r"(?:new to (?:trading|investing|stocks|this|the markets?))",
        _I_AM + r"(?:nuev[oa] en (?:esto|el trading|la bolsa|las? inversi\w+))",
        r"\bI(?:'ve| have)? just (?:started|begun)(?: to)? (?:trad|invest)\w*",
        r"\b(?:estoy empezando|acabo de empezar)(?: a invertir| a operar| en (?:esto|la bolsa|bolsa|el trading))",
        _LEVEL_IS + r"(?:beginner|basic|principiante|b[aá]sic[oa])",
    ),
    ("experience", "intermediate"): (
        _I_AM + r"(?:intermediate|intermedi[oa])" + _INVESTOR_CONTEXT,
        _LEVEL_IS + r"(?:intermediate|intermedi[oa])",
    ),
    ("experience", "advanced"): (
        _I_AM + r"(?:advanced|experienced|expert|professional|seasoned)" + _INVESTOR_CONTEXT,
        _I_AM
        + r"(?:avanzad[oa]|expert[oa]|experimentad[oa]|profesional|con (?:mucha )?experiencia)"
        + _INVESTOR_CONTEXT,
        _LEVEL_IS + r"(?:advanced|avanzad[oa])",
        rf"\bI(?:'ve| have) been (?:trading|investing) for {_YEARS} years",
        rf"\bllevo {_YEARS} años (?:invirtiendo|operando|en (?:la )?bolsa|en esto|en el trading)",
    ),
    ("language", "en"): (_ADDRESS_ME + r"(?:english|ingl[eé]s)",),
    ("language", "es"): (_ADDRESS_ME + r"(?:spanish|español|castellano)",),
}
_PHRASE_PATTERNS = tuple(
    (field, value, re.compile(rf"(?:{words})(?!\w)", re.I))
    for (field, value), ways in _PHRASES.items()
    for words in ways
)
_OF_A_PART = re.compile(
    r"\b(?:in|with|for|on|en|con|para) (?:[\w']+ ){0,3}?(?:accounts?|cuentas?|ira|isa|401k|pensi[oó]n|funds?|fondos?|"
    r"retirement|jubilaci[oó]n|(?:personal|kids'?|family) (?:portfolio|savings)|cartera (?:personal|familiar)|"
    r"(?:portfolio|savings|cartera|ahorros) (?:for|de|del|para) \w+)\b",
    re.I,
)
"""Restricts a statement to a part of somebody's money: "conservative in my IRA"."""
_OF_THE_WHOLE = ("risk_profile", "experience")
"""Fields for which nothing counts that is said of a part alone."""
_A_NAME = r"([A-ZÁÉÍÓÚÑÜ][\w'’-]{0,30}(?:\s+(?:(?:de|del|la|las|los|van|von)\s+)*[A-ZÁÉÍÓÚÑÜ][\w'’-]{0,30}){0,3})"
_NAME = re.compile(
    rf"\b(?i:my name(?:'s| is)|call(?:ing)? me|me llamo|mi nombre es|ll[aá]mame|llames|(?:everyone|everybody|people|"
    rf"friends) "
    rf"calls? me|i go by|i'm going by|todos me llaman)\s+{_A_NAME}"
)
_NO_NAME = (
    r"(?!(?:back|later|tomorrow|tonight|now|today|soon|again|anytime|whenever|when|if|at|on|in|by|not|so|too|also|"
    r"the|an?|"
    r"it|that|this|your|sir|madam|whatever|anything|something|names?|maybe|please|crazy|lazy|silly|picky|greedy|dumb|"
    r"weird|strange|stupid|naive|old|mad|nuts|bad|good|right|wrong|spelled|misspelled|manana|mañana|luego|ahora|hoy|ya|"
    r"cuando|si|no|por|as[ií]|igual|como|tarde|pronto|loc[oa]|raro|rara|tonto|tonta|antes|despu[eé]s|solo|al|el|la|lo|"
    r"tambi[eé]n)\b)"
)
"""Words that may occur in place of a name: "call me back", "my name is misspelled"."""
_NO_JUDGEMENT = r"(?!\w{4,}(?:al|ed|ic|ous|ish|ive|ful|less|able|ible|oso|osa|ivo|iva)\b)"
"""Excludes judgements of oneself: "call me sceptical"."""
_LOWER_CASE_NAME = re.compile(
    r"\W*(?:(?:hi|hello|hey|ok|okay|actually|just|please|you can|by the way|btw|and|so|well|hola|oye|mejor|por favor|"
    r"puedes|pues|bueno|y)\W+)*(?:(?:my name(?:'s| is)|i go by|me llamo|mi nombre es)\s+|"
    rf"(?:call me|ll[aá]mame|llamarme)\s+{_NO_JUDGEMENT}){_NO_NAME}([^\W\d_]{{2,30}})"
    r"(?:\W+(?:please|from now on|instead|thanks|thank you|ok|por favor|porfa|mejor|gracias|(?:a partir|desde) "
    r"(?:de )?ahora))*\W*",
    re.I,
)
"""A whole sentence that says a name, also in lower case."""
_OTHER_NAME = re.compile(
    rf"\b(?i:(?:don'?t|do not|never|stop) call(?:ing)? me|no me llames|(?:my name is|i am|i'm) not|no me "
    rf"llamo)\s+{_A_NAME}"
    r"(?i:[,;.:]?\s*(?:but|it'?s|it is|just|use|call me|i prefer|i go by|rather|pero|sino|mejor|prefiero|soy|es|usa|"
    rf"ll[aá]mame|me llamo)\s+){_A_NAME}"
)
"""A correction of a name: "not Robert, it's Bobby"."""
_DENIED = re.compile(r"\b(?:don'?t|do not|never|not|no|nunca|stop|no me|nunca me)\s+$", re.I)
_AND_I_AM = re.compile(
    r"\b(?P<am>I'm|I am|soy) (?P<one>[^\s,.;]+(?: [^\s,.;]+){0,2}?),? (?:and|but|y|e|pero) "
    r"(?=(?:an? |una? |muy |very |quite |bastante )*[^\s,.;]+(?:\s*[,.;!]|$| y | and ))",
    re.I,
)
"""One verb for two words: "soy conservador y principiante"."""
_ZONE = re.compile(
    r"\b(?:my time ?zone is|mi (?:zona horaria|huso horario) es)\s+(?:the\s+|la\s+)?"
    r"([A-Za-z]+(?:/[A-Za-z_+-]+[0-9]*){1,2}|UTC)",
    re.I,
)


def with_profile(state: Remembered, text: str, now: datetime) -> Remembered:
    """Returns the state with what the text says about its writer; the same object if it says nothing new."""
    for sentence in statements(text):
        for field, value, is_so in _profile_statements(own_speech(sentence)):
            current = getattr(state.memory, field)
            if is_so and current != value:
                state = with_field(state, field, value, now)
            elif not is_so and current == value:
                state = with_field(state, field, None, now)
    return state


def with_field(state: Remembered, field: str, value: str | None, now: datetime) -> Remembered:
    """Returns the state with another value of a field (None: none); the previous value becomes history."""
    old: str | None = getattr(state.memory, field)
    name = FIELDS[field]
    if old is not None:
        state = state.with_past(Superseded(field=name, value=old, since=state.set_since.get(name), until=now, by=value))
    since = {other: date for other, date in state.set_since.items() if other != name}
    if value is not None:
        since[name] = now
    return replace(state.with_fields(now, **{field: value}), set_since=since)


def states_other(text: str, field: str, value: str | None) -> bool:
    """Whether a text states another value of a field than this one, and not this one too."""
    statements_of_text = _profile_statements(own_speech(text))
    values = {stated_value for name, stated_value, is_so in statements_of_text if name == field and is_so}
    return bool(values) and value not in values


def without_profile(text: str) -> str:
    """Returns a text without what it says that is kept in fields of their own."""
    remaining = _expanded(text)
    if _OF_A_PART.search(text):
        return remaining
    if _LOWER_CASE_NAME.fullmatch(remaining):
        return " "
    for pattern in (*(pattern for _, _, pattern in _PHRASE_PATTERNS), _NAME, _ZONE):
        remaining = pattern.sub(" ", remaining)
    return remaining


def _expanded(sentence: str) -> str:
    return _AND_I_AM.sub(lambda match: f"{match['am']} {match['one']}, {match['am']} ", sentence)


def _profile_statements(sentence: str) -> list[tuple[str, str, bool]]:
    """Returns field, value and whether it is so (False: it is so no longer), in the order of the sentence."""
    findings: list[tuple[int, str, str, bool]] = []
    sentence = _expanded(sentence)
    is_of_a_part = bool(_OF_A_PART.search(sentence))
    for field, value, pattern in _PHRASE_PATTERNS:
        if is_of_a_part and field in _OF_THE_WHOLE:
            continue
        findings += [(match.start(), field, value, not any(match.groups())) for match in pattern.finditer(sentence)]
    for match in _NAME.finditer(sentence):
        findings.append((match.start(), "name", match[1], not _DENIED.search(sentence[: match.start()])))
    if not any(finding[1] == "name" for finding in findings) and (small := _LOWER_CASE_NAME.fullmatch(sentence)):
        findings.append((small.start(1), "name", small[1].capitalize(), True))
    findings += [(match.start(2), "name", match[2], True) for match in _OTHER_NAME.finditer(sentence)]
    findings += [(match.start(), "timezone", match[1], True) for match in _ZONE.finditer(sentence) if is_zone(match[1])]
    return [finding[1:] for finding in sorted(findings)]
