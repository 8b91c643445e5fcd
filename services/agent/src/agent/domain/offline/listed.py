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
from contracts.expressions import expression

_CANCELLING_VERBS = r"delete|remove|cancel|erase|drop|scrap|borra|elimina|quita|cancela|anula"
_ITEM = expression(
    rf"\W*(?:(?:please|ok|yes|si|pues|por favor)\W+)*(?:(?P<ends>{_CANCELLING_VERBS})\W+)?"
    r"(?:(?:the|la|el|lo|number|numero)\W+)*"
    rf"(?P<place>{'|'.join(ORDINALS)}|[1-9]\d?)(?:\W+(?:one|alert|order|position|alerta|orden|posicion))?"
    r"(?:\W+(?:please|por favor|gracias|thanks))?\W*"
)
_AGREES = expression(
    r"\W*(?:yes|yeah|yep|sure|right|exactly|si|claro|eso|exacto)\b\W*(?:please|por favor|that|it|eso)?\W*"
)
_READING = expression(r"[“«]([^”»]+)[”»]")
_LISTS = ("list_alerts", "get_pending_orders")
"""Tools that show what can be cancelled or deleted."""
_QUESTION_BEGINNINGS = tuple(wording.partition("{")[0] for wording in TEXTS["offline.do_you_mean"].by_language.values())
_LINE = expression(r"^(- .+)$", re.MULTILINE)
_NAMES = expression(r"\(([A-Z][\w./]*(?:, [A-Z][\w./]*)+)\)")


def _may_mean(text: str, line: str) -> bool:
    """Whether a text may mean a line, by its share, side or kind: "cancel the stop"."""
    shown_order, symbols = order_named(plain(line)), symbols_in(text)
    if symbols and not set(symbols) & set(symbols_in(line)):
        return False
    return all(shown_order.get(name) == value for name, value in order_named(plain(text)).items())


def chosen_reading(text: str, last_answer: str) -> str | None:
    """The reading that a text chooses from those that the newest answer asked about: "the first one", or a yes if there
    is one. None if it asked about none, or the text says something else."""
    question = next(
        (line for line in last_answer.splitlines() if any(beginning in line for beginning in _QUESTION_BEGINNINGS)), ""
    )
    readings = _READING.findall(question)
    match = _ITEM.fullmatch(plain(text))
    if len(readings) == 1 and _AGREES.fullmatch(plain(text)):
        return readings[0]
    if not readings or match is None or match["ends"]:
        return None
    place = match["place"]
    position = int(place) - 1 if place.isdigit() else ORDINALS[place]
    return readings[position] if position < len(readings) else None


def place_without_decision(text: str, last_answer: str) -> str | None:
    """The place that a text chooses from the orders that the newest answer asked about, without a yes or a no; None if
    it chooses none, or the last."""
    asks_which = any(question in last_answer for question in TEXTS["step.which"].by_language.values())
    match = _ITEM.fullmatch(plain(text)) if asks_which else None
    if match is None or match["ends"]:
        return None
    place = match["place"]
    number = int(place) if place.isdigit() else ORDINALS[place] + 1
    return str(number) if number else None


def chosen_item(text: str, last_answer: str, offered: Collection[str], earlier_texts: Sequence[str]) -> Wish | None:
    """The earlier request, for the item that the text chooses only by its place from the newest answer's list; None if
    it chooses none."""
    normalized = plain(text)
    match = _ITEM.fullmatch(normalized)
    names = _NAMES.search(last_answer)
    lines: list[str] = _LINE.findall(last_answer) or (names[1].split(", ") if names else [])
    # "Delete it" means the only line of a list.
    is_ending = bool(match and match["ends"]) or (len(lines) == 1 and TAKES_BACK.search(normalized) is not None)
    if is_ending and lines and not _may_mean(text, lines[0]):
        return None
    if (
        not earlier_texts
        or not lines
        or (match is None and not is_ending)
        or (match and len(lines) == 1 and not is_ending)
    ):
        return None
    place = match["place"] if match else "1"
    position = int(place) - 1 if place.isdigit() else ORDINALS[place]
    positions = reversed(range(max(len(earlier_texts) - MAX_MESSAGES_BACK, 0), len(earlier_texts)))
    wishes = (wish_in(earlier_texts[i], offered, earlier_texts[:i]) for i in positions)
    earlier = next((wish for wish in wishes if wish.calls), None)
    if position >= len(lines) or earlier is None:
        return None
    way = UNDOES.get(earlier.calls[0][0], "") if is_ending else earlier.way
    phrase = next((phrase for phrase in TABLE if way and phrase.way == way and phrase.tool in offered), None)
    if phrase is None:
        can_show = not is_ending and earlier.calls[0][0] in _LISTS
        return Wish(Intent.CHOSEN, words=lines[position]) if can_show else None
    arguments = {name: value for name, value in earlier.calls[0][1].items() if way == earlier.way}
    return Wish(Intent.TOOL, ((phrase.tool, arguments),), way=phrase.way, words=lines[position])
