"""What people write and others are shown."""

import pytest

from contracts.company import faults, read_config
from contracts.plain_text import one_line

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
    assert {fault.field: fault.message for fault in faults(_shown(text))} == dict.fromkeys(where, said)
    assert read_config(_shown(text)).name == text, "what is stored already is read as it is"


def test_a_name_that_nobody_can_mend_is_shown_without_what_hides_in_it() -> None:
    assert one_line("Ana\u202e\n \x00Ruiz\x9f\ud83d") == "Ana Ruiz"
    assert one_line("\u200b\u2066 ") == ""


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("team.members.ana.email", "ana\u200b@example.com", "take out the invisible characters"),
        ("team.members.ana.email", "ana\x00@example.com", "take out the invisible characters"),
        ("toolConfig.allowedDomains.0", "https://[\x1b.example", "use an https origin such as https://www.example.com"),
        ("toolConfig.allowedDomains.0", "https://www.example.com:0", "use a port from 1 to 65535"),
        ("toolConfig.allowedDomains.0", "https://www.example.com:65536", "use a port from 1 to 65535"),
        ("knowledge.siteUrl", "https://[a", "use an https address such as https://www.example.com/path"),
    ],
)
def test_an_address_is_one_that_people_can_read(field: str, value: str, said: str) -> None:
    sent: dict[str, object] = {
        "companyId": "acme",
        "team": {"members": {"ana": {"role": "admin", "email": value if "email" in field else "ana@example.com"}}},
        "toolConfig": {"allowedDomains": [value] if "Domains" in field else []},
        "knowledge": {"siteUrl": value if "siteUrl" in field else None},
    }
    assert [(fault.field, fault.message) for fault in faults(sent)] == [(field, said)]
