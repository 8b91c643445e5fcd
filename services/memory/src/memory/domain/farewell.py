"""Recognises farewells: messages that say only that this was all, in Spanish or English."""

import re
import unicodedata

MAX_LENGTH = 120
_FAREWELLS = (
    r"(?:con )?eso (?:es|era|seria|fue) todo",
    r"(?:no necesito |no quiero )?nada mas",
    r"no tengo (?:mas|otras) (?:preguntas|dudas)",
    r"that(?: i|')?s (?:all|everything|it)",
    r"that (?:was|will be|would be) (?:all|everything|it)",
    r"nothing (?:else|more)",
    r"(?:i am |i'm )?all set",
    r"no (?:more|other|further) questions",
    r"i (?:do not|don't) (?:need|have) (?:anything else|any (?:more|other|further) questions)",
)
_COURTESIES = (
    r"(?:muchas |muchisimas |mil )?gracias(?: por (?:todo|la ayuda|tu ayuda|su ayuda))?",
    r"(?:many )?thanks(?: a lot| so much)?(?: for (?:everything|the help|your help))?",
    r"thank you(?: so much| very much)?(?: for (?:everything|the help|your help))?",
    r"por (?:hoy|ahora|el momento)|for (?:today|now)",
    r"no|nope|si|yes|ok|okay|okey|vale|bueno|perfecto|genial|listo|great|perfect|good|alright",
    r"adios|hasta luego|hasta pronto|chao|chau|saludos|bye|goodbye|cheers|have a (?:nice|good|great) day",
    r"(?:que tengas )?(?:un )?buen dia|buenas (?:tardes|noches)",
)
"""Phrases that a farewell may also contain. A "not", a "but" or anything else gives the message another meaning."""
_FAREWELL = re.compile(rf"\b(?:{'|'.join(_FAREWELLS)})(?![\w'])")
_WHOLE = re.compile(rf"(?:(?:{'|'.join((*_FAREWELLS, *_COURTESIES))})(?:\s+|$))+")


def is_farewell(text: str) -> bool:
    """Whether the message contains only that this was all, thanks and a good-bye."""
    if len(text) > MAX_LENGTH or "?" in text or "¿" in text:
        return False
    decomposed = unicodedata.normalize("NFKD", text.replace("\u2019", "'").casefold())
    folded = "".join(character for character in decomposed if not unicodedata.combining(character))
    normalized = " ".join(re.sub(r"[^\w']+", " ", folded).split())
    return _FAREWELL.search(normalized) is not None and _WHOLE.fullmatch(normalized) is not None
