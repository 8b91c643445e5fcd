"""The script of the scripted model: rules that are tried in order, each with replies that are used in order."""

import asyncio
import time
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class _ScriptModel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


class ScriptedCall(_ScriptModel):
    """A tool call. `arguments` given as a string are sent unchanged, even if they are malformed."""

    name: str
    arguments: dict[str, Any] | str = Field(default_factory=dict[str, Any])

    def parts(self) -> tuple[str, str]:
        """Returns the arguments as text in two parts, as real servers send them."""
        text = self.arguments if isinstance(self.arguments, str) else orjson.dumps(self.arguments).decode()
        return text[: len(text) // 2], text[len(text) // 2 :]


class ScriptedReply(_ScriptModel):
    """One reply. Times are in milliseconds.

    A `status` other than 200 returns an error object (`errorCode`, `retryAfter` in seconds). `hang` sends nothing after
    the headers; `cutAfter` aborts the connection after that many tokens; `garbled` sends a line of broken JSON after
    the text. `raw` is sent as the body of the stream instead of all that.
    """

    text: str | None = None
    tokens: int = Field(default=0, ge=0, description="so many made-up tokens, when there is no text")
    tool_calls: list[ScriptedCall] = Field(default_factory=list[ScriptedCall])
    first_token_ms: float = Field(default=0, ge=0)
    token_ms: float = Field(default=0, ge=0)
    status: int = 200
    error_code: str | None = None
    retry_after: float | None = None
    hang: bool = False
    cut_after: int | None = None
    garbled: bool = False
    raw: str | None = None
    prompt_tokens: int = 0

    async def begin(self, record: dict[str, Any]) -> None:
        """Waits for the first token, for ever if the reply hangs; notes its time in the recorded request."""
        if self.hang:
            await asyncio.Event().wait()
        if self.first_token_ms:
            await asyncio.sleep(self.first_token_ms / 1000)
        record["firstAt"] = time.monotonic()

    def pieces(self) -> list[str]:
        """Returns the text split into tokens: words, each with the space before it."""
        if self.text is None:
            return [f"{' ' if index else ''}word{index}" for index in range(self.tokens)]
        pieces: list[str] = []
        for word in self.text.split(" "):
            pieces.append(f" {word}" if pieces else word)
        return pieces


class Rule(_ScriptModel):
    """Replies to prompts whose last user message contains `match` (None: any). `again`: repeats them from the start."""

    match: str | None = None
    replies: list[ScriptedReply] = Field(min_length=1)
    again: bool = False


class Script:
    """The rules, each with the index of its next reply. A prompt that matches no rule gets the default reply."""

    def __init__(self, rules: list[Rule] | None = None, default: ScriptedReply | None = None) -> None:
        self.default = default or ScriptedReply(text="A scripted answer.")
        self._rules = [(rule, [0]) for rule in rules or []]

    def next_reply(self, question: str) -> ScriptedReply:
        """Returns the reply to a prompt whose last user message is `question`, and advances the matching rule."""
        for rule, position in self._rules:
            if rule.match is not None and rule.match not in question:
                continue
            if position[0] >= len(rule.replies):
                if not rule.again:
                    continue
                position[0] = 0
            reply = rule.replies[position[0]]
            position[0] += 1
            return reply
        return self.default
