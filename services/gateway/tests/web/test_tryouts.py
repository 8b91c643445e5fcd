"""Settings tried before they are saved; answers explained."""

from datetime import timedelta

import pytest
from nats.aio.client import Client

from contracts.errors import ErrorCode
from gateway.testing.harness import AgentStandIn, ChatClient, GatewayUnderTest, MemoryStandIn, conversation_view
from gateway.testing.http import Http, assert_problem
from gateway.testing.services import SettingsStandIn, WritersStandIn
from gateway.testing.tokens import TokenMaker
from runtime.bus.direct import DirectReader
from runtime.errors import RpcError

CONFIG = "/v2/llm/config/acme"


@pytest.fixture
def admin(tokens: TokenMaker) -> str:
    return tokens.user("root", "admin")


async def test_what_is_tried_is_the_saved_settings_with_the_patch_and_is_not_saved(
    http: Http, admin: str, settings: SettingsStandIn, writers: WritersStandIn
) -> None:
    patch = {"customSystemPrompt": "Be a parrot.", "toolConfig": {"allowedPaths": ["/help"]}}
    status, body, _ = await http("POST", f"{CONFIG}/prompt", token=admin, json={"settings": patch})
    assert (status, body["layers"]) == (200, [{"name": "base", "text": "Be a parrot."}])
    asked = {"settings": {"temperature": 0.1}, "question": "hi", "language": "es"}
    status, body, _ = await http("POST", f"{CONFIG}/sandbox", token=admin, json=asked)
    assert (status, body["text"]) == (200, "hi at 0.1")
    status, body, _ = await http(
        "POST", f"{CONFIG}/site-check", token=admin, json={"settings": patch, "address": "/help"}
    )
    assert (status, body) == (200, {"allowed": True})
    _, saved, _ = await http("GET", CONFIG, token=admin)
    assert (saved["customSystemPrompt"], saved["toolConfig"]["allowedPaths"]) == (None, [])


async def test_what_cannot_be_saved_cannot_be_tried(
    http: Http, admin: str, settings: SettingsStandIn, writers: WritersStandIn
) -> None:
    wrong = {"question": "hi", "settings": {"temperature": 9, "toolConfig": {"maxIterations": 0}}}
    refused = await http("POST", f"{CONFIG}/sandbox", token=admin, json=wrong)
    assert_problem(refused, 422, "BAD_FIELD")
    assert {one["field"] for one in refused[1]["errors"]} == {"temperature", "toolConfig.maxIterations"}
    assert_problem(await http("POST", f"{CONFIG}/sandbox", token=admin, json={"question": "  "}), 422, "EMPTY_TEXT")
    other = {"question": "hi", "settings": {"companyId": "other"}}
    assert (await http("POST", f"{CONFIG}/sandbox", token=admin, json=other))[0] == 200
    writers.error = RpcError(ErrorCode.UNAVAILABLE, "no model", retryable=True)
    assert_problem(await http("POST", f"{CONFIG}/sandbox", token=admin, json={"question": "hi"}), 503, "UNAVAILABLE")


async def test_where_a_message_would_go_is_tried_before_it_is_saved(
    http: Http, admin: str, settings: SettingsStandIn, tokens: TokenMaker
) -> None:
    patch = {
        "personRules": [{"to": "never", "pages": ["/jobs"]}, {"to": "person", "topics": ["refunds"], "plans": ["pro"]}],
        "officeHours": {
            "timezone": "Europe/Madrid",
            "hours": [{"days": ["mon"], "opens": "09:00", "closes": "18:00"}],
            "holidays": ["2026-11-30"],
        },
    }

    async def asked(**body: object) -> object:
        status, found, _ = await http("POST", f"{CONFIG}/person-check", token=admin, json={"settings": patch} | body)
        assert status == 200
        return found

    monday = "2026-11-23T09:00:00+01:00"
    assert await asked(text="refund me", plan="pro", at=monday) == {"to": "person", "rule": 1, "open": True}
    assert await asked(text="refund me", at=monday) == {"open": True}
    page = "https://acme.example/jobs/7"
    assert await asked(text="refund me", plan="pro", page=page, at=monday) == {"to": "never", "rule": 0, "open": True}
    away = await asked(text="hola", at="2026-11-23T17:00:00Z", language="es")
    assert isinstance(away, dict)
    assert (away["open"], away["opensAt"]) == (False, "2026-12-07T08:00:00Z")
    assert "el lunes 7 de diciembre a las 9:00 (hora de Madrid)" in away["told"]
    wrongs: list[dict[str, object]] = [
        {"at": "2026-11-23T09:00:00"},
        {"at": "0001-01-01T00:00:00+14:00"},
        {"at": "0001-01-01T00:00:00Z"},
        {"at": "9999-12-31T23:59:59Z"},
        {"settings": {"officeHours": {"timezone": "x", "hours": []}}},
    ]
    for wrong in wrongs:
        refused = await http("POST", f"{CONFIG}/person-check", token=admin, json={"text": "hi"} | wrong)
        assert_problem(refused, 422, "BAD_FIELD")
    agent = tokens.user("ana", "commercial")
    assert (await http("POST", f"{CONFIG}/person-check", token=agent, json={"text": "hi"}))[0] == 403
    _, saved, _ = await http("GET", CONFIG, token=admin)
    assert (saved["personRules"], saved["officeHours"]) == ([], None)


async def test_an_answer_is_explained_and_done_again_for_whom_it_was(
    http: Http,
    gateway: GatewayUnderTest,
    nats_client: Client,
    tokens: TokenMaker,
    memory: MemoryStandIn,
    writers: WritersStandIn,
) -> None:
    async with ChatClient(gateway.url) as ana:
        talk = (await ana.hello(tokens.user("ana")))["conversationId"]
        asked = await ana.say("hello")
    memory.known_conversations[talk] = conversation_view(talk, "acme", "ana")
    answering = AgentStandIn(nats_client, "acme", talk)
    stored = await answering.answer(asked["seq"], "hello, Ana")
    human = tokens.user("ben", "commercial")
    path = f"/v2/conversations/{talk}/turns"
    status, body, _ = await http("GET", f"{path}/{answering.turn}", token=human)
    assert (status, body["turnId"], body["provider"]) == (200, answering.turn, "ana")
    (request,) = writers.explained
    fact = await DirectReader(nats_client, "CHAT").at(stored.seq)
    assert fact is not None
    assert abs(request.answered_at - fact.time) < timedelta(seconds=1)
    assert_problem(await http("GET", f"{path}/unknown", token=human), 404, "NOT_FOUND")
    assert_problem(await http("GET", f"{path}/{answering.turn}", token=tokens.user("ana")), 403, "FORBIDDEN")
    admin = tokens.user("root", "admin")
    wish = {"model": "offline", "prompt": "Be brief."}
    status, body, _ = await http("POST", f"{path}/{answering.turn}/replay", token=admin, json=wish)
    assert (status, body["replayed"]["text"], body["recorded"]["text"]) == (200, "Be brief. by offline", "said")
    (asked_again,) = writers.replayed
    assert (asked_again.user_id, asked_again.answered_at) == ("ana", request.answered_at)
    status, body, _ = await http("GET", f"{path}/{answering.turn}/case", token=admin)
    assert (status, body) == (200, {"name": answering.turn, "toml": "of = 'ana'\n"})
    assert_problem(await http("POST", f"{path}/{answering.turn}/replay", token=human, json=wish), 403, "FORBIDDEN")
    assert_problem(await http("GET", f"{path}/unknown/case", token=admin), 404, "NOT_FOUND")
    too_long = {"prompt": "x" * 8001}
    assert_problem(await http("POST", f"{path}/{answering.turn}/replay", token=admin, json=too_long), 422, "BAD_FIELD")
