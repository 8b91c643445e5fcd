"""A canonical form of arguments: the same arguments in another order have the same text and the same hash."""

import hashlib
import json

from contracts.json_values import is_list, is_object
from tool_executor.domain.plans import Arguments

# Made once: json.dumps makes a new one for each call that is not plain.
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical(arguments: Arguments) -> str:
    """JSON with sorted names and no spaces; 1.0 and 1 are the same number."""
    return _ENCODER.encode(_plain(dict(arguments)))


def fingerprint(tool: str, arguments: Arguments) -> str:
    """32 hex characters that identify the tool and its arguments."""
    return hashlib.sha256(f"{tool}\x1f{canonical(arguments)}".encode()).hexdigest()[:32]


def _plain(value: object) -> object:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if is_object(value):
        return {str(key): _plain(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if is_list(value):
        return [_plain(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return value
