"""JSON Schema 2020-12 with jsonschema-rs, which passes all required tests of the official suite and validates in under
1 µs."""

from collections.abc import Mapping, Sequence
from typing import Any

import jsonschema_rs
from jsonschema_rs import ValidationError, ValidationErrorKind

from contracts.schema_cost import MAX_PATTERN_STEPS, check_cost
from contracts.text import Text
from tool_executor.adapters.schema_messages import message_of_keyword, null_message, pattern_message
from tool_executor.domain.declaration import ArgumentProblem
from tool_executor.ports import SchemaBrokenError

_MAX_PROBLEMS = 20
_MAX_MESSAGE_CHARS = 300
_PATTERNS = jsonschema_rs.FancyRegexOptions(backtrack_limit=MAX_PATTERN_STEPS)
DRAFT = "https://json-schema.org/draft/2020-12/schema"


class CompiledSchema:
    """A compiled schema that checks values. A reference to another document does not compile, so nothing is ever
    fetched."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Compiles the schema; raises SchemaBrokenError."""
        try:
            # A boolean or an array would compile as well, but no tool is declared with one.
            self._schema = dict(schema)
            check_cost(self._schema)
            jsonschema_rs.meta.validate({"$schema": DRAFT, **self._schema})
            self._validator = jsonschema_rs.Draft202012Validator(
                self._schema, retriever=_refuse, pattern_options=_PATTERNS
            )
        except (ValidationError, jsonschema_rs.ReferencingError, ValueError, TypeError) as error:
            raise SchemaBrokenError(str(error).splitlines()[0][:_MAX_MESSAGE_CHARS]) from error

    def problems(self, instance: Any) -> Sequence[ArgumentProblem]:
        """Returns the faults by field; empty if there are none."""
        if self._validator.is_valid(instance):
            return ()
        problems: list[ArgumentProblem] = []
        for error in self._validator.iter_errors(instance):
            message = self._message(error)
            problems += [ArgumentProblem(field, message) for field in _fields(error)]
            if len(problems) >= _MAX_PROBLEMS:
                break
        return problems

    def _message(self, error: ValidationError) -> Text | str:
        if error.kind.name == "pattern":
            message: Text | str = pattern_message(error.kind.value, self._description(error.schema_path))
        else:
            message = message_of_keyword(error.kind.name, error.kind.value, error.message)
        return null_message(message) if error.instance is None and isinstance(message, Text) else message

    def _description(self, path: Sequence[str | int]) -> str | None:
        """Returns the schema's description of the argument that contains the last keyword of `path`."""
        subschema: Any = self._schema
        for part in path[:-1]:
            try:
                subschema = subschema[part]
            except (KeyError, IndexError, TypeError):
                return None
        text: Any = subschema.get("description") if isinstance(subschema, Mapping) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        return text if isinstance(text, str) else None


def _refuse(uri: str) -> Any:
    raise ValueError(f"it refers to {uri}; put the definition into the schema itself")


def _fields(error: ValidationError) -> list[str]:
    """Returns the fields to change; for a missing or unknown property that is the property itself, not its parent."""
    parent = [str(part) for part in error.instance_path]
    match error.kind:
        case ValidationErrorKind.Required(property=name):
            return [".".join([*parent, str(name)])]
        case ValidationErrorKind.AdditionalProperties(unexpected=names):
            return [".".join([*parent, name]) for name in names]
        case _:
            return [".".join(parent)]
