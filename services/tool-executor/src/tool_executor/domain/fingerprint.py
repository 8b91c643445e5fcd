"""A canonical form of arguments: the order of arguments changes neither the text nor the hash."""

import hashlib
import json

from contracts.json_values import is_list, is_object
from tool_executor.domain.plans import Arguments

# Created once: json.dumps creates a new encoder for each call with options.
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical(arguments: Arguments) -> str:
    """Returns the arguments as JSON with sorted names and without spaces; 1.0 is written as 1."""
    return _ENCODER.encode(_plain(dict(arguments)))


def fingerprint(tool: str, arguments: Arguments) -> str:
    """Returns 32 hex characters that identify the tool and its arguments."""
    return hashlib.sha256(f"{tool}\x1f{canonical(arguments)}".encode()).hexdigest()[:32]


def _plain(value: object) -> object:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if is_object(value):
        return {str(key): _plain(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if is_list(value):
        return [_plain(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return value
