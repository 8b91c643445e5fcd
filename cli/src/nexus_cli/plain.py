"""Other people's words on a terminal: characters that would steer it, or turn the order of what follows, show as �."""

import re

from contracts.steering import STEERING

_STEERS = re.compile(rf"(?![\n\t])[{STEERING}]")


def plain(text: object) -> str:
    """The text, line by line as it is, with nothing in it but what can be read."""
    return _STEERS.sub("\ufffd", str(text).replace("\r", ""))
