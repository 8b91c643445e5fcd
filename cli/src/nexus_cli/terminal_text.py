"""Makes foreign text safe to print: characters that control the terminal or the direction of the text are replaced by
�."""

import re

from contracts.control_characters import CONTROL_CHARACTERS

_CONTROL = re.compile(rf"(?![\n\t])[{CONTROL_CHARACTERS}]")


def plain(text: object) -> str:
    """The text with control characters replaced; line breaks and tabs are kept."""
    return _CONTROL.sub("\ufffd", str(text).replace("\r", ""))
