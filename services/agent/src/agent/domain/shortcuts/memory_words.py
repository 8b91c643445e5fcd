"""Plain requests about what is remembered, in es and en: show it, forget something or everything, remember this."""

import re
from dataclasses import dataclass
from typing import Literal

from agent.domain.text_features import plain

LONGEST = 400
"""Characters of a plain request."""
_POLITE = r"(?:(?:please|por favor|oye|hey|ok|hola|hello|hi|copilot|copiloto|can you|could you|puedes|podrias)[, ]+)*"
_READ = re.compile(
    rf"{_POLITE}(?:tell me |show me |dime |muestrame |ensename )?"
    r"(?:what (?:do|did|have) you (?:know|remember(?:ed)?|stored?|saved?|learn(?:ed|t)?|keep|kept)"
    r"(?: (?:about|of|on|from) me)?|what you (?:know|remember|have stored|have saved)(?: (?:about|of) me)|"
    r"(?:show|list)(?: me)? (?:my memory|your memory of me|everything you (?:know|remember) about me)|my memory|"
    r"(?:que|lo que|todo lo que) (?:recuerdas|sabes|has aprendido|tienes guardado|guardas|has guardado|te acuerdas)"
    r"(?: (?:de|sobre|acerca de) mi)?|mi memoria|que informacion (?:tienes|guardas) (?:de|sobre) mi)"
    r"(?:,? (?:please|por favor))?"
)
_ALL = re.compile(
    rf"{_POLITE}(?:(?:forget|delete|erase|clear|wipe)(?: me)? (?:everything|all)"
    r"(?: (?:that )?you (?:know|remember|have stored|have saved)| that)?(?: (?:about|of|on) me)?|"
    r"(?:delete|erase|clear|wipe|reset) (?:my memory|your memory of me)|"
    r"(?:olvida|borra|elimina)(?:te)?(?: de)? todo(?: lo que)?(?: (?:sabes|recuerdas|tienes guardado|guardas))?"
    r"(?: (?:de|sobre|acerca de) mi)?|(?:borra|elimina|limpia|reinicia) (?:mi memoria|tu memoria de mi))"
    r"(?:,? (?:please|por favor))?"
)
_EVERYTHING = re.compile(
    rf"{_POLITE}(?:forget(?: about)? (?:it all|everything)|olvida(?:te|lo)?(?: de)? todo)(?:,? (?:please|por favor))?"
)
_ABOUT_ME = re.compile(r"\b(me|mi|my memory|memoria|know|remember|sabes|recuerdas|guardado|guardas|stored|saved)\b")
_OF_MEMORY = r"(?: (?:de|from) (?:tu|mi|your|my) (?:memoria|memory))"
_FORGET = re.compile(
    rf"{_POLITE}(?:(?:you (?:can|may|should)|i(?:'d| would) like you to|i want you to|(?<!no )quiero que|"
    r"prefiero que|te pido que) )?(?:"
    r"(?:forget|stop remembering|don'?t remember|do not remember|no longer remember)"
    r"(?: (?:about|that|what i said about))*|"
    r"(?:olvid(?:a|ate|ame|ar|es|e)|deja de recordar|dejes de recordar|(?:ya )?no (?:quiero que )?(?:te )?recuerdes|"
    rf"(?:borra|elimina|quita)(?:me)?(?:{_OF_MEMORY}|(?= (?:lo|todo lo|el nombre|la edad) de\b)|(?= (?:mi|mis)\b)))"
    rf"(?: (?:de|que|todo lo de|lo de|lo que dije de|lo que dije sobre|sobre))*):? (?P<what>\S.*?){_OF_MEMORY}?"
    r"(?:,? (?:please|por favor|thanks|thank you|gracias))?\W*"
)
_NO_MEMORY = re.compile(
    r"\b(?:alerts?|orders?|watch ?list|positions?|account|chat|conversations?|messages?|alertas?|alarmas?|avisos?|"
    r"orden(?:es)?|lista|posicion(?:es)?|cuenta|conversacion(?:es)?|mensajes?|historial)\b"
)
"""What is deleted elsewhere, by other words than "forget"."""
_NOTE = re.compile(
    rf"{_POLITE}(?:remember|keep in mind|don'?t forget|make a note|recuerda(?:me)?|acuerdate(?: de)?|ten en cuenta|"
    r"no olvides|no te olvides de|anota|toma nota)(?: de)?(?: (?:that|que)|:|,| (?=(?:my|mi|mis|i|i'm|to)\b))"
    r" ?(?P<what>\S.*)"
)
_ASKED = re.compile(
    r"\b(?:recu[eé]rda(?:me)?|acu[eé]rdate(?: de)?) (?:qué|que (?:te|os) (?:dij|cont|ped|he (?:dich|contad|pedid)))",
    re.IGNORECASE,
)
"""Not to remember it, but to be told it."""
_UNDO = re.compile(
    rf"{_POLITE}(?:no[, ]+)?(?:undo(?: (?:that|it|this))?|take (?:that|it) back|deshaz(?:lo| (?:eso|esto))|deshacer|"
    r"(?P<never>(?:forget|scrap) (?:it|that)|never ?mind|olvida(?:lo| eso)))(?:,? (?:please|por favor))?"
)
"""`never`: it takes back what was remembered; what was forgotten it would only forget again."""
_NUMBER = (
    r"(?:the |el |la |lo )?(?:number |fact |note |thing |numero |hecho |dato |nota |punto |cosa )?(?:#|no\.? ?)?"
    r"(?P<number>\d{1,3})"
)
_FORGET_ONE = re.compile(
    rf"{_POLITE}(?:forget|delete|drop|olvida(?:te de)?|borra|elimina|quita) {_NUMBER}(?:,? (?:please|por favor))?"
)
_CORRECT_ONE = re.compile(
    rf"{_POLITE}(?:correct|change|fix|update|corrige|cambia|actualiza) {_NUMBER}(?::|,| -| to\b| a\b| por\b) *(?P<text>\S.*)"
)
_REST = re.compile(
    rf"{_POLITE}(?:and )?(?:(?:show|tell|give)(?: me)? )?(?:the rest|the others|the remaining ones|more|what else)"
    r"(?: do you (?:know|remember)(?: about me)?)?|"
    rf"{_POLITE}(?:y )?(?:(?:muestrame|dime|ensename|dame|ver) )?(?:el resto|(?:l[ao]s|lo) demas|(?:que )?mas)"
    r"(?: (?:que )?(?:recuerdas|sabes)(?: de mi)?)?"
)
_ACTS = re.compile(
    r"\b(?:buy|sell|orders?|alerts?|watch ?list|cancel|compra\w*|vend\w+|orden(?:es)?|alertas?|avisame|notify|lista|"
    r"cancela\w*)\b"
)
_NOTHING = frozenset(("it", "this", "that", "lo", "eso", "esto", "me", "everything", "all", "todo"))


@dataclass(frozen=True, slots=True)
class MemoryWish:
    """What the user wants of their memory. `about`: what to forget or to remember, in their own words."""

    kind: Literal["read", "forget", "forget_all", "remember"]
    about: str = ""


@dataclass(frozen=True, slots=True)
class ListWish:
    """What the user wants of a list of facts that they were told: the rest of it, or one of them, by its number,
    forgotten or put in other words (`text`)."""

    number: int | None = None
    text: str = ""


def list_wish(text: str) -> ListWish | None:
    """What a text wants of a list of facts; None: nothing."""
    said = " ".join(text.split())
    lowered = plain(said)
    bare = lowered.strip(" ¿?¡!.")
    if _REST.fullmatch(bare):
        return ListWish()
    if match := _FORGET_ONE.fullmatch(bare):
        return ListWish(int(match["number"]))
    if (match := _CORRECT_ONE.fullmatch(lowered)) and len(lowered) == len(said):
        return ListWish(int(match["number"]), said[match.start("text") :].strip(" .“”«»\""))
    return None


def undoes(text: str, *, forgotten: bool = False, later: bool = False) -> bool:
    """Whether a text takes back what was remembered, or `forgotten`, and says no more. `later`: something else was said
    since, so that "never mind" is about that."""
    match = _UNDO.fullmatch(" ".join(plain(text).split()).strip(" ¡!."))
    return match is not None and not ((forgotten or later) and match["never"])


def acts(text: str) -> bool:
    """Whether a text speaks of an order, an alert or a list: what is taken back afterwards may be that."""
    return bool(_ACTS.search(plain(text)))


def memory_wish(text: str) -> MemoryWish | None:
    """The plain request that a text is; None: it is for the model."""
    said = " ".join(text.split())
    if not said or len(said) > LONGEST:
        return None
    # Letter for letter as long as the text, so that a place in one is a place in the other.
    lowered = plain(said)
    if len(lowered) != len(said):
        said = lowered
    bare = lowered.strip(" ¿?¡!.")
    if _READ.fullmatch(bare):
        return MemoryWish("read")
    if "?" in said or _ASKED.search(said):
        return None
    if _EVERYTHING.fullmatch(bare) or (_ALL.fullmatch(bare) and _ABOUT_ME.search(bare)):
        return MemoryWish("forget_all")
    if re.search(r"[.!;]\s+\S", said):
        # More than one sentence says more than one thing.
        return None
    start = len(lowered) - len(lowered.lstrip(" ¿¡"))
    for kind, pattern in (("forget", _FORGET), ("remember", _NOTE)):
        match = pattern.fullmatch(lowered[start:])
        if match is None:
            continue
        deletes = re.search(r"\b(?:borra|elimina|quita)", lowered) and _NO_MEMORY.search(match["what"])
        if kind == "forget" and ("," in match["what"] or deletes):
            # "Forget AAPL, let us look at MSFT" is about the conversation.
            return None
        about = said[start:][match.start("what") : match.end("what")].strip(" .,!;:")
        if plain(about) in _NOTHING or len(about) < 2:
            return None
        return MemoryWish("forget" if kind == "forget" else "remember", about)
    return None
