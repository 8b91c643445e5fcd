"""Word lists of attributes that have one value, and of what restricts a statement."""

import re
from functools import lru_cache

from contracts.calendar_names import MONTHS
from memory.domain.long_term.concepts import concepts_of
from memory.domain.recall.words import words

LANGUAGES = (
    "english spanish french german italian portuguese catalan ingles espanol castellano frances aleman italiano "
    "portugues gallego euskera"
)
"""Names of languages in English and Spanish, folded."""
SLOTS = {
    (
        "length",
        "short",
    ): "short shorter brief concise corta cortas corto cortos breve breves concisa concisas conciso grano",
    (
        "length",
        "long",
    ): "long longer detailed larga largas largo largos extensas extensa detail details detalle detalles "
    "detalladas detallada detallado",
    ("tone", "formal"): "formal usted",
    ("tone", "informal"): "informal casual tuteo tuteame tutearme tutees",
    ("answers in", "es"): "spanish espanol castellano",
    ("answers in", "en"): "english ingles",
    ("profile", "conservative"): "conservative conservador conservadora cautious prudent careful prudente cauto cauta",
    ("profile", "moderate"): "moderate moderado moderada",
    ("profile", "aggressive"): "aggressive agresivo agresiva bold daring arriesgado arriesgada atrevido atrevida",
    ("instrument", "stocks"): "stock stocks acciones",
    ("instrument", "etfs"): "etf etfs",
    ("instrument", "options"): "option options opciones",
    ("instrument", "futures"): "future futures futuros",
    ("instrument", "forex"): "forex divisas",
    ("instrument", "crypto"): "crypto cryptos cripto criptos criptomonedas",
    ("instrument", "bonds"): "bond bonds bonos",
    ("instrument", "funds"): "fondos funds",
    ("timeframe", "day"): "daily diario diaria 1d",
    ("timeframe", "week"): "weekly semanal",
    ("timeframe", "hour"): "hourly horario 1h 4h",
    ("timeframe", "intraday"): "intraday 15m",
    ("timeframe", "month"): "monthly mensual",
    ("order", "market"): "market mercado",
    ("order", "limit"): "limit limite limitada limitadas",
    ("analysis", "technical"): "technical tecnico tecnica",
    ("analysis", "fundamental"): "fundamental fundamentales",
}
SLOT_OF_WORD = {word: slot for slot, listed in SLOTS.items() for word in listed.split()}
"""Attribute and value by word."""
RISK_SLOT_OF_WORD = {
    word: ("profile", level)
    for level, listed in {
        "moderate": "medium medio average",
        "conservative": "low lower little less small bajo baja poco poca pocos menos",
        "aggressive": "high higher more lot lots big alto alta mucho mucha muchos mas grandes",
    }.items()
    for word in listed.split()
}
"""Attribute and value by word, in sentences about risk: how much of it."""
_OCCASIONS = {
    "season": "summer winter spring autumn fall verano invierno primavera otono veranos inviernos summers winters",
    "day": "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays "
    "saturdays sundays weekday weekdays weekend weekends lunes martes miercoles jueves viernes sabado sabados domingo "
    "domingos finde",
    "hour": "morning mornings afternoon afternoons evening evenings night nights mananas tarde tardes noche noches",
}
OCCASION = {word: kind for kind, listed in _OCCASIONS.items() for word in listed.split()}
WEEKDAYS = _OCCASIONS["day"].replace(" ", "|")
"""A pattern of the days of the week."""
_ASSETS = (
    "stock stocks etf etfs option options futures forex crypto bonds acciones opciones futuros divisas cripto "
    "criptomonedas bonos oro gold"
)
ASSETS = frozenset(_ASSETS.split())
_PLACES = """
    argentina bolivia brasil brazil canada chile china colombia cuba ecuador espana spain france francia germany
    alemania guatemala honduras india inglaterra england ireland irlanda italia italy japan japon mexico nicaragua
    panama paraguay peru portugal salvador suiza switzerland uk usa us uruguay venezuela europa europe america
    texas california florida ohio cataluna andalucia
"""
REGIONS = frozenset(_PLACES.split())
"""Places that contain cities: somebody who lives in Peru may live in Lima."""
RESTRICTING_WORDS = frozenset(OCCASION) | ASSETS
_WEEKENDS = re.compile(r"\bfin(?:es)? de semana\b")
_SINCE = re.compile(
    r"\b(?:since|desde) (?:(?:the|el|la|last|this|este|esta|mediados de|finales de|principios de) )?\w+"
)
"""When something began; this is no restriction."""
CONDITION = re.compile(r"\b(?:when|while|if|unless|cuando|si|mientras|on days|los dias)\b(?P<rest>.*)")
_PURPOSE = re.compile(r"\b(?:for|para)(?! (?:me|mi|now|ahora|the moment)\b)(?P<rest>[^.,;:!?\n]*)")


@lru_cache(maxsize=4_000)
def occasions_in(normalized: str) -> frozenset[str]:
    """Returns the occasions and months that a normalized text names."""
    return frozenset(word for word in words(_SINCE.sub("", normalized)) if word in OCCASION or word in MONTHS)


def restrictions_in(rest: str, changed: bool) -> frozenset[str]:
    """Returns what restricts a statement. A date beside a change is the day of the change, and not a restriction."""
    rest = _WEEKENDS.sub("weekend", _SINCE.sub("", rest)).replace("entre semana", "weekday")
    restricting = {word for word in words(rest) if word in RESTRICTING_WORDS or (word in MONTHS and not changed)}
    for pattern in (CONDITION, _PURPOSE):
        for match in pattern.finditer(rest):
            restricting |= concepts_of(match["rest"])
    return frozenset(restricting)
