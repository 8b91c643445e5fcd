"""The company of the agent's tests."""

from typing import Any

from contracts.company import CompanyConfig

COMPANY = "demo"


def demo_config(**changes: Any) -> CompanyConfig:
    """Returns settings that answer without delay, with a visitor budget large enough for a thousand conversations."""
    fields: dict[str, Any] = {
        "company_id": COMPANY,
        "ai_auto_response_enabled": True,
        "response_delay_ms": 0,
        "budget": {"visitorHourlyTokens": 10**9},
    }
    return CompanyConfig.model_validate({**fields, **changes})
