"""The golden files that the previous release wrote, and the same with an unknown field at every place."""

import json
from pathlib import Path
from typing import Any, cast

Json = dict[str, Any]
TOMORROW = "fieldOfTomorrow"
_MAPS = frozenset({"attributes", "quota", "positions", "asked", "since", "setSince"})
"""Objects whose names are data: another name in them would be an entry, not a field."""
_FOLDER = Path(__file__).with_name("golden")


def golden(name: str) -> Json:
    """Reads one of the files in `golden`; its README says how they were made."""
    return json.loads((_FOLDER / f"{name}.json").read_text())


def with_more(value: Any, name: str = "") -> Any:
    """Returns the value with an additional field in every object."""
    if isinstance(value, dict):
        fields = cast("Json", value)
        extra = {} if name in _MAPS else {TOMORROW: {"a": [1]}}
        return {name: with_more(item, name) for name, item in fields.items()} | extra
    if isinstance(value, list):
        return [with_more(item, name) for item in cast("list[Any]", value)]
    return value
