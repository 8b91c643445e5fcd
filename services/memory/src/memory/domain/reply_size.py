"""Limits how much of a conversation goes into one reply, since messages on the bus have a maximum size."""

from collections.abc import Sequence

import orjson

from contracts.conversation_rpc import HistoryMessage, MessageView

AROUND = 220
"""Bytes of a message's JSON besides its text, generously."""
WIDEST = 6
"""The most bytes of one character in JSON."""


def newest_that_fit(messages: Sequence[MessageView], most_bytes: int) -> list[MessageView]:
    """The newest messages that fit, in order; the very newest always."""
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
