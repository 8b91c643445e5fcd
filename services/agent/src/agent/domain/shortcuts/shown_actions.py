"""Reads from the log the actions that an answer asked a person to confirm."""

from collections.abc import Mapping
from dataclasses import dataclass

from contracts.json_values import is_list, is_object, list_of, object_of


@dataclass(frozen=True, slots=True)
class ShownAction:
    """An action that was shown as pending. A decision is bound to `content_hash`, so that only what the user saw is
    decided."""

    id: str
    summary: str
    content_hash: str | None
    symbol: str = ""


def actions_in(message: Mapping[str, object]) -> tuple[ShownAction, ...]:
    """The pending actions in an assistant's message (its stored data); unreadable ones are left out."""
    actions = message.get("actions")
    if not is_list(actions):
        return ()
    found: list[ShownAction] = []
    for action in list_of(actions):
        if not is_object(action):
            continue
        fields = object_of(action)
        if fields.get("state") == "pending" and isinstance(fields.get("id"), str):
            found.append(action_of(fields))
    return tuple(found)


def action_of(action: Mapping[str, object]) -> ShownAction:
    """Reads an action from its wire form."""
    details = action.get("details")
    known = object_of(details)
    digest, symbol = known.get("contentHash"), known.get("symbol")
    return ShownAction(
        id=str(action["id"]),
        summary=str(action.get("summary") or ""),
        content_hash=digest if isinstance(digest, str) else None,
        symbol=symbol if isinstance(symbol, str) else "",
    )
