"""Keeps a prompt inside its window. Three strategies are applied in order while the prompt is above the target;
if it is still too long, texts are cut visibly.

The caller passes the functions that render and count the prompt, so what is counted is what is sent.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from agent.domain.context.extract import extract
from agent.domain.context.tokens import Counter, token_upper_bound
from agent.domain.context.truncation import fit_messages
from contracts.context_rpc import FullContext
from contracts.files import FileRef
from contracts.languages import Language

Strategy = Literal["reduce_market_context", "trim_conversation", "summarize_conversation"]
MAX_SYMBOLS = 5
MAX_TRIMMED_MESSAGES = 10
MAX_SUMMARIZED_MESSAGES = 5

Messages = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message of the history. `mine`: it is from the company's side (the assistant or a human agent)."""

    mine: bool
    text: str
    seq: int
    files: tuple[FileRef, ...] = ()


@dataclass(frozen=True, slots=True)
class TokenWindow:
    """Tokens for system prompt and messages together: at most `max_tokens`; above `compress_above` they are reduced to
    `target`.
    """

    max_tokens: int = 8_000
    compress_above: int = 6_000
    target: int = 4_000

    def within(self, room: int) -> "TokenWindow":
        """The window, limited to the room that a model has for system prompt and messages."""
        if room >= self.max_tokens:
            return self
        room = max(room, 1)
        return TokenWindow(room, min(self.compress_above, room), min(self.target, room))


DEFAULT_WINDOW = TokenWindow()


@dataclass(frozen=True, slots=True)
class PromptDraft:
    """The parts of a prompt, apart from the turn's own calls. `summary` covers the messages before `messages`."""

    messages: tuple[PromptMessage, ...]
    context: FullContext | None = None
    summary: str | None = None


@dataclass(frozen=True, slots=True)
class Compressed:
    """The result. `messages`: what is sent; `dropped`: the messages that the summary replaces; `cut`: whether a text
    was shortened."""

    context: PromptDraft
    messages: Messages
    original_tokens: int
    compressed_tokens: int
    strategies: tuple[Strategy, ...] = ()
    dropped: tuple[PromptMessage, ...] = ()
    cut: bool = False

    @property
    def compressed(self) -> bool:
        """Whether anything was changed."""
        return bool(self.strategies) or self.cut


def compress(
    draft: PromptDraft,
    render: Callable[[PromptDraft], Messages],
    counter: Counter,
    window: TokenWindow,
    language: Language,
) -> Compressed:
    """Compresses the draft for sending. Token counts are those of system prompt and messages, with calls and
    results."""
    messages = render(draft)
    if token_upper_bound(messages) <= window.compress_above:
        # Far from any limit, so it is not counted now.
        return Compressed(draft, messages, 0, 0)
    original = tokens = counter.messages(messages)
    strategies: list[Strategy] = []
    dropped: tuple[PromptMessage, ...] = ()
    if tokens > window.compress_above:
        for name, strategy in _STRATEGIES:
            if tokens <= window.target:
                break
            changed = strategy(draft)
            if changed == draft:
                continue
            dropped = (*dropped, *draft.messages[: len(draft.messages) - len(changed.messages)])
            if name == "summarize_conversation":
                removed = [(message.mine, message.text) for message in dropped]
                changed = replace(changed, summary=extract(draft.summary, removed, counter.text, language))
            draft = changed
            messages = render(draft)
            tokens = counter.messages(messages)
            strategies.append(name)
    if tokens <= window.max_tokens:
        return Compressed(draft, messages, original, tokens, tuple(strategies), dropped)
    messages = fit_messages(messages, window.max_tokens, counter, language)
    return Compressed(draft, messages, original, counter.messages(messages), tuple(strategies), dropped, cut=True)


def _reduce_market(draft: PromptDraft) -> PromptDraft:
    """Keeps the 5 most relevant symbols and the high-impact events."""
    context = draft.context
    if context is None or context.market is None:
        return draft
    market = context.market
    events = [event for event in market.upcoming_events if event.impact == "high"]
    if len(events) == len(market.upcoming_events) and len(market.relevant_symbols) <= MAX_SYMBOLS:
        return draft
    changes = {"relevant_symbols": market.relevant_symbols[:MAX_SYMBOLS], "upcoming_events": events}
    reduced = context.model_copy(update={"market": market.model_copy(update=changes)})
    return replace(draft, context=reduced)


_STRATEGIES: tuple[tuple[Strategy, Callable[[PromptDraft], PromptDraft]], ...] = (
    ("reduce_market_context", _reduce_market),
    ("trim_conversation", lambda draft: replace(draft, messages=draft.messages[-MAX_TRIMMED_MESSAGES:])),
    ("summarize_conversation", lambda draft: replace(draft, messages=draft.messages[-MAX_SUMMARIZED_MESSAGES:])),
)
"""Messages that are left out become part of the summary, if one is made."""
