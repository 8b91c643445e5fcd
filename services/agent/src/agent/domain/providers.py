"""Finds the model that a name means at a provider, by the registry of the contracts."""

from collections.abc import Mapping

from contracts.providers import KEYED, OFFLINE, ModelInfo

_MODEL_BY_ALIAS = {
    short: model.name for provider in KEYED.values() for model in provider.models for short in model.aliases
}


def _models_by_name() -> Mapping[str, Mapping[str, ModelInfo]]:
    by_name: dict[str, dict[str, ModelInfo]] = {}
    for provider in (*KEYED.values(), OFFLINE):
        for model in provider.known_models:
            by_name.setdefault(model.name, {})[provider.name] = model
    return by_name


_SERVED = _models_by_name()
"""The providers that list a model, by its name."""


def default_model(provider: str) -> str:
    """The provider's default model. Raises KeyError for a provider without an API key setting."""
    return KEYED[provider].default


def owner_of(model: str) -> str | None:
    """The first provider that lists the model; None if none does."""
    return next(iter(_SERVED.get(model, ())), None)


def window_of(model: str) -> int | None:
    """Tokens of a model's window, for prompt and response together; None if unknown."""
    row = listed(model)
    return None if row is None else row.window


def listed(model: str) -> ModelInfo | None:
    """The row of a model, by any of its names; None if no provider lists it."""
    return next(iter(_SERVED.get(_MODEL_BY_ALIAS.get(model, model), {}).values()), None)


def small_model(provider: str, model: str) -> str:
    """The provider's fast and cheap model, or the given one if none is known."""
    info_of_provider = KEYED.get(provider)
    fast = (info.name for info in info_of_provider.models if info.use == "fast") if info_of_provider else iter(())
    return next(fast, model)


def model_at(provider: str, model: str) -> str:
    """The name by which to request a model from the provider. Short names are expanded. A model that only other
    providers list becomes the provider's default, since that is the intention of changing only the provider. An
    unlisted model was chosen from a longer list or on the bus, and is requested unchanged."""
    model = _MODEL_BY_ALIAS.get(model, model)
    owners = _SERVED.get(model)
    return model if owners is None or provider in owners or provider not in KEYED else default_model(provider)
