"""Shortens a sentence by the clause that is not proven: "IBM rose, as its CEO left" becomes "IBM rose"."""

import re
from collections.abc import Iterator, Sequence

from agent.domain.claims.lexer import Token, folded
from agent.domain.text_features import word_set
from contracts.expressions import expression

_JOINT = expression(
    r"(?<=[,;:]) | ?[—–] ?| - | ?\(|\)[,;:.]? ?|,? (?=(?:but|while|whereas|although|though|as|because|after|amid|pero|"
    r"mientras|aunque|tras|porque|debido|gracias)\b)",
    re.I,
)
"""Where a clause may end."""
_LEADING_CONJUNCTION = expression(
    r"(?:but|and|while|whereas|although|though|pero|y|e|mientras que|mientras|aunque)\b,? ", re.I
)
_LIST_MARK = expression(r"\s*(?:[-•*]|\d{1,2}[.)])\s+")
_DEPENDENT_OPENING = expression(
    r"(?:if|when|once|with|despite|as|because|since|after|amid|unlike|compared|rather|nor|or|not|neither|both|than|"
    r"si|cuando|con|pese|como|porque|tras|ni|o|no|quien|tanto|que|which|who|that|so|what|where)\b"
)
"""Words that open a clause which states nothing alone."""
_INSERTION_MARKS = frozenset(",()—–-")
"""Marks around a clause inside another one."""
_NEW_SUBJECT_WORDS = word_set(
    "i you he she it we they this that these those there the a an my your his her its our their and but or nor so "
    "while whereas although though because as if when once since after before amid despite unlike in on at with "
    "for to from by of than which who whose not no also yo tu usted el ella ello nosotros ellos ellas esto eso "
    "este esta ese esa la los las un una unos unas mi mis su sus tus y e o u ni pero aunque mientras porque tras "
    "debido gracias si cuando como desde antes despues en con por para de del al sin segun que quien cual donde "
    "tambien thanks according given even especially mainly mostly just only both all each some about around near "
    "over under above below up down out off then however therefore plus per due well ahead behind during through "
    "until till versus compared including incluso dado luego frente ante hasta durante mas menos solo casi"
)
"""First words of a clause that does not continue with the subject of the one before."""
_ENDS = expression(r"[\s,;:(—–-]+$")
MAX_JOINTS = 5
"""Joints of a sentence that are tried; a text with more is no sentence."""
_ARTICLES = frozenset(("the", "el", "la", "los", "las", "s"))


def excerpts(sentence: str) -> Iterator[tuple[str, bool]]:
    """Yields the sentence without some of its clauses, the longest excerpt first, and whether the excerpt starts at the
    sentence's beginning. Nothing is checked yet."""
    if "|" in sentence or "?" in sentence:
        return
    mark = match[0] if (match := _LIST_MARK.match(sentence)) else ""
    body = sentence[len(mark) :]
    joints = list(_JOINT.finditer(body))[:MAX_JOINTS]
    starts = [0, *(joint.end() for joint in joints)]
    ends = [*(joint.start() + joint[0].startswith(")") for joint in joints), len(body)]
    count = len(ends)
    goes_on = [_continues_subject(body[start:end]) for start, end in zip(starts, ends, strict=True)] + [False, False]
    runs = [
        (body[starts[first] : ends[last]], first == 0)
        for first in range(count)
        for last in range(first, count)
        if last - first < count - 1
        and (last == count - 1 or joints[last][0].strip() != ")")
        and not (goes_on[last + 1] or (goes_on[last + 2] and joints[last][0].strip() in ("", "—", "–", "-", "(")))
    ]
    runs += [
        (_without(body[: ends[index - 1]], body[starts[index + 1] :]), True)
        for index in range(1, count - 1)
        if (goes_on[index + 1] or not goes_on[index])
        and {joint[0].strip()[:1] or body[joint.start() - 1] for joint in joints[index - 1 : index + 1]}
        <= _INSERTION_MARKS
    ]
    for text, from_start in sorted(runs, key=lambda run: -len(run[0])):
        text = _ENDS.sub("", text.strip())
        text = text[lead.end() :] if (lead := _LEADING_CONJUNCTION.match(text)) else text
        if not text or _DEPENDENT_OPENING.match(folded(text)) or text.count("(") != text.count(")"):
            continue
        text = text.replace("**", "") if text.count("**") % 2 else text
        yield f"{mark}{text[0].upper()}{text[1:].rstrip('.')}.", from_start


def _continues_subject(clause: str) -> bool:
    """Whether a clause begins with the verb of an earlier subject, as "is up" in "AAPL, which you bought, is up"."""
    first_word = re.match(r"\W*([^\W\d_]+)", clause)
    if first_word is None or not first_word[1].islower() or first_word[1].endswith(("ing", "ando", "iendo")):
        return False
    return folded(first_word[1]) not in _NEW_SUBJECT_WORDS


def _without(before: str, after: str) -> str:
    """Joins the parts around a removed clause. The comma stays if a list goes on."""
    comma = "," if before.endswith(",") and not after[:1].islower() else ""
    return f"{_ENDS.sub('', before)}{comma} {after}"


def names_its_subject(tokens: Sequence[Token], *, from_start: bool) -> bool:
    """Whether a run of clauses names its ticker before it states anything."""
    if any(token.kind in ("not", "neither", "untrue") for token in tokens):
        return False  # A denial may apply to a part only.
    for token in tokens:
        if token.kind == "ticker":
            return True
        if not from_start and not (token.kind == "word" and token.word in _ARTICLES):
            return False
    return False
