"""Shortens texts visibly, so that any messages fit into the window."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agent.domain.context.tokens import Counter
from agent.texts import TEXTS
from contracts.languages import Language

CAP_STEP = 128
"""Caps of long texts are multiples of it, so that a text is cut in the same place turn after turn."""
MIN_MESSAGE_TOKENS = 24
"""Tokens that every message keeps before older ones are left out whole."""
HEAD_SHARE = 0.7
"""The part of a cut text that is kept from its beginning; the rest is kept from its end."""

Message = Mapping[str, Any]


def cut_text(text: str, most: int, count: Callable[[str], int], language: Language) -> str:
    """The text in at most so many tokens: its beginning and its end, and between them how much is left out."""
    tokens = count(text)
    if tokens <= most:
        return text
    kept = int(len(text) * most / tokens)
    while kept > 8:
        head = int(kept * HEAD_SHARE)
        mark = TEXTS["prompt.left_out"].in_language(language).format(count=len(text) - kept)
        shorter = f"{text[:head]}{mark}{text[len(text) - (kept - head) :]}"
        found = count(shorter)
        if found <= most:
            return shorter
        kept = min(int(kept * most / found * 0.99), kept - 8)
    return "…" if most > 0 else ""


def fit_messages(messages: Sequence[Message], most: int, counter: Counter, language: Language) -> list[Message]:
    """The messages in at most so many tokens.

    The longest texts are cut first, those of the system prompt and of the newest question last. Where not even short
    texts fit, the oldest messages go; a call goes with its results, or stays with them.
    """
    units = _units(messages)
    newest = max((i for i, unit in enumerate(units) if unit[0]["role"] == "user"), default=0)
    while _min_tokens(units, counter) > most:
        oldest = next((i for i in range(1, len(units)) if i != newest), None)
        if oldest is None:
            break
        del units[oldest]
        newest -= oldest < newest
    question = units[newest][0]
    left = [message for unit in units for message in unit]
    sizes = [counter.text(str(message.get("content") or "")) for message in left]
    room = most - sum(counter.message(message) for message in left) + sum(sizes)
    first = [i for i, message in enumerate(left) if i == 0 or message is question]
    reserved = sum(sizes[i] for i in first)
    others = [size for i, size in enumerate(sizes) if i not in first]
    if reserved + sum(min(size, MIN_MESSAGE_TOKENS) for size in others) <= room:
        cap = _common_cap(others, room - reserved)
        caps = [size if i in first else cap for i, size in enumerate(sizes)]
    else:
        caps = [_common_cap(sizes, room)] * len(sizes)
    return [
        message
        if size <= cap
        else {**message, "content": counter.cut(str(message["content"]), cap, language, cut_text)}
        for message, size, cap in zip(left, sizes, caps, strict=True)
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
    """The greatest size to which all may be cut so that they fit together: short ones leave their room to long ones."""
    left = max(room, 0)
    ordered = sorted(sizes)
    for index, size in enumerate(ordered):
        share = left // (len(ordered) - index)
        if size > share:
            return share - share % CAP_STEP if share > 4 * CAP_STEP else share
        left -= size
    return max(ordered, default=0)
