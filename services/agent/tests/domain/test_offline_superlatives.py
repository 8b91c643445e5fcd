"""The most and the least of something: the one row or sentence that is it, and never another; and what is said of
somebody who was spoken of."""

from datetime import UTC, datetime
from typing import Any

import pytest

from agent.domain.offline.answers import is_unknown
from agent.domain.offline.assistant import respond
from agent.domain.offline.step_results import SayText
from contracts.knowledge import KnowledgeFound, Passage

BOATS = """# Barcas
| Barca | Peso | Plazas | Duración | Precio |
| --- | --- | --- | --- | --- |
| Ostrero | 900 kg | 6 | 3 horas | 80 € |
| Chalana | 0,4 kg | 2 | 90 minutos | 25 € |
| Llaüt | 2.100 kg | 12 | 2 días | 310 € |

Con patrón se pagan 40 € más."""
ROOMS = """# Prices
The Attic room costs 40 GBP a night. The Garden room costs 95 GBP a night. Breakfast costs 9 GBP."""
CREW = (
    ("Marta Ríos", "Patrona. Sale los lunes y martes. Habla alemán."),
    ("Lucas Vidal", "Mecánico. Viene los viernes. Habla inglés."),
)


def passage(text: str, *, language: str = "es", heading: tuple[str, ...] = (), name: str = "p") -> Passage:
    fields: dict[str, Any] = {"title": "X", "url": "https://x.test/", "score": 0.7, "hash": "h", "source": "site"}
    read = datetime(2026, 3, 1, tzinfo=UTC)
    more: dict[str, Any] = {"id": name, "document_id": name, "language": language, "heading": list(heading)}
    return Passage(text=text, read_at=read, **fields, **more)


PASSAGES = [
    passage(BOATS),
    passage(ROOMS, language="en", name="r"),
    *(passage(text, heading=(who,), name=f"c{at}") for at, (who, text) in enumerate(CREW)),
]


def talk(*said: str, language: Any = "es") -> str:
    """The last answer."""
    messages: list[dict[str, Any]] = []
    answer = ""
    for one in said:
        messages.append({"role": "user", "content": one})
        found = KnowledgeFound(passages=PASSAGES, documents=40)
        response = respond(messages, ("fetch_page",), language, introduced=True, knowledge=found)
        assert isinstance(response, SayText), response
        answer = response.text
        messages.append({"role": "assistant", "content": answer})
    return answer


@pytest.mark.parametrize(
    ("question", "one"),
    [
        ("¿cuál es la barca más barata?", "Chalana"),
        ("que barca es la mas cara", "Llaüt"),
        ("la barca que menos pesa", "Chalana"),
        ("what's your heaviest boat?", "Llaüt"),
        ("¿cuál es la barca más grande?", "Llaüt"),
        ("which boat is the priciest", "Llaüt"),
        ("¿qué barca dura menos?", "Chalana"),
        ("what is the cheapest room?", "Attic"),
        ("hello, and your most expensive room?", "Garden"),
    ],
)
def test_the_most_and_the_least_are_one_row_or_sentence(question: str, one: str) -> None:
    answer = talk(question)
    told = {
        name for name in ("Ostrero", "Chalana", "Llaüt", "Attic", "Garden", "patrón", "Breakfast") if name in answer
    }
    assert told == {one}, answer


def test_a_follow_up_for_the_most_is_of_the_same_kind_and_what_no_page_compares_is_not_told() -> None:
    assert "Llaüt" in talk("¿cuál es la barca más barata?", "¿y la más cara?")
    assert is_unknown(talk("¿cuál es el hotel más barato?"))
    assert is_unknown(talk("what's the cheapest way to get to you?", language="en"))


def test_who_was_spoken_of_is_meant_and_nobody_else() -> None:
    assert talk("¿quién habla alemán?").startswith("Marta Ríos: ")
    days = talk("who speaks German?", "which days is she in?", language="en")
    assert "lunes y martes" in days
    assert "viernes" not in days
    assert is_unknown(talk("is there a lighthouse?", "and when does he come?", language="en"))


def test_a_question_whether_something_has_to_be_paid_is_not_answered_with_all_prices() -> None:
    assert is_unknown(talk("¿tenéis que cobrarme ya?"))


def test_a_question_is_found_beside_what_else_is_said() -> None:
    assert "Marta" in talk("estoy desesperado con este motor; ¿quién habla alemán?")
