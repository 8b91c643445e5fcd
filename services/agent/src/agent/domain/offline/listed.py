"""Finds the item of a list that was just shown: "la segunda", "the last one", "borra la 2".

After a list of alerts, "delete the second" deletes that one. The item is found by its line in the answer, so it is the
one that the user saw, even if the list has changed since.
"""

import re
from collections.abc import Collection, Sequence

from agent.domain.offline.grammar import TABLE, TAKES_BACK, UNDOES
from agent.domain.offline.intents import wish_in
from agent.domain.offline.kinds import ORDINALS
from agent.domain.offline.order_words import order_named
from agent.domain.offline.previous_questions import MAX_MESSAGES_BACK
from agent.domain.offline.wishes import Intent, Wish
from agent.domain.text_features import plain, symbols_in
from agent.texts import TEXTS

_ENDS = r"delete|remove|cancel|erase|drop|scrap|borra|elimina|quita|cancela|anula"
_ONE = re.compile(
    rf"\W*(?:(?:please|ok|yes|si|pues|por favor)\W+)*(?:(?P<ends>{_ENDS})\W+)?(?:(?:the|la|el|lo|number|numero)\W+)*"
    rf"(?P<place>{'|'.join(ORDINALS)}|[1-9]\d?)(?:\W+(?:one|alert|order|position|alerta|orden|posicion))?"
    r"(?:\W+(?:please|por favor|gracias|thanks))?\W*"
)
_AGREES = re.compile(
    r"\W*(?:yes|yeah|yep|sure|right|exactly|si|claro|eso|exacto)\b\W*(?:please|por favor|that|it|eso)?\W*"
)
_READING = re.compile(r"[“«]([^”»]+)[”»]")
_LISTS = ("list_alerts", "get_pending_orders")
"""What shows those of which one can be ended."""
_ASKED = tuple(said.partition("{")[0] for said in TEXTS["offline.do_you_mean"].by_language.values())
_LINE = re.compile(r"^(- .+)$", re.MULTILINE)
_NAMES = re.compile(r"\(([A-Z][\w./]*(?:, [A-Z][\w./]*)+)\)")


def _fits(text: str, line: str) -> bool:
    """Whether a line may be the one that a text names by its share, side or kind: "cancel the stop"."""
    shown, named = order_named(plain(line)), symbols_in(text)
    if named and not set(named) & set(symbols_in(line)):
        return False
    return all(shown.get(name) == one for name, one in order_named(plain(text)).items())


def chosen_reading(text: str, shown: str) -> str | None:
    """The reading that a text chooses of those which the newest answer (`shown`) asked about: "the first one", or a yes
    where there is one. None: it asked about none, or the text says something else."""
    asked = next((one for one in shown.splitlines() if any(begun in one for begun in _ASKED)), "")
    readings = _READING.findall(asked)
    match = _ONE.fullmatch(plain(text))
    if len(readings) == 1 and _AGREES.fullmatch(plain(text)):
        return readings[0]
    if not readings or match is None or match["ends"]:
        return None
    place = match["place"]
    at = int(place) - 1 if place.isdigit() else ORDINALS[place]
    return readings[at] if at < len(readings) else None


def chosen_in(text: str, shown: str, offered: Collection[str], before: Sequence[str]) -> Wish | None:
    """What was asked for before, of the one that the text chooses by its place, and by nothing else, from the list that
    the newest answer (`shown`) had; None: it chooses none."""
    said = plain(text)
    match = _ONE.fullmatch(said)
    names = _NAMES.search(shown)
    listed: list[str] = _LINE.findall(shown) or (names[1].split(", ") if names else [])
    # "Delete it" is of the one line that is left of a list.
    ends = bool(match and match["ends"]) or (len(listed) == 1 and TAKES_BACK.search(said) is not None)
    if ends and listed and not _fits(text, listed[0]):
        return None
    if not before or not listed or (match is None and not ends) or (match and len(listed) == 1 and not ends):
        return None
    place = match["place"] if match else "1"
    at = int(place) - 1 if place.isdigit() else ORDINALS[place]
    spoken = reversed(range(max(len(before) - MAX_MESSAGES_BACK, 0), len(before)))
    wishes = (wish_in(before[one], offered, before[:one]) for one in spoken)
    earlier = next((wish for wish in wishes if wish.calls), None)
    if at >= len(listed) or earlier is None:
        return None
    way = UNDOES.get(earlier.calls[0][0], "") if ends else earlier.way
    row = next((row for row in TABLE if way and row.way == way and row.tool in offered), None)
    if row is None:
        shows = not ends and earlier.calls[0][0] in _LISTS
        return Wish(Intent.CHOSEN, shown=listed[at]) if shows else None
    arguments = {name: value for name, value in earlier.calls[0][1].items() if way == earlier.way}
    return Wish(Intent.TOOL, ((row.tool, arguments),), way=way, shown=listed[at])
