"""Masks secrets before arguments are logged: by the field's name, and by the form of the value."""

import re

from contracts.json_values import is_list, is_object
from tool_executor.domain.plans import Arguments

MASK = "***"
_SECRET_NAME = re.compile(
    r"pass(word|wd|phrase)?$|secret|token|api_?key|authori[sz]ation|credential|cookie|private_?key|^pin$|^otp$|cvv",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(
    r"eyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"  # a JWT or any compact JWS
    r"|\b(?:sk|gsk|pk|rk)[-_][A-Za-z0-9_-]{16,}"  # model and payment providers' keys
    r"|\b(?:ghp|gho|ghs|github_pat)_[A-Za-z0-9_]{16,}"
    r"|\bAKIA[0-9A-Z]{16}\b"
    r"|(?<=[Bb]earer )[A-Za-z0-9._~+/=-]{8,}"
)
_MAX_TEXT_CHARS = 2000


def masked(arguments: Arguments) -> dict[str, object]:
    """Returns a copy for the log: secrets are replaced by ``***``, and texts are cut at 2,000 characters."""
    return {key: MASK if _SECRET_NAME.search(key) else _masked(value) for key, value in arguments.items()}


def _masked(value: object) -> object:
    if isinstance(value, str):
        return _SECRET_VALUE.sub(MASK, value)[:_MAX_TEXT_CHARS]
    if is_object(value):
        return masked(value)  # pyright: ignore[reportUnknownArgumentType]
    if is_list(value):
        return [_masked(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return value
