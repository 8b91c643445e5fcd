"""What is remembered, told in sentences."""

import json
from datetime import UTC, datetime

import pytest

from agent.domain.shortcuts.answers import list_step, recent_answers
from agent.domain.shortcuts.memory_text import listed_facts, memory_in_words
from agent.domain.shortcuts.memory_words import LAST, ListWish, MemoryWish, is_undo, list_wish, memory_wish
from contracts.languages import Language
from contracts.memory_rpc import LongTermMemory, Superseded, fact_id

MEMORY = LongTermMemory(
    name="Ana",
    risk_profile="aggressive",
    trading_style="swing",
    favorite_symbols=["AAPL", "BTC/USD", "IBM"],
    user_notes=["I moved to Austin"],
    preferences=["I prefer ETFs"],
    frequent_questions=["What is the price of [SYMBOL]?", "What is a stop loss?"],
    superseded=[
        Superseded(
            field="userNotes",
            value="I live in Lima",
            until=datetime(2026, 5, 3, 12, tzinfo=UTC),
            by="I moved to Austin",
        ),
        Superseded(
            field="riskProfile", value="conservative", until=datetime(2026, 5, 4, 12, tzinfo=UTC), by="aggressive"
        ),
        Superseded(field="userNotes", value="I smoke", until=datetime(2026, 5, 5, 12, tzinfo=UTC)),
    ],
)


def test_a_memory_is_told_in_sentences_with_what_was_before_and_why() -> None:
    assert memory_in_words(MEMORY.to_wire(), "en").splitlines() == [
        "This is what I remember about you.",
        "Your name is Ana. Say “forget my name” or “call me …”.",
        "Your risk profile is aggressive. Say “forget my risk profile” or “my risk profile is …”.",
        "Your trading style is swing. Say “forget my style” or “I now do …”.",
        "You mostly follow AAPL, BTC/USD and IBM. Say “forget my favourites”.",
        "1. You told me “I moved to Austin”. Say “forget 1” or “correct 1: …”.",
        "2. You told me “I prefer ETFs”. Say “forget 2” or “correct 2: …”.",
        "",
        "You have asked several things, for example “What is a stop loss?”. Say “forget my questions”.",
        "“I live in Lima” no longer applies as of May 3, 2026: you said “I moved to Austin”.",
        "“conservative” no longer applies as of May 4, 2026: now it is aggressive.",
        "“I smoke” no longer applies as of May 5, 2026.",
    ]
    spanish = memory_in_words(MEMORY.to_wire(), "es")
    assert "«I live in Lima» ya no vale desde el 3 de mayo de 2026: dijiste «I moved to Austin»." in spanish
    assert "[" not in spanish
    asked = {"frequentQuestions": ["qué es un dividendo?"]}
    assert "por ejemplo «¿qué es un dividendo?»." in memory_in_words(asked, "es")
    assert "for example “¿qué es un dividendo?”." in memory_in_words(asked, "en")


def test_each_fact_has_the_day_on_which_it_was_said_where_the_user_lives() -> None:
    said = datetime(2026, 5, 4, 2, tzinfo=UTC)
    facts = {"name": "Ana", "userNotes": ["I moved to Austin"], "preferences": ["I prefer ETFs"]}
    since = {"name": said.isoformat(), "I moved to Austin": said.isoformat()}
    memory = {**facts, "timezone": "America/Chicago", "since": since}
    told = [line.partition(" Say ")[0] for line in memory_in_words(memory, "en").splitlines()[1:]]
    assert told == [
        "Your name is Ana (since May 3, 2026).",
        "Your time zone is America/Chicago.",
        "1. On May 3, 2026 you told me “I moved to Austin”.",
        "2. You told me “I prefer ETFs”.",
    ]
    assert "1. El 3 de mayo de 2026 me contaste «I moved to Austin»." in memory_in_words(memory, "es")
    # Of who has said no zone: that of Mexico City.
    assert "Te llamas Ana (desde el 3 de mayo de 2026)." in memory_in_words({**facts, "since": since}, "es")


@pytest.mark.parametrize(("language", "said"), [("es", "Todavía no recuerdo nada"), ("en", "do not remember anything")])
def test_an_empty_memory_is_a_sentence(language: str, said: str) -> None:
    assert said in memory_in_words({}, "es" if language == "es" else "en")


def test_of_many_facts_the_rest_is_counted_and_told_when_asked_for() -> None:
    facts = [f"fact {number}" for number in range(20)]
    memory = LongTermMemory(name="Ana", user_notes=facts)
    assert "There are 5 more: say “show me the rest”." in memory_in_words(memory.to_wire(), "en")
    first = memory_in_words({"name": "Ana", "userNotes": facts[:15]}, "en", omitted=5)
    assert "There are 5 more: say “show me the rest”." in first
    rest = memory_in_words({"name": "Ana", "userNotes": facts[15:]}, "en", after=15)
    assert rest.splitlines()[1].startswith("16. You told me “fact 15”.")
    assert "Ana" not in rest
    assert memory_in_words({"name": "Ana"}, "es", after=15) == "No hay más: eso es todo."


@pytest.mark.parametrize("language", ["es", "en"])
def test_facts_are_found_again_by_the_numbers_under_which_they_were_told(language: Language) -> None:
    facts = ["I say “no” to debt", "vivo en Lima (Perú)", "it’s «fine»"]
    told = memory_in_words({"userNotes": facts, "since": {facts[0]: "2026-05-04T02:00:00Z"}}, language)
    assert listed_facts(told) == dict(enumerate(facts, start=1))
    assert listed_facts("Done, I have forgotten: “x”.") == {}


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("forget 3", ListWish((3,))),
        ("Olvida la 12, por favor", ListWish((12,))),
        ("please delete number 2", ListWish((2,))),
        ("forget 1 and 3", ListWish((1, 3))),
        ("olvida la tercera", ListWish((3,))),
        ("correct 3: I live in Cusco.", ListWish((3,), "I live in Cusco")),
        ("corrige la 2: prefiero el té", ListWish((2,), "prefiero el té")),
        ("3 is wrong: I have two cats", ListWish((3,), "I have two cats")),
        ("The second one is wrong, it is 400", ListWish((2,), "it is 400")),
        ("el último está mal: vivo en Cuzco", ListWish((LAST,), "vivo en Cuzco")),
        ("2 should be I live in Cusco", ListWish((2,), "I live in Cusco")),
        ("the one about my stamps is wrong, I collect coins", ListWish((), "I collect coins", "stamps")),
        ("No, the third is not true", ListWish((3,), None)),
        ("delete the last one", ListWish((LAST,))),
        ("forget all of that", ListWish(every=True)),
        ("bórralas todas", ListWish(every=True)),
        ("Show me the rest", ListWish()),
        ("muéstrame el resto", ListWish()),
        ("forget 3 kids", None),
        ("buy 3", None),
    ],
)
def test_a_list_of_facts_is_answered_by_number(text: str, wish: ListWish | None) -> None:
    assert list_wish(text) == wish


@pytest.mark.parametrize(
    ("said", "about"),
    [
        ("Stop remembering where I bank", "where I bank"),
        ("don't remember my epilepsy any more", "my epilepsy any more"),
        ("You can forget the boat thing", "the boat thing"),
        ("Borra el nombre de mi novia", "el nombre de mi novia"),
        ("bórrame lo de la enfermedad", "la enfermedad"),
        ("Ya no quiero que recuerdes mi hipoteca", "mi hipoteca"),
        ("Quiero que olvides dónde vivo", "dónde vivo"),
        ("scratch what I told you about the boat", "the boat"),
        ("Remove the note about my car", "my car"),
        ("you don't need to remember my address", "my address"),
        ("quita lo del perro", "perro"),
        ("borra lo que te dije del perro", "perro"),
        ("Lo de Soria ya no lo recuerdes", "Soria"),
        ("the thing about my boat, forget it", "my boat"),
        ("Could you delete the bit about my debts?", "my debts"),
        ("Wipe what you know about my employer", "my employer"),
        ("Erase everything you know about my flat", "everything about my flat"),
        ("forget what I told you about my car in the other conversation", "my car"),
        ("Olvida lo que te dije de mi médico en la otra conversación", "mi médico"),
        ("bórralo todo sobre Berta", "todo sobre Berta"),
        ("Borra lo que sabes de mi sueldo", "mi sueldo"),
    ],
)
def test_what_is_to_be_forgotten_is_read_off_a_plain_wish(said: str, about: str) -> None:
    assert memory_wish(said) == MemoryWish("forget", about)


@pytest.mark.parametrize(
    "said",
    [
        "Recuérdame qué te dije que prefería",
        "recuerdame que te dije de mi riesgo",
        "Forget AAPL, let us look at MSFT",
        "Borra mi alerta de AAPL",
        "Quita mis avisos",
        "Delete the alert on IBM",
        "Remove the note",
        "Can I drop the bit about taxes from my return?",
        "No quiero que olvides dónde vivo",
    ],
)
def test_what_only_sounds_like_it_is_for_the_model(said: str) -> None:
    assert memory_wish(said) is None


def test_who_wants_something_remembered_says_what() -> None:
    assert memory_wish("Recuerda que prefiero ETF") == MemoryWish("remember", "prefiero ETF")


@pytest.mark.parametrize(
    "said",
    ["what do you have on me?", "And what do you still remember about me?", "what have I told you so far?",
     "tell me everything you remember", "¿qué tienes apuntado de mí?", "qué te he contado de mí",
     "what do you know about me now?", "so, what exactly do you remember about me?",
     "pues, ¿qué sabes de mí a estas alturas?"],
)  # fmt: skip
def test_a_memory_is_asked_for_in_many_ways(said: str) -> None:
    assert memory_wish(said) == MemoryWish("read")


@pytest.mark.parametrize(
    "said",
    ["revert that", "oops, undo that please", "can you undo that?", "No, that was wrong, undo it", "put it back",
     "undo the last one", "deshaz lo último", "me equivoqué, deshaz eso", "¿puedes deshacer eso?", "recupéralo"],
)  # fmt: skip
def test_a_change_is_taken_back_in_many_ways(said: str) -> None:
    assert is_undo(said, is_later=True)


def test_a_number_means_a_fact_only_while_no_other_list_or_order_is_newer() -> None:
    told = memory_in_words({"userNotes": ["I like tea", "I like jam"]}, "en")
    assert list_step("forget 2", ["Anything else?", told], "en") is not None
    assert list_step("delete 2", ["Your alerts:\n1. AAPL\n2. IBM", told], "en") is None
    for number in ("forget 2", "olvida la 2", "correct 1: I like milk", "corrige la 2", "forget the last one"):
        nothing = list_step(number, ["Anything else?"], "en")
        assert nothing is not None
        assert nothing.text.startswith("Nothing has changed: I do not know which list you mean.")
    assert list_step("delete 2", [], "en") is None
    assert list_step("forget 2", ["Your alerts:\n1. AAPL\n2. IBM"], "en") is None
    assert recent_answers(["c", "b", "a"], ["thanks", "buy 5 AAPL", "what do you know?"]) == ["c", "b"]


@pytest.mark.parametrize(
    ("said", "does"),
    [
        ("the second is wrong, it's 400", {"note": "I save 400 a month", "instead": "I save 300 a month"}),
        (
            "the one about the stamp is wrong, I collect coins",
            {"note": "I collect coins", "instead": "I collect stamps"},
        ),
        ("forget the last one", {"about": fact_id("I save 300 a month")}),
    ],
)
def test_one_of_a_list_is_corrected_by_its_place_its_thing_or_its_figure(said: str, does: dict[str, str]) -> None:
    told = memory_in_words({"userNotes": ["I collect stamps", "I save 300 a month"]}, "en")
    found = list_step(said, ["Anything else?", told], "en")
    assert found is not None
    assert [json.loads(call.arguments) for call in found.calls] == [does]


def test_who_does_not_say_how_a_fact_should_read_is_asked_and_all_of_a_list_goes_only_right_behind_it() -> None:
    told = memory_in_words({"userNotes": ["I have a dog", "I have a boat"]}, "en")
    for text in ("correct 1", "the first one is wrong", "the first one is wrong, it's a poodle"):
        asked = list_step(text, [told], "en")
        assert asked is not None
        assert asked.text == "How should it read in full? Say “correct 1: …”."
    everything = list_step("forget all of that", [told], "en")
    assert everything is not None
    assert len(everything.calls) == 2
    assert list_step("forget all of that", ["Anything else?", told], "en") is None
