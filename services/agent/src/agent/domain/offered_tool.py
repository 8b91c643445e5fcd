"""A tool that is offered to a model."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson

from agent.domain.text_features import stems
from contracts.json_values import object_of


@dataclass(frozen=True)
class OfferedTool:
    """A tool that the requester may use. `parameters`: JSON Schema; `label`: what a person reads while it runs;
    `changes`: it has effects, so the user's own words must ask for it."""

    name: str
    description: str
    category: str
    parameters: Mapping[str, Any]
    label: str
    changes: bool = False

    @cached_property
    def definition(self) -> str:
        """The JSON that is sent with every call of a model."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return json.dumps({"type": "function", "function": function}, ensure_ascii=False, separators=(",", ":"))

    @cached_property
    def identity(self) -> bytes:
        """JSON with sorted names. Two tools with the same identity are the same for a model."""
        return orjson.dumps((self.name, self.description, self.parameters), option=orjson.OPT_SORT_KEYS)

    @cached_property
    def size(self) -> int:
        """Bytes of the definition."""
        return len(self.definition.encode())

    @cached_property
    def words(self) -> frozenset[str]:
        """The significant words of its name, description, label and arguments."""
        properties = object_of(self.parameters.get("properties"))
        argument_texts = [
            f"{name.replace('_', ' ')} {object_of(schema).get('description', '')}"
            for name, schema in properties.items()
        ]
        return frozenset(
            stems(" ".join([re.sub(r"[_.\-]", " ", self.name), self.description, self.label, *argument_texts]))
        )
