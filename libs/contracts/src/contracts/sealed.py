"""How a secret of a company's settings looks: sealed where it is kept (runtime.seal), hidden where it is shown."""

from collections.abc import Callable, Iterator

from contracts.json_values import object_of, objects_of

HIDDEN = "********"
"""Stands for a secret wherever settings are shown; sent back unchanged, it keeps it."""
PREFIX = "sealed:1:"
Place = tuple[str, ...]
"""What names a secret: whose it is, and its own name there."""


def is_sealed(value: object) -> bool:
    return isinstance(value, str) and value.startswith(PREFIX)


def sealed_places(config: dict[str, object]) -> Iterator[tuple[Place, dict[str, object], str]]:
    """Every secret of raw settings that is kept sealed: what names it, what holds it, and its field there."""
    model = object_of(config.get("ownModel"))
    if model.get("key") is not None:
        yield ("model", str(model.get("provider")), str(model.get("address"))), model, "key"
    provider = object_of(object_of(config.get("team")).get("provider"))
    if provider.get("clientSecret") is not None:
        yield ("provider", str(provider.get("issuer")), str(provider.get("clientId"))), provider, "clientSecret"
    own = object_of(config.get("ownTools"))
    for kind in ("http", "mcp"):
        for owner in objects_of(own.get(kind)):
            for header in objects_of(owner.get("headers")):
                # The address is part of the name: a secret does not follow a tool to another server.
                place = (kind, str(owner.get("name")), str(owner.get("url")), str(header.get("name")).lower())
                yield place, header, "value"


def replaced(config: dict[str, object], change: Callable[[Place, object], object]) -> None:
    """Puts `change(place, value)` in the place of every such secret."""
    for place, holder, field in sealed_places(config):
        if field in holder:
            holder[field] = change(place, holder[field])


def keep_hidden(config: dict[str, object], known: dict[str, object]) -> None:
    """Whoever sends back what they were shown means what they were not shown."""
    kept = {place: holder.get(field) for place, holder, field in sealed_places(known)}
    replaced(config, lambda place, value: kept.get(place, value) if value == HIDDEN else value)
