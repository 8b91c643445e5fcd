"""Recognises promises to remember something, by their form: the first person or the thing itself, in the future,
present or perfect tense, with a verb of keeping. In Spanish and English. Offers, questions, conditions and orders
("keep in mind that …") are not promises, and neither is what is kept only for this answer."""

import re

from agent.domain.text_features import plain
from agent.domain.turn.journal import Journal, ModelAnswer

REMEMBER = "remember"
KEEPING = frozenset((REMEMBER, "update_memory"))
"""The tools that keep such a promise."""
_SENTENCE = re.compile(r"(?<=[.!?\n;])\s+")
_FULL = tuple(
    (re.compile(rf"\b{short}\b"), full)
    for short, full in (
        ("i['’]ll", "i will"), ("i['’]ve", "i have"), ("i['’]m", "i am"), ("won['’]t", "will not"),
        ("(it|that|this)['’]s", r"\1 is"),
    )
)  # fmt: skip
_ADVERBS = (
    r"(?: (?:now|just|also|certainly|definitely|absolutely|gladly|always|already|make sure to|be sure to|try to|"
    r"go ahead "
    r"and))*"
)
_STORE = r"(?:memory|notes?|profile|preferences|records?|file)"
_PROMISES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:i (?:will|shall|am going to|am gonna)|let me){_ADVERBS} (?:remember|memori[sz]e|not(?: ever)? forget|"
        r"never forget|make a (?:mental )?note|take note|note (?:that you|it|this|down|your)|"
        r"(?:keep|bear|have|hold) (?:[\w'’]+ ){1,6}in mind|(?:save|store|record) (?:that|this|it|your)\b)",
        rf"\bi (?:have|am){_ADVERBS} (?:made a (?:mental )?note|taken note|tak(?:en|ing) (?:a )?note|noted|"
        rf"memori[sz]ed|"
        r"making a (?:mental )?note|(?:saved|stored|recorded|saving|storing|recording) (?:that|this|it|your)\b|"
        r"(?:kept|keeping) (?:[\w'’]+ ){1,6}in mind|noting)",
        rf"\bi (?:will|have|am)?{_ADVERBS} ?(?:add|added|adding|put|commit|committed|sav\w+|stor\w+|record\w*) "
        rf"(?:[\w'’]+ ){{1,8}}?(?:to|in|into|on) (?:my |your |the )?(?:\w+ )?{_STORE}\b",
        r"\b(?:it|that|this)(?: \w+)? (?:is|has been|will be)(?: now| all)? (?:noted|saved|stored|remembered|"
        rf"in my {_STORE}|kept in mind)\b",
        r"^\W*+(?:(?:ok|okay|got it|sure|great|perfect|understood|thanks|thank you|duly|consider it)\W++)*"
        r"(?:noted|remembered)\b",
        r"(?<!\bte )\b(?:recordare|memorizare)\b",
        r"\b(?:l[oa]s?|eso|esto) (?:anotare|apuntare|guardare|registrare|anoto|apunto|guardo|registro|memorizo)\b",
        r"\b(?:anotare|apuntare|registrare|guardare|anoto|apunto|guardo|registro) (?:que (?:eres|tienes|vives|te|tu|no|"
        r"prefieres|quieres)|eso|esto|tus?|este dato|esta preferencia|en (?:mi|tu|la) (?:memoria|perfil|notas?))\b",
        r"\b(?:voy a|vamos a|procedo a|dejame|permiteme) (?:recordar|memorizar|(?:anotar|apuntar|guardar|registrar)"
        r"(?=l[oa]|los|las| que| eso| esto| tus?\b| en (?:mi|tu) ))",
        r"\b(?:tendre|tengo|voy a tener(?:l[oa]s?)?|mantendre) (?:[\w]+ ){0,6}?(?:presente|en cuenta|en mente)\b",
        r"\btom(?:o|are|ado|ada) (?:buena )?nota\b",
        r"\b(?:he|hemos) (?:anotado|apuntado|guardado|registrado|memorizado)\b",
        r"\bqueda(?:ra|do)? (?:anotad|apuntad|guardad|registrad)[oa]s?\b",
        r"\bno (?:l[oa]s? |me |se me )*olvid(?:are|ara|o)\b",
        r"^\W*+(?:(?:ok|vale|perfecto|entendido|claro|genial|listo|hecho|muy bien|de acuerdo|gracias)\W++)*"
        r"(?:anotado|apuntado|tomo nota)\b",
    )
)
_NO_PROMISE = re.compile(
    r"\b(?:if you|should you|once you|when you tell|unless|would you like|do you want|i can|i could|shall i|"
    r"si (?:quieres|prefieres|lo deseas|me (?:dices|lo pides|confirmas)|te parece)|cuando me digas|quieres que|"
    r"puedo|podria)\b"
    r"|\b(?:for|during|in) (?:this|the rest of (?:this|our)|our) (?:conversation|chat|analysis|answer|session)\b"
    r"|\b(?:para|durante|en) (?:esta|este|nuestra|el resto de (?:la|esta)) (?:conversacion|charla|analisis|respuesta|"
    r"sesion|consulta)\b"
)


def promises(text: str) -> bool:
    """Whether an answer says that something will be, or has been, remembered."""
    return any(_is_promise(sentence) for sentence in _SENTENCE.split(text))


def is_broken(reply: ModelAnswer, journal: Journal, offered: frozenset[str]) -> bool:
    """Whether an answer promises to remember, could have seen to it, and nothing of the turn did."""
    if reply.calls or REMEMBER not in offered or any(call.tool in KEEPING for call in journal.calls):
        return False
    return promises(reply.text)


def _is_promise(sentence: str) -> bool:
    if "?" in sentence:
        return False
    said = plain(sentence)
    for pattern, full in _FULL:
        said = pattern.sub(full, said)
    return not _NO_PROMISE.search(said) and any(pattern.search(said) for pattern in _PROMISES)
