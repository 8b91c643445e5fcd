"""What the previous release wrote, and the same with a field of tomorrow at every place."""

import json
from pathlib import Path
from typing import Any, cast

Json = dict[str, Any]
TOMORROW = "fieldOfTomorrow"
_MAPS = frozenset({"attributes", "quota", "positions", "asked", "since", "setSince"})
"""Objects whose names are data: one more in them is one entry more, not a field."""
_FOLDER = Path(__file__).with_name("golden")


def golden(name: str) -> Json:
    """One of the files in `golden`, whose README says how they were made."""
    return json.loads((_FOLDER / f"{name}.json").read_text())


def with_more(value: Any, name: str = "") -> Any:
    """The value with one field more in every object."""
    if isinstance(value, dict):
        fields = cast("Json", value)
        more = {} if name in _MAPS else {TOMORROW: {"a": [1]}}
        return {name: with_more(each, name) for name, each in fields.items()} | more
    if isinstance(value, list):
        return [with_more(each, name) for each in cast("list[Any]", value)]
    return value
