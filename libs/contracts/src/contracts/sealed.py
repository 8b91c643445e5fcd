"""The secrets in a company's settings: sealed where they are stored (`runtime.auth.seal`), hidden where shown."""

from collections.abc import Callable, Iterator

from contracts.json_values import object_of, objects_of

HIDDEN = "********"
"""Shown in place of a secret; sending it back unchanged keeps the secret."""
PREFIX = "sealed:1:"
Place = tuple[str, ...]
"""Identifies a secret: its owner, and its name there."""


def is_sealed(value: object) -> bool:
    return isinstance(value, str) and value.startswith(PREFIX)


def secrets_in(config: dict[str, object]) -> Iterator[tuple[Place, dict[str, object], str]]:
    """Yields all secrets in raw settings: for each its identity, the object that holds it, and the field."""
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
                # The address is part of the identity, so that a secret does not follow a tool to another server.
                place = (kind, str(owner.get("name")), str(owner.get("url")), str(header.get("name")).lower())
                yield place, header, "value"


def replace_secrets(config: dict[str, object], change: Callable[[Place, object], object]) -> None:
    """Replaces every secret by `change(place, value)`."""
    for place, holder, field in secrets_in(config):
        if field in holder:
            holder[field] = change(place, holder[field])


def restore_hidden(config: dict[str, object], known: dict[str, object]) -> None:
    """Restores secrets for which the settings that somebody sends contain only the placeholder."""
    secrets = {place: holder.get(field) for place, holder, field in secrets_in(known)}
    replace_secrets(config, lambda place, value: secrets.get(place, value) if value == HIDDEN else value)
