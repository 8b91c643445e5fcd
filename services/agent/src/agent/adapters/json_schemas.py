"""JSON Schema 2020-12 with jsonschema-rs, as in the executor. A schema with an external reference does not compile, so
nothing is ever fetched."""

from collections.abc import Mapping
from typing import Any

import jsonschema_rs
import orjson
import structlog

from runtime.recent import Bounded

log = structlog.get_logger(__name__)

MAX_COMPILED = 200
"""Compiled schemas that are kept."""


class JsonSchemas:
    """Validates against schemas, each of which is compiled once."""

    def __init__(self) -> None:
        self._compiled = Bounded[bytes, jsonschema_rs.Draft202012Validator | None](MAX_COMPILED)

    def is_valid(self, schema: Mapping[str, Any], instance: Any) -> bool:
        """Whether the value matches the schema; logs the first problem."""
        validator = self._validator(schema)
        if validator is None:
            return False
        if validator.is_valid(instance):
            return True
        problem = next(iter(validator.iter_errors(instance)), None)
        path = ".".join(str(part) for part in problem.instance_path) if problem else ""
        log.warning("schema.unfit", at=path, problem=problem.message[:200] if problem else "")
        return False

    def _validator(self, schema: Mapping[str, Any]) -> jsonschema_rs.Draft202012Validator | None:
        key = orjson.dumps(schema, option=orjson.OPT_SORT_KEYS)
        if key not in self._compiled:
            try:
                compiled = jsonschema_rs.Draft202012Validator(dict(schema), retriever=_refuse)
            except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError, TypeError) as error:
                log.warning("schema.broken", problem=str(error).splitlines()[0][:200])
                compiled = None
            self._compiled[key] = compiled
        return self._compiled[key]


def _refuse(uri: str) -> Any:
    raise ValueError(f"it refers to {uri}")
