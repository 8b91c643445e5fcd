"""Which of the facts that are remembered of a user a prompt is told: decided by the question, not by age alone."""

import math
import re
from collections import Counter
from collections.abc import Sequence

from contracts.memory_rpc import LongTermMemory
from memory.domain.long_term.concepts import content, plain
from memory.domain.recall.words import sought, stems, words

MOST = 12
"""Notes and preferences in a prompt."""
ALWAYS = 4
"""Of these, those that restrict whatever is answered: limits, dislikes, allergies, how answers should be."""
_RESTRICTS = re.compile(
    r"\b(?:never|nunca|not|no|only|solo|can not|avoid|evito|allerg\w*|alergi\w*|hate|odio|at most|maximum|"
    r"maximo|como mucho|"
    r"more than|mas de|risk|arriesgo|riesgo|answers?|respuestas?|explanations?|explicaciones|language|idioma|"
    r"halal|vegan\w*|"
    r"vegetarian\w*|ethic\w*|etic\w*|limit|limite)\b"
)

_FACETS = tuple(
    frozenset(listed.split())
    for listed in (
        "car cars drive driving vehicle honda toyota coche carro auto conduzco manejo vehiculo",
        "salary earn earns income wage wages paid pay make take-home sueldo salario gano gana ingreso "
        "ingresos cobro pagan nomina limpios netos",
        "work job business company shop store firm negocio empresa tienda dedico occupation profession career "
        "living boss employer office trabajo empleo profesion oficio jefe "
        "laboral",
        "retire retires retired retirement pension stop-working jubilo jubilar jubilacion jubile retiro "
        "pensionar trabajar",
        "live lives city home town address country vivo casa ciudad pais direccion domicilio donde resido mudo",
        "born from childhood grew origin raised native naci nacido crecio creci origen infancia pais",
        "marry married divorce divorced divorcio divorciado divorciada divorciar single soltero soltera wedding "
        "husband wife spouse "
        "partner boda caso casado casada marido mujer esposa esposo pareja",
        "pregnant embarazada expecting child children kid kids son daughter baby hijo hijos hija hijas nino "
        "ninos bebe family familia",
        "mother father brother sister parents aunt uncle madre padre hermano hermana padres tio tia family familia",
        "loan mortgage debt owe owes owed credit borrow borrowed lent hipoteca deuda deudas debo debemos deber presto "
        "prestado prestaron prestamo credito devolver",
        "save saves saving savings money cash bank dinero banco ahorrado ahorrada ahorrados ahorro ahorros "
        "ahorrando guardo guardar dinero",
        "buy bought purchase paid price cost shares compre compra pague precio acciones",
        "lose lost loss losses perdi perdida perdidas perdido",
        "inherit inherited inheritance received family herede herencia recibi",
        "doctor dentist appointment medical health illness pain knee knees back pregnant rodilla rodillas "
        "espalda dolor embarazada "
        " pills medicine medication diabetes medico dentista "
        "cita salud "
        "pastillas medicina enfermedad",
        "food eat foods diet meal vegan vegetarian allergic allergy comer como comida dieta vegano vegana vegetariano "
        "alergico alergica restaurante",
        "pet dog cat perro gato mascota",
        "house housing apartment apartments flat flats estate property rent landlord lease piso pisos casa vivienda "
        "inmueble inmuebles propiedad alquiler alquilo casero arriendo",
        "broker brokerage platform bank account corredor plataforma banco cuenta",
        "derivatives futures options derivados futuros opciones",
        "chart charts tradingview program software grafico graficos grafica programa",
        "tax taxes accountant irs audit audited impuestos contable gestor gestora hacienda inspeccion",
        "risk risks risky lose losing afraid scared terrified fear riesgo riesgos tolero perder miedo panico arriesgo",
        "travel trip flight vacation vuelo viaje viajo vacaciones",
        "sport sports train coach gym soccer football tennis deporte entreno gimnasio futbol tenis",
        "when time hour day date schedule morning evening night weekend weekends cuando hora dia fecha horario noche "
        "manana tarde",
        "sector industry sectors industria sectores",
        "goal target aim plan meta objetivo plan",
    )
)
"""What questions and facts are about: words that are no synonyms, and ask and answer each other."""
_FACET = 0.6
_EVERYWHERE = frozenset(("= be", "= have"))


def relevant_facts(memory: LongTermMemory, question: str) -> list[str]:
    """At most `MOST` of the notes and preferences: what always counts, then what fits the question, then the newest."""
    facts = [*memory.user_notes, *memory.preferences, *memory.older_notes]
    if len(facts) <= MOST:
        return facts
    always = [fact for fact in facts if _RESTRICTS.search(plain(fact))][:ALWAYS]
    newest = [fact for pair in zip(memory.user_notes, memory.preferences, strict=False) for fact in pair]
    return list(dict.fromkeys([*always, *fitting(facts, question), *newest, *facts]))[:MOST]


def fitting(facts: Sequence[str], question: str) -> list[str]:
    """The facts that have to do with a text, best first."""
    terms = [_terms(fact) for fact in facts]
    everywhere = Counter(term for one in terms for term in one)
    asked: dict[str, float] = dict.fromkeys(("= " + one for one in content(question)), 1.0)
    asked |= dict.fromkeys(facets(question), _FACET)
    for word in sought(question):
        asked |= {stem: max(weight, asked.get(stem, 0.0)) for stem, weight in word.stems}
    scores = [
        sum(asked[term] * math.log(1 + len(facts) / everywhere[term]) for term in (one & asked.keys()) - _EVERYWHERE)
        for one in terms
    ]
    best = sorted(range(len(facts)), key=lambda number: -scores[number])
    return [facts[number] for number in best if scores[number] > 0]


def _terms(fact: str) -> frozenset[str]:
    return frozenset(stems(fact)) | {"= " + one for one in content(fact)} | facets(fact)


def facets(text: str) -> frozenset[str]:
    """What a text is about, of a few common things: living, working, eating, …"""
    said = frozenset(words(text))
    return frozenset(f"about {number}" for number, listed in enumerate(_FACETS) if said & listed)
