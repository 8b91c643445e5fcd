"""The company that tests are about."""

from typing import Any

from contracts.company import CompanyConfig

COMPANY = "demo"


def demo_config(**changes: Any) -> CompanyConfig:
    """Answers at once, and the one visitor of a thousand conversations may spend for them, unless told otherwise."""
    fields: dict[str, Any] = {
        "company_id": COMPANY,
        "ai_auto_response_enabled": True,
        "response_delay_ms": 0,
        "budget": {"visitorHourlyTokens": 10**9},
    }
    return CompanyConfig.model_validate({**fields, **changes})
