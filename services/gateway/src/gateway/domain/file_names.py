"""Cleans file names: one name without folders, of characters that every system can store and show."""

import re
import unicodedata

from contracts.files import MAX_FILE_NAME

_NOT_SHOWN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Control characters, and those that change the text direction: `gpj.exe` must not read `exe.jpg`."""
_OF_SYSTEMS = re.compile(r'[<>:"|?*\\/]')
_RESERVED = re.compile(r"^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)
_ENDING = 10
"""Characters at the end that are kept when a name is cut."""


def clean_name(given: str) -> str:
    """The name without folders, control characters and leading dots; never empty."""
    name = unicodedata.normalize("NFC", given.replace("\\", "/")).rpartition("/")[2]
    name = "".join(one for one in name if unicodedata.category(one) not in _NOT_SHOWN)
    name = re.sub(r"\s+", " ", _OF_SYSTEMS.sub("_", name)).strip(" .")
    if not name or _RESERVED.match(name):
        name = f"file-{name}" if name else "file"
    most = MAX_FILE_NAME - _ENDING
    return name if len(name) <= most else f"{name[: most - _ENDING - 1]}…{name[-_ENDING:]}"
