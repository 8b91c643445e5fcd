"""The price list, as data/prices.toml has it."""

import tomllib
from datetime import date
from importlib.resources import files
from typing import Any, cast

from agent.domain.spending import Price, Prices


def prices() -> Prices:
    """By provider and model; raises ValueError when the file cannot be read as one."""
    table = tomllib.loads(files("agent").joinpath("data", "prices.toml").read_text("utf-8"))
    currency = str(table.pop("currency"))
    found: dict[tuple[str, str], Price] = {}
    for provider, lists in table.items():
        for row in cast("list[dict[str, Any]]", lists):
            as_of = row["as_of"]
            if not isinstance(as_of, date):
                raise ValueError(f"prices of {provider}: as_of must be a day")
            for model, (prompt, completion) in cast("dict[str, list[float]]", row["models"]).items():
                found[provider, model] = Price(float(prompt), float(completion), currency, as_of)
    return found
