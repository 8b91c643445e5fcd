"""What an answer asks a person to confirm, as the log tells it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast


@dataclass(frozen=True, slots=True)
class ShownAction:
    """An action that was shown as pending. A decision is bound to `content_hash`: what was seen is what is decided."""

    id: str
    summary: str
    content_hash: str | None
    symbol: str = ""


def asked_in(message: Mapping[str, Any]) -> tuple[ShownAction, ...]:
    """The pending actions of an assistant's message (its data, as stored); what cannot be read is none."""
    actions = message.get("actions")
    if not isinstance(actions, list):
        return ()
    found: list[ShownAction] = []
    for action in cast("list[Any]", actions):
        if not isinstance(action, dict):
            continue
        fields = cast("dict[str, Any]", action)
        if fields.get("state") == "pending" and isinstance(fields.get("id"), str):
            found.append(asked_of(fields))
    return tuple(found)


def asked_of(action: Mapping[str, Any]) -> ShownAction:
    """One action from its wire form."""
    details = action.get("details")
    known = cast("dict[str, Any]", details) if isinstance(details, dict) else {}
    digest, symbol = known.get("contentHash"), known.get("symbol")
    return ShownAction(
        id=str(action["id"]),
        summary=str(action.get("summary") or ""),
        content_hash=digest if isinstance(digest, str) else None,
        symbol=symbol if isinstance(symbol, str) else "",
    )
