"""The format that a caller wants of an answer's text: JSON by a schema, or any JSON object. The prompt asks for it,
and the answer is checked."""

import json
from dataclasses import dataclass

from gateway.domain.json_schema import compiled

LONGEST_WHY = 300


@dataclass(frozen=True, slots=True)
class TextShape:
    """`schema` None: any JSON object. It has been checked to be a valid JSON Schema."""

    schema: dict[str, object] | None

    @property
    def in_words(self) -> str:
        """The instruction for the model."""
        if self.schema is None:
            return "Answer with one JSON object and nothing else."
        return f"Answer with JSON of this JSON Schema and nothing else: {json.dumps(self.schema, ensure_ascii=False)}"

    def misfit(self, text: str) -> str | None:
        """Returns what is wrong with a text, or None."""
        try:
            value: object = json.loads(text)
        except (ValueError, RecursionError):
            return "it is not JSON"
        if self.schema is None:
            return None if isinstance(value, dict) else "it is no JSON object"
        wrong = next(iter(compiled(self.schema).iter_errors(value)), None)
        return None if wrong is None else wrong.message[:LONGEST_WHY]
