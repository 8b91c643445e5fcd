"""The figures and times that a question states or asks for, and whether a sentence answers them.

"Can I come at 9?" is answered only by a sentence with hours, "how long does it take?" only by a duration, and "what
does it cost?" not by a deposit. A sentence without it is no answer, however similar it is. Spanish and English.
"""

import re
from collections.abc import Sequence

from agent.domain.number_words import BELOW_100, in_figures
from agent.domain.offline import shapes
from agent.domain.offline.common_words import is_common
from agent.domain.offline.excerpts import Excerpt
from agent.domain.offline.lexicon import keys_in, keys_of, words_of
from agent.domain.text_features import plain
from contracts.expressions import expression

_COUNT = rf"(?:\d{{1,4}}|an?|una?|couple of|par de|{BELOW_100})"
UNIT = (
    r"(?:min(?:ute|uto)?s?|hours?|horas?|hrs?|nights?|noches?|days?|dias?|weeks?|semanas?|months?|mes(?:es)?|years?|"
    r"anos?)"
)
STATED_LENGTH = expression(
    rf"(?<!per )(?<!al )(?<![\d.,])\b(?!(?:an?|una?) (?:day|night|week|month|year|dia|noche|semana|mes|ano)\b"
    rf"(?! (?:before|after|ahead|later|late|early|antes|despues|tarde)))"
    rf"{_COUNT}[ -](?:(?:working|business|full|whole) )?{UNIT}\b(?!\W+old\b)"
)
"""A length of time that a question states; "a month" alone is the period of a price."""
AGE = expression(
    rf"(?:\b(?:my|our|mi|nuestr[oa]) \w+ )?"
    rf"(?:\b(?:tiene|tengo|tienen|cumple|turns|aged?|de) {_COUNT} (?:years?|anos?|months?|mes(?:es)?)\b|"
    rf"\b{_COUNT}[ -](?:years?|months?)[ -]old\b|"
    r"\b(?:is|am|turned|(?:s?he|i)['’ ](?:s|m)|tiene|tengo|hij[oa] de) (?:only |just |solo )?\d{1,2}(?= ?(?:$|[,.;?!]|"
    r"and\b|y\b|can\b|puede\b)))"
)
"""Somebody's age with the words for the person: a question with a daughter's age is not about daughters."""
_HOW_MANY_UNITS = expression(rf"\b(?:how many|cuant[oa]s) (?:working )?{UNIT}\b")
LENGTH: frozenset[str] = frozenset(("=length",))
CONTAINS_LENGTH = expression(
    rf"\b{_COUNT}[ -](?:(?:\w+ )(?:or \w+ )?)?{UNIT}\b|\b{UNIT}(?: \w+){{0,2}}:? \d|"
    rf"\b(?:per|every|each|cada|al?|por) {UNIT}\b|"
    r"\bat once\b|\bimmediately\b|\bal momento\b|\balways\b|\bsiempre\b|\banytime\b|\bat any time\b|\bcuando quieras\b"
)
STATED_TIME = expression(
    r"\b(?:at|by|until|till|from|before|after|a las?|hasta las?|desde las?|sobre las?|antes de las?) "
    r"(?:\d{1,2}[:.h]\d{2}|\d{1,2}(?![\d.,:])(?! ?(?:%|€|£|\$|usd|eur|dol|pound|libra|people|person|alumn|"
    r"min|hour|hora|day|dia|week|semana|month|mes|year|ano|mile|km)))"
    r"(?: ?(?:[ap]\.?m\b\.?|h\b|o.?clock))?"
    r"(?: (?:in the|de la|por la) (?:morning|afternoon|evening|manana|tarde|noche))?|"
    r"\b\d{1,2}(?:[:.]\d{2})? ?[ap]\.?m\b|\b(?:at|by|until|before|after|a|al|hasta el|antes del?) "
    r"(?:noon|midday|midnight|mediodia|medianoche)\b"
)
"""A time of day that a question states."""
TAKES: frozenset[str] = frozenset(("=takes",))
HOW_LONG_IT_TAKES = expression(
    r"\bhow (?:quick\w*|fast|soon)\b|\bhow long (?:does|do|will|would|is|are|until|till)\b.{0,60}\b(?:take\w*|arriv\w+|"
    r"active|wait\w*|deliver\w*|come|ready)\b|\bhow long until\b|\bcuant[oa]s? (?:\w+ )?(?:se )?(?:tard\w+|demor\w+)"
)
_DEADLINE_OR_CONDITION = expression(
    rf"\b(?:if|si|unless|salvo|until|hasta)\b[^,;.]*|"
    rf"\b(?:within|en|dentro de)(?: (?:the|los|las))? (?:(?:first|primer\w+) )?"
    rf"{_COUNT} (?:\w+ )?{UNIT} (?:of|after|from|since|siguientes|desde|tras|posteriores)\b[^,;.]*|"
    rf"\b{_COUNT} (?:\w+ )?{UNIT} (?:before(?! \w)|antes(?! de)|ahead|earlier|in advance|notice|"
    r"de (?:antelacion|aviso))\b|"
    rf"\b(?:ages?|aged|edad\w*)(?: \w+){{0,2}}:? {_COUNT}(?: {UNIT})?(?: ?(?:to|a|-|–) ?{_COUNT})? {UNIT}\b|"
    rf"\b{_COUNT}[ -](?:years?|months?)[ -]old\b"
)
"""Deadlines, conditions and ages, which are not durations."""
_AT_ONCE = expression(
    r"\b(?:at once|immediate\w*|instant\w*|straight away|same day|al momento|inmediat\w+|en el acto|mismo dia|"
    r"at the end of|al final del?)\b"
)
MEASURE = frozenset(("=measure",))
HOW_BIG = expression(
    r"\bhow (?:big|large|tall|heavy|wide|deep|high)\b|\bcuant[oa]s? (?:mide|miden|pesa|pesan)\b|"
    r"\b(?:what size|que tamano)\b"
)
_AMOUNT_OF_MONEY = expression(r"[$€£] ?\d[\d.,]*|(?<![\d.,])\d[\d.,]{0,15}+ ?(?:[$€£]|usd\b|eur\w*|dol\w+|pesos\b)")
CONTACTS = tuple(
    (
        expression(
            rf"^(?:\w+ ){{0,2}}(?:what|whats|which|cual|que|your|vuestro|tu|su|the|el|un|teneis|tienes|"
            rf"tienen|have|there|hay)"
            rf"(?: (?:is|es|s|an?|un|the|your|el|vuestro|tu|su))*? (?:{words})"
            r"(?: (?:address|number|electronico|de contacto|de telefono))?\W*$"
        ),
        keys,
    )
    for words, keys in (
        ("e ?mail|mail|correo", frozenset(("=address",))),
        ("phone|telephone|telefono|numero de telefono|phone number", frozenset(("=number",))),
    )
)
"""Questions for an e-mail address or a telephone number, with the keys of which an answer must have one."""
CONTACT_WAY = expression(
    r"\b(?:by|via|over the|on|por|mediante) "
    r"(?P<way>phone|telephone|e?mail|whatsapp|sms|post|telefono|correo|telegram)\b"
)
"""The means by which something is done; an answer must name the same."""
_SHOWN_CONTACTS = (
    ("=address", expression(r"\S@\S")),
    (
        "=number",
        expression(r"(?:\+|\b)\d[\d ()-]{7,}\d|\b(?:[Nn]ot?|sin) (?:\w+ ){0,3}(?:telephone|phone|tel[eé]fono)"),
    ),
)
"""A sentence shows a number also if it says that there is none."""
CONTACT_KEYS = frozenset(key for key, _ in _SHOWN_CONTACTS)
WORTH = frozenset(("=worth",))
ASKS_OPINION = expression(
    r"\b(?:which|what|cual(?:es)?|que)\b.{0,40}?\b(?:better|best|mejor(?:es)?|peor|worse|recom\w+)\b"
    r"(?! (?:day|time|dia))|"
    r"\b(?:better|best) (?:value|deal|for me|for us)\b|\bworth it\b|\bmas a cuenta\b|\bcompensa\b|"
    r"\b(?:merece|vale)n? la pena\b|\bme conviene\b"
)
"""A question for the better one. Only a page that recommends something answers it."""
SAYS_WORTH = expression(
    r"\b(?:best|better|ideal|perfect|popular|recommend\w*|suited|mejor|ideal|perfect[oa]|recom\w+|pensad[oa] para)\b"
)
_PART_OF_PRICE = (
    r"(?:deposit|down ?payment|surcharge|penalt\w+|late fee|deposito|fianza|senal|anticipo|recargo|suplemento|"
    r"penalizacion|matricula|registration fee|delivery|shipping|envio)"
)
PART_OF_PRICE = expression(rf"\b{_PART_OF_PRICE}\b")
_MONEY = next(shape for key, shape in shapes.SHAPES if key == "=price")
_FREE = expression(r"\b(?:free|gratis|gratuit[oa]s?)\b")
_NO_PRICE_OR_SHARE = expression(rf"{_FREE.pattern}|\d ?%|\b(?:includ|incluy|incluid|no charge|no cost|sin coste)")
"""What answers a question for a price without an amount."""
_DURATION = next(shape for key, shape in shapes.SHAPES if key == "=duration")
_HOUR = next(shape for key, shape in shapes.SHAPES if key in shapes.CLOCK)
_TIME = expression(
    r"\d{1,2}(?:[:.h]\d{2}| ?[ap]\.?m\b)|\b(?:noon|midday|midnight|mediod[ií]a|medianoche)\b|"
    r"\b(?:from|until|till|at|hasta|de|las?|24) \d{1,2}\b|24/7",
    re.IGNORECASE,
)
_DAY = next(shape for key, shape in shapes.SHAPES if key == "=when")
NEXT_PERIOD = expression(rf"\b(?:next|coming|proxim[oa]s?) (?={UNIT}\b)|\bque viene\b")
FREE_OR_PAID = expression(
    r",? ?\b(?:or|o) (?:do|does|must|is|hay|tengo|tiene|es|se|have)\b.{0,20}\b(?:pay|paid|pag\w+)\b"
)
"""The second half of "is it free, or do I have to pay?", which is a question for the price."""


def states_length(normalized: str) -> bool:
    """Whether a normalized question states a length of time or asks for a number of time units; ages do not count."""
    return bool(STATED_LENGTH.search(AGE.sub(" ", normalized)) or _HOW_MANY_UNITS.search(normalized))


def without_length(normalized: str) -> str:
    """The question without its lengths of time and ages."""
    return " ".join(_HOW_MANY_UNITS.sub(" ", STATED_LENGTH.sub(" ", AGE.sub(" ", normalized))).split())


def states_duration(text: str) -> bool:
    """Whether a sentence says how long something takes, apart from deadlines and conditions."""
    unconditional = _DEADLINE_OR_CONDITION.sub(" ", plain(text))
    return bool(_AT_ONCE.search(unconditional) or _DURATION.search(unconditional))


def is_part_of_price(text: str) -> bool:
    """Whether a sentence's only price is that of a part: a deposit, a fee for being late."""
    return bool(PART_OF_PRICE.search(plain(text))) and len(_MONEY.findall(text)) <= 1


def shows_hour(text: str) -> bool:
    """Whether a sentence contains a time of day; "closed" is not one."""
    return _TIME.search(text) is not None


def has_measure(text: str) -> bool:
    """Whether a sentence contains a figure that is not a price."""
    return any(map(str.isdigit, in_figures(_AMOUNT_OF_MONEY.sub(" ", plain(text)))))


_CLAUSE_END = expression(r"[,;:](?=\s)")


def gives_count(passage: Excerpt, keys: frozenset[str]) -> bool:
    """Whether a passage says how many there are of something (`keys`): a number before the word, or a table's cell."""
    if passage.is_table_row:
        name, _, text = passage.text.partition(":")
        cells = list(zip(passage.columns, passage.cells, strict=False))
        # The cell "60 minutes" of the row "Moped" counts no mopeds.
        return any(
            has_measure(cell)
            and keys & keys_in(f"{name if in_figures(plain(cell)).isdigit() else ''} {column} {cell}")
            and not _MONEY.search(cell)
            for column, cell in cells or [(name, text)]
        )
    asks_same = keys & keys_in(passage.heading) and shapes.HOW_MANY.search(plain(passage.heading))
    if asks_same and any(map(str.isdigit, passage.text)):
        return True
    counts = (count for part in _CLAUSE_END.split(passage.text) for count in shapes.COUNTED.finditer(plain(part)))
    return any(keys & keys_of(word) for count in counts for word in count["what"].split())


def contacts_in(text: str) -> set[str]:
    """The keys of the contacts that a sentence contains: =address (e-mail), =number (telephone)."""
    return {key for key, pattern in _SHOWN_CONTACTS if pattern.search(text)}


def inherited_keys(question: str, antecedent: str) -> list[frozenset[str]]:
    """The keys that a short question inherits from the question that it refers to: "and on Pro?", after how long it
    takes on Premium."""
    normalized, normalized_antecedent = plain(question), plain(antecedent)
    if len(normalized.split()) > _MAX_FOLLOW_UP_WORDS or any(
        pattern.search(normalized) for pattern in (shapes.HOW_LONG, shapes.HOW_MUCH, shapes.PRICE_WORD)
    ):
        return []
    inherited: list[frozenset[str]] = []
    if HOW_LONG_IT_TAKES.search(normalized_antecedent):
        inherited = [TAKES]
    elif shapes.HOW_LONG.search(normalized_antecedent):
        inherited = [shapes.DURATION]
    elif _HOW_OLD.search(normalized_antecedent) and not _ASKS_ITSELF.search(normalized):
        inherited = [_AGE]
    elif _PRICED.search(normalized_antecedent) and not _ASKS_ITSELF.search(normalized):
        inherited = [shapes.COST]
    return [*inherited, *([shapes.CLOCK] if STATED_TIME.search(normalized) else [])]


def without_how_long(text: str) -> str:
    """The text without its words for how long something takes."""
    return _HOW_LONG.sub(" ", plain(text))


_MAX_FOLLOW_UP_WORDS = 5
_AGE = frozenset(("=age",))
_CONTAINS_AGE = dict(shapes.SAID_AS)["=age"]
_HOW_OLD = expression(r"\b(?:que edad|(?:wh?at|which) age|how (?:old|young))\b")
_PRICED = expression(f"{shapes.HOW_PRICED.pattern}|{shapes.COSTS.pattern}")
_ASKS_ITSELF = expression(
    "|".join(pattern.pattern for pattern in (shapes.ASKS_WHICH, shapes.DO_YOU, shapes.MAY, shapes.OBLIGED))
)
"""Patterns of a question that asks for something of its own instead of repeating the previous one."""
_HOW_LONG = expression(
    rf"{shapes.HOW_LONG.pattern}|\bhow fast\b|\b(?:tak|last|dur|tard|demor|arriv|lleg)\w*|"
    r"\b(?:until|active|activ[oa]|ready|list[oa])\b"
)


A_DAY = expression(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends?|lunes|martes|miercoles|jueves|viernes|sabados?|"
    r"domingos?|fin(?:es)? de semana|findes?)\b"
)
_ANY_DAY = expression(r"\b(?:every day|daily|all week|seven days|24/7|cada dia|todos los dias|a diario|diariamente)\b")
_ASKS_WHAT_IS_LACKING = expression(
    r"\bque no (?:teng|tien|inclu|trai|trae|est)\w*|"
    r"\b(?:that|which) (?:\w+ ){0,3}(?:doesn.?t|does not|don.?t|do not|isn.?t|is not)\b|\bnot in\b"
)
"""Asks what one thing lacks; no quotation says that."""


def _names_somebody_else(excerpt: Excerpt, question: str) -> bool:
    """Whether an excerpt or its heading contains a person's name, in two words, that has no word of the (normalized)
    question, as "Study Room" has for "who runs the study room?"."""
    question_words = set(words_of(question))
    names = shapes.FULL_NAME.findall(f"{excerpt.heading}. {excerpt.text}")
    names = [name for name in names if not A_DAY.search(plain(name))]  # "Three Tuesday evenings"
    return any(question_words.isdisjoint(words_of(name)) for name in names)


def meets_constraints(question: str, antecedent: str, quoted: Sequence[Excerpt]) -> bool:
    """Whether the quotations together contain what the question states and asks for."""
    normalized, text = plain(question), " ".join(f"{excerpt.heading}: {excerpt.text}" for excerpt in quoted)
    if states_length(normalized) and not CONTAINS_LENGTH.search(plain(text)):
        return False
    if _ASKS_WHAT_IS_LACKING.search(normalized):
        return False
    how_many = None if _HOW_MANY_UNITS.search(normalized) else shapes.HOW_MANY.search(normalized)
    counted = keys_of(how_many["what"]) if how_many else frozenset[str]()
    if counted and not is_common(counted) and not any(gives_count(excerpt, counted) for excerpt in quoted):
        return False
    if shapes.WHO.search(normalized) and not any(_names_somebody_else(excerpt, normalized) for excerpt in quoted):
        return False
    if A_DAY.search(normalized) and not (A_DAY.search(plain(text)) or _ANY_DAY.search(plain(text))):
        return False
    if STATED_TIME.search(normalized) and not (_HOUR.search(text) or _DAY.search(text)):
        return False
    if ASKS_OPINION.search(normalized) and not SAYS_WORTH.search(plain(text)):
        return False
    asks_duration = shapes.HOW_LONG.search(normalized) and not shapes.UNTIL_WHEN.search(normalized)
    asks_duration = asks_duration or HOW_LONG_IT_TAKES.search(normalized)
    if asks_duration and not any(states_duration(excerpt.text) for excerpt in quoted):
        return False
    for keys in inherited_keys(question, antecedent) if antecedent else ():
        if keys == TAKES and not any(states_duration(excerpt.text) for excerpt in quoted):
            return False
        if keys == shapes.DURATION and not _DURATION.search(text):
            return False
        if keys == _AGE and not _CONTAINS_AGE.search(text):
            return False
        if keys == shapes.COST and not (_MONEY.search(text) or _FREE.search(plain(text))):
            return False
    if _PRICED.search(normalized) and not (_MONEY.search(text) or _NO_PRICE_OR_SHARE.search(plain(text))):
        return False
    asks_price = bool(shapes.HOW_MUCH.search(normalized) or shapes.PRICE_WORD.search(normalized))
    asks_price = asks_price and not PART_OF_PRICE.search(normalized)
    priced_texts = [excerpt.text for excerpt in quoted if _MONEY.search(excerpt.text)]
    return not (asks_price and priced_texts and all(map(is_part_of_price, priced_texts)))
