"""What a model is offered to call."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool that the caller may use. `parameters` is JSON Schema; `label` is what a person reads while it runs;
    `changes`: it has effects, so that the user's own words have to ask for it."""

    name: str
    description: str
    category: str
    parameters: Mapping[str, Any]
    label: str
    changes: bool = False
