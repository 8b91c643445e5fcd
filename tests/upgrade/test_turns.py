"""A turn whose agent of the previous release died between the model's reply and the tool's is finished by this one."""

import json
from datetime import UTC, datetime, timedelta

from agent.scripted_model.script import ScriptedReply
from agent.scripted_model.server import scripted_model
from agent.testing.company import COMPANY
from agent.testing.stage import agent, stage
from runtime.bus.direct import DirectReader
from runtime.bus.publisher import Publisher
from runtime.testing.servers import NatsServer
from tests.upgrade.golden_files import TOMORROW, Json, golden, with_more


async def test_a_turn_of_the_previous_release_goes_on_from_its_journal(nats_server: NatsServer) -> None:
    turn = json.loads(json.dumps(golden("turn")).replace("acme", COMPANY))
    journal: Json = turn["journal"]
    data: Json = journal["event"]["data"]
    conversation = journal["subject"].split(".")[2]
    # The turn is as old as it would be at a roll-out.
    now = datetime.now(UTC)
    data |= {"startedAt": now.isoformat(), "deadline": (now + timedelta(seconds=120)).isoformat()}
    journal["event"]["data"] = data | {TOMORROW: 1, "calls": with_more(data["calls"])}
    async with (
        stage(nats_server.url) as scene,
        scripted_model(default=ScriptedReply(text="It is 676.27 dollars.")) as model,
    ):
        scene.executor.offer("get_price", {"price": 676.27})
        publisher = Publisher(scene.nats)
        for written in (*turn["chat"], journal):
            stream = "TURNS" if written is journal else "CHAT"
            event = json.dumps(written["event"]).encode()
            await publisher.append(written["subject"], event, stream=stream, msg_id=written["event"]["id"])
        before = len(await scene.answers(conversation))
        async with agent(nats_server.url, model.base_url):
            answer = (await scene.answered(conversation, before + 1))[-1]
            await scene.idle()
        assert (answer["turnId"], answer["text"]) == (data["turnId"], "It is 676.27 dollars.")
        assert [(request.call_id, request.tool) for request in scene.executor.requests] == [
            (data["calls"][0]["callId"], "get_price")
        ]
        assert len(model.asked) == 1, "the model's first reply is not paid for again"
        stored = await DirectReader(scene.nats, "TURNS").last(journal["subject"])
        assert stored is not None
        kept = json.loads(stored.event)["data"]
        assert (kept[TOMORROW], kept["calls"][0][TOMORROW]) == (1, {"a": [1]})
