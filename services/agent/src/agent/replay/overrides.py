"""The changes that a replay makes: the model, the prompt, or any setting."""

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import aiohttp

from agent.adapters.model_router import SingleModel, configured_router
from agent.domain.providers import owner_of
from agent.ports import Models
from agent.settings import ModelSettings
from contracts.company import CompanySettings, faults, read_config
from contracts.merge_patch import merged_settings
from contracts.providers import COMPATIBLE, KEYED, KEYS, OFFLINE, OFFLINE_MODEL


class OverrideError(Exception):
    """The requested change is not possible; the message says what to do."""


@dataclass(frozen=True)
class ChosenModel:
    """A model at a provider."""

    provider: str
    model: str


def chosen_model(name: str, settings: ModelSettings) -> ChosenModel:
    """Returns the model for `offline`, `provider:model`, or a model alone. The latter is served by the environment's
    server, by its owner, or by the first provider.

    Raises:
        OverrideError: no configured provider serves it.
    """
    provider, _, model = name.partition(":")
    if provider not in {*KEYED, COMPATIBLE.name} or not model:
        provider, model = "", name
    if name in (OFFLINE.name, OFFLINE_MODEL):
        return ChosenModel(OFFLINE.name, OFFLINE_MODEL)
    if settings.base_url is not None and provider in ("", COMPATIBLE.name):
        return ChosenModel(COMPATIBLE.name, model)
    if not provider:
        provider = owner_of(model) or next(
            (candidate for candidate in settings.order if candidate in settings.provider_keys), ""
        )
    if provider not in settings.provider_keys:
        missing_key = KEYS.get(provider, "a provider's key, or NEXUS_LLM_BASE_URL,")
        raise OverrideError(f"nobody is configured who serves {name!r}: put {missing_key} into the environment or .env")
    return ChosenModel(provider, model)


def single_model(chosen: ChosenModel, settings: ModelSettings, session: aiohttp.ClientSession) -> Models:
    """Returns only this model, at the provider that the environment configures for it."""
    if chosen.provider == COMPATIBLE.name:
        settings = settings.model_copy(update={"model": chosen.model})
    else:
        settings = settings.model_copy(update={"base_url": None})
    ((model, name),) = configured_router(settings, session).only(chosen.provider, chosen.model).candidates
    return SingleModel(model, name)


def changed_settings(
    settings: CompanySettings, *, prompt: str | None, patch: dict[str, object] | None
) -> CompanySettings:
    """Returns the settings with another prompt and a merge patch (RFC 7396), which uses the wire's field names.

    Raises:
        OverrideError: the changed settings are not valid.
    """
    original = settings.config.to_wire()
    wire = original if patch is None else merged_settings(original, patch)
    if prompt is not None:
        wire = {**wire, "customSystemPrompt": prompt}
    if problems_found := faults(wire, original):
        problems = "; ".join(f"{fault.field}: {fault.message}" for fault in problems_found[:5])
        raise OverrideError(f"the changed settings are not valid: {problems}")
    return CompanySettings(config=read_config(wire), version=settings.version)


def read_patch(file: Path) -> dict[str, object]:
    """Reads a patch from a JSON or TOML file; raises OverrideError."""
    try:
        text = file.read_text("utf-8")
        patch: object = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError) as error:
        raise OverrideError(f"{file} cannot be read as settings: {error}") from error
    if not isinstance(patch, dict):
        raise OverrideError(f"{file} holds no object of settings")
    return cast("dict[str, object]", patch)


def read_prompt(file: Path) -> str:
    """Reads a prompt from a text file; raises OverrideError."""
    try:
        return file.read_text("utf-8").strip()
    except (OSError, ValueError) as error:
        raise OverrideError(f"{file} cannot be read as a prompt: {error}") from error
