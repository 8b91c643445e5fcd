"""Counts the tokens of a prompt, each piece of text once.

A message costs 4 tokens in addition to its role and content; tool calls and definitions are counted as the JSON that is
sent (https://github.com/openai/openai-cookbook, "How to count tokens with tiktoken").
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from agent.domain.offered_tool import OfferedTool
from contracts.expressions import expression

PER_MESSAGE = 4
MAX_KEPT_TEXTS = 8_000
MAX_KEPT_CHARACTERS = 4_000_000
MAX_KEPT_CUTS = 128
MIN_LINEWISE_LENGTH = 256
"""Characters from which a text is counted line by line, so that repeated lines are only counted once."""
_LINES = expression(r"(?<=\n)(?=[^\s/])")
"""Where a text may be split without changing its count: both encodings split after a line's end, unless white space or
a slash follows."""

Count = Callable[[str], int]
_L = TypeVar("_L", bound=str)
Cutting = Callable[[str, int, Count, _L], str]
"""(text, maximum tokens, count, language) → the text in at most that many tokens."""
Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TokenEstimate:
    """Tokens of one model call. `remaining`: what is left of the window for system prompt and messages; tools and
    response are not part of it.
    """

    system_prompt: int
    messages: int
    tools: int
    remaining: int

    @property
    def total(self) -> int:
        """Everything that is sent."""
        return self.system_prompt + self.messages + self.tools


class Counter:
    """Counts tokens in one encoding. Caches the latest counts by text, limited in number and in characters."""

    def __init__(self, count: Count) -> None:
        self._count = count
        self._kept: OrderedDict[str, int] = OrderedDict()
        self._cuts: OrderedDict[tuple[str, int, str], str] = OrderedDict()
        self._characters = 0

    def text(self, text: str) -> int:
        if not text:
            return 0
        count = self._kept.get(text)
        if count is not None:
            self._kept.move_to_end(text)
            return count
        lines = _LINES.split(text) if len(text) >= MIN_LINEWISE_LENGTH else ()
        total = sum(map(self.text, lines)) if len(lines) > 1 else self._count(text)
        self.keep(text, total)
        return total

    def cut(self, text: str, max_tokens: int, language: _L, cutting: "Cutting[_L]") -> str:
        """The text cut by `cutting`; the latest results are cached."""
        key = (text, max_tokens, language)
        shorter = self._cuts.get(key)
        if shorter is None:
            shorter = self._cuts[key] = cutting(text, max_tokens, self._count, language)
            while len(self._cuts) > MAX_KEPT_CUTS:
                self._cuts.popitem(last=False)
        self._cuts.move_to_end(key)
        return shorter

    def keep(self, text: str, tokens: int) -> None:
        """Caches a count that was made elsewhere."""
        if text not in self._kept:
            self._characters += len(text)
        self._kept[text] = tokens
        while len(self._kept) > MAX_KEPT_TEXTS or self._characters > MAX_KEPT_CHARACTERS:
            oldest, _ = self._kept.popitem(last=False)
            self._characters -= len(oldest)

    def uncounted(self, messages: Iterable[Message]) -> list[str]:
        """The contents that have not been counted yet."""
        return [text for text in map(_content, messages) if text and text not in self._kept]

    def message(self, message: Message) -> int:
        content = message.get("content")
        tokens = PER_MESSAGE + self.text(message["role"]) + (self.text(str(content)) if content else 0)
        calls = message.get("tool_calls")
        if calls:
            tokens += self.text(json.dumps(calls, ensure_ascii=False, separators=(",", ":")))
        answers = message.get("tool_call_id")
        return tokens + self.text(str(answers)) if answers else tokens

    def messages(self, messages: Iterable[Message]) -> int:
        return sum(map(self.message, messages))

    def tools(self, tools: Sequence[OfferedTool]) -> int:
        """The tokens of the tool definitions."""
        return sum(self.text(tool.definition) for tool in tools)

    def estimate(self, messages: Sequence[Message], tools: Sequence[OfferedTool], window: int) -> TokenEstimate:
        """The estimate of a prompt; its first message is the system prompt."""
        has_system_prompt = bool(messages) and messages[0]["role"] == "system"
        system = self.message(messages[0]) if has_system_prompt else 0
        message_tokens = self.messages(messages[1:] if has_system_prompt else messages)
        return TokenEstimate(system, message_tokens, self.tools(tools), max(window - system - message_tokens, 0))


def token_upper_bound(messages: Iterable[Message]) -> int:
    """An upper bound for the tokens of the messages in any encoding: a token is at least one byte."""
    total = 0
    for message in messages:
        content = str(message.get("content") or "")
        total += 64 + (len(content) if content.isascii() else len(content.encode(errors="replace")))
        for call in message.get("tool_calls") or ():
            total += 128 + len(call["function"]["name"]) + 4 * len(call["function"]["arguments"])
    return total


def _content(message: Message) -> str:
    return str(message.get("content") or "")
