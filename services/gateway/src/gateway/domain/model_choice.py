"""Whether a model is one of its provider's, as the agents list them."""

from contracts.agent_rpc import ProvidersReply
from contracts.company import CompanyConfig

OPEN = "compatible"
"""The provider whose server alone knows its models."""


def named_in(patch: dict[str, object], current: CompanyConfig) -> tuple[str, str] | None:
    """(provider, model) when a merge patch names a model other than the current one; its form is for others to judge.

    A patch that changes the provider alone is no such choice: the provider's own model is asked then.
    """
    model = patch.get("preferredModel")
    provider = patch.get("preferredProvider", current.preferred_provider)
    if provider is None:
        provider = CompanyConfig.model_fields["preferred_provider"].default
    if not isinstance(model, str) or not model or not isinstance(provider, str):
        return None
    return None if (provider, model) == (current.preferred_provider, current.preferred_model) else (provider, model)


def is_known(provider: str, model: str, listed: ProvidersReply) -> bool:
    """Whether the provider has the model, by its own or its short name."""
    if provider == OPEN:
        return True
    found = next((view for view in listed.providers if view.id == provider), None)
    # A provider that nobody knows is another field's fault.
    return found is None or any(model == view.id or model in view.aliases for view in found.models)
