"""The words of a statement that count when two statements are compared: each word's concept, or else its stem.

"I work at Ford" and "dejé mi empleo en Ford" are about the same thing: work and empleo are one concept.
"""

import re
from functools import lru_cache

from contracts.calendar_names import NUMBERS
from contracts.vocabulary import with_distinct_nouns
from memory.domain.recall.words import STOP, english, folded, spanish, words

MIN_STEM_LETTERS = 5
"""Letters that a stem needs to identify forms of a word that are not listed."""
_CONCEPTS = {
    "be": "am was soy estoy somos estamos era fui",
    "have": "have has had own owned owns hold held holds got tengo tenemos tenia tener tuve poseo posee "
    "collect colecciono",
    "live": "live lives lived living reside based vivo vivi vivia vivir vivimos resido residia",
    "work": "work works worked working job jobs employed trabajo trabajaba trabajar trabaje empleo puesto",
    "study": "study studies studied studying student estudio estudie estudiaba estudiar estudiando estudiante cursando "
    "learn learns learned learnt learning aprendo aprendia aprender aprendiendo",
    "like": "like likes liked love loves loved enjoy enjoyed gusta gustan gustaba gustaban encanta encantan encantaba "
    "adoro disfruto hate odio detesto aborrezco dislike",
    "prefer": "prefer prefers preferred prefiero preferia preferimos rather",
    "buy": "buy buys bought buying compro compre compraba comprar compramos",
    "sell": "sell sells sold selling vendo vendi vender vendimos",
    "trade": "trade trades traded trading operate operated operating opero operaba operar operando tradeo",
    "invest": "invest invests invested investing investment invierto inverti invertia invertir invirtiendo inversion "
    "inversiones",
    "use": "use uses used using uso usaba usar utilizo utilizaba utilizar",
    "save": "save saves saved saving savings ahorro ahorraba ahorrar ahorrando ahorros",
    "pay": "pay pays paid paying pago pague pagaba pagar pagando",
    "owe": "owe owes owed owing debo debia deber",
    "salary": "salary wage sueldo salario earn earns earned earning gano ganaba cobro cobraba",
    "marry": "marry marries married marrying casar casamos casaremos casare casaba casabamos",
    "retire": "retire retires retired retiring retirement jubilar jubilarme jubilarse jubilo jubilacion "
    "jubile jubilado jubilada jubilare jubilaria jubilarnos jubilamos",
    "smoke": "smoke smokes smoked smoking smoker cigarette cigarettes fumo fumaba fumar fumando fumador fumadora "
    "cigarrillo cigarrillos cigarro cigarros",
    "drink": "drink drinks drank drinking bebo bebia beber tomo tomaba tomar",
    "eat": "eat eats ate eating comia comer",
    "drive": "drive drives drove driving conduzco conducia conducir manejo manejaba manejar ride rides riding rode",
    "look": "look looking looked search searching busco buscaba buscar buscando",
    "want": "want wants wanted quiero queria querer",
    "crypto": "crypto cryptos cryptocurrency cryptocurrencies cripto criptos criptomoneda criptomonedas",
    "stock": "stock stocks share shares equity equities accion acciones titulos",
    "option": "option options opcion opciones",
    "future": "futures futuros",
    "bond": "bond bonds bono bonos",
    "forex": "forex fx divisas",
    "gold": "gold oro",
    "account": "account accounts cuenta cuentas subscription suscripcion membership membresia subscribe subscribes "
    "subscribed suscrito suscrita",
    "kid": "kid kids child children hijo hijos baby bebe",
    "daughter": "daughter daughters hija hijas",
    "brother": "brother brothers hermano hermanos",
    "sister": "sister sisters hermana hermanas",
    "mother": "mother mom mum madre",
    "father": "father dad padre",
    "grandmother": "grandmother grandma granny abuela",
    "grandfather": "grandfather grandad granddad grandpa abuelo",
    "day": "day days daily dia dias diario diaria diariamente",
    "week": "week weeks weekly semana semanas semanal semanalmente",
    "month": "month months monthly mes meses mensual mensualmente",
    "quarter": "quarter quarters quarterly trimestre trimestres trimestral",
    "year": "year years yearly annual annually ano anos anual anualmente",
    "partner": "girlfriend boyfriend partner novia novio pareja fiance fiancee prometida prometido",
    "car": "car cars coche coches carro carros auto autos",
    "house": "house home casa hogar",
    "flat": "apartment flat condo piso apartamento departamento",
    "mortgage": "mortgage hipoteca",
    "loan": "loan prestamo credito",
    "broker": "broker brokerage corredor broker",
    "allergic": "allergic allergy allergies alergico alergica alergia alergias",
    "vegan": "vegan vegano vegana veganos",
    "vegetarian": "vegetarian vegetariano vegetariana vegetarianos",
    "boss": "boss manager jefe jefa",
    "landlord": "landlord landlady casero casera",
    "favourite": "favorite favourite favorito favorita favoritos favoritas",
    "goal": "goal target aim aiming meta objetivo",
    "rent": "rent alquiler renta arriendo",
    "phone": "phone telephone cellphone mobile telefono celular movil",
    "address": "address direccion domicilio",
    "name": "name nombre",
    "economics": "economics economia",
    "medicine": "medicine medicina",
    "trip": "trip journey flight viaje vuelo",
    "bank": "bank banks banco bancos",
    "contribute": "contribute contribution aporto aportacion aportaciones aportar meto aparto",
    "fear": "fear scared scare scares terrified terrifies afraid frightened miedo panico pavor asusta asustan aterra",
    "dog": "dog dogs perro perra perros perras perrito perrita chucho",
    "cat": "cat cats gato gata gatos gatas gatito gatita",
}
_CONCEPT_OF_WORD = {word: concept for concept, listed in reversed(_CONCEPTS.items()) for word in listed.split()}
_CONCEPT_OF_STEM = {
    stem: concept
    for concept, listed in _CONCEPTS.items()
    for stem in (spanish(english(word)) for word in listed.split())
    if len(stem) >= MIN_STEM_LETTERS
}
"""The concept by the stem of a listed word, for the forms of a verb that are not listed."""
_NEUTRAL = frozenset(
    words(
        """
        always never siempre nunca usually normalmente really actually currently actualmente lately now ahora ya still
        todavia aun anymore longer mas just recently recien please also tambien too mostly sobre solo only again otra
        anyway todo toda todos todas every all lot mucho bastante quite suelo nowadays ever number numero
        new nuevo nueva
        completely entirely completo turns resulta current actual jamas ultimamente even since called llama
        hardly barely apenas casi llamo named not nor final whatsoever tan totally total totalmente absolutely plus
        """
    )
)
FILLER_WORDS = STOP | _NEUTRAL
_CONTRACTIONS = (
    (re.compile(r"\bcurr(o|a|amos|ando|aba|ar)\b"), r"trabaj\1"),
    (re.compile(r"\b(i|we|you|they)'m\b"), r"\1 am"),
    (re.compile(r"\b(what|where|who|how|when)s\b"), r"\1 is"),
    (re.compile(r"\bim\b"), "i am"),
    (re.compile(r"\bive\b"), "i have"),
    (re.compile(r"^(mum|mom|mummy|dad|daddy|grandma|grandpa|granny)\b"), r"my \1"),
    (re.compile(r"\bwanna\b"), "want to"),
    (re.compile(r"\bgonna\b"), "going to"),
    (re.compile(r"\bcan'?t\b"), "can not"),
    (re.compile(r"\bwon'?t\b"), "will not"),
    (re.compile(r"\b(do|does|did|is|are|was|were|have|has|had|would|could|should)n'?t\b"), r"\1 not"),
    (re.compile(r"\b(i|we)'ve\b"), r"\1 have"),
    (re.compile(r"\b(i|we)'re\b"), r"\1 are"),
    (re.compile(r"\b(i|we)'ll\b"), r"\1 will"),
    (re.compile(r"(?<=\w)'s (?=(?:done|over|gone|paid|off|finished|history|behind)\b)"), " is "),
    (re.compile(r"\b(?:no (?:he|hemos) vuelto|no volvi) a (?=\w+[aei]r(?:[mts]e|nos|l[aeo]s?)?\b)"), "ya no "),
    (
        re.compile(r"\b(?:vuelvo|volvemos|(?:he|hemos) vuelto|volvi) a (?=\w+[aei]r(?:[mts]e|nos|l[aeo]s?)?\b)"),
        "ahora ",
    ),
    (re.compile(r"\b(?:have|has|had) been\b"), "been"),
    (re.compile(r"\bin the end\b(?! of\b)"), "now"),
    (re.compile(r"\bthese days\b"), "nowadays"),
    (re.compile(r"\bal final\b(?! del?\b)"), "ahora"),
)
_MY_SON = re.compile(r"\b(my|our|oldest|eldest|youngest) son\b")
"""The English noun; "son" alone is a Spanish verb without a meaning of its own."""
I_EAT = re.compile(
    r"(?<=\bno )como\b(?! (?:antes|tu|el|ella|yo|siempre|los? demas|todos?)\b)|(?<=\bnunca )como\b|"
    r"(?<=\bque )como(?=\W*$)"
)
"""The Spanish verb, which is spelled like "as" and "how"."""
ACTIONS = frozenset(
    words("be have like prefer want buy sell trade invest use live work pay study look eat drink drive save")
)
"""Concepts of what people do. Two statements may share one of them and still be about different things."""
_IS = re.compile(r"^(\W*(?:[\w ]{1,15}, )?(?:[Mm]y|[Oo]ur) \w+)'s (?=[A-Z]\w+\W*$|(?:an?|in|at|from|called|not)\b)")
"""A name or noun whose 's means "is": "my broker's Fidelity", "my sister's a nurse"; not "my sister's car"."""
_ADDRESS = re.compile(r"[\w.+-]{1,60}@[\w.-]{1,60}\w")
"""An e-mail address counts as one word."""
COUNTS = {
    **{word: str(count) for word, count in NUMBERS.items()},
    **dict.fromkeys(("a", "an", "un", "una"), "1"),
    **dict.fromkeys(("third", "tercer", "tercera"), "3"),
    **dict.fromkeys(("fourth", "cuarto"), "4"),
    "ningun": "0",
    "twice": "2",
}
"""The digits of each number word."""


_HAD_TO = re.compile(
    r"\b(?:(?:have|has) )?(?:had|managed|ended up having) to (?P<verb>[a-z]{3,})\b(?! i\b)|"
    r"\b(?:ended up|wound up) (?P<doing>[a-z]{2,})ing\b|"
    r"\b(?P<have>he|hemos) acabado (?P<root>[a-z]{2,}?)(?P<ando>a|ie)ndo\b|"
    r"\b(?:(?P<i>tuve|he tenido)|(?P<we>tuvimos|hemos tenido)) que (?P<stem>[a-z]{2,})(?P<vowel>[aei])r(?P<us>me|"
    r"nos)?\b"
)
"""Something done under a verb that says that it was done: "we had to sell", "tuve que vender"."""
_PAST_FORMS = {
    "sell": "sold", "leave": "left", "give": "gave", "quit": "quit", "let": "let", "cut": "cut", "get": "got",
    "put": "put", "take": "took", "break": "broke", "withdraw": "withdrew", "pay": "paid", "go": "went",
    "buy": "bought", "find": "found", "lose": "lost", "become": "became", "shut": "shut", "spend": "spent",
    "stop": "stopped",
    "drop": "dropped", "split": "split", "leav": "left", "giv": "gave", "tak": "took", "los": "lost",
    "dropp": "dropped", "stopp": "stopped", "putt": "put", "cutt": "cut", "gett": "got",
}  # fmt: skip


def _past(told: re.Match[str]) -> str:
    if told["root"]:
        return f"{told['have']} {told['root']}{'a' if told['ando'] == 'a' else 'i'}do"
    if verb := told["verb"] or told["doing"]:
        return _PAST_FORMS.get(verb) or f"{verb.removesuffix('e')}ed"
    pronoun = f"{told['us']} " if told["us"] else ""
    return f"{pronoun}{'he' if told['i'] else 'hemos'} {told['stem']}{'a' if told['vowel'] == 'a' else 'i'}do"


@lru_cache(maxsize=2_000)
def normalize(text: str) -> str:
    """Returns the text in lower case, without accents and contractions, so that rules need only one spelling."""
    normalized = folded(with_distinct_nouns(_IS.sub(r"\1 is ", text.replace("’", "'")).lower()))
    normalized = _ADDRESS.sub(lambda address: re.sub(r"\W", "", address[0]), normalized)
    for pattern, full in _CONTRACTIONS:
        normalized = pattern.sub(full, normalized)
    return _HAD_TO.sub(_past, normalized)


_ENCLITIC = re.compile(r"(?<=\w[aei]r)(?:me|te|se|nos|l[aeo]s?)$")
"""A pronoun at the end of a Spanish infinitive: casarme, venderlo."""


@lru_cache(maxsize=20_000)
def concept(word: str) -> str:
    """Returns the concept of a folded word, or else its stem."""
    word = _ENCLITIC.sub("", word)
    stem = spanish(english(word))
    return _CONCEPT_OF_WORD.get(word) or _CONCEPT_OF_STEM.get(stem, stem)


@lru_cache(maxsize=4_000)
def concepts_of(text: str) -> frozenset[str]:
    """Returns the concepts of a text, without filler words."""
    return frozenset(significant_words(text))


def significant_words(text: str) -> list[str]:
    """Returns the same concepts in the order of the text, with repeats."""
    text_words = words(I_EAT.sub("comer", _MY_SON.sub(r"\1 sons", normalize(text))))
    return [concept(word) for word in text_words if word in _CONCEPT_OF_WORD or word not in FILLER_WORDS]
