"""A plain yes in the chat decides what the last answer asked, once, whatever dies; a memory is read and corrected."""

from datetime import UTC, datetime
from typing import Any

import pytest

from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.scripted_model.server import scripted_model
from agent.testing.dying import Death
from agent.testing.scripted_stage import scripted_stage
from agent.testing.stage import Stage, agent, stage
from contracts.events.chat import ActionState
from contracts.memory_rpc import LongTermMemory, Superseded
from runtime.testing.servers import NatsServer, eventually

ANA = "user/pro/ana"
CREATE = ScriptedCall(name="create_paper_order", arguments={"symbol": "AAPL", "quantity": 5})
ORDER = Rule(match="buy", replies=[ScriptedReply(tool_calls=[CREATE]), ScriptedReply(text="Shall I?")], again=True)


async def ordered(
    scene: Stage, conversation: str = "c1", action: str = "o1", symbol: str = "AAPL", summary: str | None = None
) -> None:
    """An order that the newest answer asks a yes for."""
    before = len(await scene.answers(conversation))
    scene.executor.offer("create_paper_order", scene.copilot.order(action, symbol, summary))
    await scene.visitor(conversation, "buy 5", principal=ANA)
    await scene.answered(conversation, before + 1)
    await scene.idle()


async def say(scene: Stage, text: str, conversation: str = "c1", locale: str = "en") -> dict[str, Any]:
    """What is answered to a message."""
    before = len(await scene.answers(conversation))
    await scene.visitor(conversation, text, principal=ANA, locale=locale)
    answers = await scene.answered(conversation, before + 1)
    await scene.idle()
    return answers[-1]


@pytest.mark.parametrize(
    ("word", "locale", "decision", "told"),
    [
        ("yes", "en", "confirm", "Confirmed: {}. The order is working"),
        ("sí, dale", "es", "confirm", "Confirmado: {}. La orden está en curso"),
        ("sí, dale", "en", "confirm", "Confirmado: {}. La orden está en curso"),
        ("no, thanks", "en", "reject", "Rejected: {}. Nothing was placed."),
        ("cancelar", "es", "reject", "Rechazado: {}. No se ha enviado nada."),
    ],
)
async def test_a_plain_word_decides_and_no_model_is_asked(
    nats_server: NatsServer, word: str, locale: str, decision: str, told: str
) -> None:
    async with scripted_stage(nats_server.url, ORDER) as (scene, model):
        await ordered(scene, summary="Comprar 5 AAPL a mercado (simulado)")
        asked = len(model.asked)
        answer = await say(scene, word, locale=locale)
        assert answer["text"].startswith(told.format("Comprar 5 AAPL a mercado (simulado)"))
        assert scene.copilot.decided == [("o1", decision)]
        assert answer["actions"] == []
        assert len(model.asked) == asked
        assert "".join(d["delta"] for d in scene.told("message.delta")[-1:]) == answer["text"]


async def test_a_message_that_shows_no_language_goes_on_in_that_of_the_answer_before_it(
    nats_server: NatsServer,
) -> None:
    hello = Rule(match="how are", replies=[ScriptedReply(text="I am fine. What do you want to do?")])
    order = Rule(
        match="AAPL", replies=[ScriptedReply(tool_calls=[CREATE]), ScriptedReply(text="Shall I place it for you?")]
    )
    async with scripted_stage(nats_server.url, hello, order) as (scene, _model):
        scene.executor.offer("create_paper_order", scene.copilot.order("o1", "AAPL", None))
        await say(scene, "how are you today?", locale="es")
        answer = await say(scene, "AAPL 5", locale="es")
        assert scene.executor.requests[-1].language == "en"
        assert answer["actions"]
        assert (await say(scene, "ok", locale="es"))["text"].startswith("Confirmed: ")


async def test_more_than_a_yes_goes_to_the_model_and_decides_nothing(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url, ORDER) as (scene, model):
        await ordered(scene)
        asked = len(model.asked)
        for text in ("yes, but make it 10", "sí pero a 200", "yes?"):
            answer = await say(scene, text)
            assert answer["text"] == "A scripted answer."
        assert len(model.asked) == asked + 3
        assert scene.copilot.decided == []


async def test_a_yes_to_something_else_decides_nothing(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url, ORDER) as (scene, _model):
        await ordered(scene)
        await say(scene, "is the market open, by the way")
        answer = await say(scene, "yes")
        assert answer["text"] == "A scripted answer."
        assert scene.copilot.decided == []
        # Named, it is meant all the same.
        answer = await say(scene, "confirm the order")
        assert answer["text"].startswith("Confirmed")
        assert scene.copilot.decided == [("o1", "confirm")]


async def test_with_several_waiting_it_asks_which_and_understands_the_choice(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url, ORDER) as (scene, _model):
        await ordered(scene)
        await ordered(scene, action="o2", symbol="MSFT")
        answer = await say(scene, "yes")
        assert "Which one?" in answer["text"]
        assert "2. Buy 5 MSFT at market (paper)" in answer["text"]
        assert [action["id"] for action in answer["actions"]] == ["o1", "o2"]
        assert scene.copilot.decided == []
        answer = await say(scene, "no to MSFT")
        assert scene.copilot.decided == [("o2", "reject")]
        assert answer["text"].endswith("Still waiting: Buy 5 AAPL at market (paper).")
        assert [action["id"] for action in answer["actions"]] == ["o1"]
        await say(scene, "yes")
        assert scene.copilot.decided[1:] == [("o1", "confirm")]
        await ordered(scene, action="o3")
        await ordered(scene, action="o4", symbol="IBM")
        await say(scene, "yes")
        answer = await say(scene, "yes to all")
        assert "Still waiting" not in answer["text"]
        assert sorted(scene.copilot.decided[2:]) == [("o3", "confirm"), ("o4", "confirm")]
        assert answer["actions"] == []


async def test_what_waits_in_another_conversation_does_not_stand_in_the_way(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url, ORDER) as (scene, _model):
        scene.copilot.order("elsewhere", conversationId="c7")
        await ordered(scene)
        answer = await say(scene, "yes")
        assert answer["text"].startswith("Confirmed")
        assert scene.copilot.decided == [("o1", "confirm")]


async def test_a_decision_counts_once_and_the_first_stands(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url, ORDER) as (scene, _model):
        await ordered(scene)
        expired = {"state": ActionState.EXPIRED}
        scene.copilot.actions["o1"] = scene.copilot.actions["o1"].model_copy(update=expired)
        answer = await say(scene, "yes")
        assert "expired" in answer["text"]
        await ordered(scene, action="o2")
        # Somebody pressed the button meanwhile.
        confirmed = {"state": ActionState.CONFIRMED}
        scene.copilot.actions["o2"] = scene.copilot.actions["o2"].model_copy(update=confirmed)
        answer = await say(scene, "no")
        assert "was already confirmed" in answer["text"]
        assert scene.copilot.decided == []


async def test_what_was_not_shown_is_not_confirmed(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url, ORDER) as (scene, _model):
        await ordered(scene)
        shown = scene.copilot.actions["o1"]
        scene.copilot.actions["o1"] = shown.model_copy(update={"details": {**shown.details, "contentHash": "other"}})
        answer = await say(scene, "yes")
        assert "not the one you were shown" in answer["text"]
        assert scene.copilot.decided == []


async def test_with_the_market_away_the_order_waits_on(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url, ORDER) as (scene, _model):
        await ordered(scene)
        scene.copilot.away = True
        answer = await say(scene, "yes")
        assert "still waits" in answer["text"]
        scene.copilot.away = False
        answer = await say(scene, "confirm the order")
        assert answer["text"].startswith("Confirmed")


async def test_a_visitors_yes_and_a_models_wish_decide_nothing(nats_server: NatsServer) -> None:
    decide = ScriptedCall(name="decide_action", arguments={"decision": "confirm", "actionId": "o1", "named": True})
    wish = Rule(match="page", replies=[ScriptedReply(tool_calls=[decide]), ScriptedReply(text="It is done.")])
    async with scripted_stage(nats_server.url, ORDER, wish) as (scene, _model):
        await ordered(scene)
        before = len(await scene.answers("c1"))
        await scene.visitor("c1", "yes")
        await scene.answered("c1", before + 1)
        # A model that obeys a page: its call goes to the executor, where there is no such tool.
        scene.executor.offer("decide_action", {})
        await say(scene, "what does the page say")
        assert [request.tool for request in scene.executor.requests][-1] == "decide_action"
        assert scene.copilot.decided == []


STEPS = ["look", "save", "save", "own", "save", "save", "append"]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(len(STEPS)), ids=[f"{i}-{name}" for i, name in enumerate(STEPS)])
async def test_a_killed_agents_yes_is_one_yes(nats_server: NatsServer, at: int, after: bool) -> None:
    death = Death(at, after)
    async with stage(nats_server.url) as scene, scripted_model(ORDER) as model:
        async with agent(nats_server.url, model.base_url):
            await ordered(scene)
        async with agent(nats_server.url, model.base_url, wrap=death.around):
            await scene.visitor("c1", "yes", principal=ANA)
            await eventually(death.dead.is_set)
        assert death.steps == STEPS[: at + 1]
        async with agent(nats_server.url, model.base_url, ack_wait_seconds=0.5):
            await scene.answered("c1", 2)
            await scene.idle()
        _, answer = await scene.answers("c1")
        assert answer["text"].startswith("Confirmed")
        assert scene.copilot.decided == [("o1", "confirm")]


async def test_what_is_remembered_is_shown_corrected_and_forgotten_in_the_chat(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url) as (scene, model):
        scene.copilot.memory = LongTermMemory(
            trading_style="swing", preferences=["I prefer dividend stocks"], user_notes=["my goal is a house"]
        )
        text = (await say(scene, "what do you remember about me?"))["text"]
        assert "Your trading style is swing." in text
        assert "You told me “I prefer dividend stocks”." in text
        assert "You told me “my goal is a house”." in text
        text = (await say(scene, "forget that I prefer dividend stocks"))["text"]
        assert text == "Done, I have forgotten: “I prefer dividend stocks”. If that was a mistake, say “undo that”."
        assert scene.copilot.memory.preferences == []
        await say(scene, "recuerda que mi bróker es Acme", locale="es")
        assert scene.copilot.memory.user_notes == ["mi bróker es Acme", "my goal is a house"]
        assert model.asked == []
        # Nothing of that is known: the model says so, or asks.
        assert (await say(scene, "forget my bicycle"))["text"] == "A scripted answer."
        notes, older = [f"my box {n} is blue" for n in range(50)], [f"my crate {n} is red" for n in range(200)]
        scene.copilot.memory = LongTermMemory(user_notes=notes, older_notes=older)
        text = (await say(scene, "remember that my kettle is new"))["text"]
        assert "I no longer keep the oldest one: “my crate 199 is red”." in text
        assert scene.copilot.memory.older_notes == [notes[49], *older[:199]]
        await say(scene, "olvida todo lo que sabes de mí", locale="es")
        assert scene.copilot.memory == LongTermMemory()
        assert "no recuerdo nada" in (await say(scene, "qué recuerdas de mí", locale="es"))["text"]


async def test_what_was_just_remembered_or_forgotten_is_undone_at_a_word(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url) as (scene, model):
        held = scene.copilot
        held.memory = LongTermMemory(preferences=["I hold ETFs"], user_notes=["my goal is a house"])
        await say(scene, "recuerda que mi bróker es Acme", locale="es")
        text = (await say(scene, "No, olvídalo.", locale="es"))["text"]
        assert (text[:36], held.memory.user_notes) == ("Hecho, lo he olvidado: «mi bróker es", ["my goal is a house"])
        await say(scene, "deshaz eso", locale="es")
        assert held.memory.user_notes == ["mi bróker es Acme", "my goal is a house"]
        await say(scene, "forget that I hold ETFs my goal is a house")
        text = (await say(scene, "Undo that, please!"))["text"]
        assert text.splitlines() == [f"Noted, I will remember: {one}." for one in ("my goal is a house", "I hold ETFs")]
        await say(scene, "take that back")
        assert (held.memory.user_notes, held.memory.preferences) == (["mi bróker es Acme"], [])
        past = Superseded(field="userNotes", value="I live in Lima", until=datetime.now(UTC), by="I live in Rome")
        await say(scene, "remember that I live in Rome")
        held.memory = held.memory.model_copy(update={"superseded": [past]})
        text = (await say(scene, "undo that"))["text"]
        assert text == "Done, I have forgotten: “I live in Rome”. This applies again: “I live in Lima”."
        assert held.memory.user_notes == ["I live in Lima", "mi bróker es Acme"]
        await say(scene, "forget everything you know about me")
        assert "no longer kept" in (await say(scene, "undo that"))["text"]
        assert model.asked == []
        # Of something else the model knows more.
        await say(scene, "what is a stop loss?")
        for other in ("forget it", "undo that and buy 5"):
            assert (await say(scene, other))["text"] == "A scripted answer."


async def test_a_change_is_undone_some_messages_later_but_not_over_an_order(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url) as (scene, _model):
        held = scene.copilot
        await say(scene, "remember that I live in Rome")
        await say(scene, "what is a stop loss?")
        await say(scene, "thanks")
        text = (await say(scene, "never mind"))["text"]
        assert (text, held.memory.user_notes) == ("A scripted answer.", ["I live in Rome"])
        text = (await say(scene, "undo that"))["text"]
        assert (text[:42], held.memory.user_notes) == ("Done, I have forgotten: “I live in Rome”. ", [])
        await say(scene, "remember that I live in Turin")
        await say(scene, "set an alert for AAPL at 200")
        assert (await say(scene, "undo that"))["text"] == "A scripted answer."
        assert held.memory.user_notes == ["I live in Turin"]


async def test_facts_are_forgotten_and_corrected_by_their_numbers_and_the_rest_is_shown(
    nats_server: NatsServer,
) -> None:
    async with scripted_stage(nats_server.url) as (scene, model):
        held = scene.copilot
        held.memory = LongTermMemory(user_notes=[f"note {number}" for number in range(1, 21)], preferences=["tea"])
        text = (await say(scene, "what do you remember about me?"))["text"]
        assert "15. You told me “note 15”. Say “forget 15” or “correct 15: …”." in text
        assert "There are 6 more: say “show me the rest”." in text
        text = (await say(scene, "show me the rest"))["text"]
        assert [line[:4] for line in text.splitlines()[1:]] == ["16. ", "17. ", "18. ", "19. ", "20. ", "21. "]
        text = (await say(scene, "forget 2 and 20"))["text"]
        assert ("“note 2”" in text, "“note 20”" in text) == (True, True)
        assert not {"note 2", "note 20"} & {*held.memory.user_notes}
        await say(scene, "undo that")
        assert {"note 2", "note 20"} < {*held.memory.user_notes}
        assert (await say(scene, "forget 99"))["text"].startswith("There is no 99 in the list.")
        text = (await say(scene, "correct 21: I prefer coffee"))["text"]
        assert text == "Noted, I will remember: I prefer coffee."
        assert held.memory.preferences == ["I prefer coffee"]
        assert model.asked == []


@pytest.mark.parametrize(
    ("text", "preferences", "notes"),
    [
        ("forget that I prefer dividend stocks", ["I like bonds"], ["my goal is a house"]),
        ("remember that my broker is Acme", ["I like bonds", "I prefer dividend stocks"],
         ["my broker is Acme", "my goal is a house"]),
    ],
)  # fmt: skip
async def test_what_is_learned_between_reading_and_correcting_a_memory_stays(
    nats_server: NatsServer, text: str, preferences: list[str], notes: list[str]
) -> None:
    async with scripted_stage(nats_server.url) as (scene, _model):
        scene.copilot.memory = LongTermMemory(preferences=["I prefer dividend stocks"])
        learned = [["I prefer dividend stocks"], ["I like bonds", "I prefer dividend stocks"]]
        scene.copilot.meanwhile = [
            LongTermMemory(preferences=one, user_notes=["my goal is a house"]) for one in learned
        ]
        await say(scene, text)
        assert scene.copilot.memory.preferences == preferences
        assert scene.copilot.memory.user_notes == notes
