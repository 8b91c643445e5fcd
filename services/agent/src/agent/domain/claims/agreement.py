"""Whether a sentence agrees with itself: "rose from 25% to 4%" and "234 billion, less than 104 billion" do not,
whatever the figures are."""

import re

_N = r"[-+−]?\$?\d[\d.,]*\d|\$?\d"
_UNIT = r"(?P<{0}>\s?(?:%|billion|million|bn|millones|mil millones|usd|dollars|dolares))"
_SPAN = re.compile(
    r"\b(?:(?P<up>rose|grew|climbed|increased|went up|improved|widened|subio|sube|crecio|aumento|mejoro|paso a mas)"
    r"|(?P<down>fell|dropped|shrank|declined|decreased|went down|narrowed|bajo|baja|cayo|disminuyo|se redujo|redujo))\b"
    rf"[^.;]{{0,30}}?\b(?:from|del?) (?P<a>{_N})\s?%?(?: in \d{{4}}| en \d{{4}})?,? (?:to|al?) (?P<b>{_N})(?![\d.,]*\d)"
)
_BESIDE = re.compile(
    rf"(?P<a>{_N}){_UNIT.format('ua')}[^.;%\d]{{0,30}}?\b(?:(?P<more>more|higher|greater|above|over|mas|mayor|superior)"
    rf"|(?P<less>less|lower|smaller|below|fewer|menos|menor|inferior)) (?:than|que|al?|de)\b[^.;%\d]{{0,30}}?"
    rf"(?P<b>{_N}){_UNIT.format('ub')}"
)
_ABOVE_THE_TOP = re.compile(
    r"\d\s?% (?:above|over|higher than|por encima de(?:l)?) (?:(?:its|the|their|sus?|el) )?(?:peak|high|top|maximos?)\b"
)
"""A peak is what nothing is above."""
_CLOSE = re.compile(
    r"(?P<n>[\d.,]*\d\s?%) (?:(?P<up>higher|more|above|m[aá]s|por encima)|(?:lower|"
    r"less|below|menos|por debajo)) (?:(?:than|que|de) )?(?:(?:the|its|el|su) )?(?:(?:previous|prior|last|yesterday's) "
    r"clos(?:e|ing)|cierre (?:anterior|previo|de ayer))(?: price)?",
    re.I,
)
_NOT = re.compile(r"\b(?:not|no|nor|ni|never|nunca)\b|n't\b")


def beside_the_close(said: str) -> str:
    """A sentence in which "2% lower than the previous close" is "down 2%"."""
    return _CLOSE.sub(lambda match: f"{'up' if match['up'] else 'down'} {match['n']}", said)


def agrees(low: str) -> bool:
    """Whether the directions in a folded sentence are those of its own numbers."""
    if _NOT.search(low):
        return True
    if _ABOVE_THE_TOP.search(low):
        return False
    for match in _SPAN.finditer(low):
        if (_value(match["b"]) > _value(match["a"])) != bool(match["up"]):
            return False
    for match in _BESIDE.finditer(low):
        one, two = _value(match["a"]), _value(match["b"])
        if match["ua"].strip() == match["ub"].strip() and one != two and (one > two) != bool(match["more"]):
            return False
    return True


def _value(digits: str) -> float:
    """A number, its last mark the decimal one unless three digits follow it."""
    bare = digits.replace("$", "").replace("−", "-")
    whole, mark, rest = bare.rpartition("." if bare.rfind(".") > bare.rfind(",") else ",")
    if not mark or len(rest) == 3:
        return float(re.sub(r"[.,]", "", bare))
    return float(re.sub(r"[.,]", "", whole) + "." + rest)
