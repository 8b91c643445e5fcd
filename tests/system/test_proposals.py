"""A small model proposes what to remember after a customer's turn; memory takes what the customer's own words prove.
Memory and agent with real servers; the model is scripted, over a real socket.
"""

import json
from typing import Any

import pytest

from agent.scripted_model.script import Rule, ScriptedReply
from contracts.memory_rpc import fact_id
from memory.testing.harness import Servers
from runtime.testing.servers import MongoDatabase, NatsServer, ValkeyServer, eventually
from tests.support.life import PROPOSING, Life, living

PLANTED = "The user lives in Oslo and loves TSLA"


def proposes(*changes: dict[str, Any]) -> Rule:
    """What the model answers when it is asked what to remember, once."""
    return Rule(
        match=PROPOSING, replies=[ScriptedReply(text=f"Sure:\n```json\n{json.dumps({'changes': changes})}\n```")]
    )


async def judged(life: Life, count: int) -> None:
    """Waits until the model was asked so often what to remember."""

    async def asked() -> bool:
        return len(life.proposing) >= count

    await eventually(asked)


async def test_what_a_model_proposes_is_remembered_where_the_customers_words_prove_it(
    nats_server: NatsServer, valkey_server: ValkeyServer, mongo_server: MongoDatabase
) -> None:
    servers = Servers(nats_server.url, mongo_server.url, mongo_server.database, valkey_server.url)
    async with living(servers) as life:
        home, gone = "I live in Lima", "I packed up, my bed stands in Quito these days"
        await life.day(home)

        async def learned() -> bool:
            return (await life.remembered()).user_notes == [home]

        await eventually(learned)
        await judged(life, 1)
        life.model.say(
            proposes(
                {"do": "supersede", "id": fact_id(home), "quote": gone},
                {"do": "add", "quote": PLANTED},
                {"do": "add", "quote": "Leverage gives me nightmares"},
                {"do": "cook", "quote": gone},
            ),
            default=ScriptedReply(text=PLANTED),
        )
        await life.day(f"{gone}. How is the market? Leverage gives me nightmares")
        await judged(life, 2)
        shown = json.loads(life.proposing[-1])
        assert shown["said"] == [f"{gone}.", "Leverage gives me nightmares"]
        assert {"id": fact_id(home), "fact": home} in shown["facts"]

        async def changed() -> bool:
            memory = await life.remembered()
            return home in {past.value for past in memory.superseded}

        await eventually(changed)
        memory = await life.remembered()
        (past,) = [one for one in memory.superseded if one.value == home]
        assert past.since is not None
        assert past.since < past.until
        assert past.by == gone.partition(",")[2].strip() or past.by == gone
        assert "Leverage gives me nightmares" in memory.user_notes
        assert not any("Oslo" in note for note in memory.user_notes)
        prompt = await life.prompt()
        assert "Quito" in prompt
        assert home not in prompt
        (told,) = await life.day("what do you remember about me?")
        assert "“I live in Lima” no longer applies" in told


async def test_a_turn_at_which_the_model_failed_is_proposed_about_once_it_answers_again(
    nats_server: NatsServer,
    valkey_server: ValkeyServer,
    mongo_server: MongoDatabase,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("memory.application.lessons.FIRST_PAUSE", 0.0)
    monkeypatch.setattr("memory.application.unproposed.FIRST_PAUSE", 0.0)
    monkeypatch.setattr("memory.application.unproposed.CHECK_SECONDS", 0.1)
    servers = Servers(nats_server.url, mongo_server.url, mongo_server.database, valkey_server.url)
    async with living(servers) as life:
        said = "Leverage gives me nightmares"
        cut = json.dumps({"changes": [{"do": "add", "quote": said}, {"do": "add", "quote": said}]})[:-20]
        replies = [ScriptedReply(status=400), ScriptedReply(text=cut)]
        life.model.say(Rule(match=PROPOSING, replies=replies))
        await life.day(said)

        async def kept() -> bool:
            return (await life.remembered()).user_notes == [said]

        await eventually(kept)
        assert {text for text in life.proposing if json.loads(text)["said"] != [said]} == set()


async def test_what_an_agent_would_have_proposed_that_died_another_proposes(
    nats_server: NatsServer,
    valkey_server: ValkeyServer,
    mongo_server: MongoDatabase,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("memory.application.lessons.FIRST_PAUSE", 0.0)
    servers = Servers(nats_server.url, mongo_server.url, mongo_server.database, valkey_server.url)
    said = "Leverage gives me nightmares"
    added = json.dumps({"changes": [{"do": "add", "quote": said}]})
    async with living(servers) as life:
        life.model.say(Rule(match=PROPOSING, replies=[ScriptedReply(hang=True)]))
        await life.day(said)
        await judged(life, 1)
    # The agent is gone, and its job with it.
    monkeypatch.setattr("memory.application.unproposed.FIRST_PAUSE", 0.1)
    monkeypatch.setattr("memory.application.unproposed.CHECK_SECONDS", 0.1)
    async with living(servers, again=True) as life:
        life.model.say(Rule(match=PROPOSING, replies=[ScriptedReply(text=added)]))

        async def kept() -> bool:
            return (await life.remembered()).user_notes == [said]

        await eventually(kept)
        assert len(life.proposing) == 1
