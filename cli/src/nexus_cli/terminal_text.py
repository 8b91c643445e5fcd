"""Other people's words on a terminal: characters that would steer it, or turn the order of what follows, show as �."""

import re

from contracts.control_characters import CONTROL_CHARACTERS

_STEERS = re.compile(rf"(?![\n\t])[{CONTROL_CHARACTERS}]")


def plain(text: object) -> str:
    """The text, line by line as it is, with nothing in it but what can be read."""
    return _STEERS.sub("\ufffd", str(text).replace("\r", ""))
