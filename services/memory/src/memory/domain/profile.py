"""What users say of themselves: name, risk profile, experience, language, time zone. Spanish and English.

Only what is said outright counts: no question, and nothing that is drawn from how they trade. What is said later takes
the place of what was said before, which stays as history with its dates; "I'm no longer a beginner" ends it.
"""

import re
from dataclasses import replace
from datetime import datetime

from contracts.memory_rpc import Superseded
from contracts.zones import is_zone
from memory.domain.long_term.speech import own_speech, statements
from memory.domain.remembered import Remembered, with_superseded

FIELDS = {
    "name": "name",
    "risk_profile": "riskProfile",
    "experience": "experience",
    "language": "language",
    "timezone": "timezone",
}
"""Attribute and name on the wire."""

# The only groups that capture are those of a "not" before what is said.
_I_AM = (
    r"(?:\bI(?:'m| am)(?: now)?( no longer| not| never)?|\bI(?:'ve| have)? (?:become|became|turned)|\b(?:call|"
    r"consider) (?:me|myself)|\bme (?:he vuelto|volv[ií])|\b(?:put me down as|treat me as|ponme (?:como|en))|"
    r"(?:\b(ya no|no|nunca) )?\b(?:soy|me considero|me trates como))\s+(?:(?:an?|una?|very|quite|rather|fairly|pretty|"
    r"total|complete|more|much more|a bit more|a lot more|far more|still|now|muy|bastante|m[aá]s bien|m[aá]s|tan|so|"
    r"that|mucho m[aá]s|un poco m[aá]s|ahora|totalmente|de nivel) )*(?:(?:investor|trader|inversora?|operadora?|"
    r"persona) )?"
)
_RISK_IS = (
    r"\b(?:risk (?:profile|tolerance) is|perfil(?: de riesgo| de inversi[oó]n)? es|toler(?:o|ancia al riesgo es)) "
)
_LEVEL_IS = r"\b(?:level is|experience is|nivel(?: de experiencia)? es|experiencia es) "
_TELL = (
    r"\b(?:(?:answer|reply|respond|write|speak|talk)(?: to)?(?: me)?(?: always)? in|(?:responde|contesta|escribe|"
    r"h[aá]blame|resp[oó]ndeme|cont[eé]stame|escr[ií]beme)(?: siempre)? en|I(?:'d)? prefer|prefiero(?: el)?) "
)
_YEARS = r"(?:over |more than |m[aá]s de )?(?:[5-9]|[1-9]\d)"
_HERE = (
    r"(?=\W*$|\s*[,.;:!?)]|\s+(?:and|but|so|or|y|e|o|pero|now|when|who|that|with|since|here|still|because|as|by|myself|level"
    r"|ahora|cuando|que|todav[ií]a|a[uú]n|porque|como|con|trad\w*|invest\w*|inver\w*|oper\w*)\b"
    r"|\s+(?:in|at|to|on|en)\s+(?:(?:the|la|el|los|las|my|mis)\s+)?(?:this|it|esto|trad|invest|inver|stock|market|option"
    r"|crypto|forex|fund|futur|etf|financ|bolsa|mercado|accion|opcion|cripto|fondo|divisa))"
)
"""An expert, but not in cooking, and no expert nurse: experience is that of an investor."""
_SAYINGS = {
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
        r"\bI(?:'m| am) (?:\w+ )?(?:fine|ok|okay|comfortable|happy) (?:with|taking) "
        r"(?:\w+ ){0,2}?(?:more|higher|big) risks?",
        r"\b(?:(?:puedo|quiero) (?:asumir|tolerar|aceptar|aguantar|soportar)|asumo|tolero|acepto|aguanto|soporto|"
        r"corro) (?:muchos? m[aá]s |muchos? |grandes |m[aá]s )riesgos?",
    ),
    ("experience", "beginner"): (
        _I_AM + r"(?:beginner|newbie|novice|rookie|principiante|novat[oa])" + _HERE,
        _I_AM + r"(?:new to (?:trading|investing|stocks|this|the markets?))",
        _I_AM + r"(?:nuev[oa] en (?:esto|el trading|la bolsa|las? inversi\w+))",
        r"\bI(?:'ve| have)? just (?:started|begun)(?: to)? (?:trad|invest)\w*",
        r"\b(?:estoy empezando|acabo de empezar)(?: a invertir| a operar| en (?:esto|la bolsa|bolsa|el trading))",
        _LEVEL_IS + r"(?:beginner|basic|principiante|b[aá]sic[oa])",
    ),
    ("experience", "intermediate"): (
        _I_AM + r"(?:intermediate|intermedi[oa])" + _HERE,
        _LEVEL_IS + r"(?:intermediate|intermedi[oa])",
    ),
    ("experience", "advanced"): (
        _I_AM + r"(?:advanced|experienced|expert|professional|seasoned)" + _HERE,
        _I_AM + r"(?:avanzad[oa]|expert[oa]|experimentad[oa]|profesional|con (?:mucha )?experiencia)" + _HERE,
        _LEVEL_IS + r"(?:advanced|avanzad[oa])",
        rf"\bI(?:'ve| have) been (?:trading|investing) for {_YEARS} years",
        rf"\bllevo {_YEARS} años (?:invirtiendo|operando|en (?:la )?bolsa|en esto|en el trading)",
    ),
    ("language", "en"): (_TELL + r"(?:english|ingl[eé]s)",),
    ("language", "es"): (_TELL + r"(?:spanish|español|castellano)",),
}
_FIXED = tuple(
    (field, value, re.compile(rf"(?:{words})(?!\w)", re.I))
    for (field, value), ways in _SAYINGS.items()
    for words in ways
)
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
"""What may stand where a name does: "call me back", "my name is misspelled"."""
_NO_JUDGEMENT = r"(?!\w{4,}(?:al|ed|ic|ous|ish|ive|ful|less|able|ible|oso|osa|ivo|iva)\b)"
"""Of oneself: "call me sceptical"."""
_SMALL_NAME = re.compile(
    r"\W*(?:(?:hi|hello|hey|ok|okay|actually|just|please|you can|by the way|btw|and|so|well|hola|oye|mejor|por favor|"
    r"puedes|pues|bueno|y)\W+)*(?:(?:my name(?:'s| is)|i go by|me llamo|mi nombre es)\s+|"
    rf"(?:call me|ll[aá]mame|llamarme)\s+{_NO_JUDGEMENT}){_NO_NAME}([^\W\d_]{{2,30}})"
    r"(?:\W+(?:please|from now on|instead|thanks|thank you|ok|por favor|porfa|mejor|gracias|(?:a partir|desde) "
    r"(?:de )?ahora))*\W*",
    re.I,
)
"""A whole sentence that says a name, in small letters too."""
_OTHER_NAME = re.compile(
    rf"\b(?i:(?:don'?t|do not|never|stop) call(?:ing)? me|no me llames|(?:my name is|i am|i'm) not|no me "
    rf"llamo)\s+{_A_NAME}"
    r"(?i:[,;.:]?\s*(?:but|it'?s|it is|just|use|call me|i prefer|i go by|rather|pero|sino|mejor|prefiero|soy|es|usa|"
    rf"ll[aá]mame|me llamo)\s+){_A_NAME}"
)
"""Not Robert, it's Bobby."""
_DENIED = re.compile(r"\b(?:don'?t|do not|never|not|no|nunca|stop|no me|nunca me)\s+$", re.I)
_AND_I_AM = re.compile(
    r"\b(?P<am>I'm|I am|soy) (?P<one>[^\s,.;]+(?: [^\s,.;]+){0,2}?),? (?:and|but|y|e|pero) "
    r"(?=(?:an? |una? |muy |very |quite |bastante )*[^\s,.;]+(?:\s*[,.;!]|$| y | and ))",
    re.I,
)
"""Of "soy conservador y principiante", what says it of the second word too."""
_ZONE = re.compile(
    r"\b(?:my time ?zone is|mi (?:zona horaria|huso horario) es)\s+(?:the\s+|la\s+)?"
    r"([A-Za-z]+(?:/[A-Za-z_+-]+[0-9]*){1,2}|UTC)",
    re.I,
)


def described(state: Remembered, text: str, now: datetime) -> Remembered:
    """With what the text says of its writer; the same object when it says nothing new."""
    for sentence in statements(text):
        for field, value, said in _said(own_speech(sentence)):
            held = getattr(state.memory, field)
            if said and held != value:
                state = with_field(state, field, value, now)
            elif not said and held == value:
                state = with_field(state, field, None, now)
    return state


def with_field(state: Remembered, field: str, value: str | None, now: datetime) -> Remembered:
    """With another value (None: none); the one before becomes history."""
    held: str | None = getattr(state.memory, field)
    name = FIELDS[field]
    history = list(state.memory.superseded)
    if held is not None:
        past = Superseded(field=name, value=held, since=state.set_since.get(name), until=now, by=value)
        history = with_superseded(history, past)
    since = {key: at for key, at in state.set_since.items() if key != name}
    if value is not None:
        since[name] = now
    return replace(state.changed(now, **{field: value}, superseded=history), set_since=since)


def undescribed(text: str) -> str:
    """A text without what it says that is kept as a field of its own."""
    rest = _both_said(text)
    if _SMALL_NAME.fullmatch(rest):
        return " "
    for pattern in (*(pattern for _, _, pattern in _FIXED), _NAME, _ZONE):
        rest = pattern.sub(" ", rest)
    return rest


def _both_said(sentence: str) -> str:
    return _AND_I_AM.sub(lambda match: f"{match['am']} {match['one']}, {match['am']} ", sentence)


def _said(sentence: str) -> list[tuple[str, str, bool]]:
    """Field, value, and whether it is so (False: it is so no longer), in the order in which they are said."""
    found: list[tuple[int, str, str, bool]] = []
    sentence = _both_said(sentence)
    for field, value, pattern in _FIXED:
        found += [(match.start(), field, value, not any(match.groups())) for match in pattern.finditer(sentence)]
    for match in _NAME.finditer(sentence):
        found.append((match.start(), "name", match[1], not _DENIED.search(sentence[: match.start()])))
    if not any(one[1] == "name" for one in found) and (small := _SMALL_NAME.fullmatch(sentence)):
        found.append((small.start(1), "name", small[1].capitalize(), True))
    found += [(match.start(2), "name", match[2], True) for match in _OTHER_NAME.finditer(sentence)]
    found += [(match.start(), "timezone", match[1], True) for match in _ZONE.finditer(sentence) if is_zone(match[1])]
    return [one[1:] for one in sorted(found)]
