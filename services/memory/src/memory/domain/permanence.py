"""Whether the form of a clause says that it will still be true in some weeks, in Spanish and English.

A present tense lasts: a habit, a property, a possession. Past events, whereabouts and current activities ("I am
waiting", "estoy viendo") last only if they name an important subject, an amount or a name. A time such as "today" makes
a clause momentary, except for an amount or a life event; a recurring or continuing time, or a date, makes it lasting.
What is said about the reader is about the chat.
"""

import re

from contracts.calendar_names import MONTHS
from memory.domain.claims import PERSON
from memory.domain.long_term.concepts import FILLER_WORDS, normalize
from memory.domain.long_term.course import HAS_HAPPENED
from memory.domain.long_term.state_patterns import OCCUPATION
from memory.domain.recall.words import words
from memory.domain.relevant_facts import kinds

_GOES_ON = re.compile(
    r"\b(?:always|usually|often|every|each|most|never|since|until|till|nowadays|years?|months|weeks|"
    r"mornings|evenings|nights|weekends|fines de semana|mananas|(?<!buenas )(?:tardes|noches)|"
    r"decades?|life|daily|weekly|monthly|yearly|chronic\w*|used to|siempre|suelo|nunca|jamas|cada|todos|todas|desde|"
    r"hasta(?! arriba)|anos?|meses|semanas|decadas?|vida|diario|(?:al|por) dia|cronic\w*|solia|(?:19|20)\d\d|"
    rf"{'|'.join(MONTHS)}|(?:on|los) (?:\w+days?|lunes|martes|miercoles|jueves|viernes|sabados|domingos)|"
    r"next (?:year|month|week)|(?:ano|mes|semana) que viene)\b"
)
"""A time that recurs or continues, or a date."""
_CONDITION = re.compile(r"\b(?:when|whenever|if|cuando|si)\b")
_TODAY = re.compile(
    r"\b(?:right now|at the moment|today|tonight|tomorrow|yesterday|this (?:morning|afternoon|evening)|last night|"
    r"had (?:an? )?\w+ (?:night|morning|day|evening|weekend)|(?:am|is|are) about to|a punto de|"
    r"earlier|(?:in|for) (?:an?|\w+) (?:moment|seconds?|minutes?|hours?|while|bit)|hoy|ayer|anoche|antes$|"
    r"ahora mismo|ahorita|en este momento|esta (?:manana|tarde|noche)|(?:en|hace|durante) (?:un|una|\w+) "
    r"(?:momento|segundos?|rato|ratito|minutos?|horas?))\b"
)
_JUST = re.compile(r"\b(?:now|just|ahora|acab(?:o|amos) de)\b")
_HAS_NOW = re.compile(
    r"\b(?:got|bought|signed|started|tengo|compr\w+|firm\w+|empez\w+) (?:an?|another|my|our|una?|otr[oa]|mi)\b"
)
_YOURS = re.compile(r"\b(?:you|your|yours|tú|tu|tus|te|usted|contigo)\b")
_DOING = re.compile(
    r"^(?:\w+ ){0,3}?(?:am|are|was|were|been) (?:\w+ ){0,2}?\w{2,}ing\b|"
    r"\b(?:estoy|estamos|ando|andamos|me siento)\b(?! (?:en contra|a favor)\b)|"
    r"\b(?:llevo|llevamos) (?:\w+ ){0,2}?\w+ndo\b"
)
_HAPPENED = re.compile(
    r"\b(?:bought|slept|was|were|woke|ate|saw|felt|met|ran|acab(?:o|amos) de)\b|^(?:my|our) \w+ (?:just )?\w{3,}ed\b|"
    r"\b(?:has|have) gone\b|\bcompré\b|\babrí\b"
)
_WHERE = re.compile(
    r"^(?:\w+,? ){0,2}?(?:(?:am|we are) (?:\w+ )?(?:on|in|at|off|near|back|inside|outside)|"
    r"(?:estoy|estamos|ando|andamos) (?:en|de|por|al?)) (?!(?:debt|contra|favor|a (?:\w+ )?(?:income|budget|diet|"
    r"pension|visa|contract|shift)|(?:the )?\w+ shift)\b)"
)
_STATE = re.compile(
    r"^(?:\w+ ){1,4}?(?:esta|estan|estaban?) (?P<es>(?!(?:viv|muert|sord|cieg)[oa]s?\b).+)|"
    r"^(?:my|our) (?!(?:hobby|passion|dream|goal|plan|job|favou?rite)\b)(?:\w+ ){1,2}?(?:is|are) (?:\w+ ){0,2}?"
    r"(?P<en>\w+(?:ing|ed|en)\b.*|(?<=are )(?:on|in|at|off|near) .+)|"
    r"^(?:\w+ )?(?:tengo|tenemos) (?:el|la|los|las) \w+ (?P<held>\w+(?:[ai]d|ot|uert|ech|uest|aci)[oa]s?\b.*|en .+)|"
    r"\b(?:(?:am|are|is) (?P<out>out of .+)|me (?:queda\w*|he quedado) (?P<left>(?:sin|poc[oa]s?|nada) .+))"
)
"""How something or somebody is, or what is left of it: "está …", "is …ing", "is …ed", "tengo la pantalla rota"."""
_AT_THE = re.compile(r"(?:en|con|in|at|on|de) (?:el|la|los|las|the|my|mi|casa)\b")
"""A place known to both, where movable things are at present: "en el taller", but not "en un fondo"."""
_MOVABLE = frozenset(("vehicle", "pet"))
_STUDIES = re.compile(r"\b(?:studying|training|universi\w+|college|school|estudiando|colegio|escuela)\b")
_LIFE_EVENT = re.compile(
    r"\b(?:born|studied|married|engaged|divorced|separated|widowed|retired|hired|fired|laid off|promoted|graduated|"
    r"moved|moving|retiring|quit|resigned|inherited|adopted|diagnosed|pregnant|expecting|died|passed away|opened|"
    r"stopped|gave up|switched|changed|broke up|split up|unemployed|army|navy|military|ejercito|"
    r"naci|estudie|cas(?:e|amos|o)|casad\w+|comprometid\w+|divorci\w+|separ\w+|enviud\w+|viud\w+|jubil\w+|"
    r"contrat\w+|despid\w+|despedid\w+|echa(?:ron|do)|ascend\w+|gradu\w+|mud\w+|renunci\w+|hered\w+|adopt\w+|"
    r"diagnostic\w+|embarazad\w+|murio|fallecio|abri|dej(?:e|ado) de|lo (?:dejamos|hemos dejado)|cambi(?:e|ado)|"
    r"en (?:el )?paro|de baja)\b|"
    r"\b(?:started (?:as|at|working)|empe(?:ce|zamos|zo) (?:de|como|a trabajar)) \w|"
    r"\b(?:found|got) (?:an? )?(?:new )?(?:job|work)\b|\b(?:encontr|consig)\w+ (?:un )?(?:trabajo|empleo)\b|"
    r"\b(?:lost|left|perdi|deje) (?:my|mi|el|la) (?:job|trabajo|empleo|carrera|piso|casa)\b"
)
"""Life events, whose effect lasts for years."""
_VERY = (
    r"(?:(?:a (?:bit|little)|so|very|really|quite|pretty|too|just|still|already|kind of|super|feeling|not feeling|"
    r"getting|un (?:poco|poquito)|muy|bastante|super|tan|re|todavia|ya|aun) )*"
)
_AM = rf"(?:i|we) (?:(?:am|are|was|were)|feel|have been feeling) {_VERY}"
_FELT = (
    r"hungry|thirsty|starving|famished|tired|exhausted|knackered|sleepy|freezing|cold|hot|sick|unwell|poorly|dizzy|"
    r"nervous|anxious|stressed(?: out)?|bored|drunk|tipsy|hung ?over|upset|angry|furious|mad|sad|down|happy|excited|"
    r"thrilled|late(?: for \w+)?|busy|on hold(?: with (?:\w+ )?\w+)?|in a (?:hurry|rush|bad mood|good mood)|"
    r"running late|half asleep|awake|speechless|shocked"
)
_FEELS = re.compile(
    rf"^(?:\w+,? )?(?:{_AM}(?:{_FELT}))(?!\w| (?:about|of|with|at|to|de|por|con) )|"
    rf"^(?:i|we) {_VERY}(?:have got|have|got) (?:an? |the )?(?:\w+ )?(?:headache|hangover|cold|fever|flu|toothache|"
    rf"stomach ?ache|sore throat)$|"
    r"\b(?:hurts?|duelen?|(?:is|are) (?:killing me|sore|aching|cold|freezing|wet|numb))\b|"
    r"\b(?:tengo|tenemos) (?:(?:mucha?|un poco de|algo de|tanta?|bastante|una?) )?(?:hambre|sed|sueno|frio|calor|prisa|"
    r"ganas|fiebre(?! del)|resaca|dolor de cabeza|gripe|catarro|resfriado)\b"
)
_POSSESSION = re.compile(
    r"^(?:(?:now|ahora|also|tambien|and|y) )?(?:my|mis?) (?:(?:late|older|younger|difunt[oa]) )?[\w-]+ (?P<rest>.*)"
)
_CAME_OR_DID = re.compile(
    rf"^(?:was|were|fue|fueron) (?:(?:an?|the|una?|el|la) )?(?:[\w-]+ )?{OCCUPATION}"
    r"(?=$| (?:in|at|of|for|from|all|en|del?|tod[oa]) )|"
    r"^(?:(?:came|comes?|is|were|was|emigrated|moved) from|emigrated|met (?:in|at)|grew up|worked|ran an?|owned|"
    r"served|fought|used to|luch(?:o|aron)|vin(?:o|ieron) del?|emigr(?:o|aron)|se conocieron|crecio|nacio|nacieron|"
    r"trabaj(?:o|aron)|(?:tuvo|tuvieron) una? (?!mal\b|buen\b))\b"
)
"""Where a person came from and what they did for a living, which stays worth knowing although it is past."""
_IS_OR_HAS = re.compile(
    r"^(?:\w+ ){0,5}?(?:is|are|was|were|has|have|had|lives?|works?|stud(?:y|ies)|owns?|earns?|costs?|ends?|es|son|era|"
    r"fue|esta|estan|tiene|tienen|vive|viven|trabajan?|estudian?|gana|cuesta|vence|se)\b"
)
_OF_OURS = re.compile(r"\b(?:me|us|my|our|mine|ours|nos|mis?|nuestr[oa]s?|conmigo)\b")
_POINTING_WORDS = frozenset(
    words(
        "this that these those it them one ones here there first second third last next other another option both "
        "same former latter all none everything nothing right wrong back new later before already now today yesterday "
        "again eso esa esas ese esos esto esta este estas estos lo la los las le les uno una unos unas otro otra otros "
        "otras primero primera segundo segunda tercero tercera ultimo ultima siguiente opcion ambos ambas mismo misma "
        "todo todos nada aqui ahi alli hoy ayer ahora luego antes ya nuevo nueva asi phone mobile movil telefono like "
        "liked likes love loved hate hated prefer preferred enjoy dislike mean meant say said tell told saw seen heard "
        "wait waiting buy bought sell sold gusta gustan gusto encanta encantan odio prefiero detesto adoro convence "
        "convencen quiero dije digo dicho conto conte visto oido espero esperar esperare vuelto compre compro compra "
        "vendi vendo changed mind idea opinion cambie cambiado mistake accident error equivoque gone come went fue ido"
    )
)
"""Words that refer to something in the chat, and words for what people do with it."""
_PASSING = re.compile(
    r"\b(?:prefer|prefiero|rather|like|love|gusta|encanta) (?:to )?(?:see|know|hear|it|that|this|"
    r"not (?:to )?(?:say|answer|tell)\b|no (?:dec|contest|respond|habl|cont)[aei]r|verlo|ver|saber|your|"
    r"tu|eso|esto|la idea|the idea|how|c[oó]mo|lo que|que me (?!mand|envi|escrib|habl|trat|llam|avis|expli|"
    r"contest|respond))",
    re.I,
)
_TROUBLE = re.compile(
    r"\b(?:passwords?|contrasenas?|(?:charged|cobrado|billed) (?:me )?(?:twice|again|dos veces|de mas)|"
    r"(?:card|payment|tarjeta|pago) (?:was|got|is|ha sido|fue|esta) (?:declined|rejected|refused|rechazad[oa])|"
    r"log(?:ged)? (?:in|out)|iniciar sesion|cobrado dos veces)\b"
)
"""Trouble with the service, which says nothing about the person."""
_NAME = re.compile(r"(?<=\w )(?!I\b)[A-ZÁÉÍÓÚÑ]\w+")
_FIGURE = re.compile(r"\d")


def is_lasting(clause: str) -> bool:
    """Whether a clause about its writer holds for longer than the moment."""
    normalized, lowered = normalize(clause).strip(" .,;:!"), clause.lower()
    if _GOES_ON.search(normalized):
        return True
    if _YOURS.search(lowered) or _FEELS.search(normalized):
        return False
    if _LIFE_EVENT.search(normalized) or _FIGURE.search(normalized):
        return True
    is_past = HAS_HAPPENED.search(lowered) or _HAPPENED.search(lowered)
    if not is_past and _CONDITION.search(normalized):
        return True
    if _WHERE.search(normalized):
        return bool(_NAME.search(clause))
    if state := _STATE.search(normalized):
        description = state[state.lastgroup or 0]
        describes_only = (
            PERSON.match(normalized) or state["out"] or state["left"] or description.split()[0].endswith("ing")
        )
        subjects = kinds(description if describes_only else normalized) - (
            _MOVABLE if _AT_THE.match(description) else frozenset()
        )
        return bool(_NAME.search(clause) or subjects or _STUDIES.search(description))
    if _TODAY.search(normalized):
        return False
    if _JUST.search(normalized) and (is_past or _DOING.search(normalized)) and not _HAS_NOW.search(normalized):
        return False
    possession = _POSSESSION.match(normalized)
    is_of_person = possession and PERSON.match(normalized)
    if possession and is_of_person and _CAME_OR_DID.match(possession["rest"]):
        return True
    if possession and not (_IS_OR_HAS.match(possession["rest"]) or _OF_OURS.search(possession["rest"])):
        return not is_past if is_of_person else bool(kinds(normalized))
    if not (is_past or _DOING.search(normalized)) or (
        possession and is_of_person and _OF_OURS.search(possession["rest"])
    ):
        return True
    return bool(_NAME.search(clause) or ((not is_past or _HAS_NOW.search(normalized)) and kinds(normalized)))


def is_passing(text: str) -> bool:
    """Whether a text says what is wanted for the moment: "I'd prefer to see it"."""
    return bool(_PASSING.search(text))


def is_of_the_moment(statement: str) -> bool:
    """Whether a statement means nothing outside the chat ("I prefer the second one", "la compré ayer"), reports trouble
    with the service, or says how somebody is just now."""
    normalized = normalize(statement)
    telling_words = [word for word in words(normalized) if word not in _POINTING_WORDS and word not in FILLER_WORDS]
    telling_words += re.findall(r"\bté\b", statement.casefold())  # tea, which without its accent is a pronoun
    return not telling_words or _TROUBLE.search(normalized) is not None or not is_lasting(statement)
