"""Decides what a turn may change, from the user's own words (least privilege).

A model reads pages, headlines, documents, results of other services and remembered texts beside what the user says, and
may take any of them for an order. So once it has read such a text, what it asks for is held against the user's own
words before it is done: they ask for that kind of effect, and no value of the call comes from somebody else's text
alone. Who asks in words that are not known here, for what others speak of too, is asked by the model and says yes.
What reads changes nothing and is not looked at; memory's tools prove each fact by the user's words themselves, and
orders need a yes besides.
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
    decision_words,
    numbers_in,
    plain,
    symbols_before,
    symbols_in,
    whole_number,
    word_set,
)
from agent.domain.turn.journal import Journal, TurnCall
from agent.texts import TEXTS
from contracts.providers import OFFLINE

TRUSTED = word_set(
    "get_price get_ohlcv get_indicators get_fundamentals market_snapshot get_portfolio get_trade_history "
    "get_performance get_correlation get_crossings get_pending_orders get_watchlist list_alerts "
    "calculate_position_size calculate_risk_reward backtest_strategy get_ml_signals"
)
"""Whose results are figures and the user's own lists, and no text of strangers. An announced tool cannot take such a
name."""
_END = (
    r"delet\w*|remov\w*|cancel\w*|eras\w*|drop(?! me)|clear|stop (?:\w+ing|it|that|them|the|my|all)|"
    r"(?:turn|turned|switch|call|take) (?:\w+ ){0,2}off|off (?:my|the)|done (?:with|tracking|following)|"
    r"disable|get rid|(?:don t|do not) (?:need|want)|no longer|any ?more|undo|unfollow|scrap|withdraw|borr\w+|"
    r"elimin\w+|quit(?:a|o|e|ar|arl\w+|al[oa]s?|ame)|anul\w+|desactiv\w+|deshaz\w*|deja\w* de|ya no|"
    r"no (?:quiero|necesito)|mejor (?:que )?no|retir\w+|apag\w+|sac(?:a|ar|al\w+)"
)
_CHANGED = (
    rf"{_END}|{AMENDS.pattern}|(?:chang|mov|updat|rais|lower|replac|cambi|muev|pasa|sub[ae]|baj[ae]|actualiz|modif)\w*"
    r"(?= (?:\w+ ){0,3}(?:alert|alarm|aviso|order|pedido))"
)
"""What is changed is ended, and made anew."""
_REMEMBER = r"\w"
"""Anything: memory itself proves that the user has said it."""
_WORDS = {
    "create_alert": (
        rf"{AMENDS.pattern}|"
        r"alert\w*|alarm\w*|notif\w*|tell me (?:when|if|once|as soon)|let me know|warn\w*|ping|remind\w*|"
        r"(?:text|message|email|wake) me|avis\w+|dime (?:cuando|si)|hazme saber|quiero saber cuando|recuerdam\w+|"
        r"adviert\w+|shout"
    ),
    "delete_alert": _CHANGED,
    "add_to_watchlist": (
        r"watch\w*|list\w*|follow\w*|track\w*|monitor\w*|(?:an|your) eye|eye on|favou?rit\w*|add|save|star|bookmark|"
        r"sigue\w*|segu\w+|vigil\w+|anad\w+|agreg\w+|guard\w+|apunt\w+|pon|ponme|mete|no pierdas de vista"
    ),
    "remove_from_watchlist": _END,
    "create_paper_order": (
        r"buy\w*|sell\w*|bought|sold|order\w*|purchas\w*|trad\w*|invest\w*|short|go long|close|exit|liquidat\w*|"
        r"stop\w*|limit|get (?:me )?\d+|pick up|grab|acquir\w*|dump|offload|take profit|half|put \$? ?\d+|"
        r"(?:get|want) (?:me )?out|(?:i want|quiero|pon|mete|meteme) \d+|deshac\w+|compr\w+|vend\w+|"
        r"orden\w*|pedido\w*|inviert\w*|invert\w+|cierr\w+|cerr\w+|liquid\w+|mitad|adquier\w+|adquir\w+|oper\w+"
    ),
    "cancel_paper_order": _CHANGED,
    "forget": rf"{_END}|forget\w*|wipe|olvid\w+|no recuerdes|(?:don t|do not) (?:remember|keep|store|save)|never mind",
    "remember": _REMEMBER,
    "update_memory": _REMEMBER,
}
KINDS = {tool: re.compile(rf"\b(?:{words})\b" if words != _REMEMBER else words) for tool, words in _WORDS.items()}
"""By the tool, the words of which one has to be there (plain: lower case, no accents)."""
_ENDS = re.compile(rf"\b(?:{_END})\b")
_MAKES = {
    "create_alert": re.compile(r"\b(?:notif|let me know|tell me|avis\w+|dime|create|set|new|crea\w*|pon\w*|make)\b"),
    "add_to_watchlist": re.compile(r"\b(?:add|put|save|star|bookmark|an eye|anad\w+|agreg\w+|pon\w*|mete|apunt\w+)\b"),
    "create_paper_order": re.compile(
        r"\b(?:buy|sell|purchase|trade|invest|short|liquidate|compr\w+|vend\w+|invi?ert\w+)\b"
    ),
}
"""What has to be there of a making where something is to be ended too: its thing alone is what ends."""
_OBJECTS = {
    "delete_alert": re.compile(r"\b(?:alert|alarm|aviso|notif)"),
    "remove_from_watchlist": re.compile(r"\b(?:watch|list|follow|unfollow|favou?rit|segui|siguiendo)"),
    "cancel_paper_order": re.compile(r"\b(?:order|orden|pedido|trade)"),
}
"""What is ended, by its name: where one is named, no other is meant."""
_POINTS = re.compile(
    r"\b(?:it|that|them|those|this|these|both|eso|esa|ese|esos|esas|esto)\b(?=\W*(?:$|please|por favor|"
    r"for me|too|as well|(?:to|from|on|in) (?:my|the)|off|then|now|again|instead|tambien|ahora))|"
    r"\b(?:anade|agrega|pon|mete|compra|vende|borra|quita|cancela|elimina|sigue|guarda|apunta|crea|haz)l[oa]s?\b"
)
_QUESTION = re.compile(r"\?(?:\s|$)")
"""One that is asked, not one that is quoted."""
_READS = re.compile(
    r"^\W*(?:(?:please|and|y|por favor|hi|hello|hola|ok)\W+)*(?:what|which|how|who|when|where|why|is|are|do|does|did|"
    r"was|were|show|read|list|tell me about|explain|summari\w+|compare|translate|find out|look up|que|cual\w*|como|"
    r"quien|cuando|donde|por que|cuant\w+|muestra\w*|lee\w*|dime|explica\w*|resum\w+|compara\w*|traduc\w+|busca\w*|"
    r"ensena\w*)\b"
)
"""Words of somebody who wants to know something."""
_LONGEST_YES, _LONGEST_ANSWER = 4, 10
"""Words of a yes, and of an answer to what was said before; who says more says what they want."""
_IN_A_NAME = r"[^\s\"'<>()\[\]{},;]"
_TELLING = re.compile(rf"(?<!{_IN_A_NAME})(?={_IN_A_NAME}*[\d@/]){_IN_A_NAME}++|(?<!\w)[A-Z]{{1,5}}(?:\.[A-Z])?(?!\w)")
"""What names something: numbers, addresses, ids, symbols."""
_PHRASE = 12
"""Characters of a text that is somebody's wording, as names and several words are; what is shorter anybody may use."""
_ENDING = re.compile(r"(?:ando|iendo|ing|ed|es|s|ar|er|ir|e|a|o)$")
MOST_NAMES = 500
"""Numbers, addresses and names of one call that are looked up, and places of one that are looked at."""
_FILLING = word_set("the and for get set your our los las una tus sus del con para que")
_SPOKEN_BEFORE = 6
"""The user's messages back in which something may have been named that the newest do not name again."""


@dataclass(frozen=True, slots=True)
class OwnWords:
    """`said`: the user's words that the turn answers, and the earlier ones that they agree to. `foreign`: texts of
    others in the prompt; `about`: what the user refers to without naming it again, which requests nothing."""

    said: str
    foreign: str = ""
    about: str = ""

    def ask_for(self, call: TurnCall, tool: OfferedTool | None, journal: Journal) -> bool:
        """Whether they request this call of a tool with effects, or nobody else can have requested it."""
        known, foreign = self._texts(journal)
        if foreign == "" or _by_rules(call, journal):
            return True
        asks = _kind_of(call.tool, tool)
        said = plain(self.said)
        parameters: Mapping[str, object] = tool.parameters if tool is not None else {}
        properties = cast("Mapping[str, Mapping[str, object]]", parameters.get("properties") or {})
        given = [
            value
            for name, argument in cast("dict[str, object]", json.loads(call.arguments)).items()
            if not properties.get(name, {}).keys() & {"enum", "const"}
            for value in _values(argument)
        ]
        if sum(len(_TELLING.findall(value)) for value in given) > MOST_NAMES:
            return False
        here, there = HeldText(known), HeldText(foreign)
        if not asks.search(said) or _means_another(call.tool, said, plain(self.about)):
            # Unknown words for it, but about something that only the user has named.
            named = HeldText(" ".join([self.said, *symbols_in(self.said)]))
            if (
                asks.search(plain(foreign))
                or "?" in self.said
                or _READS.search(said)
                or not any(_is_named(value, named) for value in given)
                or any(_is_named(value, there) for value in given)
            ):
                return False
        return all(_is_theirs(value, here, there) for value in given)

    def _texts(self, journal: Journal) -> tuple[str, str]:
        """The user's texts, and the foreign ones."""
        done = [(call.tool, " ".join(_values(json.loads(call.result)))) for call in journal.calls if call.result]
        trusted = (text for tool, text in done if tool in TRUSTED)
        known = [self.said, in_figures(plain(self.said)), *symbols_in(self.said, MOST_NAMES), self.about, *trusted]
        others = [text for tool, text in done if tool not in TRUSTED and tool not in KINDS]
        return " ".join(known), " ".join([self.foreign, *others]).strip()


def _by_rules(call: TurnCall, journal: Journal) -> bool:
    """Whether the offline assistant requested it: its rules read only the user's messages, and a follow-up ("and
    another at 600") does not name its kind again."""
    asking = (step for step in journal.steps if any(one.call_id == call.call_id for one in step.calls))
    return any(step.provider == OFFLINE.name for step in asking)


class HeldText:
    """A text that is searched often, prepared so that a long foreign text does not cost its length in every search."""

    def __init__(self, text: str) -> None:
        self._text = _folded(text)
        self._numbers = {value for point in (False, True) for _, value in numbers_in(self._text, point=point)}

    def holds(self, wording: str) -> bool:
        return _folded(wording) in self._text

    def names(self, one: str) -> bool:
        """Whether the text contains a name or number as a whole; numbers are compared by value."""
        low, number = plain(one), whole_number(one)
        if number is not None:
            return number in self._numbers
        at = self._text.find(low)
        for _ in range(MOST_NAMES):
            if at < 0:
                return False
            around = self._text[at - 1 : at], self._text[at + len(low) : at + len(low) + 1]
            if not any(each.isalnum() or each == "_" for each in around):
                return True
            at = self._text.find(low, at + 1)
        return True


def words_of(messages: Sequence[PromptMessage], basis: int, foreign: Iterable[str] = ()) -> OwnWords:
    """The user's own words in a conversation whose newest are not answered yet. What the company's side has said counts
    where a short answer agrees to it, and its names where they point; where it asked something, what the user said
    before that counts too. Who names nothing speaks of what they have named before."""
    theirs = [one for one in messages if not one.mine and one.seq > basis]
    first = theirs[0].seq if theirs else 0
    earlier = [one for one in messages if one.seq < first]
    said = " ".join(one.text for one in theirs)
    before = [one.text for one in earlier if not one.mine]
    last = next((one.text for one in reversed(earlier) if one.mine), "")
    asked = _QUESTION.search(last) is not None
    agreed = _agrees(said, asked=asked)
    counted = [said, *([last] if agreed else []), *(before[-1:] if agreed or asked else [])]
    about = [*before[-1:], *([] if symbols_in(said) else symbols_before(before[-_SPOKEN_BEFORE:]))]
    if _points(said):
        about += [*_telling(last), *symbols_in(last)]
    answered = [one.text for one in messages if one.mine]
    return OwnWords(" ".join(counted), " ".join([*answered, *foreign]).strip(), " ".join(about))


def _agrees(said: str, *, asked: bool) -> bool:
    """Whether the words only agree to what was said before them. `asked`: that was a question, which an answer may
    also change."""
    words = len(said.split())
    if "?" in said or _READS.search(plain(said)):
        return False
    agreed = begins_with_agreement(said, is_after_question=asked)
    if words <= _LONGEST_YES and (agreed or (asked and decision_words(said))):
        return True
    changes = asked and words <= _LONGEST_ANSWER and not symbols_in(said)
    return changes and (agreed or AMENDS.search(plain(said)) is not None)


def _points(said: str) -> bool:
    return len(said.split()) <= _LONGEST_ANSWER and _POINTS.search(plain(said)) is not None


def refusal(language: str) -> str:
    """The result, for the model, of a call that nobody asked for."""
    error = {"code": NOT_ASKED, "message": TEXTS["prompt.not_asked"].in_language(language)}
    return json.dumps({"success": False, "error": error, "metadata": {"executionTime": 0, "cached": False}})


def _kind_of(name: str, tool: OfferedTool | None) -> re.Pattern[str]:
    """The words that ask for such a call; for another service's tool the words of its name and label."""
    known = KINDS.get(name)
    if known is not None:
        return known
    words = re.findall(r"[^\W_\d]{3,}", plain(f"{name} {tool.label if tool else ''}".replace("_", " ")))
    roots = sorted({_ENDING.sub("", word) for word in words if word not in _FILLING})
    return re.compile("|".join(rf"\b{root}\w{{0,4}}\b" for root in roots if len(root) > 2) or r"(?!)")


def _is_named(value: str, text: HeldText) -> bool:
    """Whether a text contains a value, or what identifies it."""
    return (len(value) > 2 and text.holds(value)) or any(map(text.names, _telling(value)))


def _telling(value: str) -> list[str]:
    return [name for one in _TELLING.findall(value) if (name := one.strip(".:!?"))]


def _means_another(tool: str, said: str, about: str) -> bool:
    makes = _MAKES.get(tool)
    if makes is not None and _ENDS.search(said):
        return not makes.search(said)
    named = _objects(said) or _objects(about)
    return tool in _OBJECTS and bool(named) and tool not in named


def _objects(text: str) -> set[str]:
    return {name for name, of in _OBJECTS.items() if of.search(text)}


def _is_theirs(value: str, here: HeldText, there: HeldText) -> bool:
    """Whether a value comes from the user, or at least from nobody else."""
    wording = len(value) >= _PHRASE or " " in value or value[:1].isupper()
    if wording and not here.holds(value) and there.holds(value):
        return False
    return not any(there.names(one) and not here.names(one) for one in _telling(value))


def _folded(text: str) -> str:
    return " ".join(plain(text).split())


def _values(value: object) -> Iterable[str]:
    """Every name, text and number of a JSON value, in the forms in which a text may contain it."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, Mapping):
            for name, of in cast("Mapping[str, object]", one).items():
                left += [of, name]
        elif isinstance(one, list | tuple):
            left += reversed(cast("Sequence[object]", one))
        elif one is not None and not isinstance(one, bool):
            yield str(one)
