"""Chooses the remembered facts that a prompt contains: by the question, not by age alone."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from contracts.memory_rpc import LongTermMemory
from memory.domain.claims import PEOPLE
from memory.domain.long_term.concepts import concept, concepts_of, normalize
from memory.domain.recall.words import query_terms, stems, words
from memory.domain.remembered import current_facts

MAX_FACTS = 12
"""Notes and preferences in a prompt, at most."""
MAX_RESTRICTIONS = 4
"""Of these, at most so many that restrict every answer: limits, dislikes, allergies, how answers should be."""
RESTRICTS = re.compile(
    r"\b(?:never|nunca|not|no|only|solo|can not|avoid|evito|allerg\w*|alergi\w*|hate|odio|at most|maximum|maximo|"
    r"como mucho|more than|mas de|risk|arriesgo|riesgo|answers?|respuestas?|explanations?|explicaciones|language|"
    r"idioma|halal|vegan\w*|vegetarian\w*|ethic\w*|etic\w*|limit|limite)\b"
)

_KINDS = {
    name: frozenset(concept(word) for word in listed.split())
    for name, listed in {
        "vehicle": "car drive vehicle truck pickup van motorbike motorcycle bike bicycle scooter wheels ride "
        "honda toyota peugeot renault skoda volkswagen audi bmw mercedes opel citroen fiat nissan hyundai mazda volvo "
        "dacia jeep chevrolet subaru "
        "conduzco manejo vehiculo moto motocicleta bici bicicleta furgoneta camion patinete carro",
        "income": "salary earn earns income wage wages paid make take-home sueldo gano gana ganar ingreso cobro cobra "
        "nomina limpios netos brutos entran",
        "work": "work business company shop store firm negocio empresa tienda dedico occupation profession "
        "employer office profesion oficio laboral boss teach clases dedicas autonomo",
        "pension": "retire retired retirement pension jubilo jubilar jubilacion jubile retiro pensionar trabajar",
        "home": "live city home town address country vivo casa ciudad pais direccion domicilio donde resido mudo moved "
        "where rent landlord property",
        "origin": "born from childhood grew origin raised native naci nacido crecio creci origen infancia pais",
        "spouse": "marry married divorce divorced divorcio divorciado divorciar single soltero wedding husband wife "
        "spouse partner half boda caso casado casada marido mujer esposa esposo parienta",
        "children": "nacio peque crio cria pregnant embarazada expecting child kid son daughter hijo nino nina bebe "
        "family familia chaval "
        "niece nephew sobrino twins gemelos",
        "relatives": "mother mom father dad brother sister parents aunt uncle madre padre hermano hermana tio "
        "tia family "
        "familia",
        "debt": "owed queda loan mortgage debt owe credit borrow borrowed lent deuda debo debemos deber presto "
        "prestado prestaron "
        "devolver",
        "savings": "emergency fund emergencia colchon juntar juntando aparto apartamos aside save money cash bank "
        "dinero banco ahorrado guardo guardar",
        "buying": "buy bought purchase paid price cost shares compre compra pague precio acciones",
        "losing": "lose lost loss losses perdi perdida perdido",
        "heritage": "dejo left inherit inherited inheritance received family herede herencia recibi",
        "health": "surgery cirugia operaron hospital doctor dentist appointment medical "
        "health illness disease ill sick pain knee back pregnant rodilla "
        "espalda dolor embarazada pills medicine medication diabetes diabetic medico dentista cita salud pastillas "
        "enfermedad enfermo asthma asma celiac celiaco ",
        "food": "food eat diet meal vegan vegetarian allergic allergy comer como comida dieta pruebo alergico alergica "
        "alergia restaurante celiac celiaco shellfish meat carne gluten",
        "pet": "pet dog cat mascota puppy kitten parrot hamster rabbit turtle fish poodle retriever terrier "
        "bulldog labrador beagle collie perra chucho cachorro gatito loro conejo tortuga pez",
        "housing": "house housing flat estate property rent landlord lease casa vivienda inmueble propiedad alquilo "
        "casero arriendo",
        "broker": "shares acciones broker platform bank account plataforma banco",
        "derivatives": "derivatives futures options derivados futuros opciones",
        "charts": "chart tradingview program software grafico grafica programa",
        "tax": "tax accountant irs audit audited impuestos contable gestor gestora hacienda inspeccion",
        "risk": "risk risky lose losing afraid scared terrified fear riesgo tolero perder miedo panico arriesgo "
        "averse nervous sleep susto dormir",
        "travel": "travel trip vacation vacaciones fly flies",
        "sport": "sport train coach gym soccer football tennis padel run swim cycling golf yoga ski climb hike "
        "marathon surf basketball corro nado natacion ciclismo esqui baloncesto senderismo deporte "
        "entreno gimnasio futbol tenis",
        "time": "when time hour day date schedule morning evening night weekend cuando hora dia fecha horario noche "
        "manana tarde",
        "sector": "sector industry industria casino apuesta gambling tabaco tobacco cigarette cigarrillo arma weapon "
        "oil petroleo alcohol bank",
        "crypto": "crypto cryptocurrency bitcoin btc ethereum eth cripto criptomoneda",
        "study": "study exam degree course university master certificate cfa estudio estudiar examen carrera curso "
        "universidad oposicion",
        "charity": "charity donate donation ngo dono donacion ong caridad",
        "goal": "goal plan objetivo",
        "language": "language speak idioma hablo",
        "age": "age edad old birthday cumpleanos birth nacimiento",
    }.items()
}
"""Subjects of questions and facts, with words that are not synonyms but occur in a question and its answer."""
NOT_THINGS = frozenset(("buying", "losing", "time", "goal"))
"""Kinds that say what is asked about a thing, and not what it is."""
_FORMS = (
    (
        "work",
        re.compile(
            r"^(?:\w+ ){0,2}?(?:i am|we are) an? \w+|^(?:(?!no\b)\w+ ){0,2}?soy (?!de\b|muy\b|mas\b|ni\b)\w+|"
            r"\b(?:tengo|tenemos|llevo|llevamos|regento|abri) una? \w+eria\b"
        ),
    ),
    (
        "work",
        re.compile(
            rf"\b(?:my|our) (?:{PEOPLE}) (?:is|was|used to be) an? \w+|"
            rf"\bmis? (?:{PEOPLE}) (?:es|era|fue) (?!de\b|muy\b|mas\b)\w+"
        ),
    ),
    ("work", re.compile(r"\b(?:for a living|ganarme la vida|me gano la vida)\b")),
    ("pension", re.compile(r"\b(?:stop|quit|finish) working\b|\bdej\w+ de trabajar\b")),
    ("age", re.compile(r"\b(?:i am|tengo|cumpli|turned) (?:ya |now )?\d{1,3}(?: years| anos|$)")),
)
"""Phrases that name a subject without a word for it: I'm a nurse, tengo 52 años."""
_FACET_WEIGHT = 0.6
_UNSPECIFIC = frozenset(("= be", "= have"))


def relevant_facts(memory: LongTermMemory, question: str) -> list[str]:
    """Returns at most `MAX_FACTS` notes and preferences: those that restrict every answer, then those that fit the
    question, then the newest."""
    facts = current_facts(memory)
    if len(facts) <= MAX_FACTS:
        return facts
    always = [fact for fact in facts if RESTRICTS.search(normalize(fact))][:MAX_RESTRICTIONS]
    newest = [fact for pair in zip(memory.user_notes, memory.preferences, strict=False) for fact in pair]
    return list(dict.fromkeys([*always, *matching_facts(facts, question), *newest, *facts]))[:MAX_FACTS]


def matching_facts(facts: Sequence[str], question: str) -> list[str]:
    """Returns the facts that are related to a text, best first."""
    terms = [_terms(fact) for fact in facts]
    counts = Counter(term for fact_terms in terms for term in fact_terms)
    weights: dict[str, float] = dict.fromkeys(("= " + fact_terms for fact_terms in concepts_of(question)), 1.0)
    weights |= dict.fromkeys(facets(question), _FACET_WEIGHT)
    for word in query_terms(question):
        weights |= {stem: max(weight, weights.get(stem, 0.0)) for stem, weight in word.stems}
    scores = [
        sum(
            weights[term] * math.log(1 + len(facts) / counts[term])
            for term in (fact_terms & weights.keys()) - _UNSPECIFIC
        )
        for fact_terms in terms
    ]
    best = sorted(range(len(facts)), key=lambda number: -scores[number])
    return [facts[number] for number in best if scores[number] > 0]


@lru_cache(maxsize=4_000)
def _terms(fact: str) -> frozenset[str]:
    return frozenset(stems(fact)) | {"= " + word for word in concepts_of(fact)} | facets(fact)


def facets(text: str, *, forms: bool = True) -> frozenset[str]:
    """Returns the subjects of a text, out of a few common ones: living, working, eating, … `forms`: also by phrases
    that name a subject without a word for it."""
    fact_concepts, normalized = frozenset(map(concept, words(normalize(text)))), normalize(text)
    names = {name for name, listed in _KINDS.items() if fact_concepts & listed}
    return frozenset(names | {name for name, form in _FORMS if forms and form.search(normalized)})


def kinds(text: str) -> frozenset[str]:
    """Returns the subjects of a text that are things, by which facts can be referred to."""
    return facets(text) - NOT_THINGS
