"""A company's settings: checked, changed by merge patch (RFC 7396), and shown without secrets."""

from collections.abc import Callable, Mapping

from contracts import merge_patch, sealed
from contracts.company import (
    Channel,
    CompanyConfig,
    CompanySettings,
    Identity,
    IdentityKey,
    Webhook,
    channel_id,
    faults,
    read_config,
)
from contracts.errors import FieldFault
from contracts.ids import channel_of
from contracts.json_values import object_of, objects_of
from contracts.sealed import HIDDEN as HIDDEN
from contracts.strict import Strict
from memory.domain.identity import key_error
from memory.errors import BadFieldsError

Close = Callable[[str, str], str]
"""Encrypts a secret for a company; raises ValueError if it cannot."""


def checked(
    config: dict[str, object], before: CompanyConfig | None = None, close: Close | None = None
) -> CompanyConfig:
    """Returns the settings with every default filled in. Unknown fields that a newer release has put into `before` may
    stay. `close` seals the secrets that other services use; without it there can be none.

    Raises:
        BadFieldsError: with each field that is wrong.
    """
    if faults_found := faults(config, _raw(before) if before is not None else None):
        raise BadFieldsError(faults_found)
    _seal(config, _raw(before) if before is not None else {}, close)
    new_config = _with_channel_ids(read_config(config))
    keys = new_config.identity.keys
    bad_keys = [
        FieldFault(
            field=f"channels.{index}.id", message=f"must be its own: {new_config.company_id}_ and up to 16 of a-z 0-9 -"
        )
        for index, channel in enumerate(new_config.channels)
        if channel_of(str(channel.id)) != new_config.company_id
        or channel.id in {earlier.id for earlier in new_config.channels[:index]}
    ]
    bad_keys += [
        FieldFault(field=f"identity.keys.{index}.key", message=wrong)
        for index, key in enumerate(keys)
        if (wrong := key_error(key)) is not None
    ]
    if len({key.id for key in keys}) < len(keys):
        bad_keys.append(FieldFault(field="identity.keys", message="two keys have the same id"))
    if bad_keys:
        raise BadFieldsError(bad_keys)
    return new_config


def _seal(config: dict[str, object], before: dict[str, object], close: Close | None) -> None:
    known_secrets = {holder.get(field) for _, holder, field in sealed.secrets_in(before)}
    company, faulty = str(config["companyId"]), list[FieldFault]()

    def change(place: sealed.Place, value: object) -> object:
        single_fields = {"model": "ownModel.key", "provider": "team.provider.clientSecret"}
        field = single_fields.get(place[0]) or f"ownTools.{place[0]}.{place[1]}.headers.{place[-1]}"
        if value in known_secrets:
            return value
        if value == HIDDEN:
            faulty.append(FieldFault(field=field, message="give the secret again: it was not kept for this address"))
        elif close is None:
            faulty.append(FieldFault(field=field, message="secrets cannot be kept here: set NEXUS_SECRETS_KEY"))
        else:
            return close(str(value), company)
        return value

    sealed.replace_secrets(config, change)
    if faulty:
        raise BadFieldsError(faulty)


def resealed(config: CompanyConfig, renewed: Close) -> CompanyConfig | None:
    """Returns the same settings with each sealed secret replaced by `renewed(secret, company)`; None if that changes
    none."""
    raw, changed = _raw(config), False

    def change(place: sealed.Place, value: object) -> object:
        nonlocal changed
        del place
        new = renewed(value, config.company_id) if isinstance(value, str) and sealed.is_sealed(value) else value
        changed = changed or new != value
        return new

    sealed.replace_secrets(raw, change)
    return read_config(raw) if changed else None


def _with_channel_ids(config: CompanyConfig) -> CompanyConfig:
    """Returns the settings with an id for every channel, which is part of its webhook's address."""
    if not config.channels:
        return config
    channels = [
        channel.model_copy(update={"id": channel_id(config.company_id, channel)}) for channel in config.channels
    ]
    return config.model_copy(update={"channels": channels})


def patched(config: CompanyConfig, patch: Mapping[str, object], close: Close | None = None) -> CompanyConfig:
    """Returns the settings after a merge patch: null resets a field to its default (for visitorHourlyTokens that means
    no limit), and lists are replaced as a whole.

    Raises:
        BadFieldsError: the result breaks a bound, or belongs to another company.
    """
    if patch.get("companyId", config.company_id) != config.company_id:
        raise BadFieldsError([FieldFault(field="companyId", message="cannot be changed")])
    merged = merge_patch.merged_settings(_raw(config), patch)
    _restore_hidden(_raw(config), merged)
    sealed.restore_hidden(merged, _raw(config))
    return checked(merged, config, close)


def shown(settings: CompanySettings) -> CompanySettings:
    """Returns the settings as other services see them: without memory's own secrets and unknown fields of a newer
    release next to them; secrets that other services use stay sealed."""
    raw = _raw(settings.config)
    for name in settings.config.unknown.keys() & {"webhooks", "channels", "identity"}:
        del raw[name]
    for (kind, _), holder in _holders(raw):
        _keep_only(holder, _FIELDS[kind])
        for secret in _secrets_in(kind, holder):
            holder[secret] = HIDDEN
    if "identity" in raw:
        _keep_only(object_of(raw["identity"]), _wire_names(Identity))
    return settings.model_copy(update={"config": read_config(raw)})


def with_secrets(shown_config: CompanyConfig, config_with_secrets: CompanyConfig) -> CompanyConfig:
    """Returns settings from `shown` with the secrets that the other settings still have. An entry without its secret is
    left out, since it would be useless."""
    raw = _raw(shown_config)
    _restore_hidden(_raw(config_with_secrets), raw)
    config = read_config(raw)
    channels = [channel for channel in config.channels if HIDDEN not in {channel.token, channel.secret}]
    hooks = [hook for hook in config.webhooks if hook.secret != HIDDEN]
    keys = [key for key in config.identity.keys if key.key != HIDDEN]
    identity = config.identity.model_copy(update={"keys": keys})
    return config.model_copy(update={"webhooks": hooks, "channels": channels, "identity": identity})


def _raw(config: CompanyConfig) -> dict[str, object]:
    return config.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _wire_names(model: type[Strict]) -> frozenset[str]:
    return frozenset(field.alias or name for name, field in model.model_fields.items())


_FIELDS = {"url": _wire_names(Webhook), "id": _wire_names(IdentityKey), "channel": _wire_names(Channel)}
"""The known fields next to a secret, by the field that names its holder."""
_Holder = tuple[tuple[str, str], dict[str, object]]


def _holders(config: dict[str, object]) -> list[_Holder]:
    """Returns webhooks, identity keys and channels, each with its identity."""
    lists: dict[str, object] = {
        "url": config.get("webhooks"),
        "id": object_of(config.get("identity")).get("keys"),
        "channel": config.get("channels"),
    }
    holders_found: list[_Holder] = []
    for kind, holders in lists.items():
        for holder in objects_of(holders):
            holders_found.append(((kind, str(holder.get("id" if kind == "channel" else kind))), holder))
    return holders_found


def _secrets_in(kind: str, holder: dict[str, object]) -> tuple[str, ...]:
    """Returns the fields that are secrets; a public key is not."""
    if kind == "id":
        return () if holder.get("algorithm") == "RS256" else ("key",)
    return ("secret",) if kind == "url" else ("secret", "token")


def _keep_only(holder: dict[str, object], names: frozenset[str]) -> None:
    for name in holder.keys() - names:
        del holder[name]


def _restore_hidden(config: dict[str, object], merged: dict[str, object]) -> None:
    """Restores secrets where settings contain only their placeholder."""
    holders = dict(_holders(config))
    for (kind, name), holder in _holders(merged):
        old = holders.get((kind, name))
        if old is None:
            continue
        for secret in _secrets_in(kind, old):
            if holder.get(secret) == HIDDEN and secret in old:
                holder[secret] = old[secret]
        for field in old.keys() - _FIELDS[kind]:
            holder.setdefault(field, old[field])
