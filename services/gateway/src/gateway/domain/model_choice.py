"""Tells which model answers for a company, and whether a model belongs to its provider, by the agents' list."""

from typing import Literal

from contracts.agent_rpc import ProvidersReply
from contracts.company import CompanyConfig

Why = Literal["environment", "own", "preferred", "fallback", "offline"]
OPEN = "compatible"
"""The provider whose server alone knows its models."""


def named_in(patch: dict[str, object], current: CompanyConfig) -> tuple[str, str] | None:
    """(provider, model) if a merge patch names another model than the current one; its form is not checked here.

    A patch that changes only the provider is no such choice: the provider's default model is used then.
    """
    model = patch.get("preferredModel")
    provider = patch.get("preferredProvider", current.preferred_provider)
    if provider is None:
        provider = CompanyConfig.model_fields["preferred_provider"].default
    if not isinstance(model, str) or not model or not isinstance(provider, str):
        return None
    return None if (provider, model) == (current.preferred_provider, current.preferred_model) else (provider, model)


def is_known(provider: str, model: str, listed: ProvidersReply) -> bool:
    """Whether the provider has the model, by its full or short name."""
    if provider == OPEN:
        return True
    found = next((view for view in listed.providers if view.id == provider), None)
    # A provider that nobody knows is another field's fault.
    return found is None or any(model == view.id or model in view.aliases for view in found.models)


def first_model(config: CompanyConfig, listed: ProvidersReply) -> tuple[str, str, Why]:
    """The provider and model asked first with these settings, and why: the operator's environment wins, then the
    company's own model, its preference, the first configured provider, and the built-in assistant."""
    views = {view.id: view for view in listed.providers if view.configured}
    provider, model = config.preferred_provider, config.preferred_model
    if OPEN in views:
        return OPEN, views[OPEN].models[0].id if views[OPEN].models else "default", "environment"
    if config.own_model is not None:
        return config.own_model.provider, config.own_model.model, "own"
    if provider in views and provider != "offline":
        known = [view.id for view in views[provider].models if model == view.id or model in view.aliases]
        return provider, (known or [view.id for view in views[provider].models] or [model])[0], "preferred"
    others = [view for name, view in views.items() if name != "offline" and view.models]
    if provider == "offline" or not others:
        return "offline", "offline-rules", "preferred" if provider == "offline" else "offline"
    return others[0].id, others[0].models[0].id, "fallback"
