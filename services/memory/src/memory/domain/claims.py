"""What people say of themselves that can only be true once, and what takes its place: Spanish and English.

"I live in Lima" and later "I moved to Bogotá" make the same claim with different values; "I no longer trade options"
ends what was said before. Where nothing of the kind is recognised nothing is replaced: an old fact that stays costs
less than one that is taken away wrongly.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from memory.domain.recall.words import STOP, english, folded, spanish, stems, words

LEFT_OVER = 2
"""Words that a statement may have beside those that are ended, and still be the statement that is meant."""

_NOW = r"(?:now |currently |actually |ahora |actualmente |always |siempre |usually |normalmente |only |solo )*"
_VALUE = r"(?P<value>[^.,;:!?\n]{1,60})"
_PLACES: tuple[tuple[str, str], ...] = (
    ("home", rf"\bi(?:'m| am|'ve| have)? {_NOW}(?:live|living|moved|relocated)(?: now| back)? (?:in|to) {_VALUE}"),
    ("home", rf"\b(?:vivo|me mude|me he mudado|me traslade|me cambie)(?: ahora)? (?:en|a) {_VALUE}"),
    ("work", rf"\bi(?:'m| am)? {_NOW}(?:work|working|started working)(?: now)? (?:at|for|as) {_VALUE}"),
    ("work", rf"\b(?:trabajo|empece a trabajar|estoy trabajando)(?: ahora)? (?:en|para|como|de) {_VALUE}"),
    ("age", r"\bi(?:'m| am| turned) (?P<value>\d{1,3})(?= years|[.,;!]| and|$)"),
    ("age", r"\b(?:tengo|cumpli) (?P<value>\d{1,3}) anos\b"),
    ("broker", rf"\bi {_NOW}(?:trade|operate|invest) (?:with|through|at) {_VALUE}"),
    ("broker", rf"\b(?:opero|invierto) {_NOW}(?:con|a traves de) {_VALUE}"),
    (
        "broker",
        r"\bi use (?P<value>[^.,;:!?\n]{1,40}) as (?:my )?broker|\buso (?P<other>[^.,;:!?\n]{1,40}) como broker",
    ),
)
_CLAIMS = [(key, re.compile(pattern)) for key, pattern in _PLACES]
_MINE = re.compile(
    r"\b(?:my|mi|mis) (?P<what>[^\W\d_]+(?: (?:de |del |of |for )?[^\W\d_]+){0,3}?) "
    rf"(?:is|are|es|son|sera|esta en){'(?: now| ahora)?'} {_VALUE}"
)
_SINGLE = frozenset(
    words(
        """
    address age bank birthday broker budget capital city country currency doctor email employer exchange favorite
    favourite goal horizon income job language level limit name nickname occupation phone plan platform profession
    risk salary strategy style target timezone zone apodo banco bolsa broker cargo ciudad correo corredor cumpleanos
    direccion divisa doctor edad empleo estilo estrategia favorita favorito horizonte idioma ingreso limite meta moneda
    nivel nombre objetivo pais perfil plan plataforma presupuesto profesion riesgo salario sueldo telefono trabajo
    """
    )
)
"""What one has only one of at a time."""
_AMOUNT = re.compile(
    r"\b(?P<verb>risk|save|invest|earn|make|arriesgo|ahorro|invierto|gano|cobro|opero|trade)\b"
    r"(?P<rest>[^.,;:!?\n]{0,60}?\d[^.;:!?\n]{0,60})"
)
_RISK = frozenset(("risk", "arriesgo"))
"""What one risks is one number, however its sentence goes on."""
_FROM_TO = re.compile(
    r"\b(?:moved|switched|changed|went|pase|cambie|me cambie|me pase) (?:over )?(?:from|de|del) "
    r"(?P<old>[^.,;:!?\n]{1,60}?) (?:to|into|a|al|hacia) (?P<new>[^.,;:!?\n]{1,60})"
)
_ENDED = re.compile(
    r"\b(?:i no longer|no longer do i|i stopped|i quit|i gave up|ya no|deje de|he dejado de|abandone) "
    r"(?P<old>[^.,;:!?\n]{1,60})"
    r"|\bi (?:don't|do not) (?P<more>[^.,;:!?\n]{1,60}?) (?:any ?more|any longer)"
    r"|\b(?:instead of|rather than|en vez de|en lugar de) (?P<instead>[^.,;:!?\n]{1,60})"
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_COUNTS = frozenset(
    words(
        "one two three four five six seven eight nine ten un una uno dos tres cuatro cinco seis siete ocho nueve diez"
    )
)
_SENTENCE = re.compile(r"(?<=[.!?;\n])(?!\d)\s*")
_CLAUSE = re.compile(r" (?:and|but|because|since|so|y|pero|porque|ya que|desde|para|when|if|cuando|si) ")
_LATE = frozenset(words("now currently ahora actualmente anymore more mas longer"))
_SLOTS = {
    "length": "short shorter brief concise long longer detailed corta cortas corto breve breves concisa concisas largas"
    " larga extensas detalladas detallada detalles details",
    "language": "spanish english espanol ingles castellano",
    "risk": "conservative moderate aggressive conservador conservadora moderado moderada agresivo agresiva",
    "instrument": "stock stocks etf etfs option options future futures forex crypto cryptos bonds bond acciones "
    "opciones futuros divisas cripto criptos criptomonedas bonos fondos funds",
    "timeframe": "daily weekly hourly intraday monthly diario diaria semanal horario mensual 1h 4h 1d 15m",
    "order": "market limit mercado limite limitada limitadas",
    "tone": "formal informal casual tuteo usted tu",
    "currency": "usd mxn eur dollars euros pesos dolares",
    "analysis": "technical fundamental tecnico fundamentales tecnica",
}
_SLOT_OF = {word: slot for slot, listed in _SLOTS.items() for word in listed.split()}
_PREFER = re.compile(r"\b(?:prefer|prefiero|rather|mejor|now|ahora|always|siempre)\b")


@dataclass(frozen=True, slots=True)
class Claims:
    """What a statement says. `made`: values by what they are values of; `ended`: what it says is true no longer;
    `words`: all that it says, without stop words."""

    made: tuple[tuple[str, frozenset[str]], ...]
    ended: tuple[frozenset[str], ...]
    words: frozenset[str]


def statements(text: str) -> list[str]:
    """The sentences of a text without its questions; what comes before a question in its sentence is kept."""
    found: list[str] = []
    for sentence in _SENTENCE.split(text.replace("’", "'")):
        said = " ".join(sentence.split())
        if "?" in said:
            said = said.rpartition("¿")[0] or said.rpartition(",")[0]
        if said := said.strip(" ,"):
            found.append(said)
    return found


def claims(text: str, *, short: bool = False) -> Claims:
    """What a text says of its writer; a question says nothing. `short`: it is one remembered fact, so that the same
    words with another number, or another preference of the same kind, are another value of it."""
    said = " ".join(folded(part) for part in statements(text))
    made: list[tuple[str, frozenset[str]]] = []
    for key, pattern in _CLAIMS:
        for match in pattern.finditer(said):
            made.append((key, _value(match["value"])))
    for match in _MINE.finditer(said):
        if not _SINGLE.isdisjoint(match["what"].split()):
            made.append((f"my {' '.join(sorted(_stems(match['what'])))}", _value(match["value"])))
    for match in _AMOUNT.finditer(said):
        of = "risk" if match["verb"] in _RISK else _without_numbers(match[0])
        made.append((f"amount {of}", _numbers(match[0])))
    if short:
        if numbers := _numbers(said):
            made.append((f"numbers {_without_numbers(said)}", numbers))
        if _PREFER.search(said):
            made += [(f"prefer {slot}", value) for slot, value in _slots(said).items()]
    ended = [_value(match["old"]) for match in _FROM_TO.finditer(said)]
    for match in _ENDED.finditer(said):
        ended.append(_value(match["old"] or match["more"] or match["instead"]))
    return Claims(
        tuple(dict.fromkeys((key, value) for key, value in made if value)),
        tuple(value for value in dict.fromkeys(ended) if value),
        _stems(said),
    )


def replaces(new: Claims, old: Claims) -> bool:
    """Whether what was said later takes the place of what was said before."""
    held = dict(old.made)
    if any(key in held and not (value <= held[key] or held[key] <= value) for key, value in new.made):
        return True
    return any(gone <= old.words and len(old.words - gone) <= LEFT_OVER for gone in new.ended if not _ends(gone, old))


def _ends(gone: frozenset[str], old: Claims) -> bool:
    """Whether the older one ended the same thing already."""
    return gone in old.ended


def _slots(said: str) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for word in words(said):
        if slot := _SLOT_OF.get(word):
            found.setdefault(slot, set()).add(word)
    return {slot: frozenset(values) for slot, values in found.items()}


def _value(text: str) -> frozenset[str]:
    """The words of a value, up to where another clause begins."""
    return _stems(_CLAUSE.split(f"{text.strip()} ", maxsplit=1)[0])


def _stems(text: str) -> frozenset[str]:
    found: set[str] = set()
    for word in words(text):
        if word not in STOP and word not in _LATE:
            found.add(spanish(english(word)))
    return frozenset(found)


def _numbers(text: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(text)) | {word for word in words(text) if word in _COUNTS}


def _without_numbers(text: str) -> str:
    kept: Iterable[str] = (word for word in stems(_NUMBER.sub(" ", text)) if word not in _COUNTS and word not in _LATE)
    return " ".join(sorted(set(kept)))
