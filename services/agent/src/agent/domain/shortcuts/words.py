"""Recognises a plain yes or no, in Spanish and English: the word alone, once or several times, with polite words around
it. Anything more ("yes, but make it 5", "sí pero a 200") is left to the model."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agent.domain.shortcuts.shown_actions import ShownAction
from agent.domain.text_features import plain
from contracts.expressions import expression

Decision = Literal["confirm", "reject"]

_YES = (
    r"yes|yeah|yep|yup|yes sir|aye|sure|of course|absolutely|definitely|confirm(?:ed)?|i confirm|i do|go ahead|do it|"
    r"place it|proceed|please do|approved?|i agree|go for it|let s do it|lets do it|correct(?:o)?|exact(?:o|ly)|"
    r"si|claro|claro que si|por supuesto|dale|de acuerdo|confirm(?:o|a|ar|ado|ada|alo|ala)|adelante|hazlo|hagale|"
    r"procede|acepto|aceptar|apruebo|simon|send it|bet|lfg|sobres|dale (?:cana|nomas|pues)|orale|hagamoslo|esta "
    r"bien|that s (?:right|fine)|very well|do (?:that|so)|let s do (?:this|that)|sure thing|make it so|ship it|"
    r"(?:place|submit|execute|process) (?:it|that|the trade)|place|go on then|go through with (?:it|that)|i m sure|"
    r"that works|works for me|looks (?:good|right|fine)|good to go|yea|yess+|yessir|sii+|sip|sep|si quiero|hazla|"
    r"estoy segur[oa]|eso es|tal cual|me parece bien|como no|por mi si|hecho|ejecuta|tramita|"
    r"(?:envi|mand|confirm|acept|ejecut|tramit|realiz)[ae]l[oa]|envia|manda|👍|✅"
)
_FINE = r"fine|alright|all right|ok|okay|okey|vale|perfect|perfecto|sounds good"
_WEAK_YES = r"y|s|k|go|va que va|bueno|va|venga|great|genial|listo"
_NO = (
    r"no|n|nope|nah|no way|cancel(?:led)?|cancel it|reject(?:ed)?|decline|dont|don t|do not|do not do it|don t do it|"
    r"stop|never ?mind|forget it|forget the (?:order|whole thing)|not now|(?:drop|scrap|leave|bin|skip) (?:it|that)|"
    r"call it off|"
    r"cancel(?:a|ar|alo|ala|ada|ado)|rechaz(?:o|a|ar|alo|ala)|mejor no|no lo hagas|no la hagas|olvidalo|"
    r"nel|ni hablar|scratch that|olvida(?:te)?(?: de)? (?:la orden|el pedido)|(?:dej|descart|quit|anul|cancel|"
    r"olvid)[ae]l[oa]|ahora no|para nada|hold off|not any ?more|(?:i d )?rather not|better not|(?:i )?pass|"
    r"abort(?: it| that)?|kill it|(?:i |i ve )?changed my mind|he cambiado de idea|no quiero|nop|ni loc[oa]|que va|"
    r"ya no l[oa]s? quiero|mejor l[oa] dejo|paso|no me (?:convence|interesa)|no por ahora|(?:de|por el) momento no|"
    r"no sigas|no l[oa]s? (?:mandes|envies|ejecutes|compres|vendas|pongas|quiero|confirmes)|"
    r"(?:don t|do not) (?:place|send|submit|execute|confirm|buy|sell) (?:it|that|them)|👎|❌"
)
_FILLER = (
    r"please|pl[sz]|thanks|thank you|thx|it|this|that|the order|my order|this order|the other|the other one|now|"
    r"right|lovely|brilliant|cool|awesome|excellent|nice|wonderful|estupendo|fenomenal|muy bien|"
    r"and|then|entonces|right (?:now|away)|(?:ahora|ya) mismo|por fa|"
    r"por favor|porfa|porfavor|gracias|pues|la orden|mi orden|esta orden|el pedido|la otra|el otro|ahora|ya"
)
_STARTS = [
    expression(rf"(?P<{name}>{phrase})(?=\s|$)")
    for name, phrases in (("yes", _YES), ("no", _NO), ("fine", _FINE), ("weak", _WEAK_YES), ("filler", _FILLER))
    for phrase in re.split(r"\|(?![^(]*\))", phrases)
]
_SIDES = tuple(
    (expression(summary), expression(rf"\b(?:{agreement})\b"))
    for summary, agreement in (
        ("(?:buy|compr)", "buy (?:it|them)|compr[ae]l[oa]s?"),
        ("(?:sell|vend)", "sell (?:it|them)|vend[ae]l[oa]s?"),
    )
)
"""How a summary of a purchase or sale begins, and the words that agree to it, and to no order of the other side."""
_ORDER = expression(r"\b(order|trade|orden|pedido|operacion|confirm\w*)\b")
_ALL = expression(r"\b(all|both|all of them|todas|todos|ambas|ambos|las dos|los dos)\b")
ORDINALS = {
    "first": 1,
    "1st": 1,
    "primera": 1,
    "primero": 1,
    "second": 2,
    "2nd": 2,
    "segunda": 2,
    "segundo": 2,
    "third": 3,
    "3rd": 3,
    "tercera": 3,
    "tercero": 3,
    "fourth": 4,
    "cuarta": 4,
    "cuarto": 4,
    "fifth": 5,
    "quinta": 5,
    "quinto": 5,
}
_NOT = expression(r"(?:no|nah|nope)\b")
"""A "no" before "all of them" rejects the single action that was asked about: "no, all of them"."""
_CHOOSES = expression(
    r"(?:both|all of them|amb[oa]s|"
    rf"(?:the|el|la|lo) (?:{'|'.join(ORDINALS)}|primer|tercer|last|other|ultim[oa]|otr[oa]))\b"
)
_PICK = expression(
    r"^(?P<word>.+?)\s+(?:(?:to|with|for|a|al|con|para)\s+)?(?:(?:the|la|el|lo)\s+)?(?:(?:de|order|orden|number|numero|n)\s+)?"
    r"(?P<which>\S+(?: (?:of them|dos))?)(?:\s+(?:one|order|orden))?$"
)
_PICK_FIRST = expression(r"^(?:(?:to|a) )?(?:the|la|el|lo) (?P<which>\S+)(?: one| order| orden)? (?P<word>\S.*)$")
MAX_CHARACTERS = 60
"""Maximum characters of a plain answer."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A plain answer to a question. `chosen` are the actions that it decides; empty if there are several and it does
    not say which."""

    decision: Decision
    chosen: tuple[ShownAction, ...]


def decision_in(text: str) -> Decision | None:
    """The plain yes or no that a text is; None if it says more, or something else."""
    if len(text) > MAX_CHARACTERS or "?" in text:
        return None
    kinds: set[str] = set()
    remainder = _bare(text)
    while remainder:
        match = _longest(remainder)
        if match is None:
            return None
        kinds.add(str(match.lastgroup))
        remainder = remainder[match.end() :].lstrip()
    if "no" in kinds:
        return None if "yes" in kinds else "reject"
    return "confirm" if kinds & {"yes", "fine", "weak"} else None


def begins_with_agreement(text: str, *, is_after_question: bool) -> bool:
    """Whether a text begins by agreeing to the last answer, or by choosing from it, whatever follows ("yes, but make it
    5", "please do", "the second one"). After a statement instead of a question, "ok" only means that it was read."""
    remainder = _bare(text)
    while (match := _longest(remainder)) is not None and match.lastgroup == "filler":
        remainder = remainder[match.end() :].lstrip()
    return bool(_CHOOSES.match(remainder)) or (
        match is not None and match.lastgroup in (("yes", "fine") if is_after_question else ("yes",))
    )


def verdict_in(text: str, shown_actions: Sequence[ShownAction]) -> Verdict | None:
    """What a text decides about the actions in the newest answer; None if the model must read it."""
    if not shown_actions:
        return None
    summary = plain(shown_actions[0].summary) if len(shown_actions) == 1 else ""
    agreement = next((agreement for side, agreement in _SIDES if side.match(summary)), None)
    decision = decision_in(agreement.sub(" ok ", plain(text)) if agreement else text)
    if decision is not None:
        return Verdict(decision, (shown_actions[0],) if len(shown_actions) == 1 else ())
    if len(text) > MAX_CHARACTERS or "?" in text:
        return None
    normalized = " ".join(re.sub(r"[^\w/.#]+", " ", plain(text)).split()).rstrip(".")
    all_match = _ALL.search(normalized)
    if all_match is not None and (len(shown_actions) > 1 or not _NOT.match(normalized)):
        remainder = " ".join((normalized[: all_match.start()] + normalized[all_match.end() :]).split())
        decision_ = decision_in(re.sub(r" (?:to|a|con|with)$", "", remainder))
        return Verdict(decision_, tuple(shown_actions)) if decision_ else None
    for match in filter(None, (_PICK.match(normalized), _PICK_FIRST.match(normalized))):
        chosen = _named(match["which"].lstrip("#"), shown_actions)
        if chosen and (decision_ := decision_in(match["word"])):
            return Verdict(decision_, (chosen,))
    return None


def order_decision_in(text: str) -> Decision | None:
    """A plain decision that names an order, or confirms one ("confirmo"), whatever the last answer was; else None."""
    return decision_in(text) if _ORDER.search(plain(text)) else None


def _named(which: str, shown_actions: Sequence[ShownAction]) -> ShownAction | None:
    number = int(which) if which.isdigit() and len(which) < 4 else ORDINALS.get(which, 0)
    if 1 <= number <= len(shown_actions):
        return shown_actions[number - 1]
    matching = [action for action in shown_actions if action.symbol and action.symbol.lower() == which.lower()]
    return matching[0] if len(matching) == 1 else None


def _bare(text: str) -> str:
    """The text's words without accents, and the emoji that count as answers."""
    return " ".join(re.sub(r"[^\w👍👎✅❌]+", " ", plain(text)).split())


def _longest(text: str) -> re.Match[str] | None:
    """The longest phrase that the text begins with, in whole words."""
    matches = (match for pattern in _STARTS if (match := pattern.match(text)))
    return max(matches, key=lambda match: match.end(), default=None)
