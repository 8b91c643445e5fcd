"""Which model answers for a company, and whether a model belongs to a provider, by the agents' list of providers."""

from typing import Literal

from contracts.agent_rpc import ProvidersReply
from contracts.company import CompanyConfig

ChoiceReason = Literal["environment", "own", "preferred", "fallback", "offline"]
COMPATIBLE = "compatible"
"""The provider whose models only its server knows."""


def newly_chosen_model(patch: dict[str, object], current: CompanyConfig) -> tuple[str, str] | None:
    """(provider, model) if a merge patch names a model other than the current one; its form is not checked here.

    None for a patch that changes only the provider: then the provider's default model is used.
    """
    model = patch.get("preferredModel")
    provider = patch.get("preferredProvider", current.preferred_provider)
    if provider is None:
        provider = CompanyConfig.model_fields["preferred_provider"].default
    if not isinstance(model, str) or not model or not isinstance(provider, str):
        return None
    return None if (provider, model) == (current.preferred_provider, current.preferred_model) else (provider, model)


def has_model(provider: str, model: str, providers: ProvidersReply) -> bool:
    """Whether the provider has the model, by its full name or an alias. True for unknown providers."""
    if provider == COMPATIBLE:
        return True
    provider_view = next((view for view in providers.providers if view.id == provider), None)
    # An unknown provider is the fault of another field.
    return provider_view is None or any(model == view.id or model in view.aliases for view in provider_view.models)


def first_model(config: CompanyConfig, providers: ProvidersReply) -> tuple[str, str, ChoiceReason]:
    """The provider and model called first with these settings, and the reason. The operator's environment wins, then
    the company's own model, its preference, the first configured provider, and the built-in assistant."""
    views = {view.id: view for view in providers.providers if view.configured}
    provider, model = config.preferred_provider, config.preferred_model
    if COMPATIBLE in views:
        return COMPATIBLE, views[COMPATIBLE].models[0].id if views[COMPATIBLE].models else "default", "environment"
    if config.own_model is not None:
        return config.own_model.provider, config.own_model.model, "own"
    if provider in views and provider != "offline":
        model_ids = [view.id for view in views[provider].models if model == view.id or model in view.aliases]
        return provider, (model_ids or [view.id for view in views[provider].models] or [model])[0], "preferred"
    others = [view for name, view in views.items() if name != "offline" and view.models]
    if provider == "offline" or not others:
        return "offline", "offline-rules", "preferred" if provider == "offline" else "offline"
    return others[0].id, others[0].models[0].id, "fallback"
