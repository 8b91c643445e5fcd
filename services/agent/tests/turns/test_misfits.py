"""A visitor's event that fits no contract: nobody answers it, and it hides nothing that does."""

import json
from typing import Any

import pytest

from agent.scripted_model.server import scripted_model
from agent.testing.company import COMPANY
from agent.testing.scripted_stage import scripted_stage
from agent.testing.stage import agent, stage
from contracts import channels
from contracts.channels import ChatKind
from runtime.testing.servers import NatsServer

GOOD: dict[str, Any] = {
    "specversion": "1.0",
    "id": "e1",
    "source": "/other",
    "type": "chat.message.visitor.v1",
    "subject": f"{COMPANY}/c1",
    "data": {"messageId": "m1", "clientMessageId": "x1", "text": "hello"},
}


def event(**changes: Any) -> str:
    return json.dumps(GOOD | changes)


def data(**changes: Any) -> str:
    return event(data=GOOD["data"] | changes)


MISFITS: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"hello",
    "no object": b"[]",
    "no data": json.dumps({name: GOOD[name] for name in GOOD if name != "data"}).encode(),
    "no id": json.dumps({name: GOOD[name] for name in GOOD if name != "id"}).encode(),
    "no text": event(data={"messageId": "m1", "clientMessageId": "x1"}).encode(),
    "a text that is a number": data(text=7).encode(),
    "too long a text": data(text="x" * 8001).encode(),
    "a quarter of a megabyte": data(text="x" * 250_000).encode(),
    "an endless integer": data(mood="#").replace('"#"', "9" * 310).encode(),
    "no number": data(mood="#").replace('"#"', "NaN").encode(),
    "broken UTF-8": data(text="#").encode().replace(b"#", b"\xff\xfe"),
    "half a surrogate pair": data(text="#").replace("#", "\\ud83d").encode(),
    "nested too deep": data(mood="#").replace('"#"', "[" * 500 + "]" * 500).encode(),
    "a page that is a text": data(page="/pricing").encode(),
    "another type": event(type="chat.message.operator.v1").encode(),
    "another conversation": event(subject=f"{COMPANY}/c2").encode(),
    "another company": event(subject="other/c1").encode(),
}


@pytest.mark.parametrize("body", MISFITS.values(), ids=MISFITS.keys())
async def test_it_is_not_answered_and_what_was_said_around_it_is(nats_server: NatsServer, body: bytes) -> None:
    async with stage(nats_server.url) as scene, scripted_model() as model:
        subject = channels.chat(COMPANY, "c1", ChatKind.VISITOR)

        async def misfit(number: int) -> None:
            await scene.publisher.append(subject, body, stream="CHAT", msg_id=f"misfit-{number}")

        await misfit(0)
        first = await scene.visitor("c1", "before")
        await misfit(1)
        sweeping: dict[str, Any] = {"sweep_seconds": 0.05, "sweep_after_seconds": 0.1}
        async with agent(nats_server.url, model.base_url, **sweeping):
            (answer,) = await scene.answered("c1")
            assert answer["basis"] == first
            await scene.idle()
            last = await scene.visitor("c1", "after")
            await misfit(2)
            answers = await scene.answered("c1", 2)
            await scene.idle()
        async with agent(nats_server.url, model.base_url, **sweeping) as again:
            # Taken up again by the sweep, it opens no turn.
            await scene.visitor("c2", "the agent works")
            await scene.answered("c2")
            await again.sweep.look()
        assert [answer["basis"] for answer in answers] == [first, last]
        assert len(await scene.answers("c1")) == 2
        assert len(model.asked) == 3


async def test_a_misfit_alone_costs_no_model_call(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url) as (scene, model):
        subject = channels.chat(COMPANY, "c1", ChatKind.VISITOR)
        for name, body in MISFITS.items():
            await scene.publisher.append(subject, body, stream="CHAT", msg_id=name)
        await scene.idle()
        assert model.asked == []
        assert await scene.answers("c1") == []


async def test_a_kind_of_fact_that_only_a_newer_release_knows_holds_nobody_up(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url) as (scene, _model):
        await scene.visitor("c1", "hello")
        await scene.answered("c1")
        await scene.publisher.append(f"chat.{COMPANY}.c1.mood.changed.v1", b"{}", stream="CHAT", msg_id="mood")
        await scene.visitor("c1", "and now?")
        await scene.publisher.append(f"chat.{COMPANY}.c1.mood.changed.v1", b"{}", stream="CHAT", msg_id="mood2")
        await scene.answered("c1", 2)
        await scene.idle()
        assert len(await scene.answers("c1")) == 2


async def test_an_owner_that_cannot_be_read_changes_nothing_and_an_unknown_one_silences_the_ai(
    nats_server: NatsServer,
) -> None:
    async with scripted_stage(nats_server.url) as (scene, model):
        subject = channels.chat(COMPANY, "c1", ChatKind.OWNER)
        await scene.take("c1")
        await scene.publisher.append(subject, b'{"data":{"owner":7}}', stream="CHAT", msg_id="misfit")
        await scene.visitor("c1", "a person has it still")
        await scene.idle()
        assert model.asked == []
        await scene.release("c1")
        await scene.answered("c1")
        owner = GOOD | {"type": "chat.owner.changed.v1", "data": {"owner": {"kind": "squad"}, "by": "op-1"}}
        await scene.publisher.append(subject, json.dumps(owner).encode(), stream="CHAT", msg_id="squad")
        await scene.visitor("c1", "somebody has it")
        await scene.idle()
        assert len(model.asked) == 1


async def test_the_kill_switch_of_a_newer_release_is_obeyed_and_so_is_one_that_cannot_be_read(
    nats_server: NatsServer,
) -> None:
    async with scripted_stage(nats_server.url) as (scene, model):
        await scene.visitor("c1", "hello")
        await scene.answered("c1")
        config = scene.config.to_wire() | {
            "aiAutoResponseEnabled": False,
            "newField": 1,
            "preferredProvider": "mistral",
        }
        newer = {"specversion": "1.0", "id": "n1", "source": "/nexus/memory", "type": "company.config.changed.v1"}
        subject = channels.fact("company.config.changed.v1", COMPANY, None)

        async def told(config: Any, version: int) -> None:
            body = json.dumps(newer | {"id": f"n{version}", "data": {"config": config, "version": version}}).encode()
            await scene.publisher.append(subject, body, stream="FACTS", msg_id=f"n{version}")

        await told(config, 7)
        await scene.visitor("c1", "are you there?")
        await scene.idle()
        assert len(model.asked) == 1
        await told({**config, "aiAutoResponseEnabled": True, "newField": 2}, 8)
        await scene.visitor("c1", "and now?")
        await scene.answered("c1", 2)
        assert len(model.asked) == 2
        # Nothing of it can be read: what is known is forgotten, and memory is asked.
        scene.config = scene.config.model_copy(update={"ai_auto_response_enabled": False})
        scene.version = 9
        await told("nonsense", 9)
        await scene.visitor("c1", "hello?")
        await scene.idle()
        assert len(model.asked) == 2
