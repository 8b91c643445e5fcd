"""How much of a conversation goes into one reply: the bus has a largest message."""

from collections.abc import Sequence

import orjson

from contracts.rpc import HistoryMessage, MessageView

AROUND = 220
"""Bytes of a message in JSON beside its text, generously."""
WIDEST = 6
"""Bytes that one character can take in JSON."""


def newest_that_fit(messages: Sequence[MessageView], most_bytes: int) -> list[MessageView]:
    """The newest messages that fit, in their order; the very newest is there however large it is."""
    if sum(len(one.text) for one in messages) * WIDEST + AROUND * len(messages) <= most_bytes:
        return list(messages)
    kept: list[MessageView] = []
    room = most_bytes
    for message in reversed(messages):
        room -= len(orjson.dumps(message.text)) + AROUND
        if room < 0 and kept:
            break
        kept.append(message)
    return kept[::-1]


def for_prompt(messages: Sequence[MessageView]) -> list[HistoryMessage]:
    return [
        HistoryMessage(id=one.id, seq=one.seq, role=one.role, text=one.text, created_at=one.created_at)
        for one in messages
    ]
