"""Settings are described once: the model bounds them, the console's words say what they do, and the guide, the form and
OpenAPI say the same."""

import re

import pytest

from contracts.company import NULL_IS_A_VALUE
from contracts.languages import LANGUAGES, Language
from deploy.documents import openapi
from gateway.domain.settings_fields import setting_fields
from gateway.web.settings_words import described
from gateway.web.words import SITE, words

ELSEWHERE = {"aiAutoResponseEnabled", "identity.keys", "team.provider", "team.members", "team.signedOut"}
"""Settings that the console has in a place of their own: the switch, and the pages *Customer keys* and *Team*."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_setting_has_words_in_the_console(language: Language) -> None:
    texts = words(language, "console")
    assert [field.path for field in setting_fields() if f"setting_{field.path}" not in texts] == []


def test_an_emptied_field_whose_null_means_no_limit_says_so() -> None:
    for path in NULL_IS_A_VALUE:
        assert "no limit" in described(path, "en")
        assert "sin límite" in described(path, "es")


def test_the_consoles_form_has_no_bounds_of_its_own() -> None:
    source = (SITE / "console" / "fields.js").read_text()
    sections = source[source.index("export const SECTIONS") : source.index("export const valueAt")]
    own = [word for word in ("min:", "max:", "choices:") if word in sections]
    assert own == []
    inside = set(re.findall(r'\["([\w.]+)", "\w+"', sections)) | {"ownTools.http", "ownTools.mcp"}
    keeping = {f"retention.{name}" for name in ("conversationDays", "fileDays", "traceDays")}
    spoken = {"assistant.greeting", "assistant.suggestions"}
    assert {field.path for field in setting_fields()} - inside - keeping - spoken == ELSEWHERE
    bounds = {field.path: field.form for field in setting_fields()}
    assert bounds["responseDelayMs"] == {"min": 0, "max": 60_000}
    assert bounds["customSystemPrompt"] == {"maxlength": 8000, "empty": None}
    assert bounds["ownerIdleAction"] == {"choices": ["needs_person", "ai"]}


def test_openapi_says_of_each_setting_what_the_console_says() -> None:
    schemas = openapi()["components"]["schemas"]
    for name in ("ConfigBody", "ConfigView"):
        fields = schemas[name]["properties"]
        assert fields["responseDelayMs"]["description"] == described("responseDelayMs", "en")
        assert fields["ownerIdleMinutes"]["description"] == described("ownerIdleMinutes", "en")
