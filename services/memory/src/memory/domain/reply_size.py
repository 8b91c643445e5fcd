"""Limits how much of a conversation goes into one reply, since messages on the bus have a maximum size."""

from collections.abc import Sequence

import orjson

from contracts.conversation_rpc import HistoryMessage, MessageView

OVERHEAD_BYTES = 220
"""Bytes of a message's JSON besides its text, generously estimated."""
MAX_CHARACTER_BYTES = 6
"""The most bytes of one character in JSON."""


def newest_that_fit(messages: Sequence[MessageView], max_bytes: int) -> list[MessageView]:
    """Returns the newest messages that fit, in order; the very newest is always included."""
    if (
        sum(len(message.text) for message in messages) * MAX_CHARACTER_BYTES + OVERHEAD_BYTES * len(messages)
        <= max_bytes
    ):
        return list(messages)
    fitting: list[MessageView] = []
    remaining_bytes = max_bytes
    for message in reversed(messages):
        remaining_bytes -= len(orjson.dumps(message.text)) + OVERHEAD_BYTES
        if remaining_bytes < 0 and fitting:
            break
        fitting.append(message)
    return fitting[::-1]


def history_messages(messages: Sequence[MessageView], *, with_files: bool) -> list[HistoryMessage]:
    """Returns the parts of messages that a prompt needs."""
    return [
        HistoryMessage(
            id=message.id,
            seq=message.seq,
            role=message.role,
            text=message.text,
            files=message.files if with_files else None,
            created_at=message.created_at,
        )
        for message in messages
    ]
