"""Cleans file names: no folders, only characters that every system can store and show."""

import re
import unicodedata

from contracts.files import MAX_FILE_NAME

_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Categories of control characters and of those that change the text direction: `gpj.exe` must not read `exe.jpg`."""
_SPECIAL_CHARACTERS = re.compile(r'[<>:"|?*\\/]')
_RESERVED = re.compile(r"^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)
_ENDING_CHARACTERS = 10
"""Characters at a name's end that are kept when it is cut."""


def clean_name(raw_name: str) -> str:
    """The name without folders, control characters and dots at its ends; never empty."""
    name = unicodedata.normalize("NFC", raw_name.replace("\\", "/")).rpartition("/")[2]
    name = "".join(character for character in name if unicodedata.category(character) not in _INVISIBLE_CATEGORIES)
    name = re.sub(r"\s+", " ", _SPECIAL_CHARACTERS.sub("_", name)).strip(" .")
    if not name or _RESERVED.match(name):
        name = f"file-{name}" if name else "file"
    max_length = MAX_FILE_NAME - _ENDING_CHARACTERS
    return (
        name
        if len(name) <= max_length
        else f"{name[: max_length - _ENDING_CHARACTERS - 1]}…{name[-_ENDING_CHARACTERS:]}"
    )
