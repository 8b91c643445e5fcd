"""The price list, from the contracts' registry of providers."""

from agent.domain.cost import ModelPrice, Prices
from contracts.providers import CURRENCY, PROVIDERS


def prices() -> Prices:
    """Returns the prices by provider and model."""
    return {
        (provider.name, model.name): ModelPrice(*model.price, CURRENCY, provider.prices.as_of)
        for provider in PROVIDERS
        for model in provider.known_models
        if provider.prices is not None and model.price is not None
    }
