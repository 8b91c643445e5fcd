"""Checks chat answers after market tools: only sentences that the tools' results prove are published.

Each sentence is held until it is complete. Then it is passed on, shortened to its proven clauses, or dropped; the
answer says how many were dropped or shortened. The offline provider builds its sentences from the results, so they are
not checked.
"""

import json
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
from contracts.expressions import expression
from contracts.json_values import is_list, is_object, list_of, object_of
from contracts.languages import Language
from contracts.symbols import InvalidSymbolError, parse_symbol

CHECKED_CATEGORIES = frozenset(("market", "news", "ml", "portfolio"))
_NO_FIGURES = frozenset((PAGE_TOOL, "get_watchlist", "add_to_watchlist", "remove_from_watchlist"))
_NUMBER = expression(r"\d(?:[\d.,]*\d)?")


def checked_answer(
    journal: Journal, tools: Sequence[OfferedTool], prompt: ModelRequest, choice: ModelChoice, sink: TextSink
) -> "CheckedAnswer":
    """Returns the sink for the next reply's text, which is checked if a market tool has answered in this turn."""
    unchecked = CheckedAnswer(None, sink, prompt.language)
    if choice.candidates[0][0].provider == "offline":
        return unchecked
    market_tools = {tool.name for tool in tools if tool.category in CHECKED_CATEGORIES} - _NO_FIGURES | {
        "market_analysis"
    }
    if not any(call.tool in market_tools and data_of(call.result) for call in journal.calls):
        return unchecked
    facts = facts_of_results((call.tool, data_of(call.result)) for call in journal.calls if call.result is not None)
    if not facts.subjects:
        return unchecked
    for call in journal.calls:
        _add_arguments(facts, call.arguments)
        _add_result_texts(facts, call.result)
        if call.tool not in market_tools:
            facts.conversation_texts += _texts_of(data_of(call.result))
    for message in prompt.messages:
        role, content = message.get("role"), message.get("content")
        if role != "tool" and isinstance(content, str):
            facts.conversation_texts += content.splitlines()
            facts.loose_numbers += _numbers(content) if role != "system" else ()
    return CheckedAnswer(facts, sink, prompt.language)


class CheckedAnswer:
    """A TextSink that passes on the proven sentences; without `facts`, everything."""

    def __init__(self, facts: Facts | None, sink: TextSink, language: Language) -> None:
        self._facts = facts
        self._checker = ClaimChecker(facts, strict=False) if facts else None
        self._sink = sink
        self._language: Language = language
        self._buffer = ""
        self._passed: list[str] = []
        self.dropped = 0

    def text(self, piece: str) -> None:
        """Adds text and judges the sentences that are now complete."""
        if self._checker is None:
            self._sink.text(piece)
            return
        self._buffer += piece
        *complete, (remainder, trailing) = list(sentences(self._buffer))
        for sentence, separator in complete:
            self._judge(sentence, separator)
        self._buffer = remainder + trailing

    def restart(self) -> None:
        """Discards the text so far."""
        self._checker = ClaimChecker(self._facts, strict=False) if self._facts else None
        self._buffer, self.dropped = "", 0
        self._passed.clear()
        self._sink.restart()

    def finish(self, reply: ModelAnswer) -> ModelAnswer:
        """Returns the reply with the text that was passed on."""
        if self._buffer:
            self._judge(self._buffer, "")
            self._buffer = ""
        if not self.dropped:
            return reply
        SENTENCES.labels("chat").inc(self.dropped)
        if not reply.calls:
            text = "".join(self._passed)
            parts = [TEXTS["analysis.checked.left_out"].in_language(self._language).format(count=self.dropped)]
            if not text.strip():
                parts.insert(0, TEXTS["analysis.checked.nothing"].in_language(self._language))
            elif not text.endswith("\n"):
                parts.insert(0, "")
            self._pass("\n\n".join(parts))
        return replace(reply, text="".join(self._passed).strip())

    def _judge(self, sentence: str, separator: str) -> None:
        accepted, reasons = self._checker.judge(sentence) if self._checker else (sentence, ())
        self.dropped += bool(reasons)
        if accepted or not reasons:
            self._pass(accepted + separator)

    def _pass(self, text: str) -> None:
        if text:
            self._passed.append(text)
            self._sink.text(text)


def _add_arguments(facts: Facts, arguments: str) -> None:
    """Adds the tickers and numbers of a call to the facts. An answer may repeat them even if the call failed, because
    the question contained them."""
    try:
        parsed: object = json.loads(arguments)
    except ValueError:
        return
    facts.add_amount(facts.subjects, object_of(parsed))
    for name, value in object_of(parsed).items():
        texts = value if is_list(value) else [value]
        if name in ("symbol", "tickers", "symbols", "benchmark"):
            for text in texts:
                try:
                    facts.known_tickers.append(parse_symbol(str(text)).name)
                except InvalidSymbolError:
                    continue
        else:
            facts.loose_numbers += [float(number) for number in texts if isinstance(number, int | float)]


def _add_result_texts(facts: Facts, result: str | None) -> None:
    """Adds the texts that an answer may repeat: errors of failed calls, and the checked sentences of an analysis."""
    try:
        parsed: dict[str, object] = json.loads(result or "{}")
    except ValueError:
        return
    error = parsed.get("error")
    allowed_texts = facts.texts.setdefault("", [])
    if is_object(error):
        allowed_texts.append(str(error.get("message") or ""))
    data = data_of(result)
    for text in (data.get("summary"), data.get("disclaimer"), *list_of(data.get("limitations"))):
        if isinstance(text, str):
            allowed_texts += [sentence for sentence, _ in sentences(text)]


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
