"""Whether a message asks for a person, by what a person is to do."""

import pytest

from agent.domain.offline.person_words import asks_for_person


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("could a human please tell me whether Pro has real-time prices?", True),
        ("can a person tell me how long the refund takes?", True),
        ("could someone from your team check my order?", True),
        ("can one of your agents review my case?", True),
        ("would a person be able to sort this out?", True),
        ("¿Podría una persona decirme cuánto tarda el reembolso?", True),
        ("¿me lo puede explicar una persona?", True),
        ("que me lo diga una persona, por favor", True),
        ("necesito que una persona revise mi caso", True),
        ("¿podría alguien del equipo revisar mi pedido?", True),
        ("can anyone tell me when you open?", False),
        ("can a person have two accounts?", False),
        ("can someone else use my card?", False),
        ("¿puede una persona tener dos cuentas?", False),
        ("¿puede alguien decirme a qué hora abrís?", False),
        ("¿podría una persona mayor abrir una cuenta?", False),
    ],
)
def test_a_person_is_asked_for_by_what_they_are_to_tell_or_do(text: str, asks: bool) -> None:
    assert asks_for_person(text) is asks
