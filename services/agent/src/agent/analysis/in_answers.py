"""Chat answers after market tools: publishes only the sentences of a model that the tools' results prove.

Each sentence is held until it is complete. Then it is passed on, shortened to the clauses that are proven, or dropped;
the answer says how many were dropped or shortened. The offline provider writes its sentences from the results, so they
are not checked.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent.domain.claims.checker import ClaimChecker
from agent.domain.claims.facts import Facts, facts_of_results
from agent.domain.claims.lexer import readings
from agent.domain.claims.sentences import sentences
from agent.domain.offered_tool import OfferedTool
from agent.domain.prompt.messages import PAGE_TOOL
from agent.domain.tool_results import data_of
from agent.domain.turn.journal import Journal, ModelAnswer
from agent.metrics import SENTENCES
from agent.ports import ModelChoice, ModelRequest, TextSink
from agent.texts import TEXTS
from contracts.json_values import is_list, is_object, list_of, object_of
from contracts.languages import Language
from contracts.symbols import InvalidSymbolError, parse_symbol

CATEGORIES = frozenset(("market", "news", "ml", "portfolio"))
_NO_FIGURES = frozenset((PAGE_TOOL, "get_watchlist", "add_to_watchlist", "remove_from_watchlist"))
_NUMBER = re.compile(r"\d(?:[\d.,]*\d)?")


def checked_answer(
    journal: Journal, tools: Sequence[OfferedTool], prompt: ModelRequest, choice: ModelChoice, sink: TextSink
) -> "CheckedAnswer":
    """Returns the sink for the next reply's text, which is checked if a market tool has answered in this turn."""
    unjudged = CheckedAnswer(None, sink, prompt.language)
    if choice.candidates[0][0].provider == "offline":
        return unjudged
    market = {tool.name for tool in tools if tool.category in CATEGORIES} - _NO_FIGURES | {"market_analysis"}
    if not any(call.tool in market and data_of(call.result) for call in journal.calls):
        return unjudged
    facts = facts_of_results((call.tool, data_of(call.result)) for call in journal.calls if call.result is not None)
    if not facts.subjects:
        return unjudged
    for call in journal.calls:
        _asked_with(facts, call.arguments)
        _words(facts, call.result)
        if call.tool not in market:
            facts.conversation_texts += _texts_of(data_of(call.result))
    for message in prompt.messages:
        role, content = message.get("role"), message.get("content")
        if role != "tool" and isinstance(content, str):
            facts.conversation_texts += content.splitlines()
            facts.loose_numbers += _numbers(content) if role != "system" else ()
    return CheckedAnswer(ClaimChecker(facts, strict=False), sink, prompt.language)


class CheckedAnswer:
    """TextSink: passes on the sentences that are backed; without a `checker`, everything."""

    def __init__(self, checker: ClaimChecker | None, sink: TextSink, language: Language) -> None:
        self._first = checker
        self._checker = checker.restarted() if checker else None
        self._sink = sink
        self._language: Language = language
        self._held = ""
        self._said: list[str] = []
        self.dropped = 0

    def text(self, piece: str) -> None:
        """Adds text; sentences that are now complete are judged."""
        if self._checker is None:
            self._sink.text(piece)
            return
        self._held += piece
        *whole, (rest, gap) = list(sentences(self._held))
        for sentence, after in whole:
            self._judge(sentence, after)
        self._held = rest + gap

    def restart(self) -> None:
        """Discards the text so far."""
        self._checker, self._held, self.dropped = self._first.restarted() if self._first else None, "", 0
        self._said.clear()
        self._sink.restart()

    def finish(self, reply: ModelAnswer) -> ModelAnswer:
        """The reply with the text that was kept."""
        if self._held:
            self._judge(self._held, "")
            self._held = ""
        if not self.dropped:
            return reply
        SENTENCES.labels("chat").inc(self.dropped)
        if not reply.calls:
            said = "".join(self._said)
            parts = [TEXTS["analysis.checked.left_out"].in_language(self._language).format(count=self.dropped)]
            if not said.strip():
                parts.insert(0, TEXTS["analysis.checked.nothing"].in_language(self._language))
            elif not said.endswith("\n"):
                parts.insert(0, "")
            self._pass("\n\n".join(parts))
        return replace(reply, text="".join(self._said).strip())

    def _judge(self, sentence: str, after: str) -> None:
        left, reasons = self._checker.judge(sentence) if self._checker else (sentence, ())
        self.dropped += bool(reasons)
        if left or not reasons:
            self._pass(left + after)

    def _pass(self, text: str) -> None:
        if text:
            self._said.append(text)
            self._sink.text(text)


def _asked_with(facts: Facts, arguments: str) -> None:
    """The tickers and numbers of a call. An answer may repeat them even if the call failed, because they were asked
    about."""
    try:
        asked: object = json.loads(arguments)
    except ValueError:
        return
    facts.add_amount(facts.subjects, object_of(asked))
    for name, value in object_of(asked).items():
        texts = value if is_list(value) else [value]
        if name in ("symbol", "tickers", "symbols", "benchmark"):
            for text in texts:
                try:
                    facts.known_tickers.append(parse_symbol(str(text)).name)
                except InvalidSymbolError:
                    continue
        else:
            facts.loose_numbers += [float(one) for one in texts if isinstance(one, int | float)]


def _words(facts: Facts, result: str | None) -> None:
    """Words that an answer may repeat: those of a failed call, and the checked sentences of an analysis."""
    try:
        parsed: dict[str, object] = json.loads(result or "{}")
    except ValueError:
        return
    error = parsed.get("error")
    told = facts.texts.setdefault("", [])
    if is_object(error):
        told.append(str(error.get("message") or ""))
    data = data_of(result)
    for text in (data.get("summary"), data.get("disclaimer"), *list_of(data.get("limitations"))):
        if isinstance(text, str):
            told += [sentence for sentence, _ in sentences(text)]


def _texts_of(value: object) -> Iterator[str]:
    """Yields every text in a tool's result."""
    if isinstance(value, str):
        yield value
    elif is_object(value):
        for part in object_of(value).values():
            yield from _texts_of(part)
    elif is_list(value):
        for part in list_of(value):
            yield from _texts_of(part)


def _numbers(text: str) -> list[float]:
    return [value for match in _NUMBER.finditer(text) for value, _ in readings(match[0])]
