"""The format that a caller wants for an answer's text: JSON of a schema, or any JSON object. The prompt asks for it,
and the answer is checked."""

import json
import re
from dataclasses import dataclass

from gateway.domain.json_schema import compile_schema

MAX_REASON_CHARACTERS = 300
_FENCED = re.compile(r"```\w*\s(?P<text>.*)\s```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TextShape:
    """JSON of `schema`, which has been checked to be a valid JSON Schema; None: any JSON object."""

    schema: dict[str, object] | None

    @property
    def instruction(self) -> str:
        """The instruction to the model."""
        if self.schema is None:
            return "Answer with one JSON object and nothing else."
        return f"Answer with JSON of this JSON Schema and nothing else: {json.dumps(self.schema, ensure_ascii=False)}"

    def fault_in(self, text: str) -> str | None:
        """What is wrong with a text; None if it has the format."""
        try:
            value: object = json.loads(text)
        except (ValueError, RecursionError):
            return "it is not JSON"
        if self.schema is None:
            return None if isinstance(value, dict) else "it is no JSON object"
        error = next(iter(compile_schema(self.schema).iter_errors(value)), None)
        return None if error is None else error.message[:MAX_REASON_CHARACTERS]


def without_fence(text: str) -> str:
    """The text without the Markdown code fence that models like to put around JSON."""
    fenced = _FENCED.fullmatch(text.strip())
    return fenced["text"] if fenced else text
