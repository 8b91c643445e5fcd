"""Questions in other words than the company's are answered by what has the shape of an answer."""

import pytest

from agent.domain.offline.answers import is_unknown
from agent.testing.passages import answered, passage
from contracts.languages import Language

POTTERY = [
    passage(
        "Taller de barro",
        "La inscripción cuesta 30 € y se paga al reservar. Quien ya vino no la paga.\n\n"
        "| Taller | Fecha | Precio |\n| --- | --- | --- |\n| Torno | 4 de mayo | 60 € |\n"
        "| Esmaltes | 9 de junio | 45 € |",
        "es",
    ),
    passage("Lugar", "Calle del Horno 7, Teruel. El local no tiene escalones.", "es"),
    passage("Piezas", "Las piezas secan doce días antes de cocerse. Las recoges cuando te avisemos.", "es"),
    passage("Equipo", "Los talleres los da Marta Lobo desde 2009.", "es"),
]


@pytest.mark.parametrize(
    ("question", "language", "answer"),
    [
        (
            "hay que pagar inscripcion?",
            "es",
            "La inscripción cuesta 30 € y se paga al reservar. Quien ya vino no la paga.",
        ),
        ("¿dónde estáis?", "es", "Calle del Horno 7, Teruel."),
        ("¿cuándo es el taller de torno?", "es", "Torno: Fecha 4 de mayo, Precio 60 €."),
        ("cuanto tardan en secar las piezas", "es", "Las piezas secan doce días"),
        ("¿quién da los talleres?", "es", "Los talleres los da Marta Lobo"),
        ("how much is the enrolment?", "en", "La inscripción cuesta 30 €"),
        (
            "is the place accessible for a wheelchair",
            "en",
            "I am not sure this answers your question. Under “Lugar” the",
        ),
        ("¿quién friega el local?", "es", "No lo sé"),
        ("¿cuánto tarda el envío?", "es", "No lo sé"),
    ],
)
def test_a_question_in_other_words_is_answered_by_what_has_the_shape_of_its_answer(
    question: str, language: Language, answer: str
) -> None:
    assert answered(question, POTTERY, language).startswith(answer)


INN = [
    passage("Rooms", "| Room | Sleeps | Night |\n| --- | --- | --- |\n| Attic | 3 | £80 |\n\n"
            "## Linen\n\nLinen is included in every rate. Wi-Fi is free.\n\n"
            "## Towels\n\nTowels are changed on Mondays and Thursdays."),
    passage("Leaving", "Cancel three days before and you pay nothing.\n\n## Long\n\nFrom a week on it is 15 % less."),
]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "language", "answer"),
    [
        ("is linen included?", "en", "Linen is included"),
        ("do you have wifi for our laptops", "en", "Linen is included in every rate. Wi-Fi is free."),
        ("can I cancel for free?", "en", "Cancel three days before"),
        ("any discount for a week?", "en", "From a week on it is 15 % less."),
        ("¿tenéis ático?", "es", "No lo sé"),
        ("how many lamps are in the attic?", "en", "I do not know"),
    ],
)
def test_what_is_said_of_a_thing_is_told_apart_from_the_thing(question: str, language: Language, answer: str) -> None:
    assert answered(question, INN, language).startswith(answer)


def test_a_price_asked_for_after_something_that_is_nowhere_is_of_nothing_else() -> None:
    before = [{"role": "user", "content": "¿hacéis azulejos?"}, {"role": "assistant", "content": "No lo sé"}]
    assert is_unknown(answered("¿y cuánto cuesta?", POTTERY, "es", *before))
