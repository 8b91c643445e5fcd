"""A visitor who says that this was all, and one who says something else with the same words."""

import pytest

from memory.domain.farewell import is_farewell


@pytest.mark.parametrize(
    "text",
    [
        "Eso es todo, gracias",
        "eso es todo",
        "¡Nada más, muchas gracias!",
        "No, con eso es todo por hoy. Hasta luego",
        "No necesito nada más",
        "no tengo más preguntas, gracias",
        "That's all, thanks",
        "That\u2019s all!",
        "no, that is everything for now",
        "Nothing else, thank you very much. Bye",
        "I'm all set",
        "I don't need anything else, thanks a lot",
    ],
)
def test_this_was_all(text: str) -> None:
    assert is_farewell(text)


@pytest.mark.parametrize(
    "text",
    [
        "gracias",
        "ok, thanks",
        "¿Eso es todo?",
        "is that all?",
        "Eso no es todo",
        "that's not all",
        "eso es todo lo que tengo, ¿cuánto cuesta?",
        "that's all I know about it",
        "Nada más llegar se rompió",
        "nothing else works",
        "no estoy all set",
        "eso es todo pero falta el recibo",
        "that's it, I want a refund",
        "",
    ],
)
def test_this_was_not_all(text: str) -> None:
    assert not is_farewell(text)
