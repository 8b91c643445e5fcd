"""The glossary that comes with the service: complete in both languages, and without contradictions."""

from dataclasses import replace

import pytest

from contracts.languages import LANGUAGES
from tool_executor.domain.glossary import LEVELS, Concept, Glossary, NotFound

GLOSSARY = Glossary.load()
CONCEPTS = {concept.id: concept for concept in GLOSSARY.concepts}
INDICATORS = ("rsi", "macd", "bollinger_bands", "sma", "ema", "atr", "vwap", "obv", "adx")


@pytest.fixture(params=GLOSSARY.concepts, ids=lambda concept: concept.id)
def concept(request: pytest.FixtureRequest) -> Concept:
    return request.param


def test_there_are_at_least_seventy_concepts():
    assert len(CONCEPTS) >= 70


@pytest.mark.parametrize("indicator", INDICATORS)
def test_each_indicator_that_can_be_computed_is_explained_with_its_formula(indicator: str):
    for language in LANGUAGES:
        assert " = " in CONCEPTS[indicator].explanations[language]["advanced"]


def test_a_concept_is_complete_in_both_languages(concept: Concept):
    for language in LANGUAGES:
        assert concept.names[language]
        assert concept.synonyms[language]
        texts = [concept.explanations[language][level] for level in LEVELS]
        assert all(60 <= len(text) <= 600 for text in texts), [len(text) for text in texts]
        assert len(set(texts)) == len(LEVELS)


def test_a_concept_says_something_else_in_each_language(concept: Concept):
    for level in LEVELS:
        assert concept.explanations["es"][level] != concept.explanations["en"][level]


def test_numbers_are_written_as_each_language_writes_them(concept: Concept):
    digits = {"es": "0.", "en": "0,"}
    for language in LANGUAGES:
        for text in concept.explanations[language].values():
            words = [word for word in text.split() if word.startswith(digits[language]) and word[2:3].isdigit()]
            assert not words


def test_the_figures_of_a_level_are_the_same_in_both_languages(concept: Concept):
    for level in LEVELS:
        spanish, english = (_figures(concept.explanations[language][level]) for language in LANGUAGES)
        assert spanish == english


def test_related_concepts_exist_and_lead_on(concept: Concept):
    assert concept.related
    assert concept.id not in concept.related
    assert all(other in CONCEPTS for other in concept.related)


def test_every_name_and_synonym_finds_its_own_concept(concept: Concept):
    for phrase in concept.phrases():
        assert GLOSSARY.find(phrase) is concept, phrase


def test_names_find_their_concept_in_capitals_and_with_hyphens(concept: Concept):
    for name in concept.names.values():
        assert GLOSSARY.find(name.upper()) is concept
        assert GLOSSARY.find("-".join(name.split())) is concept


def test_a_letter_missing_doubled_or_swapped_never_finds_another_concept(concept: Concept):
    for name in concept.names.values():
        for i in range(1, len(name) - 1):
            swapped = name[:i] + name[i + 1] + name[i] + name[i + 2 :]
            missing = name[:i] + name[i + 1 :]
            doubled = name[:i] + name[i] + name[i:]
            for misspelled in (swapped, missing, doubled):
                found = GLOSSARY.find(misspelled)
                assert isinstance(found, NotFound) or found is concept, misspelled


def test_every_lookalike_would_be_mistaken_for_the_concept_if_it_were_not_listed():
    without = Glossary([replace(concept, lookalikes=()) for concept in GLOSSARY.concepts])
    for concept in GLOSSARY.concepts:
        for word in concept.lookalikes:
            assert isinstance(GLOSSARY.find(word), NotFound), word
            mistaken = without.find(word)
            assert isinstance(mistaken, Concept), f"{word} need not be listed"
            assert mistaken.id == concept.id, word


def _figures(text: str) -> list[str]:
    """The digits of a text in order of size, without separators: what a translation must not change."""
    bare = "".join(char if char.isascii() else " " for char in text)
    joined = "".join(
        char
        for i, char in enumerate(bare)
        if not (char in ",." and 0 < i < len(bare) - 1 and bare[i - 1].isdigit() and bare[i + 1].isdigit())
    )
    return sorted("".join(char if char.isdigit() else " " for char in joined).split())
