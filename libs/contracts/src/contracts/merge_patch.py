"""JSON Merge Patch (RFC 7396), for changing documents and for previews of a change."""

from collections.abc import Collection, Mapping

from contracts.company import NULL_IS_A_VALUE
from contracts.json_values import is_object, object_of


def merged(
    target: Mapping[str, object], patch: Mapping[str, object], nullable: Collection[str] = (), path: str = ""
) -> dict[str, object]:
    """Returns the target after the patch: null removes a member, objects are merged, anything else is replaced.

    Args:
        nullable: members (paths with dots) in which null is a value.
        path: the target's path in the whole document, ending in a dot.
    """
    result = dict(target)
    for name, value in patch.items():
        if value is None and f"{path}{name}" not in nullable:
            result.pop(name, None)
        elif is_object(value):
            result[name] = merged(object_of(result.get(name)), value, nullable, f"{path}{name}.")
        else:
            result[name] = value
    return result


def merged_settings(target: Mapping[str, object], patch: Mapping[str, object]) -> dict[str, object]:
    """Returns a company's settings after the patch: null resets a field to its default, except where it means "no
    limit"."""
    return merged(target, patch, NULL_IS_A_VALUE)
