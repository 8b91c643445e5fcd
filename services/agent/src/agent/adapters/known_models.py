"""What an endpoint has taught about its models: parameters that one does not take, that it thinks before it answers, or
that it is no longer served.

Models come and go faster than releases of Nexus, and new ones take other parameters: OpenAI's reasoning models no
`max_tokens`, Anthropic's newer ones no `temperature`. A list of their names would soon be out of date, but the refusal
names the parameter.
"""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from runtime.recent import Recent

KEPT_SECONDS = 3_600.0
"""How long it is remembered; then the endpoint is asked once more as if nothing were known."""
KEPT = 100
"""Models of one endpoint."""
THOUGHT_TOKENS = 2_048
"""Tokens for the thoughts of a model that thinks: providers count them as a part of its answer."""
_GONE = frozenset({"model_decommissioned", "model_not_found", "not_found_error"})
_MOST_TEXT = 2_000
"""Characters of a refusal that are read."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """A change of a request for models that refuse it as it is. `named`: the parameter that the refusal names, or
    another word of it; `change`: changes the request's body in place."""

    named: str
    change: Callable[[dict[str, Any]], object] = field(repr=False)


def without(name: str) -> Remedy:
    """Leaves the parameter out."""
    return Remedy(name, lambda request: request.pop(name, None))


def renamed(name: str, other: str) -> Remedy:
    """Gives the parameter its other name."""

    def change(request: dict[str, Any]) -> None:
        if name in request:
            request[other] = request.pop(name)

    return Remedy(name, change)


@dataclass(frozen=True, slots=True)
class KnownModel:
    """One model of an endpoint. `name`: the one that is asked, which is another one when it is no longer served;
    `remedies`: what its requests need; `thinks`: it thinks before it answers."""

    name: str
    remedies: tuple[Remedy, ...] = ()
    thinks: bool = False


class KnownModels:
    """The models of one endpoint. `remedies`: what may be tried after a refusal, the first that changes the request
    first; `successor`: the model that is asked in the place of one that is no longer served."""

    def __init__(
        self,
        remedies: Sequence[Remedy],
        successor: str | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._remedies = remedies
        self._successor = successor
        self._known = Recent[str, KnownModel](KEPT, seconds=KEPT_SECONDS, clock=clock)

    def of(self, model: str) -> KnownModel:
        return self._known.get(model) or KnownModel(model)

    def learn(self, model: str, known: KnownModel) -> None:
        self._known.keep(model, known)

    def request(self, known: KnownModel, request: dict[str, Any]) -> dict[str, Any]:
        """The request as the model takes it."""
        changed: dict[str, Any] = {**request, "model": known.name}
        if known.thinks:
            changed["max_tokens"] += THOUGHT_TOKENS
        for remedy in known.remedies:
            remedy.change(changed)
        return changed

    def learned_from(
        self, known: KnownModel, request: dict[str, Any], status: int, error: dict[str, Any]
    ) -> KnownModel | None:
        """The model as this refusal of the request shows it; None: nothing can be changed."""
        if status not in (400, 404, 422):
            return None
        if {error.get("code"), error.get("type")} & _GONE:
            # What was learned about the one does not hold for the other.
            return None if self._successor in (None, known.name) else KnownModel(self._successor)
        text = str(error.get("message") or error)[:_MOST_TEXT]
        for remedy in self._remedies:
            name = re.escape(remedy.named)
            # A name with an underscore or a slash is no word of a sentence.
            word = not re.search("[_/]", remedy.named)
            mentioned = rf"[`'\"]{name}[`'\"]|\b{name}:|^{name}\b" if word else rf"\b{name}\b"
            if error.get("param") == remedy.named or re.search(mentioned, text):
                changed = dict(request)
                remedy.change(changed)
                if changed != request:
                    return replace(known, remedies=(*known.remedies, remedy))
        return None
