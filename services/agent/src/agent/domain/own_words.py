"""Decides what a turn may change, from the user's own words (least privilege).

Besides the user's messages, a model reads pages, headlines, documents, results of other services and remembered texts,
and may take any of them for an instruction. So once it has read such a text, a call is compared with the user's own
words before it runs: they must ask for that kind of effect, and no value of the call may come only from a foreign text.
A user whose words are not known here, about something that foreign texts mention too, is asked by the model and says
yes. Reading has no effects and is not checked; memory's tools prove each fact by the user's words themselves, and
orders also need a confirmation.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from agent.domain.context.compression import PromptMessage
from agent.domain.number_words import in_figures
from agent.domain.offered_tool import OfferedTool
from agent.domain.offline.answers import NOT_ASKED
from agent.domain.offline.talk_words import AMENDS
from agent.domain.shortcuts.words import begins_with_agreement
from agent.domain.text_features import (
    is_plain_yes,
    numbers_in,
    plain,
    symbols_before,
    symbols_in,
    whole_number,
    word_set,
)
from agent.domain.turn.journal import Journal, TurnCall
from agent.texts import TEXTS
from contracts.expressions import expression
from contracts.providers import OFFLINE

TRUSTED = word_set(
    "get_price get_ohlcv get_indicators get_fundamentals market_snapshot get_portfolio get_trade_history "
    "get_performance get_correlation get_crossings get_pending_orders get_watchlist list_alerts "
    "calculate_position_size calculate_risk_reward backtest_strategy get_ml_signals"
)
"""Tools whose results are figures and the user's own lists, without foreign texts. An announced tool cannot take such a
name."""
_ENDING_WORDS = (
    r"delet\w*|remov\w*|cancel\w*|eras\w*|drop(?! me)|clear|stop (?:\w+ing|it|that|them|the|my|all)|"
    r"(?:turn|turned|switch|call|take) (?:\w+ ){0,2}off|off (?:my|the)|done (?:with|tracking|following)|"
    r"disable|get rid|(?:don t|do not) (?:need|want)|no longer|any ?more|undo|unfollow|scrap|withdraw|borr\w+|"
    r"elimin\w+|quit(?:a|o|e|ar|arl\w+|al[oa]s?|ame)|anul\w+|desactiv\w+|deshaz\w*|deja\w* de|ya no|"
    r"no (?:quiero|necesito)|mejor (?:que )?no|retir\w+|apag\w+|sac(?:a|ar|al\w+)"
)
_CHANGING_WORDS = (
    rf"{_ENDING_WORDS}|{AMENDS.pattern}|(?:chang|mov|updat|rais|lower|replac|cambi|muev|pasa|sub[ae]|baj[ae]|actualiz|modif)\w*"
    r"(?= (?:\w+ ){0,3}(?:alert|alarm|aviso|order|pedido))"
)
"""Words for a change, which ends the old object and makes a new one."""
_REMEMBER = r"\w"
"""Anything, since memory itself checks that the user said it."""
_WORDS = {
    "create_alert": (
        rf"{AMENDS.pattern}|"
        r"alert\w*|alarm\w*|notif\w*|tell me (?:when|if|once|as soon)|let me know|warn\w*|ping|remind\w*|"
        r"(?:text|message|email|wake) me|avis\w+|dime (?:cuando|si)|hazme saber|quiero saber cuando|recuerdam\w+|"
        r"adviert\w+|shout"
    ),
    "delete_alert": _CHANGING_WORDS,
    "add_to_watchlist": (
        r"watch\w*|list\w*|follow\w*|track\w*|monitor\w*|(?:an|your) eye|eye on|favou?rit\w*|add|save|star|bookmark|"
        r"sigue\w*|segu\w+|vigil\w+|anad\w+|agreg\w+|guard\w+|apunt\w+|pon|ponme|mete|no pierdas de vista"
    ),
    "remove_from_watchlist": _ENDING_WORDS,
    "create_paper_order": (
        r"buy\w*|sell\w*|bought|sold|order\w*|purchas\w*|trad\w*|invest\w*|short|go long|close|exit|liquidat\w*|"
        r"stop\w*|limit|get (?:me )?\d+|pick up|grab|acquir\w*|dump|offload|take profit|half|put \$? ?\d+|"
        r"(?:get|want) (?:me )?out|(?:i want|quiero|pon|mete|meteme) \d+|deshac\w+|compr\w+|vend\w+|"
        r"orden\w*|pedido\w*|inviert\w*|invert\w+|cierr\w+|cerr\w+|liquid\w+|mitad|adquier\w+|adquir\w+|oper\w+"
    ),
    "cancel_paper_order": _CHANGING_WORDS,
    "forget": (
        rf"{_ENDING_WORDS}|forget\w*|wipe|olvid\w+|no recuerdes|(?:don t|do not) (?:remember|keep|store|save)|"
        r"never mind"
    ),
    "remember": _REMEMBER,
    "update_memory": _REMEMBER,
}
KINDS = {tool: expression(rf"\b(?:{words})\b" if words != _REMEMBER else words) for tool, words in _WORDS.items()}
"""By tool, the words of which the user's text must contain one (lower case, no accents)."""
_ENDING_REQUEST = expression(rf"\b(?:{_ENDING_WORDS})\b")
_MAKING_REQUESTS = {
    "create_alert": expression(r"\b(?:notif|let me know|tell me|avis\w+|dime|create|set|new|crea\w*|pon\w*|make)\b"),
    "add_to_watchlist": expression(r"\b(?:add|put|save|star|bookmark|an eye|anad\w+|agreg\w+|pon\w*|mete|apunt\w+)\b"),
    "create_paper_order": expression(
        r"\b(?:buy|sell|purchase|trade|invest|short|liquidate|compr\w+|vend\w+|invi?ert\w+)\b"
    ),
}
"""Words that must ask for a new object if the text also ends something; without them its noun names what ends."""
_OBJECTS = {
    "delete_alert": expression(r"\b(?:alert|alarm|aviso|notif)"),
    "remove_from_watchlist": expression(r"\b(?:watch|list|follow|unfollow|favou?rit|segui|siguiendo)"),
    "cancel_paper_order": expression(r"\b(?:order|orden|pedido|trade)"),
}
"""Nouns for the objects that a tool ends. If the text names one of them, no other tool is meant."""
_REFERENCE = expression(
    r"\b(?:it|that|them|those|this|these|both|eso|esa|ese|esos|esas|esto)\b(?=\W*(?:$|please|por favor|"
    r"for me|too|as well|(?:to|from|on|in) (?:my|the)|off|then|now|again|instead|tambien|ahora))|"
    r"\b(?:anade|agrega|pon|mete|compra|vende|borra|quita|cancela|elimina|sigue|guarda|apunta|crea|haz)l[oa]s?\b"
)
_QUESTION = expression(r"\?(?:\s|$)")
"""A question that is asked, not quoted."""
_READING_REQUEST = expression(
    r"^\W*(?:(?:please|and|y|por favor|hi|hello|hola|ok)\W+)*(?:what|which|how|who|when|where|why|is|are|do|does|did|"
    r"was|were|show|read|list|tell me about|explain|summari\w+|compare|translate|find out|look up|que|cual\w*|como|"
    r"quien|cuando|donde|por que|cuant\w+|muestra\w*|lee\w*|dime|explica\w*|resum\w+|compara\w*|traduc\w+|busca\w*|"
    r"ensena\w*)\b"
)
"""A message that asks for information."""
_MAX_YES_WORDS, _MAX_ANSWER_WORDS = 4, 10
"""Maximum words of a yes, and of an answer to a question. A longer message states its own request."""
_IN_A_NAME = r"[^\s\"'<>()\[\]{},;]"
_IDENTIFIER = expression(
    rf"(?<!{_IN_A_NAME})(?={_IN_A_NAME}*[\d@/]){_IN_A_NAME}++|(?<!\w)[A-Z]{{1,5}}(?:\.[A-Z])?(?!\w)"
)
"""Identifies something: numbers, addresses, ids, symbols."""
_MIN_PHRASE_LENGTH = 12
"""Characters from which a text counts as somebody's wording, as names and several words do; shorter ones are common."""
_WORD_ENDING = expression(r"(?:ando|iendo|ing|ed|es|s|ar|er|ir|e|a|o)$")
MAX_NAMES = 500
"""Identifiers of one call that are looked up, and occurrences of one that are tried."""
_FILLER_WORDS = word_set("the and for get set your our los las una tus sus del con para que")
_MAX_MESSAGES_BACK = 6
"""How many of the user's messages back may name what the newest do not name again."""


@dataclass(frozen=True, slots=True)
class OwnWords:
    """The texts by which a call is judged. `request_text`: the user's words that the turn answers, and earlier ones
    that they agree to; `foreign`: other people's texts in the prompt; `referred_text`: what the user refers to without
    naming it again, which requests nothing."""

    request_text: str
    foreign: str = ""
    referred_text: str = ""

    def ask_for(self, call: TurnCall, tool: OfferedTool | None, journal: Journal) -> bool:
        """Whether the user's words request this call of a tool with effects, or no foreign text can have requested
        it."""
        user_text, foreign = self._texts(journal)
        if foreign == "" or _is_requested_by_rules(call, journal):
            return True
        request_pattern = _request_pattern(call.tool, tool)
        normalized = plain(self.request_text)
        parameters: Mapping[str, object] = tool.parameters if tool is not None else {}
        properties = cast("Mapping[str, Mapping[str, object]]", parameters.get("properties") or {})
        values = [
            value
            for name, argument in cast("dict[str, object]", json.loads(call.arguments)).items()
            if not properties.get(name, {}).keys() & {"enum", "const"}
            for value in _values(argument)
        ]
        if sum(len(_IDENTIFIER.findall(value)) for value in values) > MAX_NAMES:
            return False
        user_search, foreign_search = SearchableText(user_text), SearchableText(foreign)
        if not request_pattern.search(normalized) or _asks_for_other_tool(
            call.tool, normalized, plain(self.referred_text)
        ):
            # No known words for it, but values that only the user named.
            named_by_user = SearchableText(" ".join([self.request_text, *symbols_in(self.request_text)]))
            if (
                request_pattern.search(plain(foreign))
                or "?" in self.request_text
                or _READING_REQUEST.search(normalized)
                or not any(_is_named(value, named_by_user) for value in values)
                or any(_is_named(value, foreign_search) for value in values)
            ):
                return False
        return all(_is_users_value(value, user_search, foreign_search) for value in values)

    def _texts(self, journal: Journal) -> tuple[str, str]:
        """The user's text and the foreign text, with the results of trusted and of other tools."""
        results = [(call.tool, " ".join(_values(json.loads(call.result)))) for call in journal.calls if call.result]
        trusted = (text for tool, text in results if tool in TRUSTED)
        user_texts = [
            self.request_text,
            in_figures(plain(self.request_text)),
            *symbols_in(self.request_text, MAX_NAMES),
            self.referred_text,
            *trusted,
        ]
        foreign_texts = [text for tool, text in results if tool not in TRUSTED and tool not in KINDS]
        return " ".join(user_texts), " ".join([self.foreign, *foreign_texts]).strip()


def _is_requested_by_rules(call: TurnCall, journal: Journal) -> bool:
    """Whether the offline assistant requested the call. Its rules only read the user's messages, and a follow-up ("and
    another at 600") does not name the kind of effect again."""
    requesting_steps = (
        step for step in journal.steps if any(requested.call_id == call.call_id for requested in step.calls)
    )
    return any(step.provider == OFFLINE.name for step in requesting_steps)


class SearchableText:
    """A text that is searched often, prepared so that a long foreign text does not cost its length in every search."""

    def __init__(self, text: str) -> None:
        self._text = _folded(text)
        self._numbers = {value for point in (False, True) for _, value in numbers_in(self._text, point=point)}

    def holds(self, wording: str) -> bool:
        return _folded(wording) in self._text

    def names(self, name: str) -> bool:
        """Whether the text contains a name or number as a whole; numbers are compared by value."""
        normalized, number = plain(name), whole_number(name)
        if number is not None:
            return number in self._numbers
        start = self._text.find(normalized)
        for _ in range(MAX_NAMES):
            if start < 0:
                return False
            around = self._text[start - 1 : start], self._text[start + len(normalized) : start + len(normalized) + 1]
            if not any(character.isalnum() or character == "_" for character in around):
                return True
            start = self._text.find(normalized, start + 1)
        return True


def own_words_from(messages: Sequence[PromptMessage], basis: int, foreign: Iterable[str] = ()) -> OwnWords:
    """The user's own words in a conversation with unanswered messages. The company's last text counts if a short answer
    agrees to it, and its names if the user refers back to them; if it was a question, the user's message before it
    counts too. A user who names nothing refers to what they named before."""
    unanswered = [message for message in messages if not message.mine and message.seq > basis]
    first = unanswered[0].seq if unanswered else 0
    earlier = [message for message in messages if message.seq < first]
    text = " ".join(message.text for message in unanswered)
    earlier_texts = [message.text for message in earlier if not message.mine]
    last_answer = next((message.text for message in reversed(earlier) if message.mine), "")
    was_question = _QUESTION.search(last_answer) is not None
    is_agreement = _is_agreement(text, was_question=was_question)
    counted_texts = [
        text,
        *([last_answer] if is_agreement else []),
        *(earlier_texts[-1:] if is_agreement or was_question else []),
    ]
    about = [*earlier_texts[-1:], *([] if symbols_in(text) else symbols_before(earlier_texts[-_MAX_MESSAGES_BACK:]))]
    if _refers_back(text):
        about += [*_identifiers(last_answer), *symbols_in(last_answer)]
    answers = [message.text for message in messages if message.mine]
    return OwnWords(" ".join(counted_texts), " ".join([*answers, *foreign]).strip(), " ".join(about))


def _is_agreement(text: str, *, was_question: bool) -> bool:
    """Whether a text only agrees to the one before it. `was_question`: that was a question, which an answer may also
    modify."""
    words = len(text.split())
    if "?" in text or _READING_REQUEST.search(plain(text)):
        return False
    begins_agreeing = begins_with_agreement(text, is_after_question=was_question)
    if words <= _MAX_YES_WORDS and (begins_agreeing or (was_question and is_plain_yes(text))):
        return True
    changes = was_question and words <= _MAX_ANSWER_WORDS and not symbols_in(text)
    return changes and (begins_agreeing or AMENDS.search(plain(text)) is not None)


def _refers_back(text: str) -> bool:
    return len(text.split()) <= _MAX_ANSWER_WORDS and _REFERENCE.search(plain(text)) is not None


def refusal(language: str) -> str:
    """The result for the model of a call that the user did not ask for."""
    error = {"code": NOT_ASKED, "message": TEXTS["prompt.not_asked"].in_language(language)}
    return json.dumps({"success": False, "error": error, "metadata": {"executionTime": 0, "cached": False}})


def _request_pattern(name: str, tool: OfferedTool | None) -> re.Pattern[str]:
    """The pattern of words that ask for such a call; for another service's tool, the words of its name and label."""
    pattern = KINDS.get(name)
    if pattern is not None:
        return pattern
    words = re.findall(r"[^\W_\d]{3,}", plain(f"{name} {tool.label if tool else ''}".replace("_", " ")))
    roots = sorted({_WORD_ENDING.sub("", word) for word in words if word not in _FILLER_WORDS})
    return expression("|".join(rf"\b{root}\w{{0,4}}\b" for root in roots if len(root) > 2) or r"(?!)")


def _is_named(value: str, text: SearchableText) -> bool:
    """Whether a text contains a value or its identifiers."""
    return (len(value) > 2 and text.holds(value)) or any(map(text.names, _identifiers(value)))


def _identifiers(value: str) -> list[str]:
    return [name for match in _IDENTIFIER.findall(value) if (name := match.strip(".:!?"))]


def _asks_for_other_tool(tool: str, text: str, referred_text: str) -> bool:
    makes = _MAKING_REQUESTS.get(tool)
    if makes is not None and _ENDING_REQUEST.search(text):
        return not makes.search(text)
    named_tools = _tools_of_named_objects(text) or _tools_of_named_objects(referred_text)
    return tool in _OBJECTS and bool(named_tools) and tool not in named_tools


def _tools_of_named_objects(text: str) -> set[str]:
    return {name for name, pattern in _OBJECTS.items() if pattern.search(text)}


def _is_users_value(value: str, users: SearchableText, foreign: SearchableText) -> bool:
    """Whether a value comes from the user, or at least from no foreign text."""
    wording = len(value) >= _MIN_PHRASE_LENGTH or " " in value or value[:1].isupper()
    if wording and not users.holds(value) and foreign.holds(value):
        return False
    return not any(foreign.names(identifier) and not users.names(identifier) for identifier in _identifiers(value))


def _folded(text: str) -> str:
    return " ".join(plain(text).split())


def _values(value: object) -> Iterable[str]:
    """Every name, text and number of a JSON value, in the forms in which a text may contain it."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, Mapping):
            for name, member in cast("Mapping[str, object]", item).items():
                pending += [member, name]
        elif isinstance(item, list | tuple):
            pending += reversed(cast("Sequence[object]", item))
        elif item is not None and not isinstance(item, bool):
            yield str(item)
