"""Which of the product's languages somebody is spoken to in."""

import pytest

from contracts.company import CompanyConfig
from contracts.languages import Language, detected_language, language_of_tags, named_language


@pytest.mark.parametrize(
    ("tags", "language"),
    [
        ("es", "es"),
        ("es-MX", "es"),
        ("EN_gb.UTF-8", "en"),
        ("en-GB,en;q=0.9", "en"),
        ("fr-CA, en;q=0.5", "en"),
        ("de, en;q=0.2, es;q=0.8", "es"),
        ("en;q=0, es;q=0.1", "es"),
        ("en;q=0", None),
        ("en;q=2", None),
        ("en;q=x, es;q=0.1", "es"),
        ("english", None),
        ("est", None),
        ("C.UTF-8", None),
        ("*", None),
        ("", None),
        (";;,,", None),
        (None, None),
    ],
)
def test_the_first_of_ours_that_is_named_counts(tags: str | None, language: str | None) -> None:
    assert named_language(tags) == language
    assert language_of_tags(tags) == (language or "es")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I would like to talk to somebody", "en"),
        ("quiero hablar con alguien", "es"),
        ("¿AAPL?", "es"),
        ("AAPL", None),
        ("", None),
        ("I prefer bonds", "en"),
        ("show orders", "en"),
        ("prefiero bonos", "es"),
        ("a qué hora cierra la peña", "es"),
        ("mañana", "es"),
        ("what is the price of the Castaño?", "en"),
    ],
)
def test_a_text_shows_its_language_or_does_not(text: str, language: str | None) -> None:
    assert detected_language(text) == language


def test_a_company_speaks_its_own_language_first() -> None:
    languages: dict[str, tuple[list[Language], list[Language]]] = {
        "both": (["en", "es"], ["en", "es", "en"]),
        "one": (["en"], ["en", "en", "en"]),
        "unsaid": ([], ["es", "es", "en"]),
    }
    for speaks, told in languages.values():
        company = CompanyConfig(company_id="acme", languages=speaks)
        assert [company.answer_language(None), company.answer_language("es"), company.answer_language("en")] == told
