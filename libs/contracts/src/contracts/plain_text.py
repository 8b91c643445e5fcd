"""Which characters people's texts may contain: `LINE` for names, titles and labels, `WORDS` for several lines. Texts
that are invisible, or that change the direction of the text around them, are refused with a message."""

import re
from dataclasses import dataclass
from unicodedata import category

from pydantic import GetCoreSchemaHandler, ValidationInfo
from pydantic_core import CoreSchema, core_schema

from contracts.control_characters import CONTROL_CHARACTERS
from contracts.enumerations import is_input

_INVISIBLE_CATEGORIES = frozenset(("Cc", "Cf", "Zs", "Zl", "Zp"))
"""Unicode categories of spaces and of invisible characters: zero-width spaces and joiners, direction marks."""
_FILLERS = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Letters, marks and symbols that are invisible too: fillers, the blank Braille pattern, variation selectors."""
_FORBIDDEN_IN_TEXT = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_FORBIDDEN_IN_LINE = re.compile(rf"[{CONTROL_CHARACTERS}\u2028\u2029\ud800-\udfff]")
"""Characters not allowed in one line: control characters, line ends, surrogates, and those that change the direction
of all that follows: `gpj.exe` must not read `exe.jpg`."""

_HEAD_BYTES = 4_096
"""Bytes of a text from which its charset is recognised."""


def is_blank(text: str) -> bool:
    """Whether nothing of the text is visible."""
    return all(category(char) in _INVISIBLE_CATEGORIES or _FILLERS.match(char) for char in text)


def one_line(text: str) -> str:
    """Returns the text on one line, without characters that a line must not contain; empty if nothing visible
    remains."""
    line = _FORBIDDEN_IN_LINE.sub("", " ".join(text.split()))
    return "" if is_blank(line) else line


def utf16_of(content: bytes) -> str | None:
    """Returns the UTF-16 charset of a text that begins with its byte order mark, or in which a zero byte follows or
    precedes most characters, as in Latin scripts; None if it is not UTF-16."""
    for mark, charset in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if content.startswith(mark):
            return charset
    head = content[:_HEAD_BYTES]
    for charset, zeros, others in (("utf-16-le", head[1::2], head[::2]), ("utf-16-be", head[::2], head[1::2])):
        if zeros and 2 * zeros.count(0) > len(zeros) and 0 not in others:
            return charset
    return None


@dataclass(frozen=True, slots=True)
class PlainText:
    """Marks a text field. `blank`: it may be blank. `input_only`: stored texts are read without checks."""

    lines: bool = False
    blank: bool = False
    input_only: bool = False

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_after_validator_function(self._checked, handler(source))

    def _checked(self, text: str, info: ValidationInfo) -> str:
        if self.input_only and not is_input(info):
            return text
        match = (_FORBIDDEN_IN_TEXT if self.lines else _FORBIDDEN_IN_LINE).search(text)
        if match is not None and match[0] in "\n\r":
            raise ValueError("write it on one line")
        if match is not None:
            raise ValueError(f"take out the invisible character U+{ord(match[0]):04X}")
        if text and not self.blank and is_blank(text):
            raise ValueError("write something")
        return text if self.lines else text.strip()


LINE, WORDS = PlainText(), PlainText(lines=True, blank=True)
LINE_OF_SETTINGS, WORDS_OF_SETTINGS = PlainText(input_only=True), PlainText(lines=True, input_only=True)
PROMPT = PlainText(lines=True, blank=True, input_only=True)
"""Also used in settings, where a blank prompt causes a warning."""
