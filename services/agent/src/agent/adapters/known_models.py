"""What was learned from an endpoint about its models: parameters that a model refuses, whether it thinks before it
answers, and whether it is still served.

Models come and go faster than releases of Nexus, and new ones take other parameters: OpenAI's reasoning models refuse
`max_tokens`, Anthropic's newer ones `temperature`. A list of their names would soon be out of date, but the refusal
names the parameter.
"""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from runtime.recent import Recent

KEPT_SECONDS = 3_600.0
"""Seconds for which this is remembered; then the model is called again as if nothing were known."""
MAX_MODELS = 100
"""Models that are remembered of one endpoint."""
THOUGHT_TOKENS = 2_048
"""Tokens added for the reasoning of a model that thinks; providers count them as part of its answer."""
_NOT_SERVED_CODES = frozenset({"model_decommissioned", "model_not_found", "not_found_error"})
_MAX_ERROR_CHARS = 2_000
"""Characters of a refusal that are read."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """A change of a request that a model refuses. `parameter`: the parameter, or another word, that the refusal names.
    `change`: changes the request's body in place."""

    parameter: str
    change: Callable[[dict[str, Any]], object] = field(repr=False)


def without(parameter: str) -> Remedy:
    """Returns a remedy that leaves the parameter out."""
    return Remedy(parameter, lambda request: request.pop(parameter, None))


def renamed(parameter: str, new_name: str) -> Remedy:
    """Returns a remedy that renames the parameter."""

    def change(request: dict[str, Any]) -> None:
        if parameter in request:
            request[new_name] = request.pop(parameter)

    return Remedy(parameter, change)


@dataclass(frozen=True, slots=True)
class KnownModel:
    """One model of an endpoint. `name`: the model to call, its successor if it is no longer served. `remedies`: the
    changes that its requests need. `thinks`: whether it thinks before it answers."""

    name: str
    remedies: tuple[Remedy, ...] = ()
    thinks: bool = False


class KnownModels:
    """The models of one endpoint. `remedies`: tried after a refusal, in this order. `successor`: the model to call in
    place of one that is no longer served."""

    def __init__(
        self,
        remedies: Sequence[Remedy],
        successor: str | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._remedies = remedies
        self._successor = successor
        self._known = Recent[str, KnownModel](MAX_MODELS, ttl_seconds=KEPT_SECONDS, clock=clock)

    def of(self, model: str) -> KnownModel:
        return self._known.get(model) or KnownModel(model)

    def learn(self, model: str, known: KnownModel) -> None:
        self._known.keep(model, known)

    def request(self, known: KnownModel, request: dict[str, Any]) -> dict[str, Any]:
        """Returns the request in the form that the model accepts."""
        changed: dict[str, Any] = {**request, "model": known.name}
        if known.thinks:
            changed["max_tokens"] += THOUGHT_TOKENS
        for remedy in known.remedies:
            remedy.change(changed)
        return changed

    def learned_from(
        self, known: KnownModel, request: dict[str, Any], status: int, error: dict[str, Any]
    ) -> KnownModel | None:
        """Returns what is known of the model after this refusal; None if no remedy applies."""
        if status not in (400, 404, 422):
            return None
        if {error.get("code"), error.get("type")} & _NOT_SERVED_CODES:
            # What was learned about the old model does not apply to its successor.
            return None if self._successor in (None, known.name) else KnownModel(self._successor)
        text = str(error.get("message") or error)[:_MAX_ERROR_CHARS]
        for remedy in self._remedies:
            name = re.escape(remedy.parameter)
            # A name without underscore or slash may be an ordinary word of the sentence.
            is_plain_word = not re.search("[_/]", remedy.parameter)
            mention_pattern = rf"[`'\"]{name}[`'\"]|\b{name}:|^{name}\b" if is_plain_word else rf"\b{name}\b"
            if error.get("param") == remedy.parameter or re.search(mention_pattern, text):
                changed = dict(request)
                remedy.change(changed)
                if changed != request:
                    return replace(known, remedies=(*known.remedies, remedy))
        return None
