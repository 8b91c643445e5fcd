"""Makes other people's text safe to show in a terminal: characters that would control it, or reverse the order of the
text, are shown as �."""

import re

from contracts.control_characters import CONTROL_CHARACTERS

_STEERS = re.compile(rf"(?![\n\t])[{CONTROL_CHARACTERS}]")


def plain(text: object) -> str:
    """The text, line by line as it is, with nothing in it but what can be read."""
    return _STEERS.sub("\ufffd", str(text).replace("\r", ""))
