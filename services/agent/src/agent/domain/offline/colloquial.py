"""Rewrites a customer's message in the words that the grammar knows: "cop me 5 FB", "póngame cuatro", "oh dear, no".

People ask for the same few actions in many words. Each table below has words for one known word, so that the rules that
read orders, alerts and questions need one word for each thing. An order is always a command at the beginning of a
clause: "I might cop 5" orders nothing.
"""

import re
from functools import lru_cache

from agent.domain.number_words import BELOW_100, with_large_figures
from agent.domain.text_features import plain, symbols_in, word_set
from agent.texts import TEXTS
from contracts.expressions import expression
from contracts.languages import Language

_COUNT = rf"(?:\d[\d.,]*|{BELOW_100})\b"
"""Larger numbers and dozens are in figures when the rules read them."""
_PRICE = rf"{_COUNT}(?! ?(?:%|(?:shares?|stocks?|units?|acciones|acci[oó]n|t[ií]tulos?)\b))"
_CLAUSE = (
    r"(?P<lead>^\W*|[.,;:!¡]\s+|(?:^|(?<=\s))(?:and|then|ok|okay|aight|please|yeah|yes|no|just|so|y|pues|entonces|vale|"
    r"bueno|venga|ahora|también|tambien|sí)\W+)"
)
"""The beginning of a command."""

_ACCENTED = str.maketrans({"a": "[aá]", "e": "[eé]", "i": "[ií]", "o": "[oó]", "u": "[uú]", "é": "[eé]", "'": r"\W?"})


def _words(kind: str) -> str:
    """A pattern of the words in a row of `[everyday]`, with and without accents, the longest first."""
    phrases = {phrase.strip() for row in TEXTS[f"everyday.{kind}"].by_language.values() for phrase in row.split(",")}
    return "|".join(phrase.translate(_ACCENTED) for phrase in sorted(phrases, key=len, reverse=True))


_MONEY, _SELLS = _words("money"), _words("sells")
_LISTED = r"\b(?:alert|alarm|avis|order|orden|órden|watch|list)\w*"
"""Things that are cancelled or deleted, never sold."""

_FORMAL: dict[str, str] = {
    "compre": "compra", "venda": "vende", "ponga": "pon", "avise": "avisa", "quite": "quita", "borre": "borra",
    "cancele": "cancela", "anule": "anula", "elimine": "elimina", "añada": "añade", "agregue": "agrega",
    "apunte": "recuerda", "anote": "recuerda", "recuerde": "recuerda", "olvide": "olvida", "explique": "explica",
    "diga": "di", "muestre": "muestra", "enseñe": "enseña", "cambie": "cambia", "deje": "deja", "saque": "saca",
    "busque": "busca", "compare": "compara", "calcule": "calcula", "confirme": "confirma", "meta": "mete",
    "cuente": "cuenta",
}  # fmt: skip
"""Commands in the formal address (usted), with the informal ones."""
_FORMAL_COMMAND = expression(
    rf"{_CLAUSE}(?P<verb>{'|'.join(verb.translate(_ACCENTED) for verb in _FORMAL)})"
    r"(?P<rest>me|nos|le|l[oa]s?|mel[oa]s?|sel[oa]s?)?\b(?!\W+(?:que|o)\b)",
    re.IGNORECASE,
)
_ASIDES: dict[Language, re.Pattern[str]] = {
    "en": expression(
        r"\b(?:(?:would|do) you mind (?:telling|showing) me (?:whether |if )?|oh dear|dear me|my dear|goodness(?: "
        r"(?:me|gracious))?|good heavens|gosh|blimey|lowkey|highkey|tbh|ngl|imo|"
        r"fr|bro|bruh|fam|dawg|my guy|if you (?:don.?t|do not) mind|if (?:it.?s|it is) not too much trouble|would "
        r"you kindly|"
        r"(?:could|can|would|will) you (?:please |kindly )?(?=(?:tell|show|give|let|buy|sell|remind|explain|add|"
        r"remove|cancel|delete|"
        r"set|put|look|check|find|change)\b)|kindly|"
        r"(?:my \w+ (?:says|told me|thinks|reckons)|they say|i (?:heard|read|saw)(?: (?:on|in) the \w+)?)"
        r"(?: that)?(?= (?:\w+ ){1,4}(?:is|are|has|have|was|will)\b)|i suppose|"
        r"on (?:reflection|second thoughts?)|^(?:i think|i believe)(?: that)?)\b[, ]*|"
        r"(?<=\w)[, ]+(?:dear|love|sir|madam|young man|mate|man|dude|tho|though|eh|lol|lmao|fam)(?=\W*$|,)",
        re.IGNORECASE,
    ),
    "es": expression(
        r"(?:^|(?<=[,.!¡]\s)|(?<=[¡¿]))(?:ver[áa](?: usted)?|mire(?: usted)?|oiga|oye|ay|uy|hijo m[íi]o|dios "
        r"m[íi]o)\b[,! ]*|"
        r"\b(?:me puede|podr[íi]a(?:s)?|puedes?|me podr[íi]as?|me har[íi]a el favor de)(?: usted)?(?: me)? "
        r"(?:(?:explicar|decir)(?:me)? (?=(?:qu[eé]|cu[aá]l|cu[aá]nto|c[oó]mo)\b)|"
        r"(?=(?:explicar|decir|mostrar|ense[ñn]ar|avisar|comprar|vender|poner|quitar|borrar)\w*\b))|"
        r"(?:,\s*|\s+(?=\w+\W*$))(?<=[\w,]\s)(?:hij[oa]|joven|se[ñn]orita|se[ñn]or|guap[oa]|maj[oa]|wey|we|g[üu]ey|bro|crack|t[íi][oa]|"
        r"compa|carnal|parce|maestro|m[áa]quina)(?=\W|$)|\busted\b ?|"
        r"[, ]*\b(?:haga(?:me)? el favor\b(?! de)|si (?:es tan amable|no es (?:mucha )?molestia|no le importa|me "
        r"hace el favor))\b|"
        r"\b(?:mi \w+|el \w+) (?:dice|me ha dicho|me dijo) que\b ?|\bhaga el favor de\b ?|\ba ser posible\b ?",
        re.IGNORECASE,
    ),
}
"""Phrases around a request that ask for nothing."""
_TOO_MANY = expression(
    r"(?:^|(?<=\s))(?:(?:that\W?s |it\W?s |is )?(?:far |way |much )?too (?:many|much|few|little)|"
    r"(?:es|son|eso es|eso son)? ?(?:demasiad[oa]s?|much[oa]s?|muy poc[oa]s?))\b[,.! ]+"
    rf"(?=(?:(?:mejor|better|make it|just|only|solo|que sean) )?{_COUNT})",
    re.IGNORECASE,
)
"""Before the right figure: "far too many. Twenty"."""
_MAX_CHARACTERS = 600
"""Characters of a message that the rules read."""
_REPLACEMENTS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (expression(pattern, re.IGNORECASE), instead)
    for pattern, instead in (
        (r"\b(?:a couple(?: of)?|un par(?: de)?)\b", "2"),
        # Money.
        (rf"(?P<n>{_COUNT}) (?:varos|pavos|lucas|mangos|pesos)\b", r"\g<n> dólares"),
        (rf"(?P<n>{_COUNT}) (?:quid|smackers)\b", r"\g<n> dollars"),
        (r"\bde (?:lana|pasta|plata|feria|guita)\b", "de efectivo"),
        (
            r"\b(?:how much|cu[aá]nt[oa]) (?:bread|dough|dosh|moolah|scratch|lana|plata|pasta|feria|guita)\b",
            "how much cash",
        ),
        (r"\bpoder (?:de compra|adquisitivo)\b", "efectivo"),
        (r"\bmi (?:lana|plata|pasta|feria|guita|dinerito|platita)\b", "mi dinero"),
        (
            rf"\b(?:dumped|chucked|thrown|stuck|sunk|yoloed)(?= [$€£]? ?{_COUNT}(?: ?(?:{_MONEY}))? (?:at|into|in|"
            rf"on)\b)",
            "invested",
        ),
        (
            rf",? (?:pero )?que no (?:me )?(?:pasen?|suban?|cuesten?|valgan?|salgan?)(?: a)?(?: m[aá]s)? de "
            rf"(?={_COUNT})",
            " límite ",
        ),
        (
            rf",? (?:but |and )?(?:for |at )?(?:no more than|not (?:more than|above|over)|nothing above) "
            rf"(?=[$€£]?{_PRICE})",
            " limit ",
        ),
        (
            rf",? (?:pero |y )?(?:no|nunca) (?:(?:la|las|los|l[ao] pagues) )?(?:(?:a|por) )?(?:m[aá]s|encima) de "
            rf"(?=[$€£]?{_PRICE})",
            " límite ",
        ),
        (
            rf"(?P<sell>{_CLAUSE}(?:sell|vend[ea])\b[^.,;:?!]*),? (?:but |pero )?(?:for |at )?(?:no less than|"
            rf"not (?:less than|below|under)|no (?:(?:a|por) )?(?:menos|debajo) de) (?=[$€£]?{_PRICE})",
            r"\g<sell> limit ",
        ),
        (rf"(?<=\w) (?:around|about|somewhere (?:near|around)|sobre|alrededor de) (?=[$€£]?{_PRICE}\W*$)", " at "),
        # Buying and selling.
        (
            rf"{_CLAUSE}(?:buy|get|compra)(?: me)? (?P<of>\$?[a-z][\w.&/]*) (?:for|por) (?P<sum>"
            rf"[$€£] ?(?:{_COUNT}|\d[\d.,]*k\b)|(?:{_COUNT}|\d[\d.,]*k\b) ?(?:{_MONEY}))(?=\W*$)",
            r"\g<lead>buy \g<sum> of \g<of>",
        ),
        (rf"{_CLAUSE}long (?P<of>[a-z]{{1,5}}) (?={_COUNT})", r"\g<lead>buy \g<of> "),
        (
            rf"{_CLAUSE}(?:p[oó]n(?:ga)?me|m[eé]teme|[eé]chame|m[eé]tele|[eé]chale|p[oó]nle|v[aá]monos con|"
            rf"ll[eé]game con)"
            rf" (?P<n>{_COUNT}) (?:{_MONEY})(?= (?:a|en|de)\b)",
            r"\g<lead>compra \g<n> dólares",
        ),
        (
            rf"{_CLAUSE}(?:{_SELLS}|deshazte de)(?= (?:half|all|my|a (?:third|quarter)|la mitad|tod[oa]s?|mis)\b)"
            rf"(?!.*{_LISTED})",
            r"\g<lead>sell",
        ),
        (rf"{_CLAUSE}(?:h[aá]ga|haz)(?:me)? una (?:compra|adquisici[oó]n) de (?={_COUNT})", r"\g<lead>compra "),
        (rf"{_CLAUSE}(?:h[aá]ga|haz)(?:me)? una venta de (?={_COUNT})", r"\g<lead>vende "),
        (
            rf"{_CLAUSE}(?:add|put|stick|p[oó]n(?:me)?|m[eé]te(?:me)?|a[ñn]ade(?:me)?) (?P<n>{_COUNT}(?: \w+)?) "
            r"(?:to|in|into|en|a) (?:my|mi) (?:position|holdings?|portfolio|shares|cartera|posici[oó]n)\b",
            r"\g<lead>buy \g<n>",
        ),
        (rf"\b(?P<it>make it|que sean) (?:just|only|solo) (?:the )?(?={_COUNT})", r"\g<it> "),
        (
            rf"{_CLAUSE}(?:p[aá]sa|m[aá]nda|t[ií]ra|[eé]cha|su[eé]lta|reg[aá]la)me (?=(?:el|la|los|las) )",
            r"\g<lead>dime ",
        ),
        # Alerts and levels.
        (r"(?<=\w )should (?=(?:\w+ ){1,3}(?:drop|fall|rise|go|get|hit|reach|climb|dip|come|cross)\b)", "if "),
        (
            r"\b(?:si|cuando|if|when|once) (?P<what>(?:\w+ ){1,3})(?:revienta|truena|perfora al alza|se dispara a|"
            r"smashes|"
            r"blows past|busts|pumps past)(?: (?:los|las|el|la))?(?= [$€]?\d)",
            r"cuando \g<what>supera",
        ),
        (r"^\W*limitad[oa] (?=a \d)", "límite "),
        (r"\b(?:tp|take profit|price) alert\b", "alert"),
        # Questions.
        (r"\bbtw(?= [\w.&]+ (?:and|&) )", "between"),
        (
            r"\bhow(?:\W?d| did| have|\W?ve|\W?re| are) (?:my|the) (?:stuff|things|bags|picks|names)(?: do\w*)?\b",
            "how are my shares",
        ),
        (r"\b(?:what\W?s|whats) (?:poppin\w*|good|up|the (?:deal|word|story|vibe)) with\b", "how is"),
        (r"\bqu[eé] (?:se cuenta|onda|rollo|pasa)(?= (?:con|de) (?!mi|el mercado))", "noticias"),
        (r"\bqu[eé] (?:onda|pex|tranza|pedo)\b[,! ]*", ""),
        (r"\b(?:set me back|ask(?:ing)? price|bid)\b", "cost"),
        (r"\b(?:deets|lowdown|skinny)\b", "details"),
        (r"\bmis (?:cosas|chivos|posis)\b", "mis acciones"),
        (r"\bam i (?:in the (?:green|red|black|money)|winning|cooked|rich)\b", "am i up or down"),
        (r"\b(?:crushing|killing|smashing) it\b", "up the most"),
    )
)
_ASKS_SIZE = expression(
    r"(?!.*\b(?:stop|sl|did|lost|perd[ií])\b)(?=.*\b(?:how (?:many|much|big)|cu[aá]nt[oa]s?)\b)"
    r"(?=.*\b(?:risk\w*|arriesg\w+|riesgo|los(?:e|ing)|perder)\b)(?=.*\b(?:out|sal\w+|cort\w+|cut\w*)\b)",
    re.IGNORECASE | re.DOTALL,
)
"""Asks how much to buy for a sum at risk, without the word stop."""
_OF_SIZE: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (expression(pattern, re.IGNORECASE), instead)
    for pattern, instead in (
        (
            r"\b(?:los(?:e|ing)|perder) (?:more than|over|at most|m[aá]s (?:de|del|que)|como mucho|un m[aá]ximo del?) "
            r"(?=(?:un |el )?[$€]?\d)",
            "risk ",
        ),
        (r"\b(?:(?:get|getting|go|going|com\w+) )?in (?:at|for) (?=[$€]?\d)", "entry "),
        (
            r"\b(?:(?:get|getting|bail|bailing|sell|selling) )?out (?:at|for) (?=[$€]?\d)|"
            r"\b(?:me )?sal(?:go|dr[ií]a|ir|irme) (?:a|en|por) (?=\d)|"
            r"\b(?:cut|cutting|cort\w+)(?: it| losses| p[eé]rdidas)? (?:at|a|en) (?=[$€]?\d)",
            "stop ",
        ),
    )
)
_SENDS: dict[Language, re.Pattern[str]] = {
    "en": expression(
        rf"{_CLAUSE}(?!(?:buy|sell|get|cop|bag)\b)(?:\w+ (?:at )?me|give me an? \w+|\w+ me an? \w+)(?: up| back| "
        rf"know)? "
        r"(?=(?:when|if|once|as soon as)\b.*\d)", re.IGNORECASE),
    "es": expression(
        rf"{_CLAUSE}(?!(?:c[oó]mpr|v[eé]nd|qu[ií]t|b[oó]rr|canc|p[oó]n))\w+me(?: una? \w+)? (?=(?:cuando|si|en "
        rf"cuanto)\b.*\d)",
        re.IGNORECASE),
}  # fmt: skip
"""Somebody wants to be told when a price is reached."""
_TAKES_SOME = expression(
    rf"{_CLAUSE}(?:(?P<sells>{_SELLS})|(?:{_words('buys')})(?: me)?(?: the)?) "
    rf"(?P<count>{_COUNT})(?P<rest>\W*$|[,.;]|\W+(?:of|de)\s+|\W+)(?P<next>\$?[\w&]*)(?P<after>\W*\w*)",
    re.IGNORECASE,
)
"""So many are wanted: of a share, or of what was spoken of."""
_OF_AN_ORDER = word_set(
    "it them those these that more shares share stock stocks at limit stop market mkt please if when and "
    "ella ellas esas esos esa ese eso mas más acciones accion titulos títulos a en límite limite mercado si cuando y"
)
"""What may follow a number of shares."""
_POINTS = word_set("those these that esas esos esa ese")
"""Before a noun they point at what it names: ten of those headlines."""
_INVESTS = expression(
    rf"{_CLAUSE}(?:{_words('invests')}) (?P<sum>[$€£]? ?{_COUNT}) ?(?:{_MONEY})? ?(?:at|into|in|on|a|en) "
    r"(?P<share>\$?[\w&]+)",
    re.IGNORECASE,
)
_REQUESTED = expression(
    rf"^\W*(?:(?:can|could|would|will) you (?:please |kindly )?(?P<en>buy|sell)(?: me|(?=.*\bfor me\b))|"
    rf"(?:me (?:puedes?|podr[íi]as?) (?P<inf>compra|vende)r|(?:puedes?|podr[íi]as?) (?P<inf2>compra|vende)rme)|"
    rf"me (?P<es>compra|vende)s) (?P<rest>{_COUNT}(?: [\w$&.]+){{1,4}})(?:,? (?:please|por favor|for me))*\W*$",
    re.IGNORECASE,
)
"""An order put as a question: ¿me compras 5 de MSFT?"""
_SIDES = {"en": ("buy", "sell"), "es": ("compra", "vende")}
_ALERT = {"en": "alert me ", "es": "avísame "}


@lru_cache(maxsize=2_048)
def in_known_words(text: str, language: Language) -> str:
    """The message with everyday words replaced by those of the grammar, and without phrases that only surround the
    request."""
    if len(text) > _MAX_CHARACTERS:
        return text
    result = _REQUESTED.sub(
        lambda match: f"{match['en'] or match['inf'] or match['inf2'] or match['es']} {match['rest']}",
        with_large_figures(text),
    )
    if aside := _ASIDES.get(language):
        without_asides, count = aside.subn(" ", result)
        result = (
            re.sub(r"\s{2,}", " ", without_asides.strip())
            if count and len(without_asides.strip(" ?!.,¿¡")) > 1
            else result
        )
    for language in ("es", "en"):
        result = _SENDS[language].sub(lambda match, language=language: f"{match['lead']}{_ALERT[language]}", result)
    result = _TOO_MANY.sub("no, ", result)
    if language == "es":
        result = _FORMAL_COMMAND.sub(_informal_command, result)
    for pattern, replacement in (*_REPLACEMENTS, *(_OF_SIZE if _ASKS_SIZE.match(result) else ())):
        result = pattern.sub(replacement, result)
    return _INVESTS.sub(_order_for_sum, _TAKES_SOME.sub(lambda match: _order_for_count(match, language), result))


def _informal_command(match: re.Match[str]) -> str:
    """A formal command as an informal one; a past tense (compré) stays as it is."""
    if match["verb"].lower().endswith("é") and not match["rest"]:
        return match[0]
    verb = next(informal for formal, informal in _FORMAL.items() if plain(formal) == plain(match["verb"]))
    return f"{match['lead']}{verb}{match['rest'] or ''}"


def _order_for_count(match: re.Match[str], language: Language) -> str:
    """The order for a wish for a number of shares; unchanged if it may be for anything else."""
    next_word, second_word = match["next"].lower(), match["after"].strip().lower()
    names = [next_word, *([second_word] if next_word in _POINTS and second_word[:1].isalpha() else [])]
    if any(name and name not in _OF_AN_ORDER and not symbols_in(name) for name in names):
        return match[0]
    verb = _SIDES[language][match["sells"] is not None]
    return f"{match['lead']}{verb} {match['count']}{match['rest']}{match['next']}{match['after']}"


def _order_for_sum(match: re.Match[str]) -> str:
    """The order for a sum invested in a share."""
    if match["share"].lower() not in ("it", "that", "this") and not symbols_in(match["share"]):
        return match[0]
    return f"{match['lead']}buy {match['sum']} dollars of {match['share']}"
