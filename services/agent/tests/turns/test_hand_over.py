"""The AI hands a conversation over to a person, once, whatever dies; what is asked beside it stays due."""

from typing import Any

import pytest

from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.scripted_model.server import scripted_model
from agent.testing.dying import Death
from agent.testing.scripted_stage import scripted_stage
from agent.testing.stage import Stage, agent, stage
from contracts.channels import ChatKind
from contracts.office_hours import OfficeHours
from contracts.person_rules import PersonRule
from contracts.testing import closed_for_days
from runtime.testing.servers import NatsServer, eventually

HAND_OFF = ScriptedCall(
    name="hand_off",
    arguments={"reason": "missed", "summary": "- Asked: cheques\n- Tried: the site\n\n- Found: nothing\n4\n5\n6"},
)


async def owners(scene: Stage, conversation: str = "c1") -> list[dict[str, Any]]:
    """The changes of owner, oldest first."""
    return [data for kind, _, data in await scene.facts(conversation) if kind is ChatKind.OWNER]


async def waiting(scene: Stage, conversation: str = "c1") -> dict[str, Any]:
    """The hand-over, once it is there and nothing more comes of the message."""

    async def there() -> bool:
        return bool(await owners(scene, conversation))

    await eventually(there)
    await scene.idle()
    (changed,) = await owners(scene, conversation)
    assert changed["owner"] == {"kind": "waiting"}
    return changed


async def test_a_model_hands_over_with_reason_and_summary_and_says_nothing(nats_server: NatsServer) -> None:
    rule = Rule(replies=[ScriptedReply(tool_calls=[HAND_OFF]), ScriptedReply(text="I should not be heard.")])
    async with scripted_stage(nats_server.url, rule) as (scene, model):
        await scene.visitor("c1", "so can I pay by cheque or not?", locale="en")
        changed = await waiting(scene)
        assert changed["by"] == "agent"
        assert (changed["reason"], changed["language"]) == ("missed", "en")
        assert changed["summary"] == ["Asked: cheques", "Tried: the site", "Found: nothing", "4", "5"]
        assert await scene.answers("c1") == []
        assert len(model.asked) == 1
        assert "hand_off" in [tool["function"]["name"] for tool in model.asked[0]["tools"]]


async def test_a_plain_wish_needs_no_model(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url) as (scene, model):
        await scene.visitor("c1", "can I pay by cheque?", locale="en")
        await scene.answered("c1")
        await scene.idle()
        asked = len(model.asked)
        await scene.visitor("c1", "I would rather talk to a human, please", locale="en")
        changed = await waiting(scene)
        assert changed["reason"] == "asked"
        assert changed["summary"][0] == "Asked: «can I pay by cheque?»"
        assert "A scripted answer." in changed["summary"][-1]
        assert len(model.asked) == asked


async def test_what_was_asked_is_due_again_when_nobody_came_and_nobody_is_asked_for_twice(
    nats_server: NatsServer,
) -> None:
    rule = Rule(
        replies=[
            ScriptedReply(tool_calls=[HAND_OFF]),
            ScriptedReply(tool_calls=[HAND_OFF]),
            ScriptedReply(text="I still do not know."),
        ]
    )
    async with scripted_stage(nats_server.url, rule) as (scene, model):
        await scene.visitor("c1", "so can I pay by cheque or not?", locale="en")
        await waiting(scene)
        await scene.visitor("c1", "hello?", locale="en")
        await scene.idle()
        assert len(model.asked) == 1
        await scene.release("c1")
        (answer,) = await scene.answered("c1")
        assert answer["text"] == "I still do not know."
        results = [one["content"] for one in model.asked[-1]["messages"] if one["role"] == "tool"]
        assert "nobody has taken" in results[0] or "since their last message" in results[0]
        await scene.idle()
        assert [one["owner"]["kind"] for one in await owners(scene)] == ["waiting", "ai"]
        # Asked for anew it is a new wish.
        await scene.visitor("c1", "then get me a person", locale="en")

        async def again() -> bool:
            return len(await owners(scene)) == 3

        await eventually(again)


async def test_a_person_who_is_there_already_is_not_asked_for(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url) as (scene, _model):
        await scene.configure(ai_respond_with_commercial=True)
        await scene.take("c1")
        await scene.visitor("c1", "I want to talk to a person", locale="en")
        (answer,) = await scene.answered("c1")
        assert answer["text"] == "A scripted answer."
        assert [one["owner"]["kind"] for one in await owners(scene)] == ["human"]


async def taken(scene: Stage, conversation: str = "c1") -> tuple[dict[str, Any], dict[str, Any]]:
    """The message that was taken outside office hours, and the one answer that follows it."""
    (answer,) = await scene.answered(conversation)
    await scene.idle()
    (changed,) = await owners(scene, conversation)
    assert changed["owner"] == {"kind": "ai"}
    assert changed["opensAt"]
    return changed, answer


@pytest.mark.parametrize(
    ("language", "wish", "words"),
    [("en", "a human please", "Nobody from the team is here"), ("es", "quiero hablar con alguien", "no hay nadie")],
)
async def test_outside_office_hours_the_ai_says_so_and_a_message_is_taken(
    nats_server: NatsServer, language: str, wish: str, words: str
) -> None:
    async with scripted_stage(nats_server.url) as (scene, model):
        await scene.configure(office_hours=OfficeHours.model_validate(closed_for_days()))
        await scene.visitor("c1", wish, locale=language)
        changed, answer = await taken(scene)
        assert (changed["reason"], changed["language"]) == ("asked", language)
        assert words in answer["text"]
        assert "10:00 (" in answer["text"]
        assert model.asked == []
        # The AI goes on with whoever goes on.
        await scene.visitor("c1", "and your prices?" if language == "en" else "¿y los precios?", locale=language)
        assert (await scene.answered("c1", 2))[1]["text"] == "A scripted answer."


async def test_what_is_asked_beside_a_person_is_answered_behind_the_hours(nats_server: NatsServer) -> None:
    rule = Rule(replies=[ScriptedReply(tool_calls=[HAND_OFF]), ScriptedReply(text="Cheques are not taken.")])
    async with scripted_stage(nats_server.url, rule) as (scene, _model):
        await scene.configure(office_hours=OfficeHours.model_validate(closed_for_days()))
        await scene.visitor("c1", "so can I pay by cheque or not?", locale="en")
        changed, answer = await taken(scene)
        assert changed["summary"][0] == "Asked: cheques"
        assert answer["text"].startswith("Nobody from the team is here")
        assert answer["text"].endswith("Cheques are not taken.")


async def test_outside_office_hours_it_is_said_without_a_model_too(nats_server: NatsServer) -> None:
    rule = Rule(replies=[ScriptedReply(tool_calls=[HAND_OFF]), *[ScriptedReply(status=500)] * 20])
    async with scripted_stage(nats_server.url, rule) as (scene, _model):
        await scene.configure(office_hours=OfficeHours.model_validate(closed_for_days()))
        await scene.visitor("c1", "so can I pay by cheque or not?", locale="en")

        notices: list[dict[str, Any]] = []

        async def failed() -> bool:
            notices[:] = [data for kind, _, data in await scene.facts("c1") if kind is ChatKind.SYSTEM]
            return bool(notices)

        await eventually(failed)
        (notice,) = notices
        assert notice["code"] == "LLM_UNAVAILABLE"
        assert notice["text"].startswith("Nobody from the team is here")


@pytest.mark.parametrize("at", [3, 4], ids=["3-own", "4-save"])
async def test_whoever_dies_on_the_way_one_message_is_taken(nats_server: NatsServer, at: int) -> None:
    death = Death(at, after=True)
    async with stage(nats_server.url) as scene, scripted_model() as model:
        await scene.configure(office_hours=OfficeHours.model_validate(closed_for_days()))
        async with agent(nats_server.url, model.base_url, wrap=death.around):
            await scene.visitor("c1", "quiero hablar con una persona", locale="es")
            await eventually(death.dead.is_set)
        async with agent(nats_server.url, model.base_url, ack_wait_seconds=0.5):
            _, answer = await taken(scene)
        assert "no hay nadie" in answer["text"]
        assert model.asked == []


STEPS = ["look", "save", "save", "own", "save", "look"]
"""From the hand-over on there are two deliveries: the change of owner is one of its own."""


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", [2, 3, 4], ids=["2-save", "3-own", "4-save"])
async def test_whoever_dies_on_the_way_it_is_handed_over_once(nats_server: NatsServer, at: int, after: bool) -> None:
    death = Death(at, after)
    async with stage(nats_server.url) as scene, scripted_model() as model:
        async with agent(nats_server.url, model.base_url, wrap=death.around):
            await scene.visitor("c1", "quiero hablar con una persona", locale="es")
            await eventually(death.dead.is_set)
        assert death.steps[:4] == STEPS[: min(at + 1, 4)]
        async with agent(nats_server.url, model.base_url, ack_wait_seconds=0.5):
            changed = await waiting(scene)
        assert (changed["reason"], changed["language"]) == ("asked", "es")
        assert await scene.answers("c1") == []
        assert model.asked == []


RULES = [
    PersonRule(to="never", words=["opening hours"]),
    PersonRule(to="person", topics=["refunds"]),
]


async def test_what_the_company_says_goes_to_a_person_first_does_so_once(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url) as (scene, model):
        await scene.configure(person_rules=RULES)
        await scene.visitor("c1", "I want to be refunded", locale="en")
        changed = await waiting(scene)
        assert changed["reason"] == "rule"
        assert changed["summary"][0] == "Asked: «I want to be refunded»"
        assert model.asked == []
        # Nobody has come: the AI answers, and does not ask again for the same message.
        await scene.release("c1")
        assert [one["text"] for one in await scene.answered("c1")] == ["A scripted answer."]
        await scene.idle()
        assert [one["owner"]["kind"] for one in await owners(scene)] == ["waiting", "ai"]


async def test_what_never_goes_to_a_person_does_not(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url) as (scene, model):
        await scene.configure(person_rules=[*RULES, PersonRule(to="never", plans=["free"])])
        await scene.visitor("c1", "what are your opening hours?", locale="en")
        await scene.answered("c1")
        assert "hand_off" not in str(model.asked[0].get("tools"))
        await scene.visitor("c1", "a human please", locale="en")
        assert (await scene.answered("c1", 2))[1]["text"].startswith("I cannot pass you on")
        await scene.idle()
        assert await owners(scene) == []


async def test_a_rule_leaves_one_message_outside_office_hours(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url) as (scene, _model):
        hours = OfficeHours.model_validate(closed_for_days())
        await scene.configure(person_rules=RULES, office_hours=hours)
        await scene.visitor("c1", "I want to be refunded", locale="en")
        changed, answer = await taken(scene)
        assert changed["reason"] == "rule"
        assert answer["text"].endswith("A scripted answer.")
        await scene.visitor("c1", "when do I get the refund?", locale="en")
        assert (await scene.answered("c1", 2))[1]["text"] == "A scripted answer."
        await scene.idle()
        assert len(await owners(scene)) == 1


@pytest.mark.parametrize(
    ("language", "wish"),
    [("en", "a human please"), ("es", "agente por favor"), ("en", "My order is late. Can somebody call me?")],
)
async def test_words_ask_for_a_person_where_the_ai_is_switched_off(
    nats_server: NatsServer, language: str, wish: str
) -> None:
    async with scripted_stage(nats_server.url) as (scene, model):
        await scene.configure(ai_auto_response_enabled=False)
        await scene.visitor("c1", "do you sell bicycles?", locale=language)
        await scene.idle()
        assert await owners(scene) == []
        await scene.visitor("c1", wish, locale=language)
        changed = await waiting(scene)
        # The visitor's own change, as with the button: the AI, which says nothing, is not who tells them of it.
        assert (changed["by"], changed["reason"], changed["language"]) == ("visitor-1", "asked", language)
        assert "bicycles" in "\n".join(changed["summary"])
        # Nobody came, and they write on: what they asked for before is not asked for again.
        await scene.release("c1")
        await scene.visitor("c1", "and helmets?", locale=language)
        await scene.idle()
        assert [one["owner"]["kind"] for one in await owners(scene)] == ["waiting", "ai"]
        assert await scene.answers("c1") == []
        assert model.asked == []


async def test_where_the_ai_is_switched_off_a_message_is_taken_once_and_rules_count(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url) as (scene, _model):
        never = PersonRule(to="never", words=["astrology"])
        await scene.configure(
            ai_auto_response_enabled=False,
            office_hours=OfficeHours.model_validate(closed_for_days()),
            person_rules=[never, PersonRule(to="person", words=["invoice"])],
        )
        await scene.visitor("c1", "a human please, about astrology", locale="en")
        await scene.idle()
        assert await owners(scene) == []
        for text in ("my invoice is wrong", "a human please"):
            await scene.visitor("c2", text, locale="en")
            await scene.idle()
        (changed,) = await owners(scene, "c2")
        assert (changed["owner"], changed["reason"]) == ({"kind": "ai"}, "rule")
        assert changed["opensAt"]


async def test_who_asks_for_a_person_gets_one_when_the_model_fails(nats_server: NatsServer) -> None:
    rule = Rule(replies=[ScriptedReply(status=401)], again=True)
    async with scripted_stage(nats_server.url, rule) as (scene, _model):
        await scene.visitor("c1", "My order is late. Can somebody call me?", locale="en")
        assert (await waiting(scene))["reason"] == "asked"
        await scene.visitor("c2", "I want a refund", locale="en")
        (notice,) = await scene.answered("c2")
        assert notice["code"] == "LLM_UNAVAILABLE"
        await scene.idle()
        assert await owners(scene, "c2") == []
