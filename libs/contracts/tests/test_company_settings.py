"""A company's settings travel without losing a value."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from contracts.company import CompanyConfig, CompanySettings
from contracts.team import Team


def test_no_hourly_limit_is_told_and_understood() -> None:
    config = CompanyConfig.model_validate({"companyId": "acme", "budget": {"visitorHourlyTokens": None}})
    wire = CompanySettings(config=config, version=1).to_json()
    assert json.loads(wire)["config"]["budget"]["visitorHourlyTokens"] is None
    assert CompanySettings.model_validate_json(wire).config == config


def test_a_limit_that_nobody_set_is_the_default() -> None:
    config = CompanyConfig.model_validate({"companyId": "acme"})
    wire = CompanySettings(config=config, version=1).to_json()
    assert CompanySettings.model_validate_json(wire).config.budget.visitor_hourly_tokens == 50_000


@pytest.mark.parametrize("name", ["providers", "-"])
def test_a_name_that_means_something_else_is_no_companys(name: str) -> None:
    with pytest.raises(ValidationError, match="reserved"):
        CompanyConfig.model_validate({"companyId": name})


def test_of_those_who_were_signed_out_the_newest_stay_and_nobody_is_refused() -> None:
    first = datetime(2026, 1, 1, tzinfo=UTC)
    team = Team(signed_out={f"u{number}": first + timedelta(minutes=number) for number in range(1_003)})
    assert (len(team.signed_out), "u2" in team.signed_out, "u1002" in team.signed_out) == (1_000, False, True)
