"""Shortens texts visibly, so that any messages fit into the window."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agent.domain.context.tokens import Counter
from agent.texts import TEXTS
from contracts.languages import Language

CAP_STEP = 128
"""Caps of long texts are multiples of this, so that a text is cut in the same place in every turn."""
MIN_MESSAGE_TOKENS = 24
"""Tokens that every message keeps; if that is too much, the oldest messages are left out."""
HEAD_SHARE = 0.7
"""Share of a cut text that is kept from its beginning; the rest is kept from its end."""

Message = Mapping[str, Any]


def cut_text(text: str, max_tokens: int, count: Callable[[str], int], language: Language) -> str:
    """Cuts a text to `max_tokens`: its beginning and end, with a note between them of how much is left out."""
    tokens = count(text)
    if tokens <= max_tokens:
        return text
    kept_length = int(len(text) * max_tokens / tokens)
    while kept_length > 8:
        head = int(kept_length * HEAD_SHARE)
        mark = TEXTS["prompt.left_out"].in_language(language).format(count=len(text) - kept_length)
        shorter = f"{text[:head]}{mark}{text[len(text) - (kept_length - head) :]}"
        shorter_tokens = count(shorter)
        if shorter_tokens <= max_tokens:
            return shorter
        kept_length = min(int(kept_length * max_tokens / shorter_tokens * 0.99), kept_length - 8)
    return "…" if max_tokens > 0 else ""


def fit_messages(messages: Sequence[Message], max_tokens: int, counter: Counter, language: Language) -> list[Message]:
    """Shortens messages to `max_tokens`.

    The longest texts are cut first, those of the system prompt and of the newest question last. If not even short texts
    fit, the oldest messages are left out; a call and its results are kept or left out together.
    """
    units = _units(messages)
    newest = max((i for i, unit in enumerate(units) if unit[0]["role"] == "user"), default=0)
    while _min_tokens(units, counter) > max_tokens:
        oldest = next((i for i in range(1, len(units)) if i != newest), None)
        if oldest is None:
            break
        del units[oldest]
        newest -= oldest < newest
    question = units[newest][0]
    remaining = [message for unit in units for message in unit]
    sizes = [counter.text(str(message.get("content") or "")) for message in remaining]
    room = max_tokens - sum(counter.message(message) for message in remaining) + sum(sizes)
    protected = [i for i, message in enumerate(remaining) if i == 0 or message is question]
    reserved = sum(sizes[i] for i in protected)
    other_sizes = [size for i, size in enumerate(sizes) if i not in protected]
    if reserved + sum(min(size, MIN_MESSAGE_TOKENS) for size in other_sizes) <= room:
        cap = _common_cap(other_sizes, room - reserved)
        caps = [size if i in protected else cap for i, size in enumerate(sizes)]
    else:
        caps = [_common_cap(sizes, room)] * len(sizes)
    return [
        message
        if size <= cap
        else {**message, "content": counter.cut(str(message["content"]), cap, language, cut_text)}
        for message, size, cap in zip(remaining, sizes, caps, strict=True)
    ]


def _units(messages: Sequence[Message]) -> list[list[Message]]:
    """Messages that belong together: a call and its results are one."""
    units: list[list[Message]] = []
    for message in messages:
        if message["role"] == "tool" and units:
            units[-1].append(message)
        else:
            units.append([message])
    return units


def _min_tokens(units: Sequence[Sequence[Message]], counter: Counter) -> int:
    total = 0
    for unit in units:
        for message in unit:
            size = counter.text(str(message.get("content") or ""))
            total += counter.message(message) - size + min(size, MIN_MESSAGE_TOKENS)
    return total


def _common_cap(sizes: Sequence[int], room: int) -> int:
    """The greatest cap with which all texts fit into the room. What short texts do not use is left to long ones."""
    remaining = max(room, 0)
    ordered = sorted(sizes)
    for index, size in enumerate(ordered):
        share = remaining // (len(ordered) - index)
        if size > share:
            return share - share % CAP_STEP if share > 4 * CAP_STEP else share
        remaining -= size
    return max(ordered, default=0)
