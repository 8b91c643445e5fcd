"""JSON Merge Patch (RFC 7396), for changing documents and for previews of a change."""

from collections.abc import Collection, Mapping

from contracts.company import NULL_IS_A_VALUE
from contracts.json_values import is_object, object_of


def merged(
    target: Mapping[str, object], patch: Mapping[str, object], kept: Collection[str] = (), at: str = ""
) -> dict[str, object]:
    """The target after the patch: null removes a member, objects are merged, anything else is replaced.

    Args:
        kept: members (paths with dots) whose null is a value to keep.
        at: the path of the target in the whole document, ending in a dot.
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
