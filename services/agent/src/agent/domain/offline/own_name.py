"""A person's own name: given ("me llamo Nuria") and asked for ("what's my name?"). Spanish and English."""

import re
from collections.abc import Sequence

from agent.domain.shortcuts.memory_words import memory_wish
from agent.domain.text_features import plain
from agent.texts import TEXTS
from contracts.expressions import expression
from contracts.languages import Language

_BEGUN = r"^\W*(?:(?:hi|hello|hey|hola|buenas|ok|vale|y|and|well|so|pues|bueno|por cierto|btw)\b\W*)*"
_CALLED = r"\b(?:me llamo|mi nombre es|my name(?:['’]?s| is)|i(?:['’]?m| am) called|call me|ll[aá]mame|puedes llamarme)"
_NAME = r"(?!(?:not?|an?|una?|el|la|the|cuando|when|back|later|mañana|tomorrow)\b)[^\W\d_][\w'’-]*"
_CAPITAL = r"[A-ZÁÉÍÓÚÑÜ][\w'’-]*"
_TOLD = expression(rf"{_CALLED} (?P<name>{_NAME}(?-i:(?: {_CAPITAL}){{0,2}}))", re.IGNORECASE)
_I_AM = rf"(?:soy|i['’]?m|i am|this is) (?P<name>(?-i:{_CAPITAL}(?: {_CAPITAL})*))"
_INTRODUCED = expression(rf"{_BEGUN}{_I_AM}", re.IGNORECASE)
_PLEASED = r"(?:\W*(?:nice|pleased|good) to meet you|\W*(?:encantad[oa]|mucho gusto|un placer))"
_ONLY_TOLD = (
    expression(rf"{_BEGUN}{_CALLED} (?P<name>{_NAME}(?: [^\W\d_][\w'’-]*){{0,2}}?){_PLEASED}?\W*$", re.IGNORECASE),
    expression(rf"{_BEGUN}{_I_AM}{_PLEASED}\W*$", re.IGNORECASE),
)
_ASKED = expression(
    rf"{_BEGUN}(?:(?:do you |can you |me )?"
    r"(?:know|remember|recuerdas|sabes|te acuerdas|dime|tell me|recuerdame)(?: de)? )?"
    r"(?:what ?(?:['’]?s|is|was) my name|my name|what am i called|who am i|(?:de )?como me llam(?:o|aba)|"
    r"(?:cual (?:es|era) )?mi nombre|quien soy)(?: again| then| now| otra vez)?\W*$"
)
_NAME_WORDS = expression(r"\b(?:names?|nombres?|called|llam\w+)\b")


def is_about_own_name(text: str) -> bool:
    """Whether a text only gives the person's name, or only asks for it."""
    return _introduction(text) is not None or _ASKED.match(plain(text)) is not None


def name_answer(
    question: str, earlier_texts: Sequence[str], facts: Sequence[str], language: Language, *, is_visitor: bool
) -> str | None:
    """The answer to somebody who asks for their name, or to a visitor who gives it; None for other texts, or if the
    name is not known here. `earlier_texts` are their messages, oldest first; `facts` is what memory has of them."""
    if _ASKED.match(plain(question)):
        told = _told_since_forgotten(earlier_texts)
        name = next(filter(None, map(_name_in, (*told, *facts))), None)
        if name is None and not is_visitor:
            return None
        return (
            TEXTS["offline.name.unknown" if name is None else "offline.name.known"]
            .in_language(language)
            .format(name=name)
        )
    introduction = _introduction(question) if is_visitor else None
    if introduction:
        return TEXTS["offline.name.met"].in_language(language).format(name=_capitalized(introduction["name"]))
    return None


def _told_since_forgotten(texts: Sequence[str]) -> list[str]:
    """The messages after the last request to forget the name or everything, newest first."""
    told: list[str] = []
    for text in reversed(texts):
        wish = memory_wish(text)
        if wish and (wish.kind == "forget_all" or (wish.kind == "forget" and _NAME_WORDS.search(plain(wish.about)))):
            break
        told.append(text)
    return told


def _name_in(text: str) -> str | None:
    match = _introduction(text) or _TOLD.search(text) or _INTRODUCED.match(text)
    return _capitalized(match["name"]) if match else None


def _introduction(text: str) -> re.Match[str] | None:
    return next(filter(None, (pattern.match(text) for pattern in _ONLY_TOLD)), None)


def _capitalized(name: str) -> str:
    return " ".join(word[:1].upper() + word[1:] for word in name.split())
