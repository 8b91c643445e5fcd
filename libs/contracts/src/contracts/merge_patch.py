"""JSON Merge Patch (RFC 7396), for those who change documents and those who show what a change would make."""

from collections.abc import Collection, Mapping

from contracts.company import NULL_IS_A_VALUE
from contracts.json_values import is_object, object_of


def merged(
    target: Mapping[str, object], patch: Mapping[str, object], kept: Collection[str] = (), at: str = ""
) -> dict[str, object]:
    """The target after the patch: null takes a member out, objects are merged, anything else is replaced whole.

    Args:
        kept: members, with dots, whose null is a value of its own and stays.
        at: where in the whole document this is, ending in a dot.
    """
    result = dict(target)
    for name, value in patch.items():
        if value is None and f"{at}{name}" not in kept:
            result.pop(name, None)
        elif is_object(value):
            result[name] = merged(object_of(result.get(name)), value, kept, f"{at}{name}.")
        else:
            result[name] = value
    return result


def merged_settings(target: Mapping[str, object], patch: Mapping[str, object]) -> dict[str, object]:
    """A company's settings after the patch: null sets a field back to its default, except where it means "no limit"."""
    return merged(target, patch, NULL_IS_A_VALUE)
