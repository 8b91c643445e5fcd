"""What users say of themselves."""

from datetime import UTC, datetime, timedelta

import pytest

from contracts.memory_rpc import LongTermMemory, Superseded
from memory.domain.profile import with_profile
from memory.domain.remembered import Remembered, with_patch
from memory.errors import BadFieldsError

DAY = datetime(2026, 1, 5, 15, tzinfo=UTC)


def after(*texts: str) -> Remembered:
    state = Remembered()
    for number, text in enumerate(texts):
        state = with_profile(state, text, DAY + timedelta(days=number))
    return state


@pytest.mark.parametrize(
    ("text", "profile"),
    [
        ("I'm a conservative investor", "conservative"),
        ("I am quite risk-averse.", "conservative"),
        ("No me gusta correr riesgos", "conservative"),
        ("Mi perfil de riesgo es moderado, gracias", "moderate"),
        ("Soy una inversora moderada", "moderate"),
        ("my risk profile is aggressive", "aggressive"),
        ("Soy bastante agresivo con mis inversiones", "aggressive"),
        ("I can take a lot of risk", "aggressive"),
        ("Am I a conservative investor?", None),
        ("¿Soy agresivo?", None),
        ("I'm not aggressive", None),
        ("The market is aggressive today", None),
        ("TSLA es agresiva", None),
        ("I am conservative with my money", "conservative"),
        ("In my opinion I'm a conservative investor", "conservative"),
        ("En mi caso, soy conservador", "conservative"),
        ("In my IRA I am conservative", None),
        ("Con mi cartera personal soy agresivo", None),
    ],
)
def test_a_risk_profile_is_what_they_say_of_themselves(text: str, profile: str | None) -> None:
    assert after(text).memory.risk_profile == profile


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("Hi, I'm a total beginner and need help", "beginner"),
        ("I'm new to investing", "beginner"),
        ("Soy principiante", "beginner"),
        ("Estoy empezando a invertir", "beginner"),
        ("mi nivel es intermedio", "intermediate"),
        ("I'm an experienced trader", "advanced"),
        ("Llevo más de 10 años invirtiendo", "advanced"),
        ("I've been trading for 7 years", "advanced"),
        ("I've been trading for 2 years", None),
        ("Is this for a beginner?", None),
        ("explain it like to a beginner", None),
    ],
)
def test_experience_is_what_they_say_of_themselves(text: str, level: str | None) -> None:
    assert after(text).memory.experience == level


def test_name_language_and_time_zone_are_taken_when_they_are_given() -> None:
    memory = after("Hola, me llamo Ana de la Vega y vivo en Madrid.", "my time zone is Europe/Madrid").memory
    assert (memory.name, memory.timezone, memory.language) == ("Ana de la Vega", "Europe/Madrid", None)
    memory = after("Please call me back later", "my time zone is Mars/Base", "Respóndeme siempre en inglés").memory
    assert (memory.name, memory.timezone, memory.language) == (None, None, "en")
    # Who asks to be told of a share is not called by its name.
    assert after("Dime Tesla cuánto vale").memory.name is None
    assert after("Responde en inglés", "Answer in Spanish from now on").memory.language == "es"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("call me dave", "Dave"), ("hey, call me sam please", "Sam"), ("my name's bob", "Bob"),
        ("call me fred", "Fred"), ("me llamo dominic", "Dominic"), ("my name is eric", "Eric"),
        ("actually call me david from now on", "David"), ("llámame paco, por favor", "Paco"),
        ("me llamo lucía", "Lucía"), ("puedes llamarme ana", "Ana"),
        ("call me back", None), ("call me sceptical", None), ("don't call me dave", None),
        ("my name is misspelled", None), ("should I call me dave?", None), ("llamame mañana", None),
        ("my friend said call me dave", None), ("me llamo igual que mi padre", None),
    ],
)  # fmt: skip
def test_a_name_in_small_letters_is_one_where_it_is_all_that_a_sentence_says(text: str, name: str | None) -> None:
    memory = after(text).memory
    assert memory.name == name
    assert not (name and memory.user_notes)


def test_what_is_said_later_takes_the_place_and_the_older_stays_with_its_dates() -> None:
    state = after("I'm a beginner", "Soy una inversora experimentada")
    assert state.memory.experience == "advanced"
    (past,) = state.memory.superseded
    assert (past.field, past.value, past.by) == ("experience", "beginner", "advanced")
    assert (past.since, past.until) == (DAY, DAY + timedelta(days=1))
    again = with_profile(state, "I'm an expert", DAY + timedelta(days=2))
    assert again is state


def test_what_is_so_no_longer_ends_and_another_denial_changes_nothing() -> None:
    assert after("Soy principiante", "Ya no soy principiante").memory.experience is None
    assert after("I'm a beginner", "I wouldn't call myself a beginner any more").memory.experience is None
    assert after("Soy principiante", "No soy experto").memory.experience == "beginner"
    assert after("I'm a beginner, but I'm not a beginner with bonds").memory.experience is None


def test_the_user_sets_changes_and_forgets_it() -> None:
    state = with_patch(Remembered(), {"riskProfile": "moderate", "timezone": "Europe/Madrid"}, DAY)
    later = with_patch(state, {"riskProfile": "aggressive"}, DAY + timedelta(days=1))
    assert later.memory.risk_profile == "aggressive"
    assert [(past.value, past.since) for past in later.memory.superseded] == [("moderate", DAY)]
    gone = with_patch(later, {"riskProfile": None}, DAY + timedelta(days=2))
    assert (gone.memory.risk_profile, gone.memory.superseded) == (None, [])
    for wrong in ({"riskProfile": "wild"}, {"timezone": "Mars/Base"}, {"experience": 3}, {"name": ""}):
        with pytest.raises(BadFieldsError):
            with_patch(state, wrong, DAY)


def test_what_is_remembered_again_is_no_history_any_more() -> None:
    lima = Superseded(field="userNotes", value="I live in Lima", until=DAY, by="I live in Rome")
    held = Remembered(LongTermMemory(user_notes=["I live in Rome"], superseded=[lima]))
    assert with_patch(held, {"name": "Ana"}, DAY).memory.superseded == [lima]
    assert with_patch(held, {"userNotes": ["I live in Lima"]}, DAY).memory.superseded == []
