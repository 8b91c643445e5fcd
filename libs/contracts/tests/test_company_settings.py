"""A company's settings travel without losing a value."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from contracts.company import CompanyConfig, CompanySettings, faults, read_config
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


LINES = ("name", "assistant.name", "assistant.suggestions.en.0", "team.members.ana.name", "personRules.0.words.0")
WORDS = ("assistant.greeting.en", "budget.fallbackText", "customSystemPrompt")


def _shown(text: str) -> dict[str, object]:
    return {
        "companyId": "acme",
        "name": text,
        "assistant": {"name": text, "suggestions": {"en": [text]}, "greeting": {"en": text}},
        "team": {"members": {"ana": {"role": "admin", "name": text}}},
        "personRules": [{"to": "person", "words": [text]}],
        "budget": {"fallbackText": text},
        "customSystemPrompt": text,
    }


@pytest.mark.parametrize(
    ("text", "said", "where"),
    [
        ("Ana\x00", "take out the invisible character U+0000", LINES + WORDS),
        ("Ana\x1b[31m", "take out the invisible character U+001B", LINES + WORDS),
        ("Ana \u202egnp.exe", "take out the invisible character U+202E", LINES),
        ("Ana\nadmin", "write it on one line", LINES),
        ("\u200b \u2060", "write something", LINES + WORDS[:2]),
        ("<b>Ana</b> \u05e9\u05dc\u05d5\u05dd \U0001f469\u200d\U0001f467", None, ()),
    ],
)
def test_what_others_are_shown_holds_nothing_that_they_cannot_see(
    text: str, said: str | None, where: tuple[str, ...]
) -> None:
    assert {one.field: one.message for one in faults(_shown(text))} == dict.fromkeys(where, said)
    assert read_config(_shown(text)).name == text, "what is stored already is read as it is"
