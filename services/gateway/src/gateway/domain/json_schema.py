"""JSON Schemas that callers send. What they refer to must stand in them: nothing is ever fetched or opened for one."""

from typing import Any

import jsonschema_rs

LONGEST_WHY = 200
_PATTERNS = jsonschema_rs.FancyRegexOptions(backtrack_limit=10_000)
"""Milliseconds for a pattern and a text; the usual limit is a hundred times that."""


def compiled(schema: Any) -> jsonschema_rs.Validator:
    """The schema, ready to check with. Raises ValueError, which says what is wrong with it."""
    try:
        return jsonschema_rs.validator_for(schema, retriever=_refuse, pattern_options=_PATTERNS)
    except (ValueError, TypeError, jsonschema_rs.ReferencingError) as error:
        raise ValueError(f"is no JSON Schema: {str(error).splitlines()[0][:LONGEST_WHY]}") from error


def _refuse(uri: str) -> Any:
    raise ValueError(f"it refers to {uri}; put the definition into the schema itself")
