"""The names of months, days and numbers in Spanish and English, for lookup in folded text (lower case, no accents)."""

from contracts.languages import Language

MONTH_NAMES: dict[Language, tuple[str, ...]] = {
    "es": (
        "enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre",
        "diciembre",
    ),
    "en": (
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ),
}  # fmt: skip
DAY_NAMES: dict[Language, tuple[str, ...]] = {
    "es": ("lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"),
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
}
MONTHS = {name.lower(): number for names in MONTH_NAMES.values() for number, name in enumerate(names, 1)}
MONTHS["setiembre"] = 9
"""The month's number, by its whole name."""
_SMALL = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen",
    "es": "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince "
    "dieciseis diecisiete dieciocho diecinueve",
}
_TENS = {
    "en": "ten twenty thirty forty fifty sixty seventy eighty ninety hundred",
    "es": "diez veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa cien",
}
NUMBERS = {
    **{word: number for words in _SMALL.values() for number, word in enumerate(words.split()) if word != "once"},
    **{word: 10 * number for words in _TENS.values() for number, word in enumerate(words.split(), 1)},
}
"""Whole numbers by their word. Articles are left out, since they only sometimes count, and "once", which is also
English."""

_OF_MEMORY = (
    r"(?: (?:everything|all|anything|whatever|it all))?(?: (?:that|what))? "
    r"(?:i (?:said|told you|mentioned)|you (?:know|remember|have (?:on|about|stored|saved)))\b"
    r"| (?:everything|all|anything) about\b| the (?:note|fact|part|bit|thing|stuff) (?:about|that|on)\b"
)
_DE_MEMORIA = (
    r" (?:(?:lo|todo lo|el nombre|la edad) del?|mis?|todo (?:sobre|acerca de)|(?:todo )?lo que (?:te (?:dije|conte|he "
    r"(?:dicho|contado))|sabes|recuerdas|tienes)|(?:de|from) (?:tu|mi) memoria)\b"
)
FORGETTING = (
    r"(?:forget|stop remembering|don'?t remember|do not remember|no longer remember|"
    r"(?:you do not|you don'?t|no) need to remember|"
    rf"(?:scratch|delete|drop|remove|erase|wipe|clear)(?={_OF_MEMORY})|"
    r"olvid(?:a|ate|ame|alo|ar|es|e)|deja de recordar|dejes de recordar|(?:ya )?no (?:quiero que |hace falta que )?"
    rf"(?:te )?recuerdes|no (?:guardes|recuerdes)|(?:borra|elimina|quita)(?:me|lo)?(?={_DE_MEMORIA}))"
)
"""How somebody begins who wants something forgotten, as a pattern over plain text (lower case, no accents)."""
