"""Webhooks, from a fact in the streams to a company's own server."""

import asyncio
import base64
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from aiohttp import web

from contracts.channels import fact
from contracts.company import CompanySettings
from contracts.company_rpc import (
    COMPANY_CREATE,
    COMPANY_GET,
    COMPANY_PATCH,
    CompanyCreateRequest,
    CompanyPatchRequest,
    CompanyRequest,
)
from contracts.envelope import CloudEvent
from contracts.events.fact import FeedbackGiven
from contracts.streams import FACTS, WEBHOOKS
from memory.application.webhook_lanes import Lane
from memory.testing.harness import Replica, Servers, Writer, replica
from memory.testing.receiver import ReceivedWebhook, Receiver, receiving
from runtime.bus.connection import jetstream
from runtime.bus.publisher import Publisher
from runtime.errors import RpcError
from runtime.settings import DevSettings
from runtime.testing.servers import eventually
from runtime.workers.dead_letters import DeadLetters

SECRET = "whsec_" + base64.b64encode(b"a secret of twenty-four b").decode()
DEV = DevSettings(dev=True)


@pytest.fixture
async def shop() -> AsyncGenerator[Receiver]:
    async with receiving(SECRET) as receiver:
        yield receiver


async def hook(on: Replica, *hooks: dict[str, Any], company: str = "acme") -> CompanySettings:
    request = CompanyCreateRequest(config={"companyId": company, "webhooks": list(hooks)})
    return (await on.rpc.call(COMPANY_CREATE, request)).settings


async def settings_of(on: Replica, company: str = "acme") -> CompanySettings:
    found = (await on.rpc.call(COMPANY_GET, CompanyRequest(company_id=company))).settings
    assert found is not None
    return found


def at(receiver: Receiver, *events: str, secret: str = SECRET) -> dict[str, Any]:
    return {"url": receiver.url, "events": list(events), "secret": secret}


async def test_a_fact_is_told_once_signed_with_its_events_id_and_without_the_principal(
    servers: Servers, shop: Receiver
) -> None:
    async with replica(servers, dev=DEV) as one:
        await hook(one, at(shop))
        writer = Writer(one.client)
        seq = await writer.visitor("what is the price?", client_message_id="m1")
        await eventually(lambda: "what is the price?" in shop.texts())
        taken = next(one for one in shop.taken if one.text)
        assert taken.event["type"] == "chat.message.visitor.v1"
        assert taken.event["id"] == taken.id == taken.event["data"]["messageId"]
        assert taken.event["subject"] == f"acme/{writer.conversation}"
        assert int(taken.event["sequence"]) == seq
        assert "principal" not in taken.event["data"]


async def test_only_what_was_asked_for_is_told_and_only_of_the_own_company(servers: Servers, shop: Receiver) -> None:
    async with replica(servers, dev=DEV) as one:
        await hook(one, at(shop, "message.assistant", "feedback.given"))
        await hook(one, company="other")
        await Writer(one.client, "other").assistant("not yours", 1)
        writer = Writer(one.client)
        await writer.assistant("yes", await writer.visitor("a question"))
        given = FeedbackGiven(
            company_id="acme", conversation_id=writer.conversation, message_id="m1", user_id="v1", rating="up"
        )
        event = CloudEvent(source="/test", type="feedback.given.v1", data=given)
        await Publisher(one.client).append(
            fact("feedback.given.v1", "acme", "v1"), event, stream=FACTS.name, msg_id=event.id
        )
        await eventually(lambda: len(shop.taken) == 2)
        assert {one.event["type"] for one in shop.taken} == {"chat.message.assistant.v1", "feedback.given.v1"}
        told = next(one for one in shop.taken if one.event["type"] == "feedback.given.v1")
        assert (told.event["subject"], told.event["data"]["rating"]) == ("acme/v1", "up")


async def test_messages_of_a_conversation_arrive_in_order(servers: Servers, shop: Receiver) -> None:
    async with replica(servers, dev=DEV) as one:
        await hook(one, at(shop, "MessageSent"))
        writer = Writer(one.client)
        said = [f"line {number}" for number in range(20)]
        for line in said:
            await writer.visitor(line)
        await eventually(lambda: len(shop.taken) == 20)
        assert shop.texts() == said


def test_a_fact_does_not_overtake_an_earlier_one_about_the_same_that_comes_again() -> None:
    lane = Lane()
    lane.failed(0.0, None)
    first, second = lane.wait(0.0, "ana", 1), lane.wait(0.0, "ana", 2)
    assert 1.0 < first < second
    # The pause is over, and the second is there before the first.
    assert lane.wait(1.5, "ben", 3) == 0.0
    assert lane.wait(1.5, "ana", 2) > 0.0
    assert lane.wait(1.5, "ana", 1) == 0.0
    assert lane.wait(1.8, "ana", 2) == 0.0
    # Another replica has had the first: nobody waits for it any longer.
    lane.failed(2.0, None)
    lane.wait(2.0, "ana", 4)
    assert lane.wait(5.0, "ana", 5) > 0.0
    assert lane.wait(9.5, "ana", 5) == 0.0


async def test_what_an_endpoint_could_not_take_is_told_again_until_it_can(servers: Servers, shop: Receiver) -> None:
    answers = [500, 404]

    async def say(_: ReceivedWebhook) -> int:
        return answers.pop(0) if answers else 200

    shop.say = say
    async with replica(servers, dev=DEV) as one:
        await hook(one, at(shop, "message.visitor"))
        await Writer(one.client).visitor("patience")
        await eventually(lambda: len(shop.taken) == 3)
        assert len({one.id for one in shop.taken}) == 1
        await eventually(lambda: _none_waiting(one))


async def test_a_slow_endpoint_and_a_dead_one_delay_nobody_else(servers: Servers, shop: Receiver) -> None:
    release = asyncio.Event()

    async def never(_: ReceivedWebhook) -> int:
        await release.wait()
        return 200

    async with receiving(SECRET) as slow, receiving(SECRET) as dead, replica(servers, dev=DEV) as one:
        slow.say = never
        dead_url = dead.url.replace("/hook", "/nothing-here")
        await hook(one, at(slow, "MessageSent"), at(shop, "MessageSent"), at(dead, "MessageSent") | {"url": dead_url})
        for _ in range(40):
            await Writer(one.client).visitor("quick")
        await eventually(lambda: len(shop.taken) == 40)
        assert len(slow.taken) <= 4
        release.set()


async def test_a_fact_that_is_never_taken_becomes_a_dead_letter_and_can_be_replayed(
    servers: Servers, shop: Receiver
) -> None:
    async def broken(_: ReceivedWebhook) -> int:
        return 503

    shop.say = broken
    async with replica(servers, dev=DEV, webhook_give_up=3.0) as one:
        await hook(one, at(shop, "message.visitor"))
        await Writer(one.client).visitor("lost?")
        letters = DeadLetters(one.client)

        async def given_up() -> int:
            return len(await letters.list(service="memory"))

        assert await eventually(given_up) == 1
        letter = (await letters.list(service="memory"))[0]
        assert "127.0.0.1 answered 503" in letter.reason
        assert "hook" not in letter.reason
        shop.say, before = None, len(shop.taken)
        await letters.replay(letter.seq)
        await eventually(lambda: len(shop.taken) == before + 1)
        assert shop.taken[-1].id == shop.taken[0].id


async def test_an_endpoint_that_says_gone_is_switched_off_until_an_admin_says_otherwise(
    servers: Servers, shop: Receiver
) -> None:
    async def gone(_: ReceivedWebhook) -> int:
        return 410

    shop.say = gone
    async with replica(servers, dev=DEV) as one:
        made = await hook(one, at(shop, "message.visitor"))
        writer = Writer(one.client)
        await writer.visitor("are you there?")

        async def told() -> bool:
            return bool(await DeadLetters(one.client).list(service="memory"))

        # It is told when it is done.
        await eventually(told)
        changed = await settings_of(one)
        assert changed.config.webhooks[0].gone_at is not None
        assert changed.version == made.version + 1
        seq = await writer.visitor("hello?")
        await eventually(lambda: _looked_at(one, seq))
        shop.say = None
        patch = {"webhooks": [{"url": shop.url, "events": ["message.visitor"], "secret": "********"}]}
        await one.rpc.call(COMPANY_PATCH, CompanyPatchRequest(company_id="acme", version=made.version + 1, patch=patch))
        await writer.visitor("welcome back")
        await eventually(lambda: "welcome back" in shop.texts())
        assert shop.texts() == ["are you there?", "welcome back"]


async def test_a_redirect_is_not_followed_and_a_long_answer_not_read(servers: Servers, shop: Receiver) -> None:
    async with receiving(SECRET) as elsewhere, replica(servers, dev=DEV) as one:
        answers = [web.Response(status=307, headers={"Location": elsewhere.url}), web.Response(body=b"x" * 10_000_000)]

        async def say(_: ReceivedWebhook) -> web.Response:
            return answers.pop(0)

        shop.say = say
        await hook(one, at(shop, "message.visitor"))
        await Writer(one.client).visitor("this way")
        await eventually(lambda: len(shop.taken) == 2)
        await eventually(lambda: _none_waiting(one))
        assert elsewhere.taken == []


async def test_nothing_is_sent_to_this_machine_outside_development(servers: Servers, shop: Receiver) -> None:
    async with replica(servers) as one:
        await hook(
            one, at(shop), at(shop) | {"url": shop.url.replace("http:", "https:").replace("127.0.0.1", "localhost")}
        )
        await Writer(one.client).visitor("inside?")
        letters = DeadLetters(one.client)

        async def refused() -> set[str]:
            found = {letter.reason for letter in await letters.list(service="memory") if b"inside?" in letter.body}
            return found if len(found) == 2 else set()

        reasons = await eventually(refused)
        assert any("not on the public Internet" in reason for reason in reasons)
        assert any("not an https address" in reason for reason in reasons)
        assert shop.taken == []


async def test_a_secret_in_plain_text_signs_too_and_a_new_one_counts_at_once(servers: Servers) -> None:
    async with receiving(b"plain and simple") as shop, replica(servers, dev=DEV) as one:
        made = await hook(one, at(shop, "message.visitor", secret="plain and simple"))
        await Writer(one.client).visitor("first")
        await eventually(lambda: shop.texts() == ["first"])
        shop.key = b"another secret"
        patch = {"webhooks": [at(shop, "message.visitor", secret="another secret")]}
        await one.rpc.call(COMPANY_PATCH, CompanyPatchRequest(company_id="acme", version=made.version, patch=patch))
        await Writer(one.client).visitor("second")
        await eventually(lambda: shop.texts() == ["first", "second"])


async def test_another_replica_takes_over_what_a_stopped_one_had_to_tell(servers: Servers, shop: Receiver) -> None:
    async def broken(_: ReceivedWebhook) -> int:
        return 500

    shop.say = broken
    async with replica(servers, dev=DEV) as one:
        await hook(one, at(shop, "message.visitor"))
        await Writer(one.client).visitor("survives")
        await eventually(lambda: shop.taken)
    shop.say = None
    before = len(shop.taken)
    async with replica(servers, dev=DEV):
        await eventually(lambda: len(shop.taken) > before)
    assert shop.taken[-1].text == "survives"


@pytest.mark.parametrize(
    ("bad", "field"),
    [({"events": ["nonsense"]}, "webhooks.0.events.0"), ({"url": "http://shop.example/x"}, "webhooks.0.url")],
)
async def test_what_cannot_be_told_is_refused_with_its_place(servers: Servers, bad: dict[str, Any], field: str) -> None:
    async with replica(servers) as one:
        with pytest.raises(RpcError) as refused:
            await hook(one, {"url": "https://shop.example/x", "secret": "12345678"} | bad)
        assert [fault.field for fault in refused.value.fields] == [field]


async def _waiting(on: Replica) -> int:
    return (await jetstream(on.client).stream_info(WEBHOOKS.name)).state.messages


async def _none_waiting(on: Replica) -> bool:
    return await _waiting(on) == 0


async def _looked_at(on: Replica, seq: int) -> bool:
    consumer = await jetstream(on.client).consumer_info("CHAT", "memory-webhooks")
    return consumer.ack_floor is not None and consumer.ack_floor.stream_seq >= seq
