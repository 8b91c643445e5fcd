"""Plain requests about memory, in es and en: show it, forget something or everything, remember this."""

import re
from dataclasses import dataclass
from typing import Literal

from agent.domain.shortcuts.words import ORDINALS
from agent.domain.text_features import plain
from contracts.calendar_names import FORGET_PATTERN
from contracts.expressions import expression

MAX_CHARACTERS = 400
"""Maximum characters of a plain request."""
LAST = -1
_POLITE = r"(?:(?:please|por favor|oye|hey|ok|hola|hello|hi|copilot|copiloto|can you|could you|puedes|podrias)[, ]+)*"
_READ = expression(
    rf"{_POLITE}(?:(?:and|y|so|well|pues|entonces|bueno)(?:,? ¿?))?(?:now |ahora )?"
    r"(?:tell me |show me |dime |muestrame |ensename )?"
    r"(?:what (?:exactly |all )?(?:do|did|have) (?:yo)?u "
    r"(?:still |already |actually |currently )?(?:know|remember(?:ed)?|stored?|saved?|learn(?:ed|t)?|keep|kept|"
    r"(?:have|got)(?= on me))(?: (?:about|of|on|from) me)?|what you (?:know|remember|have stored|have saved)"
    r"(?: (?:about|of) me)|what have i told you|what(?:'s| is) in (?:my|your) memory(?: (?:about|of) me)?|"
    r"(?:(?:show|list)(?: me)? )?(?:my memory|your memory of me|everything you (?:know|remember)(?: about me)?)|"
    r"(?:q|k|ke|que|lo que|todo lo que) (?:recuerdas|sabes|has aprendido|tienes (?:guardado|apuntado|anotado)|guardas|"
    r"has guardado|te acuerdas|te he (?:contado|dicho))(?: (?:de|sobre|acerca de) (?:mi persona|mi))?|mi memoria|"
    r"que informacion (?:tienes|guardas) (?:de|sobre) mi)(?:,? (?:by now|so far|(?:right )?now|these days|today|"
    r"nowadays|currently|at (?:this|the) (?:point|moment)|hasta (?:ahora|hoy)|ahora(?: mismo)?|hoy(?: en dia)?|ya|"
    r"a estas alturas|de momento|actualmente))?(?:,? (?:please|por favor))?"
)
_ALL = expression(
    rf"{_POLITE}(?:(?:forget|delete|erase|clear|wipe)(?: me)? (?:everything|all)"
    r"(?: (?:that )?you (?:know|remember|have stored|have saved)| that)?(?: (?:about|of|on) me)?|(?:delete|erase|clear|"
    r"wipe|reset) (?:my memory|your memory of me)|(?:olvida|borra|elimina)(?:te)?(?: de)? todo(?: lo que)?(?: (?:sabes|"
    r"sepas|recuerdas|recuerdes|tienes guardado|guardas|guardes))?(?: (?:de|sobre|acerca de) mi)?|(?:borra|elimina|"
    r"limpia|reinicia) (?:mi memoria|tu memoria de mi))(?:,? (?:please|por favor))?"
)
_EVERYTHING = expression(
    rf"{_POLITE}(?:forget(?: about)? (?:it all|everything)|olvida(?:te|lo)?(?: de)? todo)(?:,? (?:please|por favor))?"
)
_ABOUT_ME = expression(
    r"\b(me|mi|my memory|memoria|know|remember|sabes|sepas|recuerdas|recuerdes|guardado|guardas|stored|saved)\b"
)
_OF_MEMORY = r"(?: (?:de|from) (?:tu|mi|your|my) (?:memoria|memory))"
_TOLD = (
    r"(?:what )?(?:i (?:said|told you|mentioned)|you (?:know|remember|have(?: stored| saved)?))(?: (?:about|on|of))?"
)
_DICHO = (
    r"lo que (?:(?:te )?(?:dije|conte|he dicho|he contado)|sabes|recuerdas|tienes(?: guardado)?)(?: (?:del?|sobre))?"
)
_EARLIER = (
    r"(?:,? (?:yesterday|earlier|before|the other day|last (?:time|week|month)|(?:in|from) (?:the|our|my|an?) (?:other|"
    r"earlier|last|previous) (?:chat|conversation|message)|ayer|antes|el otro dia|la (?:otra|ultima) vez|en (?:la|una|"
    r"otra|nuestra) (?:otra |ultima )?(?:conversacion|charla)(?: anterior| pasada)?))"
)
"""When it was said, which is not part of the fact."""
_FORGET = expression(
    rf"{_POLITE}(?:(?:you (?:can|may|should)|i(?:'d| would) like you to|i want you to|(?<!no )quiero que|prefiero que|"
    rf"te pido que) )?{FORGET_PATTERN}{_OF_MEMORY}?(?: (?:about|that|{_TOLD}|the (?:note|fact|part|bit|thing|"
    rf"stuff)(?= (?:about|that|on)\b)|on(?= )|del?|que|todo lo del?|lo del?|{_DICHO}|"
    rf"sobre))*:? (?P<what>\S.*?)(?:{_OF_MEMORY}|{_EARLIER})?(?:,? (?:please|por favor|thanks|thank you|gracias))?\W*"
)
_TOLD_OF = expression(rf"(?<=^everything)(?: that)? {_TOLD}|(?<=^all)(?: that)? {_TOLD}|(?<=^todo) {_DICHO}")
_REQUEST = expression(r"\W*(?:(?:please|oye|hey),? )*(?:(?:can|could|would|will) you|puedes|podrias)\b")
_FORGET_IT = expression(
    rf"{_POLITE}(?:lo|eso|(?:the|that) (?:thing|bit|part|note)) (?:del?|sobre|about) (?P<what>\S.*?),? "
    r"(?:(?:ya )?no (?:lo )?(?:recuerdes|guardes)|(?:ya )?no lo recuerdes mas|olvid[ae]lo|borr[ae]lo|"
    r"(?:forget|delete|scrap) it)\W*"
)
_NO_MEMORY = expression(
    r"\b(?:alerts?|orders?|watch ?list|positions?|account|chat|conversations?|messages?|alertas?|alarmas?|avisos?|"
    r"orden(?:es)?|lista|posicion(?:es)?|cuenta|conversacion(?:es)?|mensajes?|historial)\b"
)
"""Things that are deleted elsewhere, by other words than "forget"."""
_NOTE = expression(
    rf"{_POLITE}(?:remember|keep in mind|don'?t forget|(?:make a )?note|recuerda(?:me)?|acuerdate(?: de)?|"
    r"ten en cuenta|no olvides|no te olvides de|anota|apunta(?:te)?|toma nota)(?: de)?"
    r"(?: (?:that|que)|:|,| (?=(?:my|mi|mis|im?|i'm|to)\b))"
    r" ?(?P<what>\S.*)"
)
_ASKED = expression(
    r"\b(?:recu[eé]rda(?:me)?|acu[eé]rdate(?: de)?) (?:qué|que (?:te|os) (?:dij|cont|ped|he (?:dich|contad|pedid)))",
    re.IGNORECASE,
)
"""A request to be told something, not to remember it."""
_UNDO = expression(
    rf"(?:(?:no|oops|ups|wait|espera|sorry|perdon|that was wrong|me equivoque|a mistake)[,. ]+)*{_POLITE}(?:no[, ]+)?"
    r"(?:(?:undo|revert|reverse)(?: (?:that|it|this|the last (?:one|thing|change)|what you just did))?|"
    r"(?:take|put|bring) (?:that|it) back|restore (?:that|it)|(?:devuelve|recupera|restaura|deshaz)lo|"
    r"(?:deshaz|deshacer)(?: (?:eso|esto|lo ultimo|el ultimo cambio|lo que acabas de hacer))?|"
    r"(?P<never>(?:forget|scrap) (?:it|that)|never ?mind|olvida(?:lo| eso)))(?:,? (?:please|por favor))?"
)
"""`never` takes back what was remembered; what was forgotten it would only forget again."""
_ONE = (
    r"(?:the |el |la |lo )?(?:number |fact |note |thing |numero |hecho |dato |nota |punto |cosa )?(?:#|no\.? ?)?"
    rf"(?:\d{{1,3}}|{'|'.join(ORDINALS)}|last|ultim[oa])(?: one)?"
)
_ABOUT = (
    r"(?:the (?:one|fact|note|thing) about|l[ao] (?:del?|sobre)) (?:my |the |mis? |el |la |los |las )?"
    r"(?P<about>[^,;:.]{2,40}?)"
)
_NUMBER = rf"(?P<number>{_ONE}(?:(?:,|,? and|,? y) {_ONE})*)"
_DROP = r"(?:forget|delete|drop|remove|olvida(?:te de)?|borra|elimina|quita)"
_FORGET_ONE = expression(rf"{_POLITE}{_DROP} {_NUMBER}(?:,? (?:please|por favor))?")
_FORGET_LISTED = expression(
    rf"{_POLITE}(?:{_DROP} (?:all (?:of )?(?:that|those|these|them)|them all|todo eso|tod[ao]s(?: es[ao]s)?)|"
    r"(?:olvida|borra|elimina|quita)l[ao]s(?: tod[ao]s)?)(?:,? (?:please|por favor))?"
)
_CORRECT_ONE = expression(
    rf"{_POLITE}(?:correct|change|fix|update|corrige|cambia|actualiza) {_NUMBER}(?:(?::|,| -| to\b| a\b| por\b) *"
    rf"(?P<text>\S.*))?|(?:no[, ]+)?(?:(?P<wrong>{_ONE})|{_ABOUT}) "
    r"(?:(?:is|was|esta|es) (?:wrong|not (?:right|true|correct)|incorrect[oa]?|mal|fals[oa])|"
    r"should (?:be|say)|deberia (?:ser|decir))[:,;.]? *(?P<instead>.*)"
)
_OF_MEMORY_ALONE = expression(rf"\W*{_POLITE}(?:forget|olvida(?:te de)?|correct|corrige)\b")
_VALUE = expression(r"(?:it(?:'s| is)|they(?:'re| are)|es|son) (?P<value>.+)|(?P<bare>\d.*|\w+)", re.I)
"""A correction without the whole fact: "it's 400"."""
_FIGURE = expression(r"\d+(?:[.,]\d+)*")
_REST = expression(
    rf"{_POLITE}(?:and )?(?:(?:show|tell|give|see)(?: me)? )?(?:the rest|the others|the remaining ones|"
    rf"all of them|more|what else)"
    r"(?: do you (?:know|remember)(?: about me)?)?|"
    rf"{_POLITE}(?:y )?(?:(?:muestrame|dime|ensename|dame|ver) )?(?:el resto|(?:l[ao]s|lo) demas|tod[ao]s|(?:que )?mas)"
    r"(?: (?:que )?(?:recuerdas|sabes)(?: de mi)?)?"
)
_ACTS = expression(
    r"\b(?:buy|sell|orders?|alerts?|watch ?list|cancel|compra\w*|vend\w+|orden(?:es)?|alertas?|avisame|notify|lista|"
    r"cancela\w*)\b"
)
_PART = expression(
    rf"(?<=[.!?;])\s+|,?\s+(?:and|y)(?: then| also| luego| tambi[eé]n)?\s+(?={FORGET_PATTERN}\b|"
    r"(?:remember|recuerda(?:me)?|keep in mind|ten en cuenta|anota) (?:that|que)\b|(?:tell|show|give) me\b|"
    r"(?:buy|sell|compra|vende) \d|(?:dime|mu[eé]strame|dame)\b|"
    r"(?:what|where|how|when|who)(?:'s| is| are| do| does| did| was| much| many)\b|¿)",
    re.I,
)
"""Separator between two requests of one message."""
_GOES_ON = expression(r"^\W*(?:(?:and|also|then|besides|y|tambi[eé]n|adem[aá]s|luego)\b[, ]*)+", re.I)
_NOTHING = frozenset(("it", "this", "that", "lo", "eso", "esto", "me", "everything", "all", "todo"))


@dataclass(frozen=True, slots=True)
class MemoryWish:
    """A request about memory. `about` is what to forget or to remember, in the user's own words."""

    kind: Literal["read", "forget", "forget_all", "remember"]
    about: str = ""


@dataclass(frozen=True, slots=True)
class MemoryRequests:
    """The requests about memory in a message of several requests, and `rest`, its other words."""

    wishes: tuple[MemoryWish, ...]
    rest: str


@dataclass(frozen=True, slots=True)
class ListWish:
    """A request about a list of facts that the user has seen.

    To forget some of them: their `numbers` (`LAST` is the last one), or `every` one. To correct one: its number or what
    it is `about`, and the new `text`, None if the user does not give it. Without all of these: the rest of the list.
    """

    numbers: tuple[int, ...] = ()
    text: str | None = ""
    about: str = ""
    every: bool = False


def list_wish(text: str) -> ListWish | None:
    """The request of a text about a list of facts, or None."""
    collapsed = " ".join(text.split())
    lowered = plain(collapsed)
    bare = lowered.strip(" ¿?¡!.")
    if _REST.fullmatch(bare):
        return ListWish()
    if _FORGET_LISTED.fullmatch(bare):
        return ListWish(every=True)
    if match := _FORGET_ONE.fullmatch(bare):
        return ListWish(_numbers(match["number"]))
    if (match := _CORRECT_ONE.fullmatch(lowered)) and len(lowered) == len(collapsed):
        correction = (match["text"] or match["instead"] or "") and collapsed[
            match.start("text" if match["text"] else "instead") :
        ]
        correction = correction.strip(' .“”«»"') or None
        if match["about"]:
            return ListWish(text=correction, about=match["about"])
        numbers = _numbers(match["number"] or match["wrong"])
        return ListWish(numbers, correction) if len(numbers) == 1 else None
    return None


def is_about_memory(text: str) -> bool:
    """Whether a list wish uses words for memory only, and for nothing else that a list may hold."""
    return bool(_OF_MEMORY_ALONE.match(plain(text)))


def completed_fact(fact: str, text: str) -> str | None:
    """A fact as corrected: "I save 300" by "it is 400"; None if the correction does not give all of the fact."""
    match = _VALUE.fullmatch(text)
    if match is None:
        return text
    old_figures, new_figures = _FIGURE.findall(fact), _FIGURE.findall(text)
    new_words = set(plain(match["value"] or match["bare"]).split()) - set(plain(fact).split()) - set(new_figures)
    if len(old_figures) == len(new_figures) == 1 and not new_words:
        return fact.replace(old_figures[0], new_figures[0])
    return None


def _numbers(numbers_text: str) -> tuple[int, ...]:
    words = re.findall(rf"\d+|{'|'.join(ORDINALS)}|last|ultim[oa]", numbers_text)
    return tuple(dict.fromkeys(ORDINALS.get(word) or (int(word) if word.isdigit() else LAST) for word in words))


def is_undo(text: str, *, was_forgotten: bool = False, is_later: bool = False) -> bool:
    """Whether a text takes back what was remembered (or, if `was_forgotten`, forgotten), and says no more. If
    `is_later`, something else was said since, so "never mind" is about that."""
    match = _UNDO.fullmatch(" ".join(plain(text).split()).strip(" ¿?¡!."))
    return match is not None and not ((was_forgotten or is_later) and match["never"])


def is_about_actions(text: str) -> bool:
    """Whether a text mentions an order, an alert or a list, so that a later undo may mean that."""
    return bool(_ACTS.search(plain(text)))


def memory_requests(text: str) -> MemoryRequests | None:
    """The parts of a message about memory: "Forget that I smoke. And where do I live?". None if it has only one part,
    or no part asks to forget or to remember something, or it has quotation marks and may tell what others say."""
    parts = [part.strip() for part in _PART.split(" ".join(text.split())) if part.strip()]
    if len(text) > MAX_CHARACTERS or len(parts) < 2 or re.search(r"[\"“”«»]", text):
        return None
    wishes: list[MemoryWish] = []
    other_parts: list[str] = []
    for part in parts:
        wish = memory_wish(_GOES_ON.sub("", part))
        if wish is None or wish.kind == "read" or _NO_MEMORY.search(plain(wish.about)) or _is_sweeping(wish, part):
            other_parts.append(part)
        else:
            wishes.append(wish)
    return MemoryRequests(tuple(wishes), _GOES_ON.sub("", " ".join(other_parts))) if wishes else None


def _is_sweeping(wish: MemoryWish, part: str) -> bool:
    """Whether "forget everything" may be about what stands beside it."""
    return wish.kind == "forget_all" and not _ABOUT_ME.search(plain(part))


def memory_wish(text: str) -> MemoryWish | None:
    """The plain request that a text is; None if it is for the model."""
    request = " ".join(text.split())
    if not request or len(request) > MAX_CHARACTERS:
        return None
    # Normalizing keeps the length, so a position in one is a position in the other.
    lowered = plain(request)
    if len(lowered) != len(request):
        request = lowered
    bare = lowered.strip(" ¿?¡!.")
    if _READ.fullmatch(bare):
        return MemoryWish("read")
    if ("?" in request and not _REQUEST.match(lowered)) or _ASKED.search(request):
        return None
    if _EVERYTHING.fullmatch(bare) or (_ALL.fullmatch(bare) and _ABOUT_ME.search(bare)):
        return MemoryWish("forget_all")
    if re.search(r"[.!;]\s+\S", request):
        # More than one sentence says more than one thing.
        return None
    start = len(lowered) - len(lowered.lstrip(" ¿¡"))
    for kind, pattern in (("forget", _FORGET), ("forget", _FORGET_IT), ("remember", _NOTE)):
        match = pattern.fullmatch(lowered[start:])
        if match is None:
            continue
        deletes = re.search(
            r"\b(?:borra|elimina|quita|delete|drop|remove|erase|wipe|clear)", lowered
        ) and _NO_MEMORY.search(match["what"])
        if kind == "forget" and ("," in match["what"] or deletes):
            # "Forget AAPL, let us look at MSFT" is about the conversation.
            return None
        about = request[start:][match.start("what") : match.end("what")].strip(" .,!;:?")
        about = _TOLD_OF.sub(" about", about) if kind == "forget" else about
        if plain(about) in _NOTHING or len(about) < 2:
            return None
        return MemoryWish("forget" if kind == "forget" else "remember", about)
    return None
