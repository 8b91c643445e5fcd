"""What of a list that was just shown is meant: "la segunda", "the last one", "borra la 2"."""

import re
from collections.abc import Collection, Sequence

from agent.domain.offline.grammar import TABLE, UNDOES
from agent.domain.offline.intents import Intent, Wish, wish_in
from agent.domain.offline.kinds import PLACES
from agent.domain.text_features import plain

_ENDS = r"delete|remove|cancel|erase|drop|scrap|borra|elimina|quita|cancela|anula"
_ONE = re.compile(
    rf"\W*(?:(?:please|ok|yes|si|pues|por favor)\W+)*(?P<ends>{_ENDS})?\W*(?:(?:the|la|el|lo|number|numero)\W+)*"
    rf"(?P<place>{'|'.join(PLACES)}|[1-9]\d?)(?:\W+(?:one|alert|order|position|alerta|orden|posicion))?"
    r"(?:\W+(?:please|por favor|gracias|thanks))?\W*"
)
_LINE = re.compile(r"^(- .+)$", re.MULTILINE)
_NAMES = re.compile(r"\(([A-Z][\w./]*(?:, [A-Z][\w./]*)+)\)")


def chosen_in(text: str, shown: str, offered: Collection[str], before: Sequence[str]) -> Wish | None:
    """What was asked for before, of the one that the text chooses by its place, and by nothing else, from the list that
    the newest answer (`shown`) had; None: it chooses none."""
    match = _ONE.fullmatch(plain(text))
    if match is None or not before:
        return None
    names = _NAMES.search(shown)
    listed: list[str] = _LINE.findall(shown) or (names[1].split(", ") if names else [])
    at = int(match["place"]) - 1 if match["place"].isdigit() else PLACES[match["place"]]
    earlier = wish_in(before[-1], offered, before[:-1])
    if len(listed) < 2 or at >= len(listed) or not earlier.calls:
        return None
    way = UNDOES.get(earlier.calls[0][0], "") if match["ends"] else earlier.way
    row = next((row for row in TABLE if way and row.way == way and row.tool in offered), None)
    if row is None:
        return None
    arguments = {name: value for name, value in earlier.calls[0][1].items() if way == earlier.way}
    return Wish(Intent.TOOL, ((row.tool, arguments),), way=way, shown=listed[at])
