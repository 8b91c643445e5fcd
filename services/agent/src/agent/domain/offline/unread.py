"""Finds what an order's text says and the order that was read from it does not: a word, a figure, a side, a condition.

"buy 10 ibm unless msft falls" was read as an order for 10 IBM. Its "unless" was ignored, so the order is not prepared,
and the assistant names the word and asks for the order in one short sentence.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from agent.domain.number_words import in_figures
from agent.domain.offline.changes import ALL_BUT, FRACTION, SHARE
from agent.domain.offline.conditions import NEGATED_LEVEL, POLITE, YES
from agent.domain.offline.key_words import with_known_spelling
from agent.domain.offline.order_words import AT_MARKET, TAKES_PROFIT, sides_in
from agent.domain.offline.slots import AN_ORDER, NEGATED, NUMBER, PAID
from agent.domain.offline.wishes import RELATIVE_WAYS, Intent, Wish
from agent.domain.text_features import is_one_letter_apart, language_of, number_of, plain, symbols_in, word_set
from agent.domain.tickers import NAMES
from agent.texts import TEXTS
from contracts.expressions import expression

_CONDITION = expression(r"\b(?:if|when|once|si|cuando|en cuanto)\b")
_REQUEST_WORDS = frozenset(
    word for wording in TEXTS["offline.commands"].by_language.values() for word in re.findall(r"[a-z]+", plain(wording))
)
"""The words of requests for an effect, and those around them. Any other word may mean something else, or tell what
others want, what was, or what might be."""
_MIN_MISSPELT_LETTERS = 6
"""Minimum letters of a word that counts as known although one letter is wrong."""
EFFECTS = word_set(
    "create_paper_order cancel_paper_order create_alert delete_alert add_to_watchlist remove_from_watchlist"
)
"""Tools that change something."""
_SHARE_NAME = expression(
    rf"(?<!\w)(?:(?i:{'|'.join(map(re.escape, NAMES))})(?:['’]?s)?|"
    r"\$?[A-Z]{1,5}(?:[./][A-Z]{1,4})?(?:['’]s)?)(?!\w)"
)
_PAST = expression(r"\b\w{3,}[óé]\b(?<!\bqué)", re.IGNORECASE)
"""Spanish past tenses that have the letters of a command: compró, borré."""
_OWN_PRICE = expression(r"\bque (?:l[aeo]s? )?(?:pagué|compré|he pagado)(?!\w)(?: por \w+)?", re.IGNORECASE)
"""The price that was paid, which is no past deed of somebody else: "un 5 % por debajo de lo que pagué"."""
_CHANGES_MEANING = expression(r"\b(?:not|no|ni|or|o|hasta|except|salvo|excepto)\b")
"""Words that change the meaning of what is beside them: a negation, an alternative, an exception."""
_OTHER_BASE = expression(
    r"\b(?:from|below|under|off|desde|respecto (?:a|de)|(?:por )?debajo de) (?P<base>"
    r"(?:(?:its|the|their|sus?|el|l[oa]s|all.time|\w+.(?:week|day|month|year)|recent|last|latest|ultim[oa]s?) )*"
    r"(?:highs?|peaks?|tops?|lows?|bottoms?|open|opening|maxim(?:um|os?)|minim(?:um|os?)|picos?|apertura))\b"
)
"""What a distance is from, if it is not the current price."""
_IN_TOTAL = expression(r"\b(?:in (?:total|all)|altogether|overall|en (?:total|conjunto))\b")
"""Of a sum, which is no price."""
_CHANGES_REQUEST = expression(
    r"\b(?:don|never|nor|nunca|jamas|tampoco|either|maybe|perhaps|might|will|would|quizas?|"
    r"unless|except\w*|menos|siempre|mientras|until|till|while|provided|"
    r"told|said|says|advised|recommend\w*|suggest\w*|dijo|dice[ns]?|recomend\w+|recomiend\w+|aconsej\w+|"
    r"kidding|joking|broma|options?|opciones|calls|puts|futures|futuros|cfds?)\b"
)
"""Words after the verb that change a request: a negation, a condition, somebody else's words, something other than
shares."""
_REQUEST_VERB = expression(
    r"(?:buy|short|purchas|get|grab|pick|order|sell|unload|dump|plac|put|invest|set|creat|add|remov|delet|cancel|alert|notif|"
    r"warn|ping|tell|let|watch|follow|stop|clos|liquidat|track|drop|mak|giv|tak|chang|mov|rais|protect|cut|trim|"
    r"compr|vend|pon|met|inviert|invert|cancel|anul|borr|elimin|quit|anad|agreg|avis|notif|crea|sig|segui|cierr|"
    r"adqui|cambi|sub|baj|coge|saca|mand|prepar|deja)"
)
"""The beginnings of verbs with which people ask for an effect."""
_REASON = expression(
    r"(?<![\s,])[\s,]+(?:because|since|cos|as i|so that|porque|ya que|puesto que|para que)\b"
    r"(?![^.;]*\b(?:said|told|dijo)\b).*$",
    re.IGNORECASE | re.DOTALL,
)
"""The reason for a request."""
_ASIDES = expression(
    r"\b(?:or (?:better|best|less)|o (?:mejor|menos)|(?:cada|por) un[ao]|each)(?=\W*$)|"
    r"\b(?:why not|no (?:rush|hurry)|sin prisa|(?:i )?(?:don\W?t|do not) know how many|no se cuant[oa]s)\b|"
    r"\b(?:(?:can|could|would|will) you|(?:would|d) (?:like|love)|right (?:now|away)|"
    r"(?:have )?changed my mind|he cambiado de idea|good (?:morning|afternoon|evening)|"
    r"buen[oa]s (?:dias|tardes|noches)|me (?:gustaria|encantaria)|(?:me )?(?:puedes|puede|podrias|podria)|"
    r"pick (?:me )?up|pick me)\b"
)
_NO = expression(r"\b(?:no|not)\b")
_LEVEL = expression(r"\b(?:above|below|over|under|encima|debajo)\b")
"""Words for a price level."""
_PERCENT = expression(r"\s?(?:%|per ?cent\b|por ?ciento\b)")
_COMPUTING_WAYS = (*RELATIVE_WAYS, "either_side", "at_level")
"""Ways that compute another figure from one in the text, their amount."""


def has_effects(wish: Wish) -> bool:
    """Whether one of a wish's calls changes something."""
    return not EFFECTS.isdisjoint(tool for tool, _ in wish.calls)


def as_requested(text: str, wish: Wish | None) -> Wish | None:
    """Return the wish if it has no effect or the text asks for it; else a wish of intent UNREAD with the word that does
    not belong to a request. Arguments that a wish waits for are asked for.

    Each word before the verb has to be one of a request: others may tell what somebody else wants, what was, or what
    might be. After the verb, people give reasons and describe what they have: there, a word counts if it changes the
    order or, if the text names no share, if it may name another thing.
    """
    if wish is None or not has_effects(wish) or any(name == "when" or name.endswith("price") for name in wish.missing):
        return wish
    text = _OWN_PRICE.sub(" ", text)
    normalized = in_figures(_ASIDES.sub(" ", with_known_spelling(_SHARE_NAME.sub(" ", _REASON.sub(" ", text)))))
    words = [*_PAST.findall(text), *re.findall(r"[^\W\d_]+", normalized)]
    if unread := _other_meaning(plain(text), wish):
        return Wish(Intent.UNREAD, words=unread)
    has_symbol = symbols_in(text) or all(tool != "create_paper_order" for tool, _ in wish.calls)
    has_request_verb = False
    for word in words:
        if (
            not _is_request_word(word)
            and not symbols_in(word)
            and not (has_request_verb and has_symbol and not _CHANGES_REQUEST.search(word))
        ):
            return Wish(Intent.UNREAD, words=word)
        has_request_verb = has_request_verb or _REQUEST_VERB.match(word) is not None
    return wish


def _other_meaning(normalized: str, wish: Wish) -> str:
    """The words of a normalized text by which a wish with effects means something that it does not have; "" if none."""
    tools, names = {tool for tool, _ in wish.calls}, {name for _, arguments in wish.calls for name in arguments}
    is_removal = not tools.isdisjoint(("cancel_paper_order", "delete_alert")) and len(tools) == 1
    if is_removal and "spared" not in names and (match := ALL_BUT.search(normalized)):
        return match["but"]
    if (wish.way in RELATIVE_WAYS or "create_alert" in tools) and (match := _OTHER_BASE.search(normalized)):
        return match["base"]
    if any(map(_is_two_orders, (arguments for _, arguments in wish.calls))):
        return "stop"
    is_at_price = any(name.endswith("price") for name in names)
    return match[0] if is_at_price and (match := _IN_TOTAL.search(normalized)) else ""


def _is_two_orders(arguments: Mapping[str, Any]) -> bool:
    """Whether an order's stop and limit are on two sides: a gain and a loss that are waited for at once. A stop-limit
    order buys above its stop at no more than its limit, and sells below it at no less."""
    stop, limit = arguments.get("stop_price"), arguments.get("limit_price")
    if stop is None or limit is None:
        return False
    return limit < stop if arguments.get("side") == "buy" else limit > stop


def has_foreign_words(text: str, tool: str) -> bool:
    """Whether a text has words that no request of this tool has."""
    wish = as_requested(text, Wish(Intent.TOOL, ((tool, {}),)))
    return wish is not None and wish.intent is Intent.UNREAD


@lru_cache(maxsize=8_192)
def _is_request_word(word: str) -> bool:
    """Whether a word is one of a request. A long one may have one wrong letter, but not the first or last: an ending
    makes another word."""
    similar = (
        known
        for known in _REQUEST_WORDS
        if len(known) >= _MIN_MISSPELT_LETTERS and known[0] == word[0] and known[-1] == word[-1]
    )
    return word in _REQUEST_WORDS or (
        len(word) >= _MIN_MISSPELT_LETTERS and any(is_one_letter_apart(word, known) for known in similar)
    )


def order_if_complete(text: str, wish: Wish, *, conditional: bool = False) -> Wish:
    """Return the order if its whole text was read; else a wish of intent UNREAD with the ignored word."""
    if wish.missing or wish.withheld:
        return wish
    ignored = first_unread(text, wish, conditional=conditional)
    return Wish(Intent.UNREAD, words=ignored) if ignored else wish


def first_unread(text: str, wish: Wish, *, conditional: bool = False) -> str:
    """The first word or figure of the text that is not in the orders read from it; "" if all are. `conditional` is true
    if its condition was read."""
    normalized = _ASIDES.sub(" ", AT_MARKET.sub(" ", plain(YES.sub(" ", text))))
    normalized = NEGATED_LEVEL.sub(" ", normalized) if conditional else normalized
    argument_names = {name for _, arguments in wish.calls for name in arguments}
    if argument_names & {"share", "kept", "spared"}:
        normalized = SHARE.sub(" ", ALL_BUT.sub(" ", normalized) if argument_names & {"kept", "spared"} else normalized)
    changing_word = _CHANGES_MEANING.search(normalized)
    if (
        changing_word is None
        and not conditional
        and (condition := _CONDITION.search(normalized))
        and not POLITE.search(normalized)
    ):
        changing_word = condition
    if changing_word is not None:
        return changing_word[0]
    sides = {str(arguments.get("side")) for _, arguments in wish.calls}
    if other_side_word := next((word for side, word in sides_in(normalized) if side not in sides), ""):
        return other_side_word if not TAKES_PROFIT.search(normalized) else ""
    return first_unread_figure(text, normalized, wish)


def first_unread_of_change(text: str, normalized: str, wish: Wish) -> str:
    """The word or figure of a change to an order (`normalized` is its normalized text) that is not in the resulting
    order; "" if none."""
    without_no = _NO.sub(" ", normalized)  # "no" takes back what was said before
    has_level = wish.way in _COMPUTING_WAYS or any(name.endswith(("_price", "away")) for name in wish.calls[0][1])
    changing_word = _CHANGES_MEANING.search(without_no) or (None if has_level else _LEVEL.search(without_no))
    return changing_word[0] if changing_word else first_unread_figure(text, normalized, wish)


def first_unread_figure(text: str, normalized: str, wish: Wish) -> str:
    """The first figure of the text (`normalized` is its normalized form) that the orders do not have, or that can be
    read in two ways; "" if none."""
    if wish.way in _COMPUTING_WAYS:
        return ""
    normalized, has_decimal_point = (
        in_figures(FRACTION.sub(" ", AN_ORDER.sub("", normalized))),
        language_of(text, "es") == "en",
    )
    known_figures = [
        value for _, arguments in wish.calls for value in arguments.values() if isinstance(value, int | float)
    ]
    known_figures += [
        100 * abs(1 - value)
        for _, arguments in wish.calls
        for name, value in arguments.items()
        if name.startswith("of_")
    ]
    amounts = [wish.amount] if wish.way else []
    amounts += [100 * amount for amount in amounts if wish.way == "share_of_cash"]
    for match in re.finditer(rf"(?<![\w.,]){NUMBER}", normalized):
        if PAID.search(normalized[: match.start()]) or NEGATED.search(normalized[: match.start()]):
            continue
        figures = match[0].strip("-\u2212 ").replace(" ", "")
        readings = {number_of(figures, point=True), number_of(figures)} if "e" not in figures else {float(figures)}
        is_ambiguous = has_decimal_point and len(readings) > 1 and not _is_among(readings, amounts)
        if _PERCENT.match(normalized, match.end()):
            readings = {
                share for reading in readings for share in (reading / 100, 1 - reading / 100, 1 + reading / 100)
            }
        if is_ambiguous or not _is_among(readings, [*known_figures, *amounts]):
            return match[0].strip()
    return ""


def _is_among(readings: Iterable[float], known_figures: Iterable[float]) -> bool:
    return any(abs(abs(known) - reading) < 1e-6 for known in known_figures for reading in readings)
