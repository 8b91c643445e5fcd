"""What a person reads who gets a conversation."""

import pytest

from agent.domain.context.compression import PromptMessage
from agent.domain.hand_over import summary_of
from agent.domain.offline.answers import NOTICE

ANSWER = f"170 €, válido seis meses.\n\n{NOTICE['es']}"
SAID = (PromptMessage(False, "¿y el bono de 5?", 1), PromptMessage(True, ANSWER, 2))


@pytest.mark.parametrize(
    "wish", ["quiero hablar con una persona, tengo un seguro raro", "a person, please: I was charged twice"]
)
def test_what_is_said_along_with_the_wish_is_the_question(wish: str) -> None:
    assert summary_of([*SAID, PromptMessage(False, wish, 3)], (), "es") == [
        f"Pregunta: «{wish}»",
        "Antes: «¿y el bono de 5?»",
        "Última respuesta: «170 €, válido seis meses.»",
    ]


@pytest.mark.parametrize("wish", ["exijo hablar con el responsable", "necesito hablar con una persona urgentemente"])
def test_a_wish_alone_is_no_question(wish: str) -> None:
    assert summary_of([*SAID, PromptMessage(False, wish, 3)], (), "es")[0] == "Pregunta: «¿y el bono de 5?»"
