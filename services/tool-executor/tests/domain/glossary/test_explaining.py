"""What a call of explain_concept gets from the glossary."""

import pytest

from tool_executor.domain.glossary import LEVELS, Glossary, Level, UnknownConceptError

GLOSSARY = Glossary.load()


def test_an_explanation_is_for_beginners_and_in_spanish_unless_asked_otherwise():
    drawdown = next(concept for concept in GLOSSARY.concepts if concept.id == "drawdown")
    answer = GLOSSARY.explain("drawdown")
    assert answer["concept"] == drawdown.names["es"]
    assert answer["explanation"] == drawdown.explanations["es"]["beginner"]


@pytest.mark.parametrize("level", LEVELS)
def test_each_level_has_its_own_text(level: Level):
    rsi = next(concept for concept in GLOSSARY.concepts if concept.id == "rsi")
    assert GLOSSARY.explain("RSI", level, "en")["explanation"] == rsi.explanations["en"][level]


def test_a_name_in_one_language_is_explained_in_the_other():
    assert GLOSSARY.explain("apalancamiento", language="en")["concept"] == "Leverage"
    assert GLOSSARY.explain("leverage", language="es")["concept"] == "Apalancamiento"


@pytest.mark.parametrize(
    ("tag", "name"),
    [
        ("en", "Volatility"),
        ("en-GB", "Volatility"),
        ("es-MX", "Volatilidad"),
        ("fr", "Volatilidad"),
        ("", "Volatilidad"),
    ],
)
def test_the_language_may_be_a_tag_with_a_region_and_is_spanish_if_it_is_none_of_ours(tag: str, name: str):
    assert GLOSSARY.explain("volatility", language=tag)["concept"] == name


@pytest.mark.parametrize("language", ["es", "en"])
def test_what_is_related_can_be_asked_for_by_the_name_given(language: str):
    for concept in GLOSSARY.concepts:
        answer = GLOSSARY.explain(concept.names["en"], language=language)
        assert len(answer["related"]) == len(concept.related)
        for name in answer["related"]:
            assert GLOSSARY.explain(name, language=language)["concept"] == name


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("en", "The glossary has no “stop loss vs take profit”. Perhaps: Stop loss, Take profit?"),
        ("es", "El glosario no tiene «stop loss vs take profit». ¿Quizá: Stop loss, Take profit?"),
    ],
)
def test_an_unknown_concept_says_in_the_callers_language_what_comes_near(language: str, message: str):
    with pytest.raises(UnknownConceptError) as raised:
        GLOSSARY.explain("stop  loss\nvs take profit", language=language)
    assert raised.value.message == message
    assert raised.value.suggestions == ("Stop loss", "Take profit")


def test_an_unknown_concept_near_nothing_is_said_without_suggestions_and_not_repeated_in_full():
    with pytest.raises(UnknownConceptError) as raised:
        GLOSSARY.explain("zxcvb " * 1000, language="en")
    assert raised.value.suggestions == ()
    assert len(str(raised.value)) < 120
