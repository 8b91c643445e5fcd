"""JSON Merge Patch (RFC 7396), for those who change documents and those who show what a change would make."""

from collections.abc import Mapping
from typing import Any, cast


def merged(target: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """The target after the patch: null takes a member out, objects are merged, anything else is replaced whole."""
    result = dict(target)
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, dict):
            old: object = result.get(name)
            inner = cast("dict[str, Any]", old) if isinstance(old, dict) else {}
            result[name] = merged(inner, cast("dict[str, Any]", value))
        else:
            result[name] = value
    return result
