"""A company's settings: checked, changed by merge patch (RFC 7396), and shown without secrets."""

from dataclasses import dataclass
from typing import Any, cast

from contracts import merge_patch
from contracts.company import (
    CompanyConfig,
    CompanySettings,
    Identity,
    IdentityKey,
    Webhook,
    faults,
    read_config,
)
from contracts.strict import Strict
from memory.domain.identity import wrong_key

HIDDEN = "********"
"""Stands for a webhook's secret or an identity key wherever settings are shown; sent back unchanged, it keeps them."""


@dataclass(frozen=True, slots=True)
class BadField:
    """What is wrong with one setting; `field` in the wire's names, with dots."""

    field: str
    message: str


class BadSettingsError(ValueError):
    """Settings that break a bound, or name what does not exist."""

    def __init__(self, fields: list[BadField]) -> None:
        super().__init__("; ".join(f"{bad.field}: {bad.message}" for bad in fields))
        self.fields = fields


def checked(config: dict[str, Any], before: CompanyConfig | None = None) -> CompanyConfig:
    """The settings, with every default filled in. What a newer release has put into those `before` may stay.

    Raises:
        BadSettingsError: with each field that is wrong.
    """
    if found := faults(config, _raw(before) if before is not None else None):
        raise BadSettingsError([BadField(fault.field, fault.message) for fault in found])
    made = read_config(config)
    keys = made.identity.keys
    bad_keys = [
        BadField(f"identity.keys.{place}.key", wrong)
        for place, key in enumerate(keys)
        if (wrong := wrong_key(key)) is not None
    ]
    if len({key.id for key in keys}) < len(keys):
        bad_keys.append(BadField("identity.keys", "two keys have the same id"))
    if bad_keys:
        raise BadSettingsError(bad_keys)
    return made


def patched(config: CompanyConfig, patch: dict[str, Any]) -> CompanyConfig:
    """The settings after a merge patch: null sets a field back to its default (of visitorHourlyTokens it means no
    limit), lists are replaced whole.

    Raises:
        BadSettingsError: the result breaks a bound, or belongs to another company.
    """
    if patch.get("companyId", config.company_id) != config.company_id:
        raise BadSettingsError([BadField("companyId", "cannot be changed")])
    merged = merge_patch.merged_settings(_raw(config), patch)
    _keep_hidden(_raw(config), merged)
    return checked(merged, config)


def shown(settings: CompanySettings) -> CompanySettings:
    """The settings as they leave this service: secrets hidden, and what a newer release has put beside secrets too."""
    raw = _raw(settings.config)
    for name in settings.config.unknown.keys() & {"webhooks", "identity"}:
        del raw[name]
    for (kind, _), holder in _holders(raw):
        _leave(holder, _FIELDS[kind])
        if (secret := _secret_in(kind, holder)) is not None:
            holder[secret] = HIDDEN
    if "identity" in raw:
        _leave(raw["identity"], _wire_names(Identity))
    return settings.model_copy(update={"config": read_config(raw)})


def with_secrets(told: CompanyConfig, known: CompanyConfig) -> CompanyConfig:
    """Settings as they left this service, with the secrets that `known` still has; what has lost its secret is left
    out, for it could not be used."""
    raw = _raw(told)
    _keep_hidden(_raw(known), raw)
    config = read_config(raw)
    hooks = [hook for hook in config.webhooks if hook.secret != HIDDEN]
    keys = [key for key in config.identity.keys if key.key != HIDDEN]
    identity = config.identity.model_copy(update={"keys": keys})
    return config.model_copy(update={"webhooks": hooks, "identity": identity})


def _raw(config: CompanyConfig) -> dict[str, Any]:
    return config.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _wire_names(model: type[Strict]) -> frozenset[str]:
    return frozenset(field.alias or name for name, field in model.model_fields.items())


_FIELDS = {"url": _wire_names(Webhook), "id": _wire_names(IdentityKey)}
"""What there is beside a secret, by the field that names its holder."""
_Holder = tuple[tuple[str, str], dict[str, Any]]


def _holders(config: dict[str, Any]) -> list[_Holder]:
    """Webhooks and identity keys, each with what names it."""
    identity: Any = config.get("identity")
    lists: dict[str, Any] = {
        "url": config.get("webhooks"),
        "id": cast("dict[str, Any]", identity).get("keys") if isinstance(identity, dict) else None,
    }
    found: list[_Holder] = []
    for kind, holders in lists.items():
        for each in cast("list[Any]", holders) if isinstance(holders, list) else []:
            if isinstance(each, dict):
                holder = cast("dict[str, Any]", each)
                found.append(((kind, str(holder.get(kind))), holder))
    return found


def _secret_in(kind: str, holder: dict[str, Any]) -> str | None:
    """The field that is a secret; a public key is none."""
    if kind == "url":
        return "secret"
    return None if holder.get("algorithm") == "RS256" else "key"


def _leave(holder: dict[str, Any], names: frozenset[str]) -> None:
    for name in holder.keys() - names:
        del holder[name]


def _keep_hidden(config: dict[str, Any], merged: dict[str, Any]) -> None:
    """Whoever sends back what they were shown means what they were not shown, too."""
    known = dict(_holders(config))
    for (kind, name), holder in _holders(merged):
        old = known.get((kind, name))
        if old is None:
            continue
        secret = _secret_in(kind, old)
        if secret is not None and holder.get(secret) == HIDDEN:
            holder[secret] = old[secret]
        for field in old.keys() - _FIELDS[kind]:
            holder.setdefault(field, old[field])
