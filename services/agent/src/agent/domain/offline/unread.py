"""Finds what an order's text says and the order that was read from it does not: a word, a figure, a side, a condition.

"buy 10 ibm unless msft falls" was read as an order for 10 IBM. Its "unless" went into nothing, so the order is not
prepared, and the assistant names the word and asks for the order in one short sentence.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from agent.domain.number_words import in_figures
from agent.domain.offline.changes import ALL_BUT, SHARE
from agent.domain.offline.conditions import POLITE, YES
from agent.domain.offline.key_words import with_known_spelling
from agent.domain.offline.slots import AN_ORDER, AT_MARKET, NEGATED, NUMBER, PAID, TAKES_PROFIT, sides_in
from agent.domain.offline.wishes import Intent, Wish
from agent.domain.text_features import is_one_letter_apart, language_of, number_of, plain, symbols_in, word_set
from agent.domain.tickers import NAMES
from agent.texts import TEXTS

_CONDITION = re.compile(r"\b(?:if|when|once|si|cuando|en cuanto)\b")
_SAID = frozenset(
    word for said in TEXTS["offline.commands"].by_language.values() for word in re.findall(r"[a-z]+", plain(said))
)
"""The words that ask for an effect, and those that are said beside them: whoever says another one may mean another
thing, or tell what others want, what was, or what might be."""
_LONG = 6
"""Letters from which on a word that has one wrong is no other word."""
EFFECTS = word_set(
    "create_paper_order cancel_paper_order create_alert delete_alert add_to_watchlist remove_from_watchlist"
)
"""Tools that change something."""
_NAMED = re.compile(
    rf"(?<!\w)(?:(?i:{'|'.join(map(re.escape, NAMES))})(?:['’]?s)?|"
    r"\$?[A-Z]{1,5}(?:[./][A-Z]{1,4})?(?:['’]s)?)(?!\w)"
)
_PAST = re.compile(r"\b\w{3,}[óé]\b(?<!\bqué)", re.IGNORECASE)
"""What was done, which has the letters of a command: compró, borré."""
_TURNS_IT = re.compile(r"\b(?:not|no|ni|or|o|hasta|except|salvo|excepto)\b")
"""Words that make another order of what stands beside them: a negation, an alternative, an exception."""
_CHANGES_REQUEST = re.compile(
    r"\b(?:don|never|nor|nunca|jamas|tampoco|either|maybe|perhaps|might|will|would|quizas?|"
    r"unless|except\w*|menos|siempre|mientras|until|till|while|provided|"
    r"told|said|says|advised|recommend\w*|suggest\w*|dijo|dice[ns]?|recomend\w+|recomiend\w+|aconsej\w+|"
    r"kidding|joking|broma|options?|opciones|calls|puts|futures|futuros|cfds?)\b"
)
"""Words behind the verb of a request that make another one of it: a negation, a condition, the words of somebody else,
and what is no share."""
_ASKS = re.compile(
    r"(?:buy|short|purchas|get|grab|pick|order|sell|unload|dump|plac|put|invest|set|creat|add|remov|delet|cancel|alert|notif|"
    r"warn|ping|tell|let|watch|follow|stop|clos|liquidat|track|drop|mak|giv|tak|chang|mov|rais|protect|cut|trim|"
    r"compr|vend|pon|met|inviert|invert|cancel|anul|borr|elimin|quit|anad|agreg|avis|notif|crea|sig|segui|cierr|"
    r"adqui|cambi|sub|baj|coge|saca|mand|prepar|deja)"
)
"""The beginning of a verb with which people ask for an effect."""
_REASON = re.compile(
    r"(?<![\s,])[\s,]+(?:because|since|cos|as i|so that|porque|ya que|puesto que|para que)\b"
    r"(?![^.;]*\b(?:said|told|dijo)\b).*$",
    re.IGNORECASE | re.DOTALL,
)
"""Why it is wanted."""
_BESIDE = re.compile(
    r"\b(?:or (?:better|best|less)|o (?:mejor|menos)|(?:cada|por) un[ao]|each)(?=\W*$)|"
    r"\b(?:why not|no (?:rush|hurry)|sin prisa|(?:i )?(?:don\W?t|do not) know how many|no se cuant[oa]s)\b|"
    r"\b(?:(?:can|could|would|will) you|(?:would|d) (?:like|love)|right (?:now|away)|"
    r"(?:have )?changed my mind|he cambiado de idea|good (?:morning|afternoon|evening)|"
    r"buen[oa]s (?:dias|tardes|noches)|me (?:gustaria|encantaria)|(?:me )?(?:puedes|puede|podrias|podria)|"
    r"pick (?:me )?up|pick me)\b"
)
_NO = re.compile(r"\b(?:no|not)\b")
_LEVEL = re.compile(r"\b(?:above|below|over|under|encima|debajo)\b")
"""A price, where the order has none."""
_PERCENT = re.compile(r"\s?(?:%|per ?cent\b|por ?ciento\b)")
_WORKED_OUT = frozenset(("from_now", "at_level"))
"""Ways that turn a figure of the text into another, which the wish shows."""


def has_effects(wish: Wish) -> bool:
    """Whether one of its calls changes something."""
    return not EFFECTS.isdisjoint(tool for tool, _ in wish.calls)


def requested(text: str, wish: Wish | None) -> Wish | None:
    """The wish, if it has no effect or the text asks for it; else the word that does not belong to a request. What it
    waits for is asked about.

    Before the verb each word has to be one of a request: another one may tell what others want, what was, or what might
    be. Behind it people give reasons and tell what they have: there a word counts if it makes another order of it, or,
    where the text names no share, if it may name another thing.
    """
    if wish is None or not has_effects(wish) or any(name == "when" or name.endswith("price") for name in wish.missing):
        return wish
    said = in_figures(_BESIDE.sub(" ", with_known_spelling(_NAMED.sub(" ", _REASON.sub(" ", text)))))
    words = [*_PAST.findall(text), *re.findall(r"[^\W\d_]+", said)]
    named = symbols_in(text) or all(tool != "create_paper_order" for tool, _ in wish.calls)
    asked = False
    for word in words:
        if not _is_said(word) and not symbols_in(word) and not (asked and named and not _CHANGES_REQUEST.search(word)):
            return Wish(Intent.UNREAD, shown=word)
        asked = asked or _ASKS.match(word) is not None
    return wish


def has_foreign_words(text: str, tool: str) -> bool:
    """Whether a text has words that no request of this tool has."""
    wish = requested(text, Wish(Intent.TOOL, ((tool, {}),)))
    return wish is not None and wish.intent is Intent.UNREAD


@lru_cache(maxsize=8_192)
def _is_said(word: str) -> bool:
    """Whether a word is one of a request, also a long one with a letter wrong inside; an ending makes another word."""
    near = (one for one in _SAID if len(one) >= _LONG and one[0] == word[0] and one[-1] == word[-1])
    return word in _SAID or (len(word) >= _LONG and any(is_one_letter_apart(word, one) for one in near))


def whole(text: str, wish: Wish, *, conditional: bool = False) -> Wish:
    """The order, if all that its text says of it was read: else the word that was not."""
    if wish.missing or wish.withheld:
        return wish
    unread = unread_in(text, wish, conditional=conditional)
    return Wish(Intent.UNREAD, shown=unread) if unread else wish


def unread_in(text: str, wish: Wish, *, conditional: bool = False) -> str:
    """The first word or figure of the text that is not in the orders that were read from it; "" if all is.
    `conditional`: a condition was read."""
    said = _BESIDE.sub(" ", AT_MARKET.sub(" ", plain(YES.sub(" ", text))))
    named = {name for _, arguments in wish.calls for name in arguments}
    if named & {"share", "kept", "spared"}:
        said = SHARE.sub(" ", ALL_BUT.sub(" ", said) if named & {"kept", "spared"} else said)
    turned = _TURNS_IT.search(said)
    if turned is None and not conditional and (asked := _CONDITION.search(said)) and not POLITE.search(said):
        turned = asked
    if turned is not None:
        return turned[0]
    sides = {str(arguments.get("side")) for _, arguments in wish.calls}
    if other := next((word for side, word in sides_in(said) if side not in sides), ""):
        return other if not TAKES_PROFIT.search(said) else ""
    return unread_figure(text, said, wish)


def unread_change(text: str, said: str, wish: Wish) -> str:
    """What of a change to an order (`said`: plain) is not in the order that came of it."""
    rest = _NO.sub(" ", said)  # it takes back what was said before
    turned = _TURNS_IT.search(rest) or (
        None if any(name.endswith("_price") for name in wish.calls[0][1]) else _LEVEL.search(rest)
    )
    return turned[0] if turned else unread_figure(text, said, wish)


def unread_figure(text: str, said: str, wish: Wish) -> str:
    """The first figure of the text (`said`: plain) that the orders do not have, or that may be read in two ways."""
    if wish.way in _WORKED_OUT:
        return ""
    said, point = in_figures(AN_ORDER.sub("", said)), language_of(text, "es") == "en"
    told = [value for _, arguments in wish.calls for value in arguments.values() if isinstance(value, int | float)]
    told += [100 * abs(1 - value) for _, given in wish.calls for name, value in given.items() if name.startswith("of_")]
    spent = [float(wish.shown)] if re.fullmatch(r"[\d.]+", wish.shown) else []
    spent += [100 * one for one in spent if wish.way == "share_of_cash"]
    for match in re.finditer(rf"(?<![\w.,]){NUMBER}", said):
        if PAID.search(said[: match.start()]) or NEGATED.search(said[: match.start()]):
            continue
        figures = match[0].strip("-\u2212 ").replace(" ", "")
        readings = {number_of(figures, point=True), number_of(figures)} if "e" not in figures else {float(figures)}
        doubtful = point and len(readings) > 1 and not _near(readings, spent)
        if _PERCENT.match(said, match.end()):
            readings = {share for one in readings for share in (one / 100, 1 - one / 100, 1 + one / 100)}
        if doubtful or not _near(readings, [*told, *spent]):
            return match[0].strip()
    return ""


def _near(readings: Iterable[float], told: Iterable[float]) -> bool:
    return any(abs(abs(one) - reading) < 1e-6 for one in told for reading in readings)
