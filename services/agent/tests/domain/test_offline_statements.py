"""What customers say of themselves, or want forgotten, es and en."""

import pytest

from agent.domain.offline.answers import plain_answer
from agent.domain.offline.assistant import respond
from agent.domain.offline.intents import wish_in
from agent.domain.offline.small_talk import talk_only
from agent.domain.offline.step_results import SayText
from agent.domain.offline.wishes import Intent
from agent.testing.offered import SCHEMAS


@pytest.mark.parametrize(
    "text",
    ["I prefer dividend stocks", "I am a swing trader", "I moved from swing to day trading", "Call me Zoe",
     "my risk profile is aggressive", "Prefiero ETF", "soy principiante", "me llamo Ana", "hago swing trading",
     "mi perfil de riesgo es moderado", "Ahora opero a largo plazo", "btw I prefer short answers",
     "I mostly like bonds", "solo me gustan los fondos",
     "I'm not allergic to nuts any more", "la verdad es que me he mudado a Lugo",
     "keep your answers short from now on", "can you always give me prices in euros?",
     "could you stop sending me charts", "no jargon please", "háblame de usted",
     "quiero que las respuestas sean cortas", "responde con más detalle"],
)  # fmt: skip
def test_what_a_customer_says_of_themselves_is_taken_note_of(text: str) -> None:
    assert wish_in(text, SCHEMAS).intent is Intent.STATED
    assert wish_in(text, ["get_price", "fetch_page"]).intent is not Intent.STATED, "visitors are not remembered"


def test_who_has_something_forgotten_that_nobody_remembers_is_told_so() -> None:
    call = {"id": "1", "function": {"name": "forget_memory", "arguments": '{"about": "my wife"}'}}
    found = respond(
        [{"role": "user", "content": "forget my wife"}, {"role": "assistant", "tool_calls": [call]},
         {"role": "tool", "tool_call_id": "1", "content": '{"forgotten": [], "several": []}'}],
        SCHEMAS, "en", introduced=True,
    )  # fmt: skip
    assert found == SayText(plain_answer(wish_in("forget my wife", SCHEMAS), "en"))
    assert "I do not remember anything like that" in plain_answer(wish_in("forget my wife", SCHEMAS), "en")


@pytest.mark.parametrize(
    "text",
    ["do I prefer bonds?", "AAPL", "buy 5 AAPL", "I'd like help", "thanks", "explain RSI in simple words",
     "no charts of AAPL", "give me a short summary of my portfolio",
     "dame el precio de IBM en euros", "explica con detalle qué es el PER"],
)  # fmt: skip
def test_questions_and_orders_are_no_statements(text: str) -> None:
    assert wish_in(text, SCHEMAS).intent is not Intent.STATED


@pytest.mark.parametrize(
    "text",
    ["you sent me a code by email", "me habéis enviado un correo con el enlace", "se me ha roto la pantalla",
     "why was I charged twice?"],
)  # fmt: skip
def test_what_was_done_and_what_broke_is_no_complaint_and_a_question_is_looked_up(text: str) -> None:
    assert wish_in(text, SCHEMAS).intent is not Intent.WRONGED


@pytest.mark.parametrize(
    "text",
    ["answer shorter please", "en español por favor", "más corto por favor", "can you be more brief?", "English please",
     "dímelo en una frase", "sé más breve", "no emojis"],
)  # fmt: skip
def test_a_visitor_who_wishes_another_way_of_answering_is_told_what_can_be_had(text: str) -> None:
    assert wish_in(text, ["fetch_page"], trades=False).intent is Intent.STYLE
    assert talk_only(text), "nothing is looked up, and it is no question that lacks an answer"


@pytest.mark.parametrize(
    "text",
    ["and in English?", "is it long?", "do you have a shorter one?", "prices in euros", "en español", "short courses"],
)  # fmt: skip
def test_a_question_about_something_in_a_language_or_of_a_length_is_no_such_wish(text: str) -> None:
    assert wish_in(text, ["fetch_page"], trades=False).intent is not Intent.STYLE
