"""Promises to remember are known by their form, in es and en; offers, questions and orders are none."""

import pytest

from agent.domain.promise import has_broken_promise, promised_tools
from agent.domain.shortcuts.steps import FORGET, RULES
from agent.domain.turn.journal import Journal, TurnCall, TurnStep


@pytest.mark.parametrize(
    "text",
    [
        "I'll remember that.",
        "Great choice! I will remember that you prefer ETFs.",
        "I’ll keep your risk limits in mind from now on.",
        "I'll make a note of it",
        "I've noted your preference for short answers.",
        "I have made a mental note of your budget.",
        "I've saved that to my memory.",
        "I will add this to your profile.",
        "I won't forget it.",
        "Your preference has been noted. That is saved in my notes.",
        "That's noted!",
        "Got it, noted: you are vegan.",
        "Noted. AAPL closed at 187.",
        "Let me make a note of that.",
        "I'm going to remember this for next time",
        "Lo recordaré.",
        "Perfecto, recordaré que vives en Lima.",
        "Lo tendré en cuenta.",
        "Tendré muy presente tu perfil conservador.",
        "Tomo nota de tu presupuesto.",
        "He tomado nota.",
        "Anotado: eres vegano.",
        "Vale, apuntado.",
        "Lo he guardado en tu perfil: he guardado tu preferencia.",
        "Voy a recordarlo la próxima vez.",
        "Voy a anotar que prefieres ETFs.",
        "Queda registrado.",
        "No lo olvidaré.",
        "Me lo apunto: lo apunto ahora.",
        "De acuerdo, a partir de ahora lo tengo en cuenta.",
        "I've updated my notes about you.",
        "Your preference has been stored.",
        "Stored in memory ✅",
        "Memory updated.",
        "That is now part of what I know about you.",
        "He actualizado tu perfil.",
        "Memoria actualizada.",
        "Vale, guardado en mi memoria.",
        "Tu preferencia ha quedado guardada.",
    ],
)
def test_a_promise(text: str) -> None:
    assert promised_tools(text) == {"remember", "update_memory"}


@pytest.mark.parametrize(
    "text",
    [
        "Keep in mind that past performance is no guarantee.",
        "Remember that prices move fast.",
        "Would you like me to remember that?",
        "If you want, I'll remember that.",
        "I can remember things for you.",
        "I remember that you prefer ETFs.",
        "I'll note that the P/E ratio is high.",
        "I'll keep an eye on AAPL and set the alert.",
        "I have placed the order; it is recorded in the trade history.",
        "Your notes are below.",
        "Your name is Ana, as you told me.",
        "Apple has updated its record of returns.",
        "Tus datos están al día.",
        "I'll keep that in mind for this analysis.",
        "As noted above, AAPL rose.",
        "I will remind you at 187.",
        "Ten en cuenta que las rentabilidades pasadas no garantizan nada.",
        "Recuerda que los precios cambian.",
        "¿Quieres que lo recuerde?",
        "Si quieres, lo recordaré.",
        "Recuerdo que prefieres ETFs.",
        "Guardaré silencio sobre lo demás.",
        "La orden queda pendiente.",
        "Lo tendré en cuenta para este análisis.",
        "Te recordaré la alerta no, la alerta avisa sola.",
    ],
)
def test_no_promise(text: str) -> None:
    assert not promised_tools(text)


@pytest.mark.parametrize(
    "text",
    [
        "I've forgotten that.",
        "I have now forgotten everything about your car.",
        "I'll forget that you are vegan.",
        "I removed your diet from my notes.",
        "It has been deleted from my memory.",
        "Sure, forgotten.",
        "Lo he olvidado.",
        "He borrado tu coche de mi memoria.",
        "Olvidado: ya no eres vegano.",
        "Queda olvidado.",
    ],
)
def test_something_is_said_to_be_forgotten(text: str) -> None:
    assert promised_tools(text) == {"forget", "update_memory"}


@pytest.mark.parametrize(
    "text",
    [
        "Done.",
        "All done, your car is a Lada now.",
        "I have updated your car.",
        "Your note has been removed.",
        "Hecho, tu coche es un Lada.",
        "Listo.",
        "He actualizado tu coche.",
    ],
)
def test_done_speaks_of_the_memory_only_where_nothing_else_was_tried(text: str) -> None:
    assert promised_tools(text, only_failed=True)
    assert not promised_tools(text)


@pytest.mark.parametrize(
    "text",
    [
        "I have not forgotten that.",
        "I couldn't forget it: it was not deleted from my notes.",
        "Nothing has been changed.",
        "I removed AAPL from your watchlist.",
        "Should I forget that?",
        "No he podido olvidarlo.",
        "No se ha borrado nada de mi memoria.",
        "Your memory could not be updated.",
    ],
)
def test_what_is_not_done_is_no_promise(text: str) -> None:
    assert not promised_tools(text)
    assert not promised_tools(text, only_failed="watchlist" not in text)


@pytest.mark.parametrize(("forgotten", "broken"), [('["I smoke"]', False), ("[]", True)])
def test_what_the_agent_forgot_by_itself_may_be_told_by_the_model(forgotten: str, broken: bool) -> None:
    result = f'{{"success": true, "data": {{"forgotten": {forgotten}}}}}'
    call = TurnCall("c1", FORGET, '{"about": "I smoke"}', result=result)
    journal = Journal("t1", 1, started_at=0.0, deadline=0.0, steps=(TurnStep(1, "", (call,), provider=RULES),))
    assert (
        has_broken_promise("I have forgotten that you smoke. You live in York.", journal, ("forget", "remember"))
        is broken
    )
