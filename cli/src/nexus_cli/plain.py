"""Other people's words on a terminal: characters that would steer it, or turn the order of what follows, show as �."""

from __future__ import annotations

_STEERING = (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_SHOWN = dict.fromkeys(_STEERING, "\ufffd") | {ord("\n"): "\n", ord("\t"): "\t", ord("\r"): None}


def plain(text: object) -> str:
    """The text, line by line as it is, with nothing in it but what can be read."""
    return str(text).translate(_SHOWN)
