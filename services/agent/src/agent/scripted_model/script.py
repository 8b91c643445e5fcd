"""The script of the scripted model: rules that are tried in order, each with replies that are given one after the
other."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class _Json(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


class ScriptedCall(_Json):
    """A tool call; `arguments` as a text is sent as it is, malformed or not."""

    name: str
    arguments: dict[str, Any] | str = Field(default_factory=dict[str, Any])


class ScriptedReply(_Json):
    """One reply. Times in milliseconds.

    `status` other than 200 answers with an error object (`errorCode`, `retryAfter` seconds). `hang` sends nothing
    after the headers; `cutAfter` breaks the connection after so many tokens; `garbled` sends a line that is no JSON
    after the text. `raw`: the body of the stream as it is, instead of all that.
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

    def pieces(self) -> list[str]:
        """The text in tokens: words with the space before them."""
        if self.text is None:
            return [f"{' ' if index else ''}word{index}" for index in range(self.tokens)]
        pieces: list[str] = []
        for word in self.text.split(" "):
            pieces.append(f" {word}" if pieces else word)
        return pieces


class Rule(_Json):
    """Replies for prompts whose last user message holds `match` (None: any). `again`: starts over at the end."""

    match: str | None = None
    replies: list[ScriptedReply] = Field(min_length=1)
    again: bool = False


class Script:
    """The rules and how far each has got; what no rule answers gets the default reply."""

    def __init__(self, rules: list[Rule] | None = None, default: ScriptedReply | None = None) -> None:
        self.default = default or ScriptedReply(text="A scripted answer.")
        self._rules = [(rule, [0]) for rule in rules or []]

    def next_reply(self, question: str) -> ScriptedReply:
        """The reply to a prompt whose last user message is `question`."""
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
