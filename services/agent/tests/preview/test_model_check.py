"""What somebody reads whose model did not answer when it was tried."""

import pytest

from agent.errors import ModelBusyError, ModelDownError, ModelError, ModelRefusedError
from agent.preview.model_check import failure_text
from contracts.languages import Language


@pytest.mark.parametrize(
    ("failure", "language", "words"),
    [
        (
            ModelRefusedError("401"),
            "es",
            "Rechaza la petición: revisa la dirección, la clave y el nombre del modelo. (401)",
        ),
        (
            ModelRefusedError("401"),
            "en",
            "It refuses the request: check the address, the key and the name of the model. (401)",
        ),
        (
            ModelBusyError("429"),
            "es",
            "Recibe demasiadas peticiones: vuelve a intentarlo dentro de un rato. (429)",
        ),
        (ModelDownError("502"), "en", "It does not answer: check its address, and try again. (502)"),
    ],
)
def test_why_a_model_did_not_answer_is_said_in_the_language_of_who_tries_it(
    failure: ModelError, language: Language, words: str
) -> None:
    assert failure_text(failure, language) == words
