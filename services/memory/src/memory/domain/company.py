"""A company's settings: checked, changed by merge patch (RFC 7396), and shown without secrets."""

from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from contracts import merge_patch
from contracts.company import CompanyConfig, CompanySettings
from contracts.wrong_fields import message_of
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


def checked(config: dict[str, Any]) -> CompanyConfig:
    """The settings, with every default filled in.

    Raises:
        BadSettingsError: with each field that is wrong.
    """
    try:
        made = CompanyConfig.model_validate(config)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        raise BadSettingsError(
            [BadField(".".join(str(part) for part in bad["loc"]) or "settings", message_of(bad)) for bad in found]
        ) from None
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
    merged = merge_patch.merged_settings(config.model_dump(mode="json", by_alias=True, exclude_unset=True), patch)
    _keep_secrets(config, merged)
    return checked(merged)


def shown(settings: CompanySettings) -> CompanySettings:
    """The settings as they leave this service: secrets hidden."""
    config = settings.config
    hooks = [hook.model_copy(update={"secret": HIDDEN}) for hook in config.webhooks]
    # A public key is no secret.
    keys = [key.model_copy(update={"key": HIDDEN}) if key.algorithm == "HS256" else key for key in config.identity.keys]
    identity = config.identity.model_copy(update={"keys": keys})
    return settings.model_copy(update={"config": config.model_copy(update={"webhooks": hooks, "identity": identity})})


def with_secrets(told: CompanyConfig, known: CompanyConfig) -> CompanyConfig:
    """Settings as they left this service, with the secrets that `known` still has; what has lost its secret is left
    out, for it could not be used."""
    merged = told.model_dump(mode="json", by_alias=True, exclude_unset=True)
    _keep_secrets(known, merged)
    config = CompanyConfig.model_validate(merged)
    hooks = [hook for hook in config.webhooks if hook.secret != HIDDEN]
    keys = [key for key in config.identity.keys if key.key != HIDDEN]
    identity = config.identity.model_copy(update={"keys": keys})
    return config.model_copy(update={"webhooks": hooks, "identity": identity})


def _keep_secrets(config: CompanyConfig, merged: dict[str, Any]) -> None:
    known = {hook.url: hook.secret for hook in config.webhooks}
    hooks: Any = merged.get("webhooks")
    for hook in hooks if isinstance(hooks, list) else []:  # pyright: ignore[reportUnknownVariableType]
        if isinstance(hook, dict) and hook.get("secret") == HIDDEN and hook.get("url") in known:  # pyright: ignore[reportUnknownMemberType]
            hook["secret"] = known[hook["url"]]
    secrets = {key.id: key.key for key in config.identity.keys if key.algorithm == "HS256"}
    identity: Any = merged.get("identity")
    keys: Any = identity.get("keys") if isinstance(identity, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    for key in keys if isinstance(keys, list) else []:  # pyright: ignore[reportUnknownVariableType]
        if isinstance(key, dict) and key.get("key") == HIDDEN and key.get("id") in secrets:  # pyright: ignore[reportUnknownMemberType]
            key["key"] = secrets[key["id"]]
