"""JSON Schemas that callers send. They may refer only to themselves, so nothing is ever fetched or opened; a schema
that could take too long to check is refused."""

from typing import Any

import jsonschema_rs

from contracts.schema_cost import MAX_PATTERN_STEPS, check_cost

MAX_REASON_CHARACTERS = 200
_PATTERNS = jsonschema_rs.FancyRegexOptions(backtrack_limit=MAX_PATTERN_STEPS)


def compile_schema(schema: Any) -> jsonschema_rs.Validator:
    """A validator for the schema; raises ValueError, which says what is wrong with it."""
    check_cost(schema)
    try:
        return jsonschema_rs.validator_for(schema, retriever=_refuse, pattern_options=_PATTERNS)
    except (ValueError, TypeError, jsonschema_rs.ReferencingError) as error:
        raise ValueError(f"is no JSON Schema: {str(error).splitlines()[0][:MAX_REASON_CHARACTERS]}") from error


def _refuse(uri: str) -> Any:
    raise ValueError(f"it refers to {uri}; put the definition into the schema itself")
